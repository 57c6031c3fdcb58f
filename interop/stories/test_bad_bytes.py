"""Bytes that no client sends: each gets a clear answer or a closed connection, and the neighbours notice nothing."""

import struct

import pytest

from harness import batches, wire


@pytest.fixture
def neighbour(server, name):
    """A connection that was there before and must work after; its work is checked when the story is over."""
    with server.connect() as one:
        assert wire.create_topic(one, name) == wire.NO_ERROR
        wire.find_coordinator(one, name)
        member, generation = wire.joined_member(one, name)
        yield one
        assert server.running()
        assert wire.heartbeat(one, name, member, generation) == wire.NO_ERROR
        assert wire.commit(one, name, {(name, 0): (3, "")}, member, generation) == {(name, 0): wire.NO_ERROR}
        end = wire.end_offset(one, name)
        assert wire.produce(one, name, 0, batches.batch([b"after"])) == (wire.NO_ERROR, end)


MOST = 2**31 - 1


@pytest.mark.parametrize(
    ("what", "data"),
    [
        ("a web browser", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ("a TLS hello", bytes.fromhex("16030100a5010000a10303") + b"\x5a" * 155),
        ("a frame of 2 GiB", struct.pack(">i", MOST) + b"\0" * 1000),
        ("a frame of negative length", struct.pack(">i", -1) + b"\0" * 100),
        ("an empty frame", struct.pack(">i", 0) + b"\0" * 100),
        ("a frame shorter than its header", struct.pack(">i", 3) + b"\0\x03\0"),
    ],
)
def test_garbage_closes_the_connection(server, neighbour, what, data):
    with server.connect() as connection:
        connection.send_bytes(data)
        assert connection.closed_by_server(), what


@pytest.mark.parametrize(
    ("what", "api", "version", "body"),
    [
        ("an array of 2^31-1 topics", wire.METADATA, 4, wire.i32(MOST)),
        ("an array of 2^31-1 topics, with one there", wire.METADATA, 4, wire.i32(MOST) + wire.text("topic") + b"\0"),
        ("an array of 2^31-1 groups", wire.DESCRIBE_GROUPS, 4, wire.i32(MOST)),
        ("a string longer than the frame", wire.FIND_COORDINATOR, 1, wire.i16(32_000) + b"group"),
        ("a record set of 2 GiB", wire.PRODUCE, 5, wire.produce_body("t", 0, b"")[:-4] + wire.i32(MOST)),
        ("bytes that are not UTF-8", wire.FIND_COORDINATOR, 1, wire.i16(2) + b"\xff\xfe\0"),
        ("an unknown API", 9999, 0, b""),
        ("a negative API", -2, 0, b""),
        ("an API version of the future", wire.METADATA, 99, wire.i32(0)),
        ("a request cut short", wire.OFFSET_COMMIT, 7, wire.text("group")),
    ],
)
def test_what_cannot_be_understood_closes_the_connection(server, neighbour, what, api, version, body):
    with server.connect() as connection:
        connection.send(api, version, body)
        if what == "bytes that are not UTF-8":
            # Kafka replaces the bytes and goes on; refusing them is as good. Either way the server lives.
            try:
                connection.receive()
            except wire.Closed:
                pass
            return
        assert connection.closed_by_server(), what


def test_a_future_version_of_api_versions_is_told_the_range(server, neighbour):
    with server.connect() as connection:
        # The body of a version that nobody knows yet cannot be read, and is not. The header has its tag section.
        reader = connection.ask(wire.API_VERSIONS, 99, b"\0" + b"whatever is there")
        assert reader.i16() == 35
        ((api, least, most),) = reader.array(lambda: (reader.i16(), reader.i16(), reader.i16()))
        assert (api, least) == (wire.API_VERSIONS, 0) and most >= 3
        # The connection lives, and the client tries again.
        assert wire.api_versions(connection)[0] == wire.NO_ERROR


def test_bytes_after_the_last_field_are_ignored(server, neighbour):
    with server.connect() as connection:
        for body in (b"\0", b"whatever is there"):
            connection.send(wire.API_VERSIONS, 0, body)
            assert connection.receive().i16() == wire.NO_ERROR


def test_half_a_request_then_silence(server, neighbour, name):
    with server.connect() as silent:
        frame = silent.frame(wire.API_VERSIONS, 0, b"")
        silent.send_bytes(frame[:7])
        for number in range(5):
            assert wire.produce(neighbour, name, 0, batches.batch([b"meanwhile"])) == (wire.NO_ERROR, number)
        # The rest may come as late as it likes.
        silent.send_bytes(frame[7:])
        silent.receive()
    # And it may go away in the middle.
    with server.connect() as leaving:
        leaving.send_bytes(frame[:7])


def test_a_batch_with_a_wrong_crc(server, neighbour, name):
    batch = bytearray(batches.batch([b"one", b"two"]))
    batch[-2] ^= 1
    with server.connect() as connection:
        assert wire.produce(connection, name, 0, bytes(batch))[0] == wire.CORRUPT_MESSAGE
        assert wire.end_offset(connection, name) == 0


def test_a_batch_cut_short(server, neighbour, name):
    batch = batches.batch([b"one", b"two"])
    with server.connect() as connection:
        error, _ = wire.produce(connection, name, 0, batch[:-5])
        assert error != wire.NO_ERROR
        assert wire.end_offset(connection, name) == 0


@pytest.mark.parametrize("topic", ["", ".", "..", "a/b", "a b", "naïve", "a" * 250, "../../etc/passwd", "a\0b"])
def test_topic_names_that_kafka_refuses(server, neighbour, topic):
    with server.connect() as connection:
        assert wire.create_topic(connection, topic) == wire.INVALID_TOPIC
        # Asking for it must not create it either.
        assert wire.metadata_error(connection, topic) in (wire.INVALID_TOPIC, wire.UNKNOWN_TOPIC_OR_PARTITION)


def test_a_topic_name_of_249_characters_is_fine(server, neighbour, name):
    topic = name + "x" * (249 - len(name))
    with server.connect() as connection:
        assert wire.create_topic(connection, topic) == wire.NO_ERROR
        assert wire.produce(connection, topic, 0, batches.batch([b"one"])) == (wire.NO_ERROR, 0)
