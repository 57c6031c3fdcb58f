"""kafka-verifiable-producer and -consumer, the two performance tests and the latency test: all arrives, once."""

import json


def events(output, kind):
    """The events of one kind that a verifiable tool printed, in order."""
    found = [json.loads(line) for line in output.lines]
    return [event for event in found if event["name"] == kind]


def values(records):
    return {(record["partition"], record["offset"]): record["value"] for record in records}


def test_verifiable_producer_and_consumer(shell, name):
    shell.create(name, 2)
    flags = ["--topic", name, "--max-messages", 100, "--acks", "-1", "--repeating-keys", 5]
    produced = shell("kafka-verifiable-producer", *flags)
    sent = values(events(produced, "producer_send_success"))
    assert sorted(map(int, sent.values())) == list(range(100))
    [summary] = events(produced, "tool_data")
    assert (summary["sent"], summary["acked"]) == (100, 100)

    flags = ["--topic", name, "--group-id", name, "--max-messages", 100, "--reset-policy", "earliest", "--verbose"]
    consumed = shell("kafka-verifiable-consumer", *flags)
    read = events(consumed, "record_data")
    assert values(read) == sent and len(read) == 100
    assert {event["success"] for event in events(consumed, "offsets_committed")} == {True}
    assert len(events(consumed, "shutdown_complete")) == 1
    assert sum(int(row[0]) for row in shell.group_offsets(name).values()) == 100


def test_verifiable_consumer_that_is_static(shell, name):
    shell.create(name)
    shell.type_records(name, "one", "two")
    flags = ["--topic", name, "--group-id", name, "--max-messages", 2, "--reset-policy", "earliest"]
    shell("kafka-verifiable-consumer", *flags, "--group-instance-id", "still-here", "--session-timeout", 30_000)
    [member] = shell("kafka-consumer-groups", "--describe", "--group", name, "--members").rows
    assert member[2] == "still-here", "a static member does not leave"


def test_performance(shell, name):
    shell.create(name)
    load = ["--num-records", 5000, "--record-size", 100, "--throughput", -1]
    produced = shell("kafka-producer-perf-test", "--topic", name, *load, "--command-property", "compression.type=lz4")
    assert produced.lines[-1].startswith("5000 records sent, ")
    assert shell("kafka-get-offsets", "--topic", name).lines == [f"{name}:0:5000"]
    flags = ["--topic", name, "--num-records", 5000, "--timeout", 60_000, "--group", name]
    [heading, figures] = shell("kafka-consumer-perf-test", *flags).lines
    found = dict(zip(heading.split(", "), figures.split(", "), strict=True))
    assert int(found["data.consumed.in.nMsg"]) == 5000
    assert shell.group_offsets(name) == {(name, 0): ("5000", "5000", "0")}


def test_latency(shell, name):
    shell.create(name)
    flags = ["--topic", name, "--num-records", 20, "--producer-acks", "all", "--record-size", 50]
    measured = shell("kafka-e2e-latency", *flags)
    assert measured.lines[-1].startswith("Percentiles: 50th = ")
    assert shell("kafka-get-offsets", "--topic", name).lines == [f"{name}:0:20"]
