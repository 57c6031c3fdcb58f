"""A commit may carry the leader epoch of the record before it; it is kept, and handed out again."""

import pytest

from harness import capabilities, wire


@pytest.mark.column("commit with epoch")
@pytest.mark.needs(capabilities.COMMIT_EPOCH)
def test_the_leader_epoch_of_a_commit_is_kept(client, can, server, clients, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        member = clients.start(client, server, group=name, auto_offset_reset="earliest", enable_auto_commit="false")
        member.subscribe(name)
        member.produce(name, partition=0, first=0, count=10)
        assert len(member.poll(10)) == 10
        epoch = wire.leader_epoch(connection, name)
        assert epoch >= 0
        metadata = "with an epoch" if can(capabilities.COMMIT_METADATA) else ""
        for mode in ("sync", "async"):
            member.commit(mode, metadata=metadata, epoch=epoch)
            found, error = wire.fetch_offsets_with_epochs(connection, name, None)
            assert (found[(name, 0)][:2], error) == ((10, epoch), wire.NO_ERROR)
            # Asked of the client itself: confluent-kafka for Python sends a NUL byte after the text.
            assert member.committed(name) == {0: (10, metadata)}
        member.close()

    # Whoever reads on has the epoch checked against the log, and is not sent back by it.
    back = clients.start(client, server, group=name, auto_offset_reset="earliest", enable_auto_commit="false")
    back.subscribe(name)
    back.produce(name, partition=0, first=10, count=5)
    assert [offset for _, offset, _ in back.poll(5)] == list(range(10, 15))
