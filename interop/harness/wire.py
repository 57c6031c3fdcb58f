"""A few Kafka requests by hand, for what no client can be made to send: stale generations, pipelines, broken bytes.

Only versions without flexible encoding are used, so that every byte here can be read off the page.
"""

import socket
import struct
import time

from harness.asked import BY_HAND

PRODUCE, FETCH, LIST_OFFSETS, METADATA = 0, 1, 2, 3
OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR = 8, 9, 10
JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP, DESCRIBE_GROUPS = 11, 12, 13, 14, 15
API_VERSIONS, CREATE_TOPICS, INIT_PRODUCER_ID = 18, 19, 22

NO_ERROR = 0
CORRUPT_MESSAGE = 2
UNKNOWN_TOPIC_OR_PARTITION = 3
REQUEST_TIMED_OUT = 7
OFFSET_METADATA_TOO_LARGE = 12
COORDINATOR_LOAD_IN_PROGRESS = 14
COORDINATOR_NOT_AVAILABLE = 15
NOT_COORDINATOR = 16
INVALID_TOPIC = 17
ILLEGAL_GENERATION = 22
UNKNOWN_MEMBER_ID = 25
REBALANCE_IN_PROGRESS = 27
OUT_OF_ORDER_SEQUENCE_NUMBER = 45
KAFKA_STORAGE_ERROR = 56
GROUP_ID_NOT_FOUND = 69
MEMBER_ID_REQUIRED = 79
FENCED_INSTANCE_ID = 82

NOT_READY = (COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR)


class Closed(Exception):
    """The server closed the connection instead of answering."""


def i8(value):
    return struct.pack(">b", value)


def i16(value):
    return struct.pack(">h", value)


def i32(value):
    return struct.pack(">i", value)


def i64(value):
    return struct.pack(">q", value)


def text(value):
    """A string, or null."""
    if value is None:
        return i16(-1)
    encoded = value.encode()
    return i16(len(encoded)) + encoded


def blob(value):
    return i32(len(value)) + value


def array(items):
    return i32(len(items)) + b"".join(items)


class Reader:
    """Reads the fields of an answer one after the other."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, count):
        piece = self.data[self.at : self.at + count]
        assert len(piece) == count, "the answer is shorter than its fields"
        self.at += count
        return piece

    def i8(self):
        return struct.unpack(">b", self.take(1))[0]

    def i16(self):
        return struct.unpack(">h", self.take(2))[0]

    def i32(self):
        return struct.unpack(">i", self.take(4))[0]

    def i64(self):
        return struct.unpack(">q", self.take(8))[0]

    def text(self):
        length = self.i16()
        return None if length < 0 else self.take(length).decode()

    def blob(self):
        length = self.i32()
        return None if length < 0 else self.take(length)

    def array(self, item):
        return [item() for _ in range(max(0, self.i32()))]


class Connection:
    """One connection. Requests may be sent ahead; answers must come back in order."""

    def __init__(self, bootstrap, timeout=10, client_id=BY_HAND):
        host, port = bootstrap.rsplit(":", 1)
        self.client_id = client_id
        self.socket = socket.create_connection((host, int(port)), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.correlation_ids = []
        self.next_id = 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    @property
    def local_port(self):
        return self.socket.getsockname()[1]

    def send_bytes(self, data):
        self.socket.sendall(data)

    def frame(self, api, version, body):
        """The bytes of a request; its answer is expected in turn."""
        correlation_id = self.next_id
        self.next_id += 1
        self.correlation_ids.append(correlation_id)
        content = i16(api) + i16(version) + i32(correlation_id) + text(self.client_id) + body
        return i32(len(content)) + content

    def send(self, api, version, body):
        self.send_bytes(self.frame(api, version, body))

    def receive(self):
        """The next answer, checked to be the one whose turn it is."""
        length = struct.unpack(">i", self.exactly(4))[0]
        reader = Reader(self.exactly(length))
        expected = self.correlation_ids.pop(0)
        assert reader.i32() == expected, "an answer came out of turn"
        return reader

    def ask(self, api, version, body):
        self.send(api, version, body)
        return self.receive()

    def exactly(self, count):
        data = b""
        while len(data) < count:
            try:
                piece = self.socket.recv(count - len(data))
            except ConnectionResetError as error:
                raise Closed() from error
            if not piece:
                raise Closed()
            data += piece
        return data

    def closed_by_server(self):
        """Waits for the other side to close; an answer instead is a failure of the story."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True


# --- Requests, each with its answer --------------------------------------------------------------------------------


def api_versions(connection):
    reader = connection.ask(API_VERSIONS, 0, b"")
    error = reader.i16()
    ranges = reader.array(lambda: (reader.i16(), (reader.i16(), reader.i16())))
    return error, dict(ranges)


def create_topic(connection, topic, partitions=1):
    one = text(topic) + i32(partitions) + i16(1) + array([]) + array([])
    reader = connection.ask(CREATE_TOPICS, 2, array([one]) + i32(10_000) + i8(0))
    reader.i32()
    reader.i32()
    reader.text()
    error = reader.i16()
    if error == NO_ERROR:
        wait_for_leaders(connection, topic, partitions)
    return error


