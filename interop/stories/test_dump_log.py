"""kafka-dump-log reads the files of a data folder: segments, indexes, commits, and what compaction has written."""

import os
import re

import pytest
from confluent_kafka import Producer

from harness import batches, wire
from harness.script import FOLDER, Script, Teller
from harness.tools import Shell

GROUP_SETTINGS = {"group.consumer.assignment.interval.ms": "0", "offsets.topic.num.partitions": "1"}
SETTINGS = {"log.cleaner.backoff.ms": "200"}


@pytest.fixture
def shell(tools, own_server):
    return Shell(tools, own_server)


def files(server, topic, partition, kind):
    """The files of one partition that end in `kind`, oldest first."""
    folder = os.path.join(server.data, f"{topic}-{partition}")
    names = sorted(os.listdir(folder)) if os.path.exists(folder) else []
    return [os.path.join(folder, name) for name in names if name.endswith(kind)]


def fields(line):
    """{name: value} of a line that describes a batch or a record; what follows "payload:" is its last value."""
    return dict(re.findall(r"(\w+): (.*?)(?= \w+: |$)", line.removeprefix("| ")))


def dump(shell, *flags):
    """({batch}, {record}) of a segment, as dictionaries of texts."""
    lines = shell("kafka-dump-log", *flags).lines
    in_batches = [fields(line) for line in lines if line.startswith("baseOffset: ")]
    in_records = [fields(line) for line in lines if line.startswith("| offset: ")]
    assert in_batches and all(batch["isvalid"] == "true" for batch in in_batches), lines
    return in_batches, in_records


def dumped(shell, file):
    return shell("kafka-dump-log", "--files", file).out


def test_segments_and_indexes(shell, own_server, name):
    shell.create(name)
    shell.type_records(name, "one", "two", flags=["--compression-codec", "zstd"])
    shell.type_records(name, "h:v\tk:three", headers=True)
    # More than `index.interval.bytes`, several times.
    with own_server.connect() as connection:
        for _ in range(5):
            batch = batches.batch([b"x" * 3000, b"y" * 3000])
            assert wire.produce(connection, name, 0, batch)[0] == wire.NO_ERROR
    # Also while the server runs, a moment later.
    shell.wait_for(lambda: any("lastOffset: 12 " in dumped(shell, log) for log in files(own_server, name, 0, ".log")))
    own_server.stop()

    [log] = files(own_server, name, 0, ".log")
    found, records = dump(shell, "--deep-iteration", "--print-data-log", "--files", log)
    assert [batch["baseOffset"] for batch in found][-6:] == ["2", "3", "5", "7", "9", "11"]
    assert found[0]["compresscodec"] == "zstd" and found[-1]["compresscodec"] == "none"
    assert [record["payload"] for record in records[:3]] == ["one", "two", "three"]
    assert (records[2]["key"], records[2]["headerKeys"]) == ("k", "[h]")
    [log_index], [time_index] = (files(own_server, name, 0, kind) for kind in (".index", ".timeindex"))
    positions = {batch["lastOffset"]: batch["position"] for batch in found}
    entries = [fields(line) for line in dumped(shell, log_index).splitlines() if line.startswith("offset: ")]
    assert entries and all(positions[entry["offset"]] == entry["position"] for entry in entries)
    assert "\ntimestamp: " in dumped(shell, time_index)
    verified(shell, [log_index, time_index])


def verified(shell, indexes):
    """Kafka looks every entry of the indexes up in their segments, and finds nothing to complain of."""
    output = shell("kafka-dump-log", "--verify-index-only", "--files", ",".join(indexes))
    assert output.lines == [f"Dumping {index}" for index in indexes], output
    for index in indexes:
        sane = shell("kafka-dump-log", "--index-sanity-check", "--files", index)
        assert sane.lines[1:] == [f"{index} passed sanity check."], sane


def test_commits(shell, own_server, name):
    shell.create(name)
    shell.type_records(name, "one", "two")
    shell.read(name, 2, group=name)
    shell("kafka-consumer-groups", "--delete", "--group", name)
    own_server.stop()
    logs = [log for partition in range(50) for log in files(own_server, "__consumer_offsets", partition, ".log")]
    holding = [log for log in logs if os.path.getsize(log) > 0]
    _, records = dump(shell, "--offsets-decoder", "--files", ",".join(holding))
    mine = [record for record in records if f'"group":"{name}"' in record["key"]]
    commits = [record["payload"] for record in mine if record["key"].startswith('{"type":"1"')]
    groups = [record["payload"] for record in mine if record["key"].startswith('{"type":"2"')]
    assert f'"topic":"{name}","partition":0' in next(record["key"] for record in mine if '"type":"1"' in record["key"])
    assert '"offset":2,' in commits[0] and commits[-1] == "<DELETE>"
    assert [('"members":[]' in group) for group in groups] == [True, False, True, False] and groups[-1] == "<DELETE>"


