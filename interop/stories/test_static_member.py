"""A static member that is killed and comes back within its session keeps its partitions, and nobody is disturbed."""

from harness import wire
from harness.member import settle

from .test_zombie import generation_of


def test_a_restart_is_not_a_rebalance(client, server, clients, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name, partitions=2) == wire.NO_ERROR
        settings = {"enable_auto_commit": "false", "auto_offset_reset": "earliest", "session_timeout_ms": 20_000}
        start = lambda instance: clients.start(client, server, group=name, group_instance_id=instance, **settings)
        one, two = start("one"), start("two")
        for member in (one, two):
            member.subscribe(name)
        ((share,), (other,)) = settle([one, two], partitions_each=1)
        ids = {instance: member for member, instance, _ in wire.describe_group(connection, name)[1]}
        generation = generation_of(connection, name, ids["two"])

        one.kill()
        again = start("one")
        again.subscribe(name)
        # Only the one that came back polls: were there a rebalance, it would wait for the other.
        assert settle([again], partitions_each=1) == [[share]]
        assert wire.heartbeat(connection, name, ids["two"], generation) == wire.NO_ERROR
        state, members = wire.describe_group(connection, name)
        after = {instance: member for member, instance, _ in members}
        assert state == "Stable" and after["two"] == ids["two"]
        # The instance has a new member id, and the one before is fenced.
        assert after["one"] != ids["one"]
        assert wire.heartbeat(connection, name, ids["one"], generation) == wire.UNKNOWN_MEMBER_ID
        codes = wire.commit(connection, name, {(name, share): (5, "")}, ids["one"], generation, instance="one")
        assert codes == {(name, share): wire.FENCED_INSTANCE_ID}

        again.produce(name, share, first=0, count=10)
        two.produce(name, other, first=0, count=10)
        assert len(again.poll(10)) == len(two.poll(10)) == 10
