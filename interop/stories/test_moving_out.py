"""Our partitions' segments are given to a Kafka broker that was made anew: it serves the same committed offsets and groups."""

import os

import pytest

from harness import batches, moving, wire, wire_consumer

PARTITIONS = 5
SETTINGS = {"offsets.topic.num.partitions": str(PARTITIONS), "group.consumer.assignment.interval.ms": "0"}

pytestmark = pytest.mark.own_binary

def seen(connection, groups):
    found = {}
    for group in groups:
        wire.find_coordinator(connection, group)
        found[group] = wire.fetch_offsets_with_epochs(connection, group, None)
    found["described"] = wire.describe_group(connection, "classic")
    found["consumer"] = wire_consumer.describe(connection, "consumer")
    return found


def fill_until_compacted(connection, ours):
    """Commits so much that a segment is compacted: its name has more than twenty digits then."""
    partitions = 100
    assert wire.create_topic(connection, "bulk", partitions) == wire.NO_ERROR
    is_cleaned = lambda name: name.endswith(".log") and len(name) > len(f"{0:020}.log")
    is_offsets = lambda name: name.startswith("__consumer_offsets-")
    folders = lambda: [os.path.join(ours.data, name) for name in os.listdir(ours.data) if is_offsets(name)]
    for number in range(200):
        offsets = {("bulk", partition): (number, "m" * 4000) for partition in range(partitions)}
        assert set(wire.commit(connection, "bulk", offsets).values()) == {wire.NO_ERROR}
        if any(is_cleaned(name) for folder in folders() for name in os.listdir(folder)):
            return
    raise AssertionError("nothing was compacted")


def test_kafka_goes_on_with_our_folders(kafka_server, new_server):
    ours = new_server(settings=SETTINGS).start()
    groups = ("simple", "classic", "consumer", "deleted", "bulk")
    with ours.connect() as connection:
        assert wire.create_topic(connection, "orders", 1) == wire.NO_ERROR
        for number in range(5):
            record = batches.batch([f"order {number}".encode()])
            assert wire.produce(connection, "orders", 0, record)[0] == wire.NO_ERROR
        for group in groups:
            wire.find_coordinator(connection, group)
        member = wire.joined_member(connection, "classic", 300_000)
        for number in range(5):
            assert wire.commit(connection, "classic", {("orders", 0): (number, "")}, *member)[("orders", 0)] == 0
        for group in ("simple", "deleted"):
            assert wire.commit(connection, group, {("orders", 0): (3, "three")})[("orders", 0)] == 0
        reader = connection.ask(42, 0, wire.array([wire.text("deleted")]))
        reader.i32()
        assert reader.array(lambda: (reader.text(), reader.i16())) == [("deleted", wire.NO_ERROR)]
        fill_until_compacted(connection, ours)
        error, epoch, _ = wire_consumer.heartbeat(connection, "consumer", "m", 0, topics=["orders"])
        assert error == wire.NO_ERROR
        assert wire_consumer.commit(connection, "consumer", "m", epoch, "orders", 0, 5) == wire.NO_ERROR
        before = seen(connection, groups)
    assert ours.stop() == 0

    kafka = kafka_server(settings=SETTINGS)
    with kafka.connect() as connection:
        wire.find_coordinator(connection, "any")
        assert wire.create_topic(connection, "orders", 1) == wire.NO_ERROR
    assert kafka.stop() in (0, 143)
    moving.give(ours, kafka, {"__consumer_offsets": PARTITIONS, "orders": 1})
    kafka.start()
    # Of the same name, but not the topic that the member of the consumer group was assigned partitions of.
    before["consumer"] = (0, "Stable", 2, 2, {"m": (2, [], [])})
    with kafka.connect() as connection:
        assert seen(connection, groups) == before
        assert wire.heartbeat(connection, "classic", *member) == wire.NO_ERROR
        assert wire.end_offset(connection, "orders") == 5
