"""The beginning of a partition is deleted: readers begin behind it, and it does not come back."""

from harness import batches, wire, wire_admin


def filled(connection, topic, policy=None):
    assert wire.create_topic(connection, topic) == wire.NO_ERROR
    for number in range(5):
        batch = batches.batch([b"a%d" % number, b"b%d" % number])
        assert wire.produce(connection, topic, 0, batch) == (wire.NO_ERROR, 2 * number)


def earliest(connection, topic):
    error, _, offset, _ = wire_admin.list_offset(connection, topic, 0, wire_admin.EARLIEST)
    assert error == wire.NO_ERROR
    return offset


def test_the_beginning_goes_and_stays_gone(own_server, name):
    server = own_server
    with server.connect() as connection:
        filled(connection, name)
        assert wire_admin.delete_records(connection, name, 0, 3) == (wire.NO_ERROR, 3)
        assert earliest(connection, name) == 3
        assert wire.fetch(connection, name, 0, 2)[0] == wire_admin.OFFSET_OUT_OF_RANGE
        # Offset 3 lies in the middle of a batch, which still comes whole.
        error, end, data = wire.fetch(connection, name, 0, 3)
        assert (error, end) == (wire.NO_ERROR, 10)
        assert [base for base, *_ in batches.headers(data)][0] == 2
        assert wire_admin.delete_records(connection, name, 0, 1) == (wire.NO_ERROR, 3)
        # The batch of offset 2 is still there, and with it the largest time of all.
        assert wire_admin.list_offset(connection, name, 0, wire_admin.MAX_TIMESTAMP)[0] == wire.NO_ERROR
    server.stop()
    server.start()
    with server.connect() as connection:
        wire.wait_for_leaders(connection, name, 1)
        assert earliest(connection, name) == 3
        assert wire_admin.delete_records(connection, name, 0, -1) == (wire.NO_ERROR, 10)
        assert wire.produce(connection, name, 0, batches.batch([b"next"])) == (wire.NO_ERROR, 10)


def test_a_consumer_begins_behind_what_was_deleted(client, server, clients, name):
    with server.connect() as connection:
        filled(connection, name)
        assert wire_admin.delete_records(connection, name, 0, 6) == (wire.NO_ERROR, 6)
    reader = clients.start(client, server, group=name, auto_offset_reset="earliest")
    reader.subscribe(name)
    assert [offset for _, offset, _ in reader.poll(4)] == [6, 7, 8, 9]


def test_what_is_refused(server, name):
    with server.connect() as connection:
        filled(connection, name)
        delete = lambda topic, partition, offset: wire_admin.delete_records(connection, topic, partition, offset)
        assert delete(name, 0, 11) == (wire_admin.OFFSET_OUT_OF_RANGE, -1)
        assert delete(name, 0, -2) == (wire_admin.OFFSET_OUT_OF_RANGE, -1)
        assert delete(name, 1, 0) == (wire.UNKNOWN_TOPIC_OR_PARTITION, -1)
        assert delete(f"{name}-none", 0, 0) == (wire.UNKNOWN_TOPIC_OR_PARTITION, -1)
        wire.find_coordinator(connection, name)
        assert delete("__consumer_offsets", 0, 0) == (wire.INVALID_TOPIC, -1)
        compact = ("cleanup.policy", wire_admin.SET, "compact")
        assert wire_admin.change_topic(connection, name, compact) == wire.NO_ERROR
        wire_admin.wait_for(lambda: delete(name, 0, 0) == (wire_admin.POLICY_VIOLATION, -1))
        both = ("cleanup.policy", wire_admin.APPEND, "delete")
        assert wire_admin.change_topic(connection, name, both) == wire.NO_ERROR
        wire_admin.wait_for(lambda: delete(name, 0, 0) == (wire.NO_ERROR, 0))
        assert earliest(connection, name) == 0
