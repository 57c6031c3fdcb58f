"""Cooperative rebalancing: a third member joins, the two others keep what they keep, and nothing is read twice."""

import pytest

from harness import capabilities, wire
from harness.member import settle

PARTITIONS = 6


@pytest.mark.column("cooperative")
@pytest.mark.needs(capabilities.COOPERATIVE)
def test_what_a_member_keeps_is_not_revoked(client, server, clients, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name, partitions=PARTITIONS) == wire.NO_ERROR
    settings = {
        "enable_auto_commit": "false",
        "auto_offset_reset": "earliest",
        "partition_assignment_strategy": "cooperative-sticky",
    }
    start = lambda: clients.start(client, server, group=name, **settings)
    pair = [start(), start()]
    for member in pair:
        member.subscribe(name)
    before = settle(pair, partitions_each=3)
    assert sorted(before[0] + before[1]) == list(range(PARTITIONS))
    read = []
    for member, share in zip(pair, before):
        for partition in share:
            member.produce(name, partition, first=0, count=10)
        read += member.poll(30)
        member.commit("sync")
        # What happened while the two found each other is of no interest.
        member.rebalances()

    third = start()
    third.subscribe(name)
    # A record that came now would be one that came twice: `settle` fails on it.
    *after, new = settle([*pair, third], partitions_each=2)
    for member, had, has in zip(pair, before, after):
        assert set(has) < set(had)
        # Each gave up one partition, and only that was taken from it.
        assert member.rebalances() == sorted(set(had) - set(has))
    assert sorted(after[0] + after[1] + new) == list(range(PARTITIONS))

    for member, share in zip([*pair, third], [*after, new]):
        for partition in share:
            member.produce(name, partition, first=10, count=10)
        read += member.poll(20)
    places = [record[:2] for record in read]
    assert sorted(places) == [(partition, offset) for partition in range(PARTITIONS) for offset in range(20)]
