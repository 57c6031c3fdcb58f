"""A member that slept past its session and wakes after the rebalance cannot move the offset of its successor."""

import time

import pytest

from harness import capabilities, wire
from harness.member import Refused

SESSION = {"session_timeout_ms": 1500, "heartbeat_interval_ms": 300, "max_poll_records": 10}


@pytest.mark.column("zombie")
@pytest.mark.needs(capabilities.REFUSED_COMMIT)
def test_the_commit_of_a_zombie_is_refused(client, server, clients, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
    settings = {"enable_auto_commit": "false", "auto_offset_reset": "earliest", **SESSION}
    sleeper = clients.start(client, server, group=name, **settings)
    sleeper.subscribe(name)
    sleeper.produce(name, partition=0, first=0, count=100)
    assert [offset for _, offset, _ in sleeper.poll(50)] == list(range(50))
    sleeper.commit("sync")
    sleeper.poll(10)
    with server.connect() as connection:
        state, ((sleeper_id, _, _),) = wire.describe_group(connection, name)
        assert state == "Stable"
        generation = generation_of(connection, name, sleeper_id)

        sleeper.freeze()
        wait_until(lambda: wire.describe_group(connection, name)[1] == [])
        owner = clients.start(client, server, group=name, **settings)
        owner.subscribe(name)
        # What was not committed comes again, and no more.
        assert [offset for _, offset, _ in owner.poll(50)] == list(range(50, 100))
        owner.commit("sync")
        assert wire.committed(connection, name, name) == 100

        sleeper.thaw()
        with pytest.raises(Refused):
            sleeper.commit("sync")
        assert wire.committed(connection, name, name) == 100
        # The same commit by hand, in case the client kept its own back.
        codes = wire.commit(connection, name, {(name, 0): (60, "")}, sleeper_id, generation)
        assert codes == {(name, 0): wire.UNKNOWN_MEMBER_ID}
        _, ((owner_id, _, _), *_) = wire.describe_group(connection, name)
        codes = wire.commit(connection, name, {(name, 0): (60, "")}, owner_id, generation)
        assert codes == {(name, 0): wire.ILLEGAL_GENERATION}
        assert wire.committed(connection, name, name) == 100


def test_the_next_generation_refuses_the_commit_of_the_one_before(server, name):
    """The member never left; only the generation moved on."""
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        wire.find_coordinator(connection, name)
        member, generation = wire.joined_member(connection, name)
        wire.commit(connection, name, {(name, 0): (10, "")}, member, generation)
        error, next_generation, _ = wire.join_group(connection, name, member)
        assert (error, next_generation) == (wire.NO_ERROR, generation + 1)
        assert wire.sync_group(connection, name, member, next_generation) == wire.NO_ERROR
        codes = wire.commit(connection, name, {(name, 0): (5, "")}, member, generation)
        assert codes == {(name, 0): wire.ILLEGAL_GENERATION}
        assert wire.committed(connection, name, name) == 10


def generation_of(connection, group, member):
    """The generation is told to members only, so a heartbeat finds it."""
    for generation in range(100):
        if wire.heartbeat(connection, group, member, generation) == wire.NO_ERROR:
            return generation
    raise AssertionError("the member is in none of the first hundred generations")


def wait_until(holds, seconds=30):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "what the story waits for did not happen"
        time.sleep(0.1)
