"""Consumer groups of KIP-848 (`group.protocol=consumer`), in which the server assigns."""

import time

import pytest

from harness import wire
from harness import wire_consumer as by_hand
from harness.member import settle

from .test_zombie import wait_until

# Heartbeats that are quick, and sessions that are short, so that the stories are.
SETTINGS = {
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "4000",
    "group.consumer.assignment.interval.ms": "0",
}
MEMBER = {"group_protocol": "consumer", "auto_offset_reset": "earliest", "enable_auto_commit": "false"}


@pytest.fixture(scope="module")
def server(new_server):
    one = new_server(settings=SETTINGS).start()
    yield one
    one.end()


def told_of(*names):
    """The story is told once for each of these clients, which speak this protocol."""
    return pytest.mark.parametrize("client", names, indirect=True)


def create(server, topic, partitions):
    with server.connect() as connection:
        assert wire.create_topic(connection, topic, partitions=partitions) == wire.NO_ERROR
        wire.find_coordinator(connection, topic)


def joined(clients, client, server, group, count, **settings):
    members = [clients.start(client, server, group=group, **MEMBER, **settings) for _ in range(count)]
    for member in members:
        member.subscribe(group)
    return members


def read_all(members, wanted, seconds=30):
    """Every record that the members get, all polling at once, until so many came."""
    records, deadline = [], time.monotonic() + seconds
    while len(records) < wanted and time.monotonic() < deadline:
        for member in members:
            member.tell("poll", records=wanted, seconds=0.5)
        records += [record for member in members for record in member._records(member.answer())]
    return records


@told_of("librdkafka", "java", "franz-go")
def test_members_share_and_what_a_dead_one_had_is_taken_over(client, server, clients, name):
    create(server, name, partitions=6)
    first, second = joined(clients, client, server, name, 2)
    settle([first, second], partitions_each=3)
    (third,) = joined(clients, client, server, name, 1)
    shares = settle([first, second, third], partitions_each=2)
    assert sorted(sum(shares, [])) == list(range(6))

    for partition in range(6):
        first.produce(name, partition, first=0, count=10)
    records = read_all([first, second, third], 60)
    assert sorted((partition, offset) for partition, offset, _ in records) == [
        (partition, offset) for partition in range(6) for offset in range(10)
    ]
    for member in (first, second, third):
        member.commit("sync")

    second.kill()
    settle([first, third], partitions_each=3)
    assert {offset for offset, _ in first.committed(name, *range(6)).values()} == {10}
    for partition in range(6):
        first.produce(name, partition, first=10, count=10)
    records = read_all([first, third], 60)
    # What was committed does not come again, whoever had it.
    assert sorted((partition, offset) for partition, offset, _ in records) == [
        (partition, offset) for partition in range(6) for offset in range(10, 20)
    ]
    with server.connect() as connection:
        error, state, epoch, target, members = by_hand.describe(connection, name)
        assert (error, state, len(members)) == (wire.NO_ERROR, "Stable", 2)
        assert epoch == target and all(member_epoch == epoch for member_epoch, _, _ in members.values())
        third.close()
        wait_until(lambda: len(by_hand.describe(connection, name)[4]) == 1)


@told_of("librdkafka", "java", "franz-go")
def test_a_static_member_comes_back_to_what_it_had(client, server, clients, name):
    create(server, name, partitions=4)
    start = lambda instance: joined(clients, client, server, name, 1, group_instance_id=instance)[0]
    stays, leaves = start("stays"), start("leaves")
    (kept, share) = settle([stays, leaves], partitions_each=2)
    leaves.close()
    back = start("leaves")
    assert settle([stays, back], partitions_each=2) == [kept, share]


@told_of("librdkafka", "java")
def test_topics_are_found_by_a_pattern(client, server, clients, name):
    create(server, f"{name}-one", partitions=1)
    member = clients.start(client, server, group=name, **MEMBER)
    member.subscribe_pattern(f"{name}-.*")
    member.produce(f"{name}-one", 0, first=0, count=5)
    assert len(member.poll(5)) == 5
    # A topic that comes later is found too, though not at once.
    create(server, f"{name}-two", partitions=1)
    member.produce(f"{name}-two", 0, first=5, count=5)
    assert [value for _, _, value in member.poll(5, seconds=60)] == [f"value-{number}" for number in range(5, 10)]


@told_of("librdkafka", "java", "franz-go")
def test_the_group_outlives_its_server(client, new_server, clients, name):
    server = new_server(settings=SETTINGS).start()
    try:
        create(server, name, partitions=4)
        members = joined(clients, client, server, name, 2)
        settle(members, partitions_each=2)
        for partition in range(4):
            members[0].produce(name, partition, first=0, count=10)
        assert len(read_all(members, 40)) == 40
        for member in members:
            member.commit("sync")
        server.kill()
        server.start()
        settle(members, partitions_each=2)
        for partition in range(4):
            members[0].produce(name, partition, first=10, count=10)
        records = read_all(members, 40)
        assert sorted((partition, offset) for partition, offset, _ in records) == [
            (partition, offset) for partition in range(4) for offset in range(10, 20)
        ]
        for member in members:
            member.commit("sync")
        assert {offset for offset, _ in members[0].committed(name, *range(4)).values()} == {20}
    finally:
        server.end()


