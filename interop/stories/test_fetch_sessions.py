"""Fetches in a session: the request names only what changed, and the answer only what is new."""

import pytest

from harness import batches, wire, wire_admin
from harness.proxy import Proxy


def started(connection, topic):
    """A session on three partitions, of which the first has a batch."""
    assert wire.create_topic(connection, topic, 3) == wire.NO_ERROR
    batch = batches.batch([b"first"])
    assert wire.produce(connection, topic, 0, batch)[0] == wire.NO_ERROR
    session = wire_admin.FetchSession(connection, topic)
    error, found = session.fetch({0: 0, 1: 0, 2: 0})
    assert error == wire.NO_ERROR and session.id > 0
    assert found == {0: (0, 1, 0, len(batch)), 1: (0, 0, 0, 0), 2: (0, 0, 0, 0)}, "the first answer is full"
    return session, batch


def test_an_answer_names_only_what_is_new(server, name):
    with server.connect() as connection, server.connect() as other:
        session, batch = started(connection, name)
        assert session.fetch({0: 1}) == (wire.NO_ERROR, {})
        assert wire.produce(other, name, 2, batch)[0] == wire.NO_ERROR
        assert session.fetch(max_wait_ms=5000) == (wire.NO_ERROR, {2: (0, 1, 0, len(batch))})
        assert session.fetch({2: 1}) == (wire.NO_ERROR, {})
        # A new log start is news, an error is said every time, and its end is news again.
        assert wire_admin.delete_records(other, name, 0, 1) == (wire.NO_ERROR, 1)
        assert session.fetch() == (wire.NO_ERROR, {0: (0, 1, 1, 0)})
        wrong = {1: (wire_admin.OFFSET_OUT_OF_RANGE, -1, -1, 0)}
        assert session.fetch({1: 99}) == (wire.NO_ERROR, wrong)
        assert session.fetch() == (wire.NO_ERROR, wrong)
        assert session.fetch({1: 0}) == (wire.NO_ERROR, {1: (0, 0, 0, 0)})
        # Who leaves is not read any more, and who comes back is named.
        assert session.fetch(forgotten=[2]) == (wire.NO_ERROR, {})
        assert wire.produce(other, name, 2, batch)[0] == wire.NO_ERROR
        assert session.fetch() == (wire.NO_ERROR, {})
        assert session.fetch({2: 2}) == (wire.NO_ERROR, {2: (0, 2, 0, 0)})


def test_a_session_has_one_next_request(server, name):
    with server.connect() as connection:
        session, _ = started(connection, name)
        assert session.fetch(session=session.id ^ 1)[0] == wire_admin.FETCH_SESSION_ID_NOT_FOUND
        assert session.fetch(epoch=5)[0] == wire_admin.INVALID_FETCH_SESSION_EPOCH
        assert session.fetch({0: 1}) == (wire.NO_ERROR, {})
        assert session.fetch(epoch=1)[0] == wire_admin.INVALID_FETCH_SESSION_EPOCH
        assert session.fetch() == (wire.NO_ERROR, {})
        # A full fetch ends the session that it names; so does one that leaves nothing to fetch.
        old, next_epoch = session.id, session.epoch
        assert session.fetch({1: 0}, epoch=0)[0] == wire.NO_ERROR and session.id not in (0, old)
        assert session.fetch(session=old, epoch=next_epoch)[0] == wire_admin.FETCH_SESSION_ID_NOT_FOUND
        left = session.id
        assert session.fetch(forgotten=[1]) == (wire.NO_ERROR, {}) and session.id == 0
        assert session.fetch(session=left, epoch=2)[0] == wire_admin.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_outlives_its_connection(server, name):
    with server.connect() as connection:
        session, batch = started(connection, name)
    with server.connect() as connection:
        assert wire.produce(connection, name, 1, batch)[0] == wire.NO_ERROR
        session.connection = connection
        assert session.fetch({0: 1}) == (wire.NO_ERROR, {1: (0, 1, 0, len(batch))})


def fetch_epochs(data):
    """The session epochs of the Fetch requests of one client among the bytes that it sent."""
    epochs, at = [], 0
    while at + 4 <= len(data):
        reader = wire.Reader(bytes(data[at : at + 4]))
        length = reader.i32()
        frame = wire.Reader(bytes(data[at + 4 : at + 4 + length]))
        at += 4 + length
        if at > len(data):
            break
        api, version = frame.i16(), frame.i16()
        if api != wire.FETCH or version < 15:
            continue
        frame.i32()
        frame.text()
        frame.take(1)
        # Wait, bytes at least and at most, isolation, session.
        frame.take(4 + 4 + 4 + 1 + 4)
        epochs.append(frame.i32())
    return epochs


def test_the_java_client_fetches_in_a_session(new_server, clients, pytestconfig, name):
    if not pytestconfig.getoption("--java-class-path"):
        pytest.skip("no JDK with Maven on this machine")
    one = new_server()
    proxy = Proxy(lambda: ("127.0.0.1", one.port))
    one.settings["advertised.listeners"] = f"PLAINTEXT://127.0.0.1:{proxy.port}"
    one.start()
    try:
        with one.connect() as connection:
            assert wire.create_topic(connection, name, 3) == wire.NO_ERROR
        writer = clients.start("librdkafka", one)
        reader = clients.start("java", one, group=name, auto_offset_reset="earliest")
        reader.subscribe(name)
        for rising in range(5):
            for partition in range(3):
                writer.produce(name, partition=partition, first=10 * rising, count=10)
            records = reader.poll(30)
            assert len(records) == 30 and {partition for partition, _, _ in records} == {0, 1, 2}
        epochs = fetch_epochs(proxy.sent)
        # A rebalance may begin a session anew; but most fetches go on with one.
        assert 0 in epochs and max(epochs) > 3, epochs
        assert sum(epoch > 0 for epoch in epochs) > len(epochs) / 2, epochs
    finally:
        proxy.close()
        one.end()
