"""Requests of administrators by hand: settings, log starts, logs, pages of topics; and fetches in a session.

As in wire.py without flexible encoding, except for two APIs that have no other (`compact…`).
"""

import time

from harness.wire import FETCH, LIST_OFFSETS, NO_ERROR, array, i8, i16, i32, i64, text

DELETE_RECORDS, DESCRIBE_CONFIGS, ALTER_CONFIGS, DESCRIBE_LOG_DIRS = 21, 32, 33, 35
ELECT_LEADERS, INCREMENTAL_ALTER_CONFIGS, DESCRIBE_PRODUCERS = 43, 44, 61
LIST_CONFIG_RESOURCES, DESCRIBE_TOPIC_PARTITIONS = 74, 75

OFFSET_OUT_OF_RANGE = 1
UNSUPPORTED_VERSION = 35
INVALID_CONFIG = 40
INVALID_REQUEST = 42
POLICY_VIOLATION = 44
FETCH_SESSION_ID_NOT_FOUND = 70
INVALID_FETCH_SESSION_EPOCH = 71
ELECTION_NOT_NEEDED = 84

TOPIC, BROKER, GROUP = 2, 4, 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
EARLIEST, MAX_TIMESTAMP = -2, -3
DYNAMIC_TOPIC_CONFIG = 1