def test_heartbeats_by_hand(server, name):
    """Epochs, codes and assignments, step by step: what `tests/scenarios/consumer_*.txt` say is what Kafka does."""
    create(server, name, partitions=4)
    with server.connect() as connection:
        beat = lambda member, epoch, **words: by_hand.heartbeat(connection, name, member, epoch, **words)
        assert beat("a", 1)[0] == wire.GROUP_ID_NOT_FOUND
        assert beat("", 0, topics=[name])[0] == by_hand.INVALID_REQUEST
        assert beat("a", 0)[0] == by_hand.INVALID_REQUEST
        assert beat("a", -2)[0] == by_hand.INVALID_REQUEST
        assert beat("a", -3)[0] == by_hand.INVALID_REQUEST
        assert beat("a", 0, topics=[name], assignor="sticky")[0] == by_hand.UNSUPPORTED_ASSIGNOR
        assert beat("a", 0, regex="(")[0] == by_hand.INVALID_REGULAR_EXPRESSION
        for refused in [r"(?=a)", r"a**", r"\1", "a{2}*", "(?x)a"]:
            assert beat("a", 0, regex=refused)[0] == by_hand.INVALID_REGULAR_EXPRESSION, refused

        error, epoch, ((topic, all_four),) = beat("a", 0, topics=[name])
        assert (error, epoch, all_four) == (wire.NO_ERROR, 2, [0, 1, 2, 3])
        assert beat("a", 2) == (wire.NO_ERROR, 2, None)
        assert beat("b", 0, topics=[name]) == (wire.NO_ERROR, 3, [])
        error, epoch, ((_, kept),) = beat("a", 2)
        assert (error, epoch, len(kept)) == (wire.NO_ERROR, 2, 2)
        assert beat("b", 3) == (wire.NO_ERROR, 3, None)
        # Until it has said so, what it must give up is still its own.
        given_up = next(number for number in range(4) if number not in kept)
        commit = lambda member, epoch, partition: by_hand.commit(connection, name, member, epoch, name, partition)
        assert commit("a", 2, given_up) == wire.NO_ERROR
        assert beat("a", 2, owns=[(topic, kept)]) == (wire.NO_ERROR, 3, None)
        error, epoch, ((_, taken),) = beat("b", 3)
        assert (error, epoch, sorted(kept + taken)) == (wire.NO_ERROR, 3, [0, 1, 2, 3])
        assert beat("a", 2, owns=[(topic, kept[:1])])[:2] == (wire.NO_ERROR, 3)
        assert beat("a", 2)[0] == by_hand.FENCED_MEMBER_EPOCH
        assert beat("a", 2, owns=[(topic, [given_up])])[0] == by_hand.FENCED_MEMBER_EPOCH
        assert beat("a", 9)[0] == by_hand.FENCED_MEMBER_EPOCH

        # KIP-1251: an older epoch may commit what the member has had since then, and nothing else.
        assert commit("a", 2, kept[0]) == wire.NO_ERROR
        assert commit("a", 2, given_up) == by_hand.STALE_MEMBER_EPOCH
        assert commit("a", 4, kept[0]) == by_hand.STALE_MEMBER_EPOCH
        assert commit("b", 2, taken[0]) == by_hand.STALE_MEMBER_EPOCH
        assert commit("b", 3, taken[0]) == wire.NO_ERROR
        assert commit("x", 3, taken[0]) == wire.UNKNOWN_MEMBER_ID
        older = wire.commit(connection, name, {(name, kept[0]): (1, "")}, "a", 3)
        assert older == {(name, kept[0]): by_hand.UNSUPPORTED_VERSION}

        error, state, epoch, target, members = by_hand.describe(connection, name)
        assert (error, state, epoch, target) == (wire.NO_ERROR, "Stable", 3, 3)
        assert members["a"] == (3, [(name, number) for number in kept], [(name, number) for number in kept])
        assert beat("a", -1) == (wire.NO_ERROR, -1, None)
        assert beat("b", -1) == (wire.NO_ERROR, -1, None)
        assert by_hand.describe(connection, name)[:4] == (wire.NO_ERROR, "Empty", 5, 5)
        assert beat("b", 3)[0] == wire.UNKNOWN_MEMBER_ID


def test_static_members_by_hand(server, name):
    create(server, name, partitions=2)
    with server.connect() as connection:
        beat = lambda member, epoch, instance, **words: by_hand.heartbeat(
            connection, name, member, epoch, instance=instance, **words
        )
        assert beat("a", 0, "one", topics=[name])[:2] == (wire.NO_ERROR, 2)
        assert beat("b", 0, "one", topics=[name])[0] == by_hand.UNRELEASED_INSTANCE_ID
        assert beat("b", 2, "two")[0] == wire.UNKNOWN_MEMBER_ID
        assert beat("b", 2, "one")[0] == wire.FENCED_INSTANCE_ID
        assert beat("a", -2, "one") == (wire.NO_ERROR, -2, None)
        error, epoch, ((_, partitions),) = beat("b", 0, "one", topics=[name])
        assert (error, epoch, partitions) == (wire.NO_ERROR, 2, [0, 1])
        assert beat("a", 2, "one")[0] == wire.FENCED_INSTANCE_ID
        assert beat("a", -1, "one")[0] == wire.FENCED_INSTANCE_ID
        assert beat("b", -1, "one") == (wire.NO_ERROR, -1, None)


def test_who_falls_silent_is_put_out(server, name):
    create(server, name, partitions=2)
    with server.connect() as connection:
        assert by_hand.heartbeat(connection, name, "a", 0, topics=[name])[:2] == (wire.NO_ERROR, 2)
        wait_until(lambda: by_hand.describe(connection, name)[1] == "Empty")
        assert by_hand.heartbeat(connection, name, "a", 2)[0] == wire.UNKNOWN_MEMBER_ID