def test_the_index_of_aborted_transactions(shell, own_server, name):
    shell.create(name)
    producer = Producer({"bootstrap.servers": own_server.bootstrap, "transactional.id": name})
    producer.init_transactions()
    ends = [producer.abort_transaction, producer.commit_transaction, producer.abort_transaction]
    for end in ends:
        producer.begin_transaction()
        producer.produce(name, "value")
        producer.flush()
        end()
    # Each is a record and its marker.
    shell.wait_for(lambda: end_of(own_server, name) == 6)
    own_server.stop()

    [log], [index] = (files(own_server, name, 0, kind) for kind in (".log", ".txnindex"))
    found, _ = dump(shell, "--print-data-log", "--files", log)
    assert [batch["isControl"] for batch in found] == ["false", "true"] * 3
    assert {batch["isTransactional"] for batch in found} == {"true"}
    entries = [fields(line) for line in dumped(shell, index).splitlines() if line.startswith("version: ")]
    assert [(entry["firstOffset"], entry["lastOffset"]) for entry in entries] == [("0", "1"), ("4", "5")]
    assert [entry["producerId"] for entry in entries] == [found[0]["producerId"]] * 2
    assert [entry["lastStableOffset"] for entry in entries] == ["2", "6"]


def end_of(server, topic):
    with server.connect() as connection:
        return wire.list_offsets(connection, topic, 0)[1]


@pytest.mark.parametrize("own_server", [{"settings": GROUP_SETTINGS}], indirect=True)
def test_every_type_of_record_of_groups(shell, own_server):
    scripts = [Script(FOLDER / f"{name}.txt") for name in ("simple_commits", "classic_static", "consumer_groups")]
    told = [Teller(own_server).tell(script) for script in scripts]
    own_server.stop()
    [log] = files(own_server, "__consumer_offsets", 0, ".log")
    output = shell("kafka-dump-log", "--offsets-decoder", "--files", log)
    assert "skipping" not in output.out, output
    _, records = dump(shell, "--offsets-decoder", "--files", log)
    assert len(records) == sum(len(records) for one in told for records in one.groups.values())
    kind = lambda record: int(re.match(r'{"type":"(\d+)"', record["key"]).group(1))
    with_values = {kind(record) for record in records if record["payload"] != "<DELETE>"}
    tombstones = {kind(record) for record in records if record["payload"] == "<DELETE>"}
    # The fourth is only ever removed.
    assert with_values == {1, 2, 3, 5, 6, 7, 8, 16}
    assert tombstones == {1, 2, 3, 4, 5, 6, 7, 8, 16}


@pytest.mark.parametrize("own_server", [{"settings": SETTINGS}], indirect=True)
def test_compacted_segments(shell, own_server, name, against_kafka):
    settings = {"cleanup.policy": "compact", "segment.ms": "1", "min.cleanable.dirty.ratio": "0.01"}
    shell.create(name, **settings)
    for round_number in range(4):
        lines = [f"{key}:{round_number}{'x' * 3000}" for key in ("a", "b", f"only-{round_number}")]
        shell.type_records(name, *lines, keys=True)
    # Of the first round only one key was not written again.
    first_key = ["--partition", "0", "--offset", "earliest", "--formatter-property", "print.key=true"]
    shell.wait_for(lambda: shell.read(name, 1, *first_key)[0].startswith("only-0\t"))
    own_server.stop()

    cleaned = files(own_server, name, 0, ".log")[0]
    _, records = dump(shell, "--print-data-log", "--files", cleaned)
    # Ours has a leading zero more for each generation; Kafka reads the offset as a number.
    assert against_kafka or len(os.path.basename(cleaned)) > len("00000000000000000000.log"), "it has a generation"
    keys = [record["key"] for record in records]
    assert "only-0" in keys and len(keys) == len(set(keys)), "each key once"
    stem = cleaned.removesuffix(".log")
    indexes = [stem + kind for kind in (".index", ".timeindex") if os.path.exists(stem + kind)]
    assert stem + ".timeindex" in indexes
    verified(shell, indexes)