def wait_for_leaders(connection, topic, partitions):
    """A Kafka broker acknowledges a new topic before it has opened its logs."""
    deadline = time.monotonic() + 30
    for partition in range(partitions):
        while list_offsets(connection, topic, partition)[0] != NO_ERROR:
            assert time.monotonic() < deadline, "the new topic has no leader"
            time.sleep(0.05)


def commit_body(group, offsets, member="", generation=-1, instance=None, epoch=-1):
    """`offsets`: {(topic, partition): (offset, metadata)}; all with the same leader epoch."""
    topics = {}
    for (topic, partition), (offset, metadata) in offsets.items():
        entry = i32(partition) + i64(offset) + i32(epoch) + text(metadata)
        topics.setdefault(topic, []).append(entry)
    listed = [text(topic) + array(entries) for topic, entries in topics.items()]
    return text(group) + i32(generation) + text(member) + text(instance) + array(listed)


def read_commit(reader):
    """{(topic, partition): error code}."""
    reader.i32()
    codes = {}

    def topic_entry():
        topic = reader.text()
        reader.array(lambda: codes.__setitem__((topic, reader.i32()), reader.i16()))

    reader.array(topic_entry)
    return codes


def commit(connection, group, offsets, member="", generation=-1, instance=None, epoch=-1):
    body = commit_body(group, offsets, member, generation, instance, epoch)
    return read_commit(connection.ask(OFFSET_COMMIT, 7, body))


def fetch_offsets(connection, group, partitions):
    """({(topic, partition): (offset or None, metadata)}, group error code). `partitions` None asks for all."""
    found, error = fetch_offsets_with_epochs(connection, group, partitions)
    return {key: (offset, metadata) for key, (offset, _, metadata) in found.items()}, error


def fetch_offsets_with_epochs(connection, group, partitions):
    """The same, with the leader epoch of each commit, -1 if it had none, between offset and metadata."""
    if partitions is None:
        body = text(group) + i32(-1)
    else:
        topics = {}
        for topic, partition in partitions:
            topics.setdefault(topic, []).append(i32(partition))
        body = text(group) + array([text(topic) + array(entries) for topic, entries in topics.items()])
    reader = connection.ask(OFFSET_FETCH, 5, body)
    reader.i32()
    found = {}

    def partition_entry(topic):
        partition, offset, epoch = reader.i32(), reader.i64(), reader.i32()
        metadata, error = reader.text(), reader.i16()
        assert error == NO_ERROR or offset == -1, "an error and an offset at once"
        found[(topic, partition)] = (None if offset == -1 else offset, epoch, metadata)

    def topic_entry():
        topic = reader.text()
        reader.array(lambda: partition_entry(topic))

    reader.array(topic_entry)
    return found, reader.i16()


def committed(connection, group, topic, partition=0):
    """The committed offset, None if never committed. Fails on any error of the group."""
    found, error = fetch_offsets(connection, group, [(topic, partition)])
    assert error == NO_ERROR, f"OffsetFetch answered {error}"
    return found[(topic, partition)][0]


def produce_body(topic, partition, batch, acks=-1):
    data = array([text(topic) + array([i32(partition) + blob(batch)])])
    return text(None) + i16(acks) + i32(10_000) + data


def read_produce(reader):
    """(error code, base offset) of the one partition asked for."""
    result = []

    def partition_entry():
        reader.i32()
        result.append((reader.i16(), reader.i64()))
        reader.i64()
        reader.i64()

    reader.array(lambda: (reader.text(), reader.array(partition_entry)))
    return result[0]


def produce(connection, topic, partition, batch, acks=-1):
    return read_produce(connection.ask(PRODUCE, 5, produce_body(topic, partition, batch, acks)))


def list_offsets(connection, topic, partition):
    """(error code, high watermark)."""
    body = i32(-1) + i8(0) + array([text(topic) + array([i32(partition) + i64(-1)])])
    reader = connection.ask(LIST_OFFSETS, 2, body)
    reader.i32()
    result = []

    def partition_entry():
        reader.i32()
        result.append((reader.i16(), reader.i64(), reader.i64()))

    reader.array(lambda: (reader.text(), reader.array(partition_entry)))
    error, _, offset = result[0]
    return error, offset


def end_offset(connection, topic, partition=0):
    """The high watermark, as ListOffsets shows it."""
    error, offset = list_offsets(connection, topic, partition)
    assert error == NO_ERROR, f"ListOffsets answered {error}"
    return offset


def leader_epoch(connection, topic, partition=0):
    """The epoch of the partition's leader, as ListOffsets tells it with the end offset of a log that has records."""
    asked = i32(partition) + i32(-1) + i64(-1)
    reader = connection.ask(LIST_OFFSETS, 4, i32(-1) + i8(0) + array([text(topic) + array([asked])]))
    reader.i32()
    result = []

    def partition_entry():
        reader.i32()
        result.append((reader.i16(), reader.i64(), reader.i64(), reader.i32()))

    reader.array(lambda: (reader.text(), reader.array(partition_entry)))
    error, _, _, epoch = result[0]
    assert error == NO_ERROR, f"ListOffsets answered {error}"
    return epoch


