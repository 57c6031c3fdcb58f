"""Compressed batches are stored as they came: nothing opens them on the way to the disk or to a consumer."""

import os

import pytest

from harness import batches, capabilities, wire
from harness.proxy import Proxy


@pytest.fixture(scope="module")
def watched(new_server):
    """A server whose clients all pass a proxy, so that what they sent is known."""
    one = new_server()
    proxy = Proxy(lambda: ("127.0.0.1", one.port))
    one.settings["advertised.listeners"] = f"PLAINTEXT://127.0.0.1:{proxy.port}"
    one.start()
    yield one, proxy
    proxy.close()
    one.end()


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_librdkafka_batches_are_stored_as_they_came(watched, clients, name, codec):
    server, proxy = watched
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        member = clients.start("librdkafka", server, group=name, auto_offset_reset="earliest")
        member.produce(name, partition=0, first=0, count=500, compression=codec)

        # Segments are written a moment after they are durable, and at once for a reader.
        _, _, fetched = wire.fetch(connection, name, 0, 0)
        with open(os.path.join(server.data, f"{name}-0", "00000000000000000000.log"), "rb") as segment:
            stored = list(batches.headers(segment.read()))
        assert sum(count for _, _, count, _ in stored) == 500
        # librdkafka sends a batch as it is where its codec would make it longer, which it does to a handful of records.
        assert {found for _, found, count, _ in stored if count >= 50} == {codec}
        assert {found for _, found, _, _ in stored} <= {codec, "none"}
        # From the CRC on, every byte is the client's own; before it lie offset, length, epoch and magic.
        sent = bytes(proxy.sent)
        assert all(whole[17:] in sent for _, _, _, whole in stored)

        # And the same bytes go out again.
        assert list(batches.headers(fetched)) == stored
    member.subscribe(name)
    assert [value for _, _, value in member.poll(500)] == [f"value-{number}" for number in range(500)]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_the_java_client_reads_what_librdkafka_compressed(server, clients, name, codec, pytestconfig):
    if not pytestconfig.getoption("--java-class-path"):
        pytest.skip("no JDK with Maven on this machine")
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
    clients.start("librdkafka", server).produce(name, partition=0, first=0, count=100, compression=codec)
    reader = clients.start("java", server, group=name, auto_offset_reset="earliest")
    reader.subscribe(name)
    assert [value for _, _, value in reader.poll(100)] == [f"value-{number}" for number in range(100)]
    reader.produce(name, partition=0, first=100, count=100, compression=codec)
    back = clients.start("librdkafka", server, group=f"{name}-back", auto_offset_reset="earliest")
    back.subscribe(name)
    assert [value for _, _, value in back.poll(200)] == [f"value-{number}" for number in range(200)]


@pytest.mark.column("codecs")
def test_a_client_reads_what_it_compressed_and_so_does_librdkafka(client, can, server, clients, name):
    """One partition for each codec, of which this client may lack some."""
    codecs = ["none", *(codec for codec in capabilities.CODECS if can(codec))]
    with server.connect() as connection:
        assert wire.create_topic(connection, name, partitions=len(codecs)) == wire.NO_ERROR
        producer = clients.start(client, server)
        for partition, codec in enumerate(codecs):
            offsets = producer.produce(name, partition, first=0, count=100, compression=codec)
            assert offsets == list(range(100))
            _, _, stored = wire.fetch(connection, name, partition, 0)
            assert {found for _, found, count, _ in batches.headers(stored) if count >= 50} <= {codec}
    expected = [(partition, offset, f"value-{offset}") for partition in range(len(codecs)) for offset in range(100)]
    for reading in sorted({client, "librdkafka"}):
        reader = clients.start(reading, server, group=f"{name}-{reading}", auto_offset_reset="earliest")
        reader.subscribe(name)
        assert sorted(reader.poll(len(expected))) == expected
