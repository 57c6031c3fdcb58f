"""Record batches by hand, and the header of a batch as it lies in a segment file."""

import struct

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


def record(index, value):
    body = b"\0" + varint(0) + varint(index) + varint(-1) + varint(len(value)) + value + varint(0)
    return varint(len(body)) + body


def batch(values, producer=(-1, -1), base_sequence=-1, timestamp=1_700_000_000_000):
    """One uncompressed batch of the given values."""
    records = b"".join(record(index, value) for index, value in enumerate(values))
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
