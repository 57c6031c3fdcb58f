"""What its users do with kcat: produce, read, join a group, list what is there, look up offsets by time."""

import json
import re
import shutil
import time

import pytest

from harness import batches, capabilities, kcat, wire

pytestmark = pytest.mark.parametrize("client", ["kcat"], indirect=True)

QUICK = {"session_timeout_ms": 3000, "heartbeat_interval_ms": 200, "auto_commit_interval_ms": 100}
EARLIEST = ["-X", "auto.offset.reset=earliest"]


@pytest.fixture(autouse=True)
def installed(client, request):
    if shutil.which("kcat") is None:
        pytest.skip("no kcat on this machine")
    request.node.user_properties.append(("version", ("kcat", kcat.version())))


@pytest.fixture
def topic(server, name):
    """A topic of two partitions."""
    with server.connect() as connection:
        assert wire.create_topic(connection, name, partitions=2) == wire.NO_ERROR
        wire.find_coordinator(connection, name)
    return name


@pytest.fixture
def join(server, topic):
    """Starts members of the group that has the topic's name; ends them with the story."""
    made = []

    def start(**settings):
        made.append(kcat.Consumer(server, topic, topic, auto_offset_reset="earliest", **{**QUICK, **settings}))
        return made[-1]

    yield start
    for one in made:
        one.kill()


def numbered(first, count):
    return [f"value-{number}" for number in range(first, first + count)]


def wait_until(holds, seconds=60):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "what the story waits for did not happen"
        time.sleep(0.05)


def committed(server, group, topic, partition):
    with server.connect() as connection:
        return wire.committed(connection, group, topic, partition)


@pytest.mark.column("whole story")
def test_two_members_and_a_restart(client, own_server, name):
    with own_server.connect() as connection:
        assert wire.create_topic(connection, name, partitions=2) == wire.NO_ERROR
    for first in (0, 10):
        # The second time the group goes on where it was: what comes is new, and comes once.
        members = [kcat.Consumer(own_server, name, name, auto_offset_reset="earliest", **QUICK) for _ in range(2)]
        try:
            wait_until(lambda: sorted(len(one.assigned) for one in members) == [1, 1])
            for partition in (0, 1):
                kcat.produce(own_server, name, partition, numbered(first, 10))
            for one in members:
                (partition,) = one.assigned
                expected = [(partition, offset, f"value-{offset}") for offset in range(first, first + 10)]
                assert one.read(10) == expected
            for one in members:
                one.stop()
        finally:
            for one in members:
                one.kill()
        for partition in (0, 1):
            assert committed(own_server, name, name, partition) == first + 10
        assert own_server.stop() in (0, 143)
        own_server.start()


@pytest.mark.column("automatic commit")
def test_the_committed_offset_is_where_the_next_one_starts(client, server, topic):
    kcat.produce(server, topic, 0, numbered(0, 10))
    group = ["-G", topic, "-b", server.bootstrap, *EARLIEST, *kcat.FORMAT]
    printed, _ = kcat.run(*group, "-c", "7", topic)
    assert kcat.records(printed) == [(0, offset, f"value-{offset}") for offset in range(7)]
    assert committed(server, topic, topic, 0) == 7
    printed, _ = kcat.run(*group, "-e", topic)
    assert kcat.records(printed) == [(0, offset, f"value-{offset}") for offset in range(7, 10)]
    assert committed(server, topic, topic, 0) == 10
    # The empty partition was read by nobody: never committed is not 0.
    assert committed(server, topic, topic, 1) is None


@pytest.mark.column("killed member")
def test_one_of_two_is_killed_and_the_other_takes_over(client, server, topic, join):
    first, second = join(), join()
    wait_until(lambda: len(first.assigned) == len(second.assigned) == 1 and first.assigned != second.assigned)
    for member in (first, second):
        (partition,) = member.assigned
        kcat.produce(server, topic, partition, numbered(0, 10))
        assert member.read(10) == [(partition, offset, f"value-{offset}") for offset in range(10)]
        wait_until(lambda: committed(server, topic, topic, partition) == 10)
    (taken,) = second.assigned
    second.kill()
    kcat.produce(server, topic, taken, numbered(10, 5))
    assert first.read(5) == [(taken, offset, f"value-{offset}") for offset in range(10, 15)]
    assert first.assigned == {0, 1}


@pytest.mark.column("static member")
def test_a_static_member_comes_back_as_itself(client, server, topic, join):
    member = join(group_instance_id="the-one", session_timeout_ms=20_000)
    wait_until(lambda: member.assigned == {0, 1})
    with server.connect() as connection:
        ((before, instance, _),) = wire.describe_group(connection, topic)[1]
        assert instance == "the-one"
        member.kill()
        again = join(group_instance_id="the-one", session_timeout_ms=20_000)
        # Far sooner than the session of the one that was killed ends.
        wait_until(lambda: again.assigned == {0, 1}, seconds=15)
        ((after, instance, _),) = wire.describe_group(connection, topic)[1]
        assert instance == "the-one" and after != before
    kcat.produce(server, topic, 1, numbered(0, 3))
    assert again.read(3) == [(1, offset, f"value-{offset}") for offset in range(3)]


