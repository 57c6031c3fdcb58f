"""kafka-get-offsets and kafka-delete-records; kafka-log-dirs, kafka-cluster, kafka-broker-api-versions and two more."""

import json


def offsets(shell, *flags):
    """{(topic, partition): offset}."""
    split = (line.rsplit(":", 2) for line in shell("kafka-get-offsets", *flags).lines)
    return {(topic, int(partition)): int(offset) for topic, partition, offset in split}


def delete_records(shell, tmp_path, *places):
    """What is printed of each partition. The tool reads a file."""
    file = tmp_path / "places.json"
    named = [{"topic": topic, "partition": partition, "offset": offset} for topic, partition, offset in places]
    file.write_text(json.dumps({"version": 1, "partitions": named}))
    lines = shell("kafka-delete-records", "--offset-json-file", file).lines
    assert lines[:2] == ["Executing records delete operation", "Records delete operation completed:"]
    return dict(line.removeprefix("partition: ").split("\t") for line in lines[2:])


def test_offsets_by_time(shell, name):
    shell.create(name)
    shell.type_records(name, "one", "two", "three")
    of_topic = lambda time: offsets(shell, "--topic", name, "--time", time).get((name, 0))
    assert offsets(shell, "--topic", name) == {(name, 0): 3}
    assert [of_topic(time) for time in ("-1", "latest")] == [3, 3]
    assert [of_topic(time) for time in ("-2", "earliest", "earliest-local", "0")] == [0, 0, 0, 0]
    assert [of_topic(time) for time in ("-3", "max-timestamp")] == [2, 2]
    assert of_topic("4102444800000") is None, "nothing is younger than the year 2100"
    assert of_topic("latest-tiered") is None


def test_offsets_of_some_partitions(shell, name):
    a, b = f"{name}-a", f"{name}-b"
    shell.create(a)
    shell.create(b, 3)
    shell.type_to(b, 1, "one", "two")
    every = {(a, 0): 0, (b, 0): 0, (b, 1): 2, (b, 2): 0}
    assert every.items() <= offsets(shell, "--exclude-internal-topics").items()
    assert offsets(shell, "--topic", f"{name}-.*") == every
    assert offsets(shell, "--topic", b, "--partitions", "1,2") == {(b, 1): 2, (b, 2): 0}
    assert offsets(shell, "--topic-partitions", f"{a}:0,{b}:1-") == {(a, 0): 0, (b, 1): 2, (b, 2): 0}
    assert offsets(shell, "--topic-partitions", f"{name}-[ab]:0-2") == {(a, 0): 0, (b, 0): 0, (b, 1): 2}
    none = shell.attempt("kafka-get-offsets", "--topic", f"{name}-none")
    assert none.code == 1 and "Could not match any topic-partitions" in none.err


def test_deleted_records(shell, name, tmp_path):
    shell.create(name, 2)
    for partition in (0, 1):
        shell.type_to(name, partition, "one", "two", "three")
    done = delete_records(shell, tmp_path, (name, 0, 2), (name, 1, -1))
    assert done == {f"{name}-0": "low_watermark: 2", f"{name}-1": "low_watermark: 3"}
    assert offsets(shell, "--topic", name, "--time", "earliest") == {(name, 0): 2, (name, 1): 3}
    assert shell.read(name, 1) == ["three"]
    refused = delete_records(shell, tmp_path, (name, 0, 9), ("__consumer_offsets", 0, 0))
    assert "OffsetOutOfRangeException" in refused[f"{name}-0"]
    assert "InvalidTopicException" in refused["__consumer_offsets-0"]


def test_sizes_of_logs(shell, name):
    shell.create(name, 2)
    shell.type_to(name, 1, "one")
    described = lambda *flags: shell("kafka-log-dirs", "--describe", *flags).lines
    lines = described("--topic-list", name, "--broker-list", "1")
    assert lines[1] == "Received log directory information from brokers 1"
    found = json.loads(lines[2])
    [broker] = found["brokers"]
    [folder] = broker["logDirs"]
    assert (found["version"], broker["broker"], folder["error"]) == (1, 1, None)
    sizes = {entry["partition"]: entry["size"] for entry in folder["partitions"]}
    assert sizes.keys() == {f"{name}-0", f"{name}-1"} and sizes[f"{name}-0"] == 0 < sizes[f"{name}-1"]
    assert all(entry["offsetLag"] == 0 and not entry["isFuture"] for entry in folder["partitions"])
    [broker] = json.loads(described()[2])["brokers"]
    assert f"{name}-0" in {entry["partition"] for entry in broker["logDirs"][0]["partitions"]}
    missing = shell.attempt("kafka-log-dirs", "--describe", "--broker-list", "1,9")
    assert missing.code == 1 and "brokers do not exist from --broker-list: 9" in missing.err


def test_the_cluster(shell):
    [line] = shell("kafka-cluster", "cluster-id").lines
    assert line.startswith("Cluster ID: ") and len(line.removeprefix("Cluster ID: ")) == 22
    host, port = shell.server.bootstrap.split(":")
    assert shell("kafka-cluster", "list-endpoints").rows == [["1", host, port, "null", "unfenced", "broker"]]


def test_the_versions_of_apis(shell):
    lines = shell("kafka-broker-api-versions").lines
    assert lines[0] == f"{shell.server.bootstrap} (id: 1 rack: null isFenced: false) -> ("
    entries = {line.split("(")[0].strip(): line.split("): ")[1].rstrip(",") for line in lines[1:] if "): " in line}
    assert entries["OffsetCommit"] == "2 to 10 [usable: 10]"
    assert entries["Fetch"] == "4 to 18 [usable: 18]"


def test_elections_and_producers(shell, name):
    shell.create(name)
    shell.type_records(name, "one")
    place = ["--topic", name, "--partition", "0"]
    election = shell("kafka-leader-election", "--election-type", "preferred", *place)
    assert election.lines == [f"Valid replica already elected for partitions {name}-0"]
    [_, producer] = shell("kafka-transactions", "describe-producers", *place).lines
    producer_id, epoch, coordinator_epoch, last_sequence, _, transaction = producer.split()
    assert (epoch, coordinator_epoch, last_sequence, transaction) == ("0", "-1", "0", "None")
