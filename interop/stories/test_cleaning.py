"""Old records go: by age and size where a topic says delete, all but the last of each key where it says compact."""

import pytest

from harness import batches, wire, wire_admin
from harness.wire_admin import SET

KEYS = [b"key-%d" % number for number in range(10)]
QUICK = {"log.cleaner.backoff.ms": "100", "log.retention.check.interval.ms": "200"}
MEBIBYTE = 1 << 20
CLEANED_SECONDS = 60


@pytest.fixture
def cleaning_server(new_server, against_kafka):
    """Looks for old records all the time."""
    kafka_only = {"log.initial.task.delay.ms": "500"} if against_kafka else {}
    server = new_server(settings={**QUICK, **kafka_only}).start()
    yield server
    server.end()


def create(connection, name, **settings):
    assert wire.create_topic(connection, name) == wire.NO_ERROR
    wire.wait_for_leaders(connection, name, 1)
    changes = [(setting.replace("_", "."), SET, value) for setting, value in settings.items()]
    assert wire_admin.change_topic(connection, name, *changes) == wire.NO_ERROR
    shown = {setting: value for setting, _, value in changes}
    wire_admin.wait_for(lambda: wire_admin.own_settings(connection, name) == shown)


def size(connection, name):
    return wire_admin.log_sizes(connection, {name: [0]})[(name, 0)]


def read_all(connection, name):
    """[(offset, key, value)] from the beginning to the end."""
    _, _, offset, _ = wire_admin.list_offset(connection, name, 0, wire_admin.EARLIEST)
    end, found = wire.end_offset(connection, name), []
    while offset < end:
        error, _, data = wire.fetch(connection, name, 0, offset)
        assert error == wire.NO_ERROR
        found += [entry for entry in batches.records(data) if entry[0] >= offset]
        first, _, _, whole = list(batches.headers(data))[-1]
        offset = first + int.from_bytes(whole[23:27], "big") + 1
    return found


def test_of_each_key_the_last_value_stays_also_through_a_crash(cleaning_server, name):
    server = cleaning_server
    values = lambda number: [b"%d" % number + b"." * 40_000 for _ in KEYS]
    with server.connect() as connection:
        create(
            connection, name, cleanup_policy="compact", segment_bytes=str(MEBIBYTE), min_cleanable_dirty_ratio="0.01"
        )
        for number in range(12):
            error, base = wire.produce(connection, name, 0, batches.batch(values(number), keys=KEYS))
            assert (error, base) == (wire.NO_ERROR, number * len(KEYS))
        # 4.8 MB were written. The last segment is never cleaned; of the others one record of each key may be left.
        wire_admin.wait_for(lambda: size(connection, name) < 1.8 * MEBIBYTE, CLEANED_SECONDS)
        check = lambda found: {key: value for _, key, value in found} == dict(zip(KEYS, values(11)))
        cleaned = read_all(connection, name)
        assert check(cleaned) and len(cleaned) < 50
        assert [offset for offset, _, _ in cleaned][-10:] == list(range(110, 120)), "offsets never change"
    server.kill()
    server.start()
    with server.connect() as connection:
        wire.wait_for_leaders(connection, name, 1)
        assert check(read_all(connection, name))
        assert size(connection, name) < 1.8 * MEBIBYTE
        # The log goes on, and a tombstone is a record like any other until its time is up.
        error, base = wire.produce(connection, name, 0, batches.batch([None], keys=[KEYS[0]]))
        assert (error, base) == (wire.NO_ERROR, 120)
        assert read_all(connection, name)[-1] == (120, KEYS[0], None)


def test_a_record_without_a_key_has_no_place_in_a_compacted_topic(cleaning_server, name):
    with cleaning_server.connect() as connection:
        create(connection, name, cleanup_policy="compact")
        error, _ = wire.produce(connection, name, 0, batches.batch([b"no key"]))
        assert error == 87, "INVALID_RECORD"


def test_what_is_too_old_goes_and_the_log_goes_on(cleaning_server, name):
    with cleaning_server.connect() as connection:
        create(connection, name, retention_ms="3600000")
        long_ago = 1_700_000_000_000
        assert wire.produce(connection, name, 0, batches.batch([b"a", b"b"], timestamp=long_ago)) == (wire.NO_ERROR, 0)
        beginning = lambda: wire_admin.list_offset(connection, name, 0, wire_admin.EARLIEST)[2]
        wire_admin.wait_for(lambda: beginning() == 2)
        assert wire.fetch(connection, name, 0, 0)[0] == wire_admin.OFFSET_OUT_OF_RANGE
        assert wire.produce(connection, name, 0, batches.batch([b"c"])) == (wire.NO_ERROR, 2)
        assert [(offset, value) for offset, _, value in read_all(connection, name)] == [(2, b"c")]


def test_a_topic_that_is_too_large_loses_its_oldest_segments(cleaning_server, name):
    with cleaning_server.connect() as connection:
        create(connection, name, retention_bytes=str(MEBIBYTE), segment_bytes=str(MEBIBYTE))
        for number in range(10):
            assert wire.produce(connection, name, 0, batches.batch([b"." * 400_000]))[1] == number
        wire_admin.wait_for(lambda: size(connection, name) <= 2 * MEBIBYTE)
        left = read_all(connection, name)
        assert [offset for offset, _, _ in left] == list(range(10 - len(left), 10)) and left


def is_loaded(connection, group):
    return wire.fetch_offsets(connection, group, [])[1] == wire.NO_ERROR


def test_the_log_of_committed_offsets_is_compacted(new_server, against_kafka, name):
    """Far more is committed than a partition may hold; what it holds is still right after a crash."""
    if against_kafka:
        pytest.skip("Kafka cleans whole segments of a hundred megabytes")
    server = new_server(settings={"offsets.topic.num.partitions": "1"}).start()
    rounds, partitions = 1500, 100
    metadata = "m" * 60
    with server.connect() as connection:
        assert wire.create_topic(connection, name, partitions=partitions) == wire.NO_ERROR
        wire.wait_for_leaders(connection, name, partitions)
        largest = 0
        for number in range(1, rounds + 1):
            offsets = {(name, partition): (number, metadata) for partition in range(partitions)}
            answer = wire.commit(connection, name, offsets)
            assert set(answer.values()) == {wire.NO_ERROR}
            if number % 50 == 0:
                largest = max(largest, wire_admin.log_sizes(connection, {"__consumer_offsets": [0]}).popitem()[1])
        assert largest < 16 * MEBIBYTE, f"{largest} bytes"
    server.kill()
    server.start()
    with server.connect() as connection:
        wire_admin.wait_for(lambda: is_loaded(connection, name))
        assert wire.committed(connection, name, name, partition=partitions - 1) == rounds
    server.end()
