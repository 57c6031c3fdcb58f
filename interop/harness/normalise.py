"""The one list of what may differ between two servers that were told the same script. Everything else is compared byte for
byte, in order.

- The ids that servers choose, of members and topics: each becomes another one of the same length, by its number or name.
- Times of the server: 0. Where a record holds two, the second becomes its distance from the first.
- The version in a regular expression's record, which is a position in the server's own log of metadata: 0.
- MetadataHash, which is made of topic ids: its number among those of the group. That it is the right one for its ids is
  shown where the machine replays these scripts with Kafka's ids (crates/groups/tests/kafka_bytes.rs).
- The members in a classic group's record stand in the order of a hash of their ids: they are sorted. So do members whose targets
  are written, or whose records are deleted, at once: neighbours among these, of one type, are sorted by their keys.
"""

import hashlib
import itertools
import struct

OFFSET, GROUP = 1, 2
CONSUMER_GROUP, MEMBER, TARGET, TARGET_MEMBER, CURRENT, REGEX = 3, 5, 6, 7, 8, 16


class Different(Exception):
    """A record is not what this expects of its type."""


def normalised(told):
    """{group: [(key, value)]} of what a script brought, without what may differ."""
    ids = {member.encode(): alias_of_member(member, number) for number, member in enumerate(told.members, 1)}
    ids |= {topic_id: hashlib.md5(name.encode()).digest() for name, topic_id in told.topics.items()}
    found = {}
    for group, records in told.groups.items():
        hashes = {}
        renamed = [(replaced(key, ids), None if value is None else replaced(value, ids)) for key, value in records]
        plain = [(key, None if value is None else without_own(key, value, hashes)) for key, value in renamed]
        found[group] = [record for _, run in itertools.groupby(plain, written_at_once) for record in sorted(run, key=key_of)]
    return found


def key_of(record):
    return record[0]


def written_at_once(record):
    """The same of neighbours that may stand in any order, by the hash of a member's id; of all others its own key."""
    key, value = record
    kind = struct.unpack(">h", key[:2])[0]
    is_of_member = kind == TARGET_MEMBER if value is not None else kind in (MEMBER, TARGET_MEMBER, CURRENT)
    return (kind, value is None) if is_of_member else key


def alias_of_member(member, number):
    """An id is a name, a dash, and a UUID of 36 characters, or a UUID of 22 characters alone."""
    length = 36 if len(member) > 36 else len(member)
    return f"{member[:-length]}{number:0{length}}".encode()


def replaced(data, ids):
    for own, alias in ids.items():
        data = data.replace(own, alias)
    return data


def without_own(key, value, hashes):
    kind = struct.unpack(">h", key[:2])[0]
    if kind == OFFSET:
        return offset(value)
    if kind == GROUP:
        return classic_group(value)
    if kind == CONSUMER_GROUP:
        return consumer_group(value, hashes)
    if kind == TARGET:
        return target(value)
    if kind == REGEX:
        # It ends with the version, the time, and no tags.
        return value[:-17] + bytes(16) + value[-1:]
    return value


def expect(holds, value):
    if not holds:
        raise Different(value.hex())


def offset(value):
    version, at = struct.unpack(">h", value[:2])[0], 10
    expect(version in (1, 3, 4), value)
    at += 4 if version >= 3 else 0
    if version >= 4:
        expect(value[at] < 0x80, value)
        at += value[at]
    else:
        at += 2 + struct.unpack(">h", value[at : at + 2])[0]
    committed = struct.unpack(">q", value[at : at + 8])[0]
    rest = value[at + 8 :]
    if version == 1:
        rest = struct.pack(">q", struct.unpack(">q", rest)[0] - committed)
    return value[:at] + bytes(8) + rest


def classic_group(value):
    expect(value[:2] == b"\0\3", value)
    at = 2

    def skip(width=2):
        nonlocal at
        start = at
        length = int.from_bytes(value[at : at + width], "big", signed=True)
        at += width + max(0, length)
        return value[start:at]

    skip()
    at += 4
    skip()
    skip()
    head, at = value[:at], at + 8
    count = struct.unpack(">i", value[at : at + 4])[0]
    at += 4
    members = []
    for _ in range(count):
        start = at
        for _ in range(4):
            skip()
        at += 8
        skip(4)
        skip(4)
        members.append(value[start:at])
    expect(at == len(value), value)
    return head + bytes(8) + struct.pack(">i", count) + b"".join(sorted(members))


def consumer_group(value, hashes):
    """Version, epoch, then no tags or the hash as tag 0."""
    if len(value) == 7:
        return value
    expect(len(value) == 17 and value[6:9] == b"\1\0\x08", value)
    number = hashes.setdefault(value[9:], len(hashes))
    return value[:9] + struct.pack(">q", number)


def target(value):
    """Version, epoch, then no tags or the time as tag 0."""
    if len(value) == 7:
        return value
    expect(len(value) == 17 and value[6:9] == b"\1\0\x08", value)
    return value[:9] + bytes(8)
