"""The whole story: produce, consume in a group of two, commit, stop, restart, go on. Told of each client."""

import time

import pytest

from harness import capabilities, wire
from harness.member import settle

NO_AUTO = {"enable_auto_commit": "false", "auto_offset_reset": "earliest"}


def values(first, count):
    return [f"value-{number}" for number in range(first, first + count)]


@pytest.mark.column("whole story")
def test_two_members_commit_and_nothing_comes_twice(client, can, own_server, clients, name):
    with own_server.connect() as connection:
        assert wire.create_topic(connection, name, partitions=2) == wire.NO_ERROR
    first, second = (clients.start(client, own_server, group=name, **NO_AUTO) for _ in range(2))
    for member in (first, second):
        member.subscribe(name)
    ((first_has,), (second_has,)) = settle([first, second], partitions_each=1)
    assert {first_has, second_has} == {0, 1}

    assert first.produce(name, partition=0, first=0, count=100) == list(range(100))
    assert second.produce(name, partition=1, first=100, count=100) == list(range(100))
    for member, partition in ((first, first_has), (second, second_has)):
        records = member.poll(100)
        assert [record[:2] for record in records] == [(partition, offset) for offset in range(100)]
        assert [record[2] for record in records] == values(100 * partition, 100)

    # After records 0..99 the committed offset is 100, however it was committed.
    metadata = "first stopped here, with a space and an ü" if can(capabilities.COMMIT_METADATA) else ""
    first.commit("sync", metadata=metadata)
    second.commit("async" if can(capabilities.ASYNC_COMMIT) else "sync", metadata="")
    expected = {first_has: (100, metadata), second_has: (100, "")}
    assert first.committed(name, 0, 1) == expected
    assert second.committed(name, 0, 1) == expected

    first.close()
    second.close()
    assert own_server.stop() in (0, 143)
    own_server.start()

    # The commits were the last step: while the new members settle, `settle` takes any record for a failure.
    third, fourth = (clients.start(client, own_server, group=name, **NO_AUTO) for _ in range(2))
    for member in (third, fourth):
        member.subscribe(name)
    shares = settle([third, fourth], partitions_each=1)
    assert third.committed(name, 0, 1) == expected
    for member, (partition,) in zip((third, fourth), shares):
        member.produce(name, partition, first=200, count=10)
        records = member.poll(10)
        assert records == [(partition, 100 + number, f"value-{200 + number}") for number in range(10)]
        assert member.poll(1, seconds=0.5) == []
        member.commit("sync")
    assert third.committed(name, 0, 1) == {0: (110, ""), 1: (110, "")}


@pytest.mark.column("automatic commit")
def test_automatic_commits_survive_a_crash_and_the_member_goes_on(
    client, can, own_server, clients, name, against_kafka
):
    with own_server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
    member = clients.start(
        client,
        own_server,
        group=name,
        enable_auto_commit="true",
        auto_commit_interval_ms=100,
        auto_offset_reset="earliest",
    )
    member.subscribe(name)
    member.produce(name, partition=0, first=0, count=100)
    assert len(member.poll(100)) == 100
    assert poll_until_committed(member, name, 100) == []

    own_server.kill()
    own_server.start()

    # The same processes, both sides of the crash.
    assert member.produce(name, partition=0, first=100, count=10) == list(range(100, 110))
    records = [(0, offset, f"value-{offset}") for offset in range(100, 110)]
    came = member.poll(10, seconds=60)
    if against_kafka:
        # It looks for its coordinators long after it serves records, and aiokafka 0.14.0 never ends closing meanwhile.
        with own_server.connect() as connection:
            wire.find_coordinator(connection, name)
    came += poll_until_committed(member, name, 110)
    # Every record, and none from before the commit; once each, if the member did not have to join anew.
    assert came == records if can(capabilities.STAYS_MEMBER) else set(came) == set(records)
    member.close()
    after = clients.start(client, own_server, group=name, **NO_AUTO)
    # What a client writes beside an automatic commit is its own business.
    assert after.committed(name)[0][0] == 110


def poll_until_committed(member, topic, offset, seconds=30):
    """The interval passes while the member polls on. Returns what came meanwhile."""
    deadline = time.monotonic() + seconds
    records = []
    while member.committed(topic)[0][0] != offset:
        assert time.monotonic() < deadline, "the member commits nothing"
        records += member.poll(1, seconds=0.2)
    return records
