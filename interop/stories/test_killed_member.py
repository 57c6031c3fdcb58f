"""A member that is killed is missed when its session is over, and the other one reads on for it."""

import pytest

from harness import wire
from harness.member import settle

SESSION = {"session_timeout_ms": 3000, "heartbeat_interval_ms": 200}


@pytest.mark.column("killed member")
def test_the_other_one_takes_over(client, server, clients, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name, partitions=2) == wire.NO_ERROR
        settings = {"enable_auto_commit": "false", "auto_offset_reset": "earliest", **SESSION}
        heir, victim = (clients.start(client, server, group=name, **settings) for _ in range(2))
        for member in (heir, victim):
            member.subscribe(name)
        ((own,), (taken,)) = settle([heir, victim], partitions_each=1)
        for member, partition in ((heir, own), (victim, taken)):
            member.produce(name, partition, first=0, count=20)
            assert [record[:2] for record in member.poll(20)] == [(partition, offset) for offset in range(20)]
            member.commit("sync")
        # The victim has read these too, and nobody was told.
        victim.produce(name, taken, first=20, count=10)
        assert [record[:2] for record in victim.poll(10)] == [(taken, offset) for offset in range(20, 30)]
        victim.kill()

        assert heir.poll(10, seconds=60) == [(taken, offset, f"value-{offset}") for offset in range(20, 30)]
        assert settle([heir], partitions_each=2) == [[0, 1]]
        assert len(wire.describe_group(connection, name)[1]) == 1
        heir.commit("sync")
        assert [wire.committed(connection, name, name, partition) for partition in (own, taken)] == [20, 30]
