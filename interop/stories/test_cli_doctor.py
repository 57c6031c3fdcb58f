"""`milepost doctor` of what only shows over time, or what only a client of long ago does, on any cluster."""

import json
import time

import pytest

from harness import batches, wire, wire_admin, wire_consumer
from harness.cli import Cli
from harness.tools import Shell
from harness.wire import array, i32, i64, text

# Before version 5 a commit may say how long it is to be kept.
KEPT_UNTIL_VERSION = 4
RECORDS = 10
LOOK_SECONDS = 5
OFFSETS_TOPIC = "__consumer_offsets"
SEGMENT_BYTES = 1 << 20
# Whoever calls itself so may write to topics of the cluster's own.
ADMIN_CLIENT_ID = "__admin_client"


def found(cli, *arguments):
    """{(rule, group): what is said}, of whatever was found."""
    ran = cli.run("doctor", "--format", "json", *arguments)
    assert ran.code in (0, 10, 11, 12), ran
    document = json.loads(ran.out)
    assert document["unseen"] == [], ran
    return {(one["rule"], one["group"]): one["says"] for one in document["findings"]}


@pytest.fixture
def topic(shell, name):
    """A topic with some records."""
    shell.create(name, 1)
    with shell.server.connect() as connection:
        batch = batches.batch([b"a record"] * RECORDS)
        assert wire.produce(connection, name, 0, batch)[0] == wire.NO_ERROR
    return name


def commit_for(connection, group, topic, retention_ms):
    """A commit that says how long it is to be kept; -1: as long as the broker keeps any."""
    partition = i32(0) + i64(5) + text("")
    body = text(group) + i32(-1) + text("") + i64(retention_ms) + array([text(topic) + array([partition])])
    reader = connection.ask(wire.OFFSET_COMMIT, KEPT_UNTIL_VERSION, body)
    return wire.read_commit(reader)


def test_a_commit_with_an_expiry_of_its_own(cli, server, topic):
    wish, none = f"{topic}-wish", f"{topic}-none"
    with server.connect() as connection:
        for group, retention_ms in ((wish, 3_600_000), (none, -1)):
            wire.find_coordinator(connection, group)
            assert set(commit_for(connection, group, topic, retention_ms).values()) == {wire.NO_ERROR}
    said = found(cli, wish, none)
    assert ("explicit-expiry", none) not in said
    assert "60 minutes after its commit" in said[("explicit-expiry", wish)], said
    assert ("explicit-expiry", wish) not in found(cli, wish, "--history", "0"), "only the log tells"


def test_what_goes_on_between_two_looks(cli, server, topic):
    waiting, well, losing = (f"{topic}-{word}" for word in ("waiting", "well", "losing"))
    commit = {(topic, 0): (5, "")}
    with server.connect() as connection, server.connect() as other:
        for group in (waiting, well, losing):
            wire.find_coordinator(connection, group)
        # It waits for the assignment of its leader, who says nothing.
        _, _, member = wire.join_group(connection, waiting, session_timeout_ms=60_000)
        assert wire.join_group(connection, waiting, member, session_timeout_ms=60_000)[0] == wire.NO_ERROR
        wire.joined_member(other, well, session_timeout_ms=60_000)
        assert set(wire.commit(connection, losing, commit).values()) == {wire.NO_ERROR}
        looks = cli.start("doctor", waiting, well, losing, "--for", str(LOOK_SECONDS), "--format", "json")
        assert "looked once" in looks.process.stderr.readline()
        wire_admin.delete_records(connection, topic, 0, 3)
        ran = looks.rest()
    said = {(one["rule"], one["group"]): one["says"] for one in json.loads(ran.out)["findings"]}
    assert said[("stuck-rebalance", waiting)].startswith("it was CompletingRebalance, and 5 s later"), ran
    assert ("stuck-rebalance", well) not in said
    assert "deletion came 3 records closer" in said[("shrinking-margin", losing)], ran
    assert not [rule for rule, _ in found(cli, losing) if rule in ("stuck-rebalance", "shrinking-margin")]


def test_a_member_that_does_not_follow_its_group(cli, server, shell, name):
    shell.create(name, 2)
    behind, well = f"{name}-behind", f"{name}-well"
    with server.connect() as connection:
        for group in (behind, well):
            wire.find_coordinator(connection, group)
            join(connection, group, "first", name)
        # Another comes, and the first, who is to give something up, says nothing any more.
        join(connection, behind, "second", name)
        ran = cli.run("doctor", behind, well, "--for", str(LOOK_SECONDS), "--format", "json")
    said = {(one["rule"], one["group"]): one["says"] for one in json.loads(ran.out)["findings"]}
    assert said[("member-behind", behind)].startswith("the member first stayed in epoch"), ran
    assert ("member-behind", well) not in said


def join(connection, group, member, topic):
    """Heartbeats until the member is in the group's epoch."""
    epoch = 0
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        topics = [topic] if epoch == 0 else None
        error, epoch, _ = wire_consumer.heartbeat(connection, group, member, epoch, topics=topics)
        assert error == wire.NO_ERROR
        _, _, epoch_of_group, target, _ = wire_consumer.describe(connection, group)
        if epoch == epoch_of_group == target:
            return
        time.sleep(0.05)
    raise AssertionError(f"{member} does not get into {group}")


@pytest.mark.parametrize(
    "own_server",
    [
        {
            "settings": {
                "offsets.topic.num.partitions": "1",
                "offsets.topic.segment.bytes": str(SEGMENT_BYTES),
                # The cleaner is not told to work as long as the story goes on.
                "log.cleaner.backoff.ms": "3600000",
            }
        }
    ],
    indirect=True,
)
def test_a_log_of_offsets_that_nobody_cleans_and_nobody_can_read(own_server, pytestconfig, tools, name):
    cli = Cli(pytestconfig.getoption("--cli"), own_server)
    Shell(tools, own_server).create(name, 1)
    with own_server.connect() as connection:
        wire.find_coordinator(connection, name)
        commits = 4 * SEGMENT_BYTES // 4000 + 50
        for number in range(commits):
            codes = wire.commit(connection, name, {(name, 0): (0, "x" * 4000)})
            assert set(codes.values()) == {wire.NO_ERROR}
            if number == 100:
                assert {"offsets-topic-not-cleaned", "undecodable-records"} & rules(cli, name) == set()
    assert "offsets-topic-not-cleaned" in rules(cli, name)
    # A committed offset of a version that nobody knows yet.
    key = b"\0\1" + text(name) + text(name) + i32(0)
    with own_server.connect(client_id=ADMIN_CLIENT_ID) as connection:
        batch = batches.batch([b"\0\x63what is to come"], keys=[key])
        assert wire.produce(connection, OFFSETS_TOPIC, 0, batch)[0] == wire.NO_ERROR
    assert "undecodable-records" in rules(cli, name)
    cli.end()


def rules(cli, group):
    return {rule for rule, _ in found(cli, group)}
