"""Record batches by hand, and the header of a batch as it lies in a segment file."""

import struct
import time

HEADER_BYTES = 61
CODECS = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}


def crc32c(data):
    """CRC-32C, bit by bit through a table of one byte."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _table():
    entries = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        entries.append(value)
    return entries


TABLE = _table()


def varint(value):
    """Zig-zag, as in a record."""
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value > 0x7F:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def bytes_or_none(value):
    return varint(-1) if value is None else varint(len(value)) + value


def record(index, value, key=None):
    body = b"\0" + varint(0) + varint(index) + bytes_or_none(key) + bytes_or_none(value) + varint(0)
    return varint(len(body)) + body


def batch(values, producer=(-1, -1), base_sequence=-1, timestamp=None, keys=None):
    """One uncompressed batch of the given values, of now unless it is said when: old records are not kept."""
    timestamp = int(time.time() * 1000) if timestamp is None else timestamp
    keys = keys or [None] * len(values)
    records = b"".join(record(index, value, key) for index, (value, key) in enumerate(zip(values, keys)))
    producer_id, producer_epoch = producer
    covered = struct.pack(
        ">hiqqqhii", 0, len(values) - 1, timestamp, timestamp, producer_id, producer_epoch, base_sequence, len(values)
    )
    covered += records
    head = struct.pack(">ibI", -1, 2, crc32c(covered)) + covered
    return struct.pack(">qi", 0, len(head)) + head


def headers(data):
    """(base offset, codec, record count, whole batch) of each batch, one after the other."""
    while len(data) >= HEADER_BYTES:
        base_offset, length = struct.unpack(">qi", data[:12])
        if length <= 0 or len(data) < 12 + length:
            return
        whole = data[: 12 + length]
        crc, attributes = struct.unpack(">Ih", whole[17:23])
        assert crc == crc32c(whole[21:]), f"the batch at offset {base_offset} has a wrong CRC"
        yield base_offset, CODECS[attributes & 7], struct.unpack(">i", whole[57:61])[0], whole
        data = data[12 + length :]


def is_control(whole):
    """Whether a batch is a marker of a transaction."""
    return whole[22] & 0x20 != 0


def last_offset_delta(whole):
    """How many offsets the last record of a batch stands above the first."""
    return struct.unpack(">i", whole[23:27])[0]


def unzigzag(data, at):
    """(value, position after it) of a varint."""
    result = shift = 0
    while True:
        byte = data[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (result >> 1) ^ -(result & 1), at
        shift += 7


def records(data):
    """(offset, key, value) of each record of uncompressed batches."""
    for base_offset, codec, count, whole in headers(data):
        assert codec == "none"
        at = HEADER_BYTES
        for _ in range(count):
            length, at = unzigzag(whole, at)
            end = at + length
            _, at = unzigzag(whole, at + 1)
            delta, at = unzigzag(whole, at)
            fields = []
            for _ in range(2):
                size, at = unzigzag(whole, at)
                fields.append(None if size < 0 else whole[at : at + size])
                at += max(size, 0)
            yield base_offset + delta, fields[0], fields[1]
            at = end
