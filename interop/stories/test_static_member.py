"""A static member that is killed and comes back within its session keeps its partitions, and nobody is disturbed."""

import pytest

from harness import capabilities, wire
from harness.member import settle

from .test_zombie import generation_of


@pytest.mark.column("static member")
@pytest.mark.needs(capabilities.STATIC_MEMBERS)
def test_a_restart_is_not_a_rebalance(client, server, clients, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name, partitions=2) == wire.NO_ERROR
        settings = {"enable_auto_commit": "false", "auto_offset_reset": "earliest", "session_timeout_ms": 20_000}
        start = lambda instance: clients.start(client, server, group=name, group_instance_id=instance, **settings)
        # The first one leads the group: some clients' leaders ask for a rebalance whenever their metadata changes.
        leader = start("leader")
        leader.subscribe(name)
        settle([leader], partitions_each=2)
        follower = start("follower")
        follower.subscribe(name)
        ((other,), (share,)) = settle([leader, follower], partitions_each=1)
        ids = {instance: member for member, instance, _ in wire.describe_group(connection, name)[1]}
        generation = generation_of(connection, name, ids["leader"])

        follower.kill()
        again = start("follower")
        again.subscribe(name)
        # Only the one that came back polls: were there a rebalance, it would wait for the other.
        assert settle([again], partitions_each=1) == [[share]]
        assert wire.heartbeat(connection, name, ids["leader"], generation) == wire.NO_ERROR
        state, members = wire.describe_group(connection, name)
        after = {instance: member for member, instance, _ in members}
        assert state == "Stable" and after["leader"] == ids["leader"]
        # The instance has a new member id, and the one before is fenced.
        stale = ids["follower"]
        assert after["follower"] != stale
        assert wire.heartbeat(connection, name, stale, generation) == wire.UNKNOWN_MEMBER_ID
        codes = wire.commit(connection, name, {(name, share): (5, "")}, stale, generation, instance="follower")
        assert codes == {(name, share): wire.FENCED_INSTANCE_ID}

        again.produce(name, share, first=0, count=10)
        leader.produce(name, other, first=0, count=10)
        assert len(again.poll(10)) == len(leader.poll(10)) == 10