@pytest.mark.column("cooperative")
def test_what_a_member_keeps_is_not_revoked(client, server, topic, join):
    cooperative = {"partition_assignment_strategy": "cooperative-sticky"}
    first = join(**cooperative)
    wait_until(lambda: first.assigned == {0, 1})
    second = join(**cooperative)
    wait_until(lambda: len(first.assigned) == len(second.assigned) == 1)
    assert first.revoked == second.assigned and first.assigned.isdisjoint(second.assigned)
    for member in (first, second):
        (partition,) = member.assigned
        kcat.produce(server, topic, partition, numbered(0, 10))
        assert member.read(10) == [(partition, offset, f"value-{offset}") for offset in range(10)]


@pytest.mark.column("reset policies")
def test_without_a_commit(client, server, topic):
    kcat.produce(server, topic, 0, numbered(0, 5))
    start = lambda policy: ["-G", f"{topic}-{policy}", "-b", server.bootstrap, "-X", f"auto.offset.reset={policy}"]
    printed, _ = kcat.run(*start("earliest"), *kcat.FORMAT, "-e", topic)
    assert [offset for _, offset, _ in kcat.records(printed)] == list(range(5))
    printed, _ = kcat.run(*start("latest"), *kcat.FORMAT, "-e", topic)
    assert printed == ""
    # librdkafka's word for Kafka's "none".
    printed, said = kcat.run(*start("error"), *kcat.FORMAT, topic, code=1)
    assert printed == "" and "no previously committed offset" in said


@pytest.mark.column("codecs")
@pytest.mark.parametrize("codec", ["none", *capabilities.CODECS])
def test_it_reads_what_it_compressed(client, server, topic, codec):
    kcat.produce(server, topic, 1, numbered(0, 100), "-z", codec)
    with server.connect() as connection:
        _, _, stored = wire.fetch(connection, topic, 1, 0)
    assert {found for _, found, count, _ in batches.headers(stored) if count >= 50} <= {codec}
    printed, _ = kcat.run("-C", "-b", server.bootstrap, "-t", topic, "-o", "beginning", "-e", *kcat.FORMAT)
    assert kcat.records(printed) == [(1, offset, f"value-{offset}") for offset in range(100)]


def test_it_lists_what_is_there(client, server, topic):
    printed, _ = kcat.run("-L", "-J", "-b", server.bootstrap)
    listed = json.loads(printed)
    host, port = server.bootstrap.split(":")
    (broker,) = listed["brokers"]
    assert broker["name"] == f"{host}:{port}" and listed["controllerid"] == broker["id"]
    (mine,) = [one for one in listed["topics"] if one["topic"] == topic]
    assert [(one["partition"], one["leader"]) for one in mine["partitions"]] == [(0, broker["id"]), (1, broker["id"])]


def test_it_looks_up_offsets_by_time(client, server, topic):
    # Not long ago: a topic keeps its records for a week.
    late = int(time.time() * 1000) - 60_000
    early = late - 60_000
    with server.connect() as connection:
        for timestamp in (early, late):
            values = [f"at-{timestamp}-{number}".encode() for number in range(3)]
            assert wire.produce(connection, topic, 0, batches.batch(values, timestamp=timestamp))[0] == wire.NO_ERROR
    # Where to look, and the offset there: that of the first record of that time or later, -1 if there is none.
    expected = {-2: 0, -1: 6, early: 0, early + 1: 3, late: 3, late + 1: -1}
    for when, offset in expected.items():
        printed, _ = kcat.run("-Q", "-b", server.bootstrap, "-t", f"{topic}:0:{when}")
        assert re.findall(r"offset (-?\d+)", printed) == [str(offset)], (when, printed)
    # And what is read from a time on.
    printed, _ = kcat.run("-C", "-b", server.bootstrap, "-t", topic, "-p", "0", "-o", f"s@{late}", "-e", *kcat.FORMAT)
    assert [offset for _, offset, _ in kcat.records(printed)] == [3, 4, 5]


LACKED = [
    ("commit with epoch", capabilities.COMMIT_EPOCH),
    ("zombie", capabilities.REFUSED_COMMIT),
    ("admin of topics", capabilities.TOPIC_ADMIN),
    ("admin of groups", capabilities.GROUP_ADMIN),
]


@pytest.mark.parametrize(
    "need", [pytest.param(need, marks=[pytest.mark.column(column), pytest.mark.needs(need)]) for column, need in LACKED]
)
def test_what_it_has_no_word_for(client, need):
    raise AssertionError(f"kcat has learnt {need}, so it needs a story")
