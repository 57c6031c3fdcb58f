"""The log was cut below a committed position and went on in another leader epoch: the epoch of the commit tells the consumer
(KIP-320), which does not go on reading as if nothing had happened."""

import pytest

from harness import batches, wire

# Java's client asks for the end of its epoch before it reads on from a committed position. librdkafka asks only once the leader
# changes while it reads.
ASKING = ("java",)


def ten_records(connection, topic):
    batch = batches.batch([b"%d" % number for number in range(10)])
    assert wire.produce(connection, topic, 0, batch)[0] == wire.NO_ERROR
    return wire.leader_epoch(connection, topic)


def test_a_position_beyond_the_end_of_its_epoch_is_found_out(client, own_server, clients, name):
    if client not in ASKING:
        pytest.skip("it does not ask for the end of an epoch")
    server = own_server
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        wire.wait_for_leaders(connection, name, 1)
        before = ten_records(connection, name)
    server.stop()
    server.start()
    with server.connect() as connection:
        wire.wait_for_leaders(connection, name, 1)
        assert ten_records(connection, name) > before
        # As if there had been records up to 15 in the epoch before, which are lost: it ends at 10 now.
        wire.find_coordinator(connection, name)
        codes = wire.commit(connection, name, {(name, 0): (15, "")}, epoch=before)
        assert codes == {(name, 0): wire.NO_ERROR}
        found, error = wire.fetch_offsets_with_epochs(connection, name, None)
        assert (found[(name, 0)][:2], error) == ((15, before), wire.NO_ERROR)

    member = clients.start(client, server, group=name, auto_offset_reset="earliest", enable_auto_commit="false")
    member.subscribe(name)
    # From where the epoch ended, or from the beginning: in no case from 15 on, as if 10 to 14 had been read.
    first = member.poll(10)[0][1]
    assert first in (0, 10)