def fetch(connection, topic, partition, offset, max_wait_ms=500):
    """(error code, high watermark, the batches as bytes)."""
    entry = i32(partition) + i64(offset) + i32(1 << 20)
    body = i32(-1) + i32(max_wait_ms) + i32(1) + i32(1 << 20) + i8(0) + array([text(topic) + array([entry])])
    reader = connection.ask(FETCH, 4, body)
    reader.i32()
    result = []

    def partition_entry():
        reader.i32()
        error, high_watermark = reader.i16(), reader.i64()
        reader.i64()
        reader.array(lambda: (reader.i64(), reader.i64()))
        result.append((error, high_watermark, reader.blob() or b""))

    reader.array(lambda: (reader.text(), reader.array(partition_entry)))
    return result[0]


def init_producer_id(connection):
    """(producer id, epoch) of an idempotent producer. Kafka hands ids out only when it has fetched a block of them."""
    deadline = time.monotonic() + 30
    while True:
        reader = connection.ask(INIT_PRODUCER_ID, 0, text(None) + i32(60_000))
        reader.i32()
        error = reader.i16()
        if error == NO_ERROR:
            return reader.i64(), reader.i16()
        assert error in NOT_READY and time.monotonic() < deadline, f"InitProducerId answered {error}"
        time.sleep(0.1)


# A protocol type with one protocol and what a member says to it.
CONSUMER = ("consumer", "range", i16(0) + array([text("any")]) + i32(-1))


def join_group(connection, group, member="", session_timeout_ms=10_000, instance=None, speaks=CONSUMER):
    """(error code, generation, member id) of a member of a classic group that knows one protocol."""
    kind, protocol, said = speaks
    protocols = array([text(protocol) + blob(said)])
    timeouts = i32(session_timeout_ms) + i32(session_timeout_ms)
    body = text(group) + timeouts + text(member) + text(instance) + text(kind) + protocols
    reader = connection.ask(JOIN_GROUP, 5, body)
    reader.i32()
    error, generation = reader.i16(), reader.i32()
    reader.text()
    reader.text()
    return error, generation, reader.text()


def sync_group(connection, group, member, generation, assignment=b"mine"):
    """The error code, as the leader that assigns itself everything."""
    assignments = array([text(member) + blob(assignment)])
    reader = connection.ask(SYNC_GROUP, 3, text(group) + i32(generation) + text(member) + text(None) + assignments)
    reader.i32()
    return reader.i16()


def heartbeat(connection, group, member, generation):
    reader = connection.ask(HEARTBEAT, 3, text(group) + i32(generation) + text(member) + text(None))
    reader.i32()
    return reader.i16()


def leave_group(connection, group, member):
    reader = connection.ask(LEAVE_GROUP, 1, text(group) + text(member))
    reader.i32()
    return reader.i16()


def joined_member(connection, group, session_timeout_ms=10_000, speaks=CONSUMER, assignment=b"mine"):
    """(member id, generation) of a member that went the whole way into the group, alone."""
    error, _, member = join_group(connection, group, "", session_timeout_ms, speaks=speaks)
    assert error == MEMBER_ID_REQUIRED, f"the first JoinGroup answered {error}"
    error, generation, member = join_group(connection, group, member, session_timeout_ms, speaks=speaks)
    assert error == NO_ERROR, f"the second JoinGroup answered {error}"
    error = sync_group(connection, group, member, generation, assignment)
    assert error == NO_ERROR, f"SyncGroup answered {error}"
    return member, generation


def describe_group(connection, group):
    """(state, [(member id, group instance id, client id)])."""
    reader = connection.ask(DESCRIBE_GROUPS, 4, array([text(group)]) + i8(0))
    reader.i32()
    result = []

    def member_entry():
        member, instance, client = reader.text(), reader.text(), reader.text()
        reader.text()
        reader.blob()
        reader.blob()
        return member, instance, client

    def group_entry():
        reader.i16()
        reader.text()
        state = reader.text()
        reader.text()
        reader.text()
        members = reader.array(member_entry)
        reader.i32()
        result.append((state, members))

    reader.array(group_entry)
    return result[0]


def find_coordinator(connection, group):
    """Waits until the coordinator of the group is there and has loaded."""
    deadline = time.monotonic() + 30
    while True:
        reader = connection.ask(FIND_COORDINATOR, 1, text(group) + i8(0))
        reader.i32()
        error = reader.i16()
        if error == NO_ERROR and fetch_offsets(connection, group, None)[1] == NO_ERROR:
            return
        assert time.monotonic() < deadline, f"no coordinator: {error}"
        time.sleep(0.1)


def metadata_error(connection, topic):
    """The error of one topic that was asked for, automatic creation allowed."""
    reader = connection.ask(METADATA, 4, array([text(topic)]) + i8(1))
    reader.i32()
    reader.array(lambda: (reader.i32(), reader.text(), reader.i32(), reader.text()))
    reader.text()
    reader.i32()
    assert reader.i32() == 1, "one topic was asked for"
    return reader.i16()
