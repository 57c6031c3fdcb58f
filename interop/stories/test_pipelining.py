"""Several requests in flight on one connection: they take effect, and are answered, in the order they were sent."""

from confluent_kafka import Producer

from harness import batches, wire


def test_five_idempotent_produces_land_in_order(server, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        producer = wire.init_producer_id(connection)
        for number in range(5):
            batch = batches.batch([b"%d" % number], producer, base_sequence=number)
            connection.send(wire.PRODUCE, 5, wire.produce_body(name, 0, batch))
        answers = [wire.read_produce(connection.receive()) for _ in range(5)]
        assert answers == [(wire.NO_ERROR, offset) for offset in range(5)]

        # The last one again is acknowledged, and not stored again; one too far ahead is refused.
        assert wire.produce(connection, name, 0, batch) == (wire.NO_ERROR, 4)
        ahead = batches.batch([b"ahead"], producer, base_sequence=6)
        assert wire.produce(connection, name, 0, ahead)[0] == wire.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert wire.end_offset(connection, name) == 5


def test_librdkafka_with_five_in_flight(server, clients, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
    offsets = []
    settings = {"enable.idempotence": True, "max.in.flight": 5, "linger.ms": 0, "batch.num.messages": 10}
    producer = Producer({"bootstrap.servers": server.bootstrap, **settings})
    for number in range(5000):
        producer.produce(name, f"value-{number}", partition=0, on_delivery=lambda error, it: offsets.append(it.offset()))
        producer.poll(0)
    assert producer.flush(60) == 0
    assert offsets == list(range(5000))
    reader = clients.start("librdkafka", server, group=name, auto_offset_reset="earliest")
    reader.subscribe(name)
    assert [value for _, _, value in reader.poll(5000)] == [f"value-{number}" for number in range(5000)]


def test_commits_of_100_then_110_leave_110(server, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        wire.find_coordinator(connection, name)
        member, generation = wire.joined_member(connection, name)
        for rising in range(20):
            base = 1000 * rising
            for offset in (base + 100, base + 110):
                body = wire.commit_body(name, {(name, 0): (offset, "")}, member, generation)
                connection.send(wire.OFFSET_COMMIT, 7, body)
            for _ in range(2):
                assert wire.read_commit(connection.receive()) == {(name, 0): wire.NO_ERROR}
            assert wire.committed(connection, name, name) == base + 110


def test_different_requests_are_answered_in_turn(server, name):
    """A slow one first: the quick ones behind it wait for their turn."""
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        entry = wire.i32(0) + wire.i64(0) + wire.i32(1 << 20)
        body = wire.i32(-1) + wire.i32(500) + wire.i32(1) + wire.i32(1 << 20) + wire.i8(0)
        body += wire.array([wire.text(name) + wire.array([entry])])
        connection.send(wire.FETCH, 4, body)
        connection.send(wire.API_VERSIONS, 0, b"")
        connection.send(wire.OFFSET_FETCH, 5, wire.text(name) + wire.array([]))
        # `receive` checks that each answer carries the id whose turn it is.
        for _ in range(3):
            connection.receive()
