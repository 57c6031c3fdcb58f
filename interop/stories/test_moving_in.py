"""A folder of a stopped Kafka broker is moved in, lived on, and moved back: committed offsets, groups, topics and records
are those of before."""

import os
import subprocess

import pytest

from harness import batches, moving, wire, wire_consumer

PARTITIONS = 7
SETTINGS = {"offsets.topic.num.partitions": str(PARTITIONS), "group.consumer.assignment.interval.ms": "0"}

pytestmark = pytest.mark.own_binary


@pytest.fixture
def moved_in(pytestconfig):
    """Imports a folder into another: `moved_in(source, target, *flags)`; the program's outcome."""

    def run(source, target, *flags):
        command = [pytestconfig.getoption("--cli"), "import", "--from", source, "--data-dir", target, *flags]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    return run


def topic_ids(connection):
    """{topic: id} of Metadata."""
    body = wire_consumer.NO_TAGS + b"\0" + wire.i8(0) + wire.i8(0) + wire_consumer.NO_TAGS
    reader = wire_consumer.Reader(connection.ask(wire.METADATA, 12, body))
    reader.tags()
    reader.i32()
    reader.array(lambda: (reader.i32(), reader.text(), reader.i32(), reader.text(), reader.tags()))
    reader.text()
    reader.i32()
    found = {}

    def partition():
        _, _, _, _ = reader.i16(), reader.i32(), reader.i32(), reader.i32()
        for _ in range(3):
            reader.array(reader.i32)
        reader.tags()

    def topic():
        error, name, topic_id = reader.i16(), reader.text(), reader.take(16)
        assert error == wire.NO_ERROR
        found[name] = topic_id
        reader.i8()
        reader.array(partition)
        reader.i32()
        reader.tags()

    reader.array(topic)
    return found


def records_of(connection, topic, partition=0):
    """The batches of a partition, as they lie there."""
    end = wire.end_offset(connection, topic, partition)
    position, found = 0, b""
    while position < end:
        error, _, data = wire.fetch(connection, topic, partition, position)
        assert error == wire.NO_ERROR
        for base_offset, _, _, whole in batches.headers(data):
            found += whole
            position = base_offset + batches.last_offset_delta(whole) + 1
    return found


def live_one(kafka):
    """Leaves on a Kafka broker something of everything. Returns the member of a classic group that stays."""
    with kafka.connect() as connection:
        assert wire.create_topic(connection, "orders", 2) == wire.NO_ERROR
        assert wire.create_topic(connection, "gone", 1) == wire.NO_ERROR
        for number in range(5):
            record = batches.batch([f"order {number}".encode()])
            assert wire.produce(connection, "orders", 0, record)[0] == wire.NO_ERROR
        for group in ("simple", "classic", "consumer", "deleted"):
            wire.find_coordinator(connection, group)
        commits = {("orders", 0): (3, "three"), ("orders", 1): (0, "")}
        assert set(wire.commit(connection, "simple", commits).values()) == {wire.NO_ERROR}
        assert set(wire.commit(connection, "deleted", commits).values()) == {wire.NO_ERROR}
        delete_group(connection, "deleted")
        member = wire.joined_member(connection, "classic", 300_000)
        commits = {("orders", 0): (4, "")}
        assert set(wire.commit(connection, "classic", commits, *member).values()) == {wire.NO_ERROR}
        error, epoch, _ = wire_consumer.heartbeat(connection, "consumer", "m", 0, topics=["orders"])
        assert error == wire.NO_ERROR
        assert wire_consumer.commit(connection, "consumer", "m", epoch, "orders", 0, 5) == wire.NO_ERROR
    return member


def delete_group(connection, group):
    reader = connection.ask(42, 0, wire.array([wire.text(group)]))
    reader.i32()
    assert reader.array(lambda: (reader.text(), reader.i16())) == [(group, wire.NO_ERROR)]


def seen(connection):
    """What a client can see of all that."""
    for group in ("simple", "classic", "consumer", "deleted"):
        wire.find_coordinator(connection, group)
    groups = ("simple", "classic", "consumer", "deleted")
    return {
        "ids": topic_ids(connection),
        "offsets": {group: wire.fetch_offsets_with_epochs(connection, group, None) for group in groups},
        "classic": wire.describe_group(connection, "classic"),
        "consumer": wire_consumer.describe(connection, "consumer"),
        "orders": records_of(connection, "orders"),
        "__consumer_offsets": [records_of(connection, "__consumer_offsets", index) for index in range(PARTITIONS)],
    }


def test_there_and_back_again(kafka_server, new_server, moved_in):
    kafka = kafka_server(settings=SETTINGS)
    member, generation = live_one(kafka)
    with kafka.connect() as connection:
        before = seen(connection)
    assert before["offsets"]["classic"][0][("orders", 0)][0] == 4
    assert before["classic"][0] == "Stable" and before["consumer"][1] == "Stable"

    ours = new_server(settings={"group.consumer.assignment.interval.ms": "0"})
    running = moved_in(kafka.data, ours.data)
    assert running.returncode == 1 and "still runs" in running.stderr, running
    assert kafka.stop() in (0, 143)
    dry = moved_in(kafka.data, ours.data, "--dry-run")
    assert dry.returncode == 0 and "would take" in dry.stdout and not os.path.exists(ours.data), dry
    done = moved_in(kafka.data, ours.data)
    assert done.returncode == 0 and f"of 3 groups from {PARTITIONS} partitions" in done.stdout, done
    again = moved_in(kafka.data, ours.data)
    assert again.returncode == 1 and "has topics already" in again.stderr, again

    ours.start()
    with ours.connect() as connection:
        assert seen(connection) == before
        # Life goes on: the members of before are known, and new records follow the old ones.
        assert wire.heartbeat(connection, "classic", member, generation) == wire.NO_ERROR
        error, epoch, _ = wire_consumer.heartbeat(connection, "consumer", "m", before["consumer"][2])
        assert (error, epoch) == (wire.NO_ERROR, before["consumer"][2])
        assert wire.commit(connection, "classic", {("orders", 0): (5, "")}, member, generation) == {
            ("orders", 0): wire.NO_ERROR
        }
        record = batches.batch([b"order 5"])
        assert wire.produce(connection, "orders", 0, record)[:2] == (wire.NO_ERROR, 5)
    ours.kill()
    ours.start()
    with ours.connect() as connection:
        changed = seen(connection)
        assert changed["offsets"]["classic"][0][("orders", 0)] == (5, -1, "")
        assert changed["orders"].startswith(before["orders"]) and changed["orders"] != before["orders"]
        assert (changed["classic"], changed["consumer"]) == (before["classic"], before["consumer"])
        error, _, _ = wire_consumer.heartbeat(connection, "consumer", "m", before["consumer"][2])
        assert error == wire.NO_ERROR
    assert ours.stop() == 0

    moving.give(ours, kafka, {"__consumer_offsets": PARTITIONS, "orders": 2})
    kafka.start()
    with kafka.connect() as connection:
        assert seen(connection) == changed
        assert wire.heartbeat(connection, "classic", member, generation) == wire.NO_ERROR
        error, _, _ = wire_consumer.heartbeat(connection, "consumer", "m", before["consumer"][2])
        assert error == wire.NO_ERROR
        assert wire.produce(connection, "orders", 0, record)[:2] == (wire.NO_ERROR, 6)