def wait_for(holds, seconds=30):
    """A Kafka broker acknowledges a change a moment before it is in force there."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it does not come true"
        time.sleep(0.05)


def delete_records(connection, topic, partition, offset):
    """(error code, low watermark)."""
    body = array([text(topic) + array([i32(partition) + i64(offset)])]) + i32(10_000)
    reader = connection.ask(DELETE_RECORDS, 1, body)
    reader.i32()
    result = []

    def partition_entry():
        reader.i32()
        low, error = reader.i64(), reader.i16()
        result.append((error, low))

    reader.array(lambda: (reader.text(), reader.array(partition_entry)))
    return result[0]


def list_offset(connection, topic, partition, timestamp, version=7):
    """(error code, timestamp, offset, leader epoch) in a version without flexible encoding, or in version 7 and up."""
    if version < 6:
        body = i32(-1) + i8(0) + array([text(topic) + array([i32(partition) + i32(-1) + i64(timestamp)])])
    else:
        entry = i32(partition) + i32(-1) + i64(timestamp) + NO_TAGS
        topics = compact_array([compact_text(topic) + compact_array([entry]) + NO_TAGS])
        body = NO_TAGS + i32(-1) + i8(0) + topics + (i32(1000) if version >= 10 else b"") + NO_TAGS
    reader = connection.ask(LIST_OFFSETS, version, body)
    if version >= 6:
        reader.take(1)
    reader.i32()
    # Up to the one partition: an array of one topic with its name, an array of one partition with its number.
    if version < 6:
        assert reader.i32() == 1 and reader.text() == topic and reader.i32() == 1
    else:
        assert reader.take(1) == b"\2" and read_compact_text(reader) == topic and reader.take(1) == b"\2"
    assert reader.i32() == partition
    return reader.i16(), reader.i64(), reader.i64(), reader.i32()


def _read_alterations(reader):
    """{(type, name): (error code, message)}."""
    reader.i32()
    found = {}

    def entry():
        error, message = reader.i16(), reader.text()
        found[(reader.i8(), reader.text())] = (error, message)

    reader.array(entry)
    return found


def alter_configs(connection, resources, validate_only=False):
    """All settings at once; `resources`: [(type, name, {setting: value})]. {(type, name): (code, message)}."""
    listed = [
        i8(kind) + text(name) + array([text(key) + text(value) for key, value in settings.items()])
        for kind, name, settings in resources
    ]
    return _read_alterations(connection.ask(ALTER_CONFIGS, 1, array(listed) + i8(validate_only)))


def incremental_alter_configs(connection, resources, validate_only=False):
    """Single settings; `resources`: [(type, name, [(setting, operation, value)])]. {(type, name): (code, message)}."""
    listed = [
        i8(kind) + text(name) + array([text(key) + i8(operation) + text(value) for key, operation, value in changes])
        for kind, name, changes in resources
    ]
    return _read_alterations(connection.ask(INCREMENTAL_ALTER_CONFIGS, 0, array(listed) + i8(validate_only)))


def change_topic(connection, topic, *changes):
    """The error code of changes to one topic, each (setting, operation, value)."""
    return incremental_alter_configs(connection, [(TOPIC, topic, changes)])[(TOPIC, topic)][0]


def describe_configs(connection, kind, name):
    """(error code, {setting: (value, source)})."""
    reader = connection.ask(DESCRIBE_CONFIGS, 1, array([i8(kind) + text(name) + i32(-1)]) + i8(0))
    reader.i32()
    assert reader.i32() == 1, "one resource was asked for"
    error = reader.i16()
    reader.text()
    reader.i8()
    reader.text()
    found = {}

    def entry():
        setting, value = reader.text(), reader.text()
        reader.i8()
        source = reader.i8()
        reader.i8()
        reader.array(lambda: (reader.text(), reader.text(), reader.i8()))
        found[setting] = (value, source)

    reader.array(entry)
    return error, found


def own_settings(connection, topic):
    """{setting: value} of what was set for the topic itself."""
    error, found = describe_configs(connection, TOPIC, topic)
    assert error == NO_ERROR, f"DescribeConfigs answered {error}"
    return {setting: value for setting, (value, source) in found.items() if source == DYNAMIC_TOPIC_CONFIG}


def log_sizes(connection, topics):
    """{(topic, partition): bytes} of `topics`: {topic: [partition]}."""
    asked = [text(topic) + array([i32(partition) for partition in partitions]) for topic, partitions in topics.items()]
    reader = connection.ask(DESCRIBE_LOG_DIRS, 1, array(asked))
    reader.i32()
    found = {}

    def partition_entry(topic):
        partition, size, lag, is_future = reader.i32(), reader.i64(), reader.i64(), reader.i8()
        assert (lag, is_future) == (0, 0)
        found[(topic, partition)] = size

    def topic_entry():
        topic = reader.text()
        reader.array(lambda: partition_entry(topic))

    def folder_entry():
        assert reader.i16() == NO_ERROR
        assert reader.text().startswith("/"), "the folder is named whole"
        reader.array(topic_entry)

    reader.array(folder_entry)
    return found


def elect_leaders(connection, topic, partitions):
    """{partition: error code} of an election of preferred leaders."""
    body = i8(0) + array([text(topic) + array([i32(partition) for partition in partitions])]) + i32(10_000)
    reader = connection.ask(ELECT_LEADERS, 1, body)
    reader.i32()
    assert reader.i16() == NO_ERROR
    found = {}

    def partition_entry():
        partition = reader.i32()
        found[partition] = reader.i16()
        reader.text()

    reader.array(lambda: (reader.text(), reader.array(partition_entry)))
    return found


class FetchSession:
    """Fetches of one topic in a session, in version 7."""

    def __init__(self, connection, topic):
        self.connection = connection
        self.topic = topic
        self.id = 0
        self.epoch = 0

    def fetch(self, partitions=(), forgotten=(), session=None, epoch=None, max_wait_ms=0):
        """(error code, {partition: (error code, high watermark, log start, bytes of records)}). `partitions`: the new
        positions, {partition: offset}."""
        session = self.id if session is None else session
        epoch = self.epoch if epoch is None else epoch
        entries = [i32(index) + i64(offset) + i64(-1) + i32(1 << 20) for index, offset in dict(partitions).items()]
        topics = array([text(self.topic) + array(entries)] if entries else [])
        leaving = [i32(index) for index in forgotten]
        gone = array([text(self.topic) + array(leaving)] if leaving else [])
        limits = i32(-1) + i32(max_wait_ms) + i32(1) + i32(1 << 20) + i8(0)
        reader = self.connection.ask(FETCH, 7, limits + i32(session) + i32(epoch) + topics + gone)
        reader.i32()
        error, answered = reader.i16(), reader.i32()
        found = {}

        def partition_entry():
            index, code, high = reader.i32(), reader.i16(), reader.i64()
            reader.i64()
            start = reader.i64()
            reader.array(lambda: (reader.i64(), reader.i64()))
            found[index] = (code, high, start, len(reader.blob() or b""))

        reader.array(lambda: (reader.text(), reader.array(partition_entry)))
        if error == NO_ERROR:
            self.id = answered
            self.epoch = epoch + 1
        return error, found


# --- Flexible encoding, as far as it is needed: lengths below 127, and no tags. ---

NO_TAGS = b"\0"


def compact_text(value):
    encoded = value.encode()
    return bytes([len(encoded) + 1]) + encoded


def compact_array(items):
    return bytes([len(items) + 1]) + b"".join(items)


def read_compact_text(reader):
    length = reader.take(1)[0]
    return None if length == 0 else reader.take(length - 1).decode()


def read_compact_array(reader, item):
    length = reader.take(1)[0]
    assert length < 128, "more than this reads"
    return [item() for _ in range(max(0, length - 1))]


def topic_pages(connection, topics, limit):
    """The pages of DescribeTopicPartitions: [[(topic, error code, [partition])]]."""
    pages, cursor = [], b"\xff"
    while cursor is not None:
        names = compact_array([compact_text(topic) + NO_TAGS for topic in topics])
        reader = connection.ask(DESCRIBE_TOPIC_PARTITIONS, 0, NO_TAGS + names + i32(limit) + cursor + NO_TAGS)
        reader.take(1)
        reader.i32()

        def partition_entry():
            error, index, leader, epoch = reader.i16(), reader.i32(), reader.i32(), reader.i32()
            assert error == NO_ERROR and epoch >= 0
            assert read_compact_array(reader, reader.i32) == [leader]
            assert read_compact_array(reader, reader.i32) == [leader]
            for _ in range(3):
                assert read_compact_array(reader, reader.i32) == []
            assert reader.take(1) == NO_TAGS
            return index

        def topic_entry():
            error, name = reader.i16(), read_compact_text(reader)
            reader.take(16)
            assert reader.i8() == 0, "not internal"
            partitions = read_compact_array(reader, partition_entry)
            assert reader.i32() > 0, "operations are always named"
            assert reader.take(1) == NO_TAGS
            return name, error, partitions

        pages.append(read_compact_array(reader, topic_entry))
        cursor = None
        if reader.i8() == 1:
            cursor = i8(1) + compact_text(read_compact_text(reader)) + i32(reader.i32()) + NO_TAGS
    return pages


def config_resources(connection, kinds):
    """(error code, {(type, name)}) of ListConfigResources."""
    body = NO_TAGS + compact_array([i8(kind) for kind in kinds]) + NO_TAGS
    reader = connection.ask(LIST_CONFIG_RESOURCES, 1, body)
    reader.take(1)
    reader.i32()
    error = reader.i16()

    def entry():
        name, kind = read_compact_text(reader), reader.i8()
        reader.take(1)
        return kind, name

    return error, set(read_compact_array(reader, entry))


def producers(connection, topic, partition):
    """(error code, [(producer id, epoch, last sequence)]) of DescribeProducers."""
    asked = compact_array([compact_text(topic) + compact_array([i32(partition)]) + NO_TAGS])
    reader = connection.ask(DESCRIBE_PRODUCERS, 0, NO_TAGS + asked + NO_TAGS)
    reader.take(1)
    reader.i32()
    assert reader.take(1) == b"\2" and read_compact_text(reader) == topic and reader.take(1) == b"\2"
    assert reader.i32() == partition
    error = reader.i16()
    read_compact_text(reader)

    def entry():
        identity, epoch, sequence = reader.i64(), reader.i32(), reader.i32()
        reader.i64()
        assert reader.i32() == -1 and reader.i64() == -1, "no transaction"
        reader.take(1)
        return identity, epoch, sequence

    return error, read_compact_array(reader, entry)
