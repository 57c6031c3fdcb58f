"""Heartbeats and descriptions of consumer groups (KIP-848) by hand. These requests have flexible encoding only."""

from . import wire

CONSUMER_GROUP_HEARTBEAT, CONSUMER_GROUP_DESCRIBE = 68, 69

UNSUPPORTED_VERSION = 35
INVALID_REQUEST = 42
FENCED_MEMBER_EPOCH = 110
UNRELEASED_INSTANCE_ID = 111
UNSUPPORTED_ASSIGNOR = 112
STALE_MEMBER_EPOCH = 113
INVALID_REGULAR_EXPRESSION = 128

# Stands after every structure, and after the header: no tagged fields.
NO_TAGS = b"\0"


def number(value):
    """An unsigned varint."""
    encoded = b""
    while value >= 0x80:
        encoded += bytes([value & 0x7F | 0x80])
        value >>= 7
    return encoded + bytes([value])


def text(value):
    return number(0) if value is None else number(len(value.encode()) + 1) + value.encode()


def array(items):
    return number(0) if items is None else number(len(items) + 1) + b"".join(items)


class Reader:
    """Reads flexible fields one after the other."""

    def __init__(self, plain):
        self.plain = plain
        self.i8, self.i16, self.i32, self.take = plain.i8, plain.i16, plain.i32, plain.take

    def number(self):
        value, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def text(self):
        length = self.number()
        return None if length == 0 else self.take(length - 1).decode()

    def array(self, item):
        return [item() for _ in range(max(0, self.number() - 1))]

    def tags(self):
        assert self.number() == 0, "no answer here has tagged fields"

    def ended(self, value):
        self.tags()
        return value


def ask(connection, api, version, body):
    reader = Reader(connection.ask(api, version, NO_TAGS + body))
    reader.tags()
    reader.i32()  # How long the client shall wait.
    return reader


def heartbeat(
    connection,
    group,
    member,
    epoch,
    topics=None,
    regex=None,
    instance=None,
    assignor=None,
    rebalance_ms=None,
    owns=None,
):
    """(error, epoch, partitions or None). What is not said is as before; who joins says all there is to say.

    `owns` is [(topic id, [partition, …]), …]; the partitions of the answer are such a list too.
    """
    if epoch == 0:
        rebalance_ms = 60_000 if rebalance_ms is None else rebalance_ms
        owns = [] if owns is None else owns
    owned = None if owns is None else [
        topic_id + array([wire.i32(partition) for partition in partitions]) + NO_TAGS for topic_id, partitions in owns
    ]
    body = text(group) + text(member) + wire.i32(epoch) + text(instance) + text(None)
    body += wire.i32(-1 if rebalance_ms is None else rebalance_ms)
    body += array(None if topics is None else [text(topic) for topic in topics]) + text(regex) + text(assignor)
    reader = ask(connection, CONSUMER_GROUP_HEARTBEAT, 1, body + array(owned) + NO_TAGS)
    error, _, _, epoch, _ = reader.i16(), reader.text(), reader.text(), reader.i32(), reader.i32()
    partitions = None
    if reader.i8() >= 0:
        partition_list = lambda: reader.ended((reader.take(16), sorted(reader.array(reader.i32))))
        partitions = reader.array(partition_list)
        reader.tags()
    return error, epoch, partitions


def commit(connection, group, member, epoch, topic, partition, offset=1):
    """The code of a member's commit (version 9) for one partition."""
    entry = wire.i32(partition) + wire.i64(offset) + wire.i32(-1) + text("") + NO_TAGS
    topics = array([text(topic) + array([entry]) + NO_TAGS])
    body = text(group) + wire.i32(epoch) + text(member) + text(None) + topics + NO_TAGS
    reader = ask(connection, wire.OFFSET_COMMIT, 9, body)
    assert reader.number() == 2 and reader.text() == topic and reader.number() == 2
    assert reader.i32() == partition
    return reader.i16()


def describe(connection, group):
    """(error, state, group epoch, target epoch, {member: (epoch, partitions, target partitions)})."""
    reader = ask(connection, CONSUMER_GROUP_DESCRIBE, 1, array([text(group)]) + b"\0" + NO_TAGS)

    def assignment():
        topic = lambda: reader.ended((reader.take(16), reader.text(), sorted(reader.array(reader.i32))))
        topics = reader.ended(reader.array(topic))
        return sorted((name, partition) for _, name, partitions in topics for partition in partitions)

    def member():
        member_id, _, _, epoch = reader.text(), reader.text(), reader.text(), reader.i32()
        _, _, _, _ = reader.text(), reader.text(), reader.array(reader.text), reader.text()
        found = (member_id, (epoch, assignment(), assignment()))
        reader.i8()
        return reader.ended(found)

    assert reader.number() == 2, "one group was asked about"
    error, _, _, state = reader.i16(), reader.text(), reader.text(), reader.text()
    epoch, target, _ = reader.i32(), reader.i32(), reader.text()
    return error, state, epoch, target, dict(reader.array(member))
