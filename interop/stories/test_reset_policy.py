"""Where a member starts when there is no commit, and that "no commit" is never taken for the number 0."""

import pytest

from harness import capabilities, wire
from harness.member import Refused


@pytest.fixture
def topic_of_ten(server, clients, client, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
    clients.start(client, server).produce(name, partition=0, first=0, count=10)
    return name


def start(clients, client, server, topic, group, policy):
    with server.connect() as connection:
        wire.find_coordinator(connection, group)
    member = clients.start(client, server, group=group, enable_auto_commit="false", auto_offset_reset=policy)
    member.subscribe(topic)
    return member


@pytest.mark.column("reset policies")
def test_without_a_commit(client, can, server, clients, topic_of_ten):
    topic = topic_of_ten
    earliest = start(clients, client, server, topic, f"{topic}-earliest", "earliest")
    latest = start(clients, client, server, topic, f"{topic}-latest", "latest")
    for member in (earliest, latest):
        assert member.committed(topic) == {0: (None, "")}

    assert [offset for _, offset, _ in earliest.poll(10)] == list(range(10))
    assert latest.poll(1, seconds=2) == []
    if can(capabilities.RESET_NONE):
        none = start(clients, client, server, topic, f"{topic}-none", "none")
        with pytest.raises(Refused):
            none.poll(1, seconds=20)

    earliest.produce(topic, partition=0, first=10, count=1)
    assert earliest.poll(1) == [(0, 10, "value-10")]
    assert latest.poll(1) == [(0, 10, "value-10")]


@pytest.mark.column("reset policies")
def test_a_commit_of_zero_is_a_commit(client, server, clients, topic_of_ten):
    topic = topic_of_ten
    with server.connect() as connection:
        wire.find_coordinator(connection, topic)
        assert wire.commit(connection, topic, {(topic, 0): (0, "")}) == {(topic, 0): wire.NO_ERROR}
    member = start(clients, client, server, topic, topic, "latest")
    assert member.committed(topic, 0) == {0: (0, "")}
    # It starts at 0 although its policy says to start at the end.
    assert [offset for _, offset, _ in member.poll(10)] == list(range(10))


def test_never_committed_and_unknown_and_zero(server, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name, partitions=2) == wire.NO_ERROR
        for group in (name, f"{name}-never"):
            wire.find_coordinator(connection, group)
        wire.commit(connection, name, {(name, 0): (0, None)})
        asked = [(name, 0), (name, 1), (name, 99), ("no-such-topic", 0)]
        found, error = wire.fetch_offsets(connection, name, asked)
        assert error == wire.NO_ERROR
        assert [found[key][0] for key in asked] == [0, None, None, None]
        assert wire.fetch_offsets(connection, f"{name}-never", [(name, 0)]) == ({(name, 0): (None, "")}, 0)
        # "All" lists what was committed and nothing else.
        assert wire.fetch_offsets(connection, name, None) == ({(name, 0): (0, "")}, 0)
        assert wire.fetch_offsets(connection, f"{name}-never", None) == ({}, 0)


def test_while_the_server_does_not_know_yet_it_says_so(own_server, name):
    groups = [f"{name}-{number}" for number in range(20)]
    with own_server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        for group in groups:
            wire.find_coordinator(connection, group)
            assert wire.commit(connection, group, {(name, 0): (42, "")}) == {(name, 0): wire.NO_ERROR}
    own_server.kill()
    own_server.start()
    # From the first moment on: an error that says "not yet", or the offset; never "none".
    with own_server.connect() as connection:
        for group in groups:
            error = wire.NOT_READY[0]
            while error != wire.NO_ERROR:
                found, error = wire.fetch_offsets(connection, group, [(name, 0)])
                assert error in (wire.NO_ERROR, *wire.NOT_READY)
            assert found[(name, 0)] == (42, "")
