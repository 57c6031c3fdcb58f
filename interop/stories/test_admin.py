"""What an administrator does with each client's own admin tools: topics, groups, offsets."""

import pytest

from confluent_kafka.admin import AdminClient

from harness import capabilities, wire
from harness.member import Refused

TOPIC_ALREADY_EXISTS = 36
NON_EMPTY_GROUP = 68


def refused_with(code, client, work):
    with pytest.raises(Refused) as refused:
        work()
    assert refused.value.code == code


def offsets(admin, group, topic, partitions):
    """{partition: offset or None}."""
    answer = admin.ask("list-offsets", group=group, topic=topic, partitions=",".join(map(str, partitions)))
    entries = [entry.split(":") for entry in answer["offsets"].split(",")]
    return {int(partition): None if offset == "none" else int(offset) for partition, offset, _ in entries}


@pytest.mark.column("admin of topics")
@pytest.mark.needs(capabilities.TOPIC_ADMIN)
def test_topics_come_and_go(client, can, server, clients, name):
    admin = clients.start(client, server)
    admin.ask("create-topic", topic=name, partitions=3)
    refused_with(TOPIC_ALREADY_EXISTS, client, lambda: admin.ask("create-topic", topic=name, partitions=3))
    assert admin.produce(name, partition=2, first=0, count=5) == list(range(5))
    assert admin.ask("describe-topic", topic=name) == {"partitions": "3"}
    if can(capabilities.BAD_TOPIC_NAMES):
        refused_with(wire.INVALID_TOPIC, client, lambda: admin.ask("create-topic", topic="no/such", partitions=1))

    with server.connect() as connection:
        wire.find_coordinator(connection, name)
        assert wire.commit(connection, name, {(name, 2): (5, "")}) == {(name, 2): wire.NO_ERROR}
        admin.ask("delete-topic", topic=name)
        # The topic is gone, and its offsets with it.
        gone = wire.UNKNOWN_TOPIC_OR_PARTITION
        assert wire.commit(connection, name, {(name, 2): (6, "")}) == {(name, 2): gone}
        refused_with(gone, client, lambda: admin.ask("delete-topic", topic=name))
        # One of the same name begins anew.
        admin.ask("create-topic", topic=name, partitions=3)
        assert admin.produce(name, partition=2, first=0, count=1) == [0]
        assert wire.committed(connection, name, name, 2) is None


@pytest.mark.column("admin of groups")
@pytest.mark.needs(capabilities.GROUP_ADMIN)
def test_groups_and_their_offsets(client, can, server, clients, name):
    admin = clients.start(client, server)
    with server.connect() as connection:
        assert wire.create_topic(connection, name, partitions=2) == wire.NO_ERROR
    member = clients.start(client, server, group=name, auto_offset_reset="earliest", enable_auto_commit="false")
    member.subscribe(name)
    admin.produce(name, partition=0, first=0, count=10)
    assert len(member.poll(10)) == 10
    member.commit("sync")

    assert name in admin.ask("list-groups")["groups"].split(",")
    assert admin.ask("describe-group", group=name) == {"state": "Stable", "members": "1"}
    if can(capabilities.DELETE_GROUPS):
        refused_with(NON_EMPTY_GROUP, client, lambda: admin.ask("delete-group", group=name))
    assert offsets(admin, name, name, [0])[0] == 10

    member.close()
    assert admin.ask("describe-group", group=name) == {"state": "Empty", "members": "0"}
    left = {0: 10, 1: None}
    if can(capabilities.ALTER_OFFSETS):
        admin.ask("alter-offset", group=name, topic=name, partition=0, offset=3)
        admin.ask("alter-offset", group=name, topic=name, partition=1, offset=7)
        left = {0: 3, 1: 7}
        assert offsets(admin, name, name, [0, 1]) == left
    if can(capabilities.DELETE_OFFSETS):
        admin.ask("delete-offsets", group=name, topic=name, partitions="1")
        left[1] = None
        assert offsets(admin, name, name, [0, 1]) == left

    # A member that comes back starts where the administrator said.
    back = clients.start(client, server, group=name, auto_offset_reset="latest", enable_auto_commit="false")
    back.subscribe(name)
    expected = list(range(left[0], 10))
    assert [offset for _, offset, _ in back.poll(len(expected))] == expected
    back.close()

    if can(capabilities.DELETE_GROUPS):
        admin.ask("delete-group", group=name)
        assert name not in admin.ask("list-groups")["groups"].split(",")
        with server.connect() as connection:
            assert wire.fetch_offsets(connection, name, None) == ({}, wire.NO_ERROR)
        refused_with(wire.GROUP_ID_NOT_FOUND, client, lambda: admin.ask("delete-group", group=name))


def test_librdkafka_asks_for_all_topics(server, name):
    """What kcat -L does, too: a Metadata request for all topics, behind whose last field librdkafka leaves bytes."""
    with server.connect() as connection:
        assert wire.create_topic(connection, name, partitions=3) == wire.NO_ERROR
    topics = AdminClient({"bootstrap.servers": server.bootstrap}).list_topics(timeout=20).topics
    assert len(topics[name].partitions) == 3
