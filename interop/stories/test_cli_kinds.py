"""Our command line and the kinds of groups that are not of consumers: share groups, streams groups, Kafka Connect.

A Kafka broker has share and streams groups; our server is told of beside it only where it has the kind too.
"""

import json
import os
import re

import pytest

from harness import wire
from harness.cli import Cli
from harness.streams import WordCount
from harness.tools import ShareConsumer, Shell

SETTINGS = {"offsets.topic.num.partitions": "1"}


@pytest.fixture
def kafka(kafka_server):
    return kafka_server(settings=SETTINGS)


@pytest.fixture
def theirs(tools, kafka):
    """Kafka's tools, told of the Kafka broker."""
    return Shell(tools, kafka)


@pytest.fixture
def ours(pytestconfig, kafka, tmp_path):
    """Our command line, told of the Kafka broker."""
    one = Cli(pytestconfig.getoption("--cli"), kafka)
    one.environment["MILEPOST_SNAPSHOTS"] = str(tmp_path / "snapshots")
    yield one
    one.end()


@pytest.fixture
def shared(pytestconfig, theirs, kafka, name):
    """A share group in the middle of a topic of two partitions, and its member."""
    theirs.create(name, 2)
    settings = ["--entity-type", "groups", "--entity-name", name, "--add-config", "share.auto.offset.reset=earliest"]
    theirs("kafka-configs", "--alter", *settings)
    theirs.type_to(name, 0, "one", "two", "three")
    member = ShareConsumer(pytestconfig.getoption("--tools-class-path"), kafka, name, name)
    assert [member.line() for _ in range(3)] == ["one", "two", "three"]
    yield member
    member.end()


@pytest.fixture
def app(name):
    """The name of the word count, which is that of its group."""
    return f"{name}-app"


@pytest.fixture
def streams(pytestconfig, theirs, kafka, name, app, tmp_path):
    """A word count in a streams group that has read two lines."""
    class_path = pytestconfig.getoption("--java-class-path")
    theirs.create(f"{name}-lines", 2)
    theirs.create(f"{name}-counts")
    for partition in range(2):
        theirs.type_to(f"{name}-lines", partition, "a b c d e f g h i j k l")
    given = {"group_protocol": "streams", "num_stream_threads": "1", "processing_guarantee": "at_least_once"}
    # Those of the classic protocol are refused in a streams group.
    given |= {"consumer_session_timeout_ms": None, "consumer_heartbeat_interval_ms": None}
    one = WordCount(class_path, kafka, app, f"{name}-lines", f"{name}-counts", str(tmp_path / "state"), **given)
    one.wait_until_running()
    yield one
    one.end()


def shown(cli, verb, group):
    [one] = cli.run("group", verb, group, "--format", "json").json()["groups"]
    return one


def partitions(cli, group):
    return {(one["topic"], one["partition"]): one for one in shown(cli, "describe", group)["partitions"]}


def test_a_share_group(ours, theirs, shared, name):
    def same():
        rows = theirs("kafka-share-groups", "--describe", "--group", name).rows
        said = {(row[1], int(row[2])): (row[3], row[4]) for row in rows}
        dash = lambda number: "-" if number is None else str(number)
        found = {at: (dash(one["share_start_offset"]), dash(one["lag"])) for at, one in partitions(ours, name).items()}
        assert len(found) == 2 and all(one["offset"] is None for one in partitions(ours, name).values())
        return found == said

    # What was handed out is done a moment later.
    theirs.wait_for(same)
    theirs.wait_for(lambda: partitions(ours, name)[name, 0]["lag"] == 0)
    text = ours.run("group", "describe", name).ok()
    assert re.search(rf"{name} +0 +- +3 +0 +ok, share start \d", text), text

    # Nothing waits where nothing is left to do.
    [told] = ours.run("group", "describe", name, "--topic", f"{name}:0", "--time-lag", "--format", "json").json()["groups"]
    assert [one["time_lag_ms"] for one in told["partitions"]] == [0]
    start = partitions(ours, name)[name, 0]["share_start_offset"]
    [peeked] = [
        one
        for one in ours.run("group", "peek", name, "--format", "json").json()["partitions"]
        if one["partition"] == 0
    ]
    assert peeked["position"] == start, peeked

    [member] = shown(ours, "members", name)["members"]
    [row] = theirs("kafka-share-groups", "--describe", "--group", name, "--members", "--verbose").rows
    assert row[1] == member["member_id"] and row[-1] == f"{name}:0,1"
    assert member["assigned"] == {name: [0, 1]} and member["subscribed"] == [name]
    state = shown(ours, "state", name)
    [row] = theirs("kafka-share-groups", "--describe", "--group", name, "--state", "--verbose").rows
    assert row[3:] == [state["state"], str(state["group_epoch"]), str(state["assignment_epoch"]), "1"]
    assert (state["type"], state["topology"]) == ("share", None)
    [listed] = ours.run("group", "list", "--type", "share", "--lag", "--format", "json").json()["groups"]
    assert (listed["group"], listed["totals"]["partitions"], listed["totals"]["lag"]) == (name, 2, 0)


def test_nothing_commits_for_a_share_group_and_it_can_be_deleted(ours, theirs, shared, name):
    ours.run("group", "create", f"{name}-other", "earliest", "--topic", name, "--yes").ok()
    for verb in (
        ["reset", name, "earliest", "--all", "--yes"],
        ["create", name, "earliest", "--topic", name, "--yes"],
        ["copy", f"{name}-other", name, "--yes"],
        ["delete-offsets", name, "--topic", name, "--yes"],
    ):
        ran = ours.run("group", *verb)
        assert ran.code == 1 and "a share group commits no offsets" in ran.err, ran
    for verb in (["export", name], ["snapshot", "create", name, "--name", "before"]):
        ran = ours.run("group", *verb)
        assert ran.code == 0 and "where it begins is not kept" in ran.err, ran
    ours.run("group", "snapshot", "create", name, f"{name}-other", "--name", "both").ok()
    ran = ours.run("group", "snapshot", "restore", "both", "--yes")
    assert ran.code == 0 and "a share group commits no offsets" in ran.err, ran
    ran = ours.run("group", "delete", name, "--yes")
    assert ran.code == 1 and "NON_EMPTY_GROUP" in ran.err, ran
    shared.close()
    theirs.wait_for(lambda: shown(ours, "state", name)["state"] == "Empty")
    ran = ours.run("group", "delete", name, "--yes")
    assert ran.code == 0 and "its deletion cannot be undone" in ran.err and "undo:" not in ran.out, ran
    left = ours.run("group", "list", "--format", "json").json()["groups"]
    assert [one["group"] for one in left] == [f"{name}-other"]


def test_a_streams_group(ours, theirs, streams, name, app):
    words = f"{app}-words-repartition"

    def same():
        rows = theirs("kafka-streams-groups", "--describe", "--group", app).rows
        said = {(row[1], int(row[2])): row[3] for row in rows}
        found = {at: str(one["lag"]) for at, one in partitions(ours, app).items()}
        return len(found) == 4 and found == said

    theirs.wait_for(same)
    theirs.wait_for(lambda: all(one["lag"] == 0 for one in partitions(ours, app).values()))
    [member] = shown(ours, "members", app)["members"]
    assert member["assigned"] == {f"{name}-lines": [0, 1], words: [0, 1]}
    everything = {"active": {"0": [0, 1], "1": [0, 1]}, "standby": {}, "warmup": {}}
    assert member["streams"]["tasks"] == member["streams"]["target_tasks"] == everything
    said = theirs("kafka-streams-groups", "--describe", "--group", app, "--members", "--verbose").out
    for word in (member["member_id"], member["streams"]["process_id"], "ACTIVE: 0:[0,1]; 1:[0,1];"):
        assert word in said, said
    state = shown(ours, "state", app)
    [row] = theirs("kafka-streams-groups", "--describe", "--group", app, "--state", "--verbose").rows
    epochs = [str(state["group_epoch"]), str(state["assignment_epoch"])]
    assert row[3:] == [state["assignor"], state["state"], *epochs, "1"]
    parts = state["topology"]["subtopologies"]
    assert [part["source_topics"] + part["repartition_source_topics"] for part in parts] == [[f"{name}-lines"], [words]]
    assert parts[1]["changelog_topics"] == [f"{app}-counts-changelog"]

    ran = ours.run("group", "reset", app, "earliest", "--all", "--yes")
    assert ran.code == 1 and "needs them to be stopped first [NON_EMPTY_GROUP]" in ran.err, ran
    streams.close()
    theirs.wait_for(lambda: shown(ours, "state", app)["state"] == "Empty")
    ours.run("group", "reset", app, "earliest", "--topic", f"{name}-lines", "--yes").ok()
    assert partitions(ours, app)[f"{name}-lines", 0]["offset"] == 0


def test_what_kafka_streams_writes_beside_an_offset_is_read(ours, theirs, streams, name, app):
    theirs.wait_for(lambda: all(one["metadata"] for one in partitions(ours, app).values()))
    for one in partitions(ours, app).values():
        said = one["metadata_decoded"]
        assert (said["kind"], said["version"], said["processors"]) == ("kafka-streams", 2, {}), one
        assert said["partition_time"] is not None
    assert "Kafka Streams: time 20" in ours.run("group", "describe", app, "--format", "wide").ok()


def test_every_record_is_dumped_as_kafka_dumps_it(ours, theirs, kafka, shared, streams, name, app):
    shared.close()
    streams.close()
    theirs.wait_for(lambda: all(shown(ours, "state", group)["state"] == "Empty" for group in (name, app)))
    ours.run("group", "delete", name, "--yes").ok()
    kafka.stop()
    folder = os.path.join(kafka.data, "__consumer_offsets-0")
    [log] = [os.path.join(folder, file) for file in os.listdir(folder) if file.endswith(".log")]
    theirs_said = []
    for line in theirs("kafka-dump-log", "--offsets-decoder", "--files", log).lines:
        found = re.match(r"\| offset: (\d+) .* key: (\{.*\}) payload: (.*)$", line)
        if found:
            value = None if found[3] == "<DELETE>" else json.loads(found[3])["data"]
            key = json.loads(found[2])
            theirs_said.append((int(found[1]), int(key["type"]), key["data"], value))
    ours_said = ours.run("offsets", "dump", log, "--format", "json").json_lines()
    assert [line for line in ours_said if "error" in line] == []
    fields = ("offset", "type", "key", "value")
    found = [tuple(line[field] for field in fields) for line in ours_said if "marker" not in line]
    # Kafka leaves out what it cannot decode, and that is nothing here.
    assert found == theirs_said
    types = {record[1] for record in found}
    assert types >= {10, 11, 12, 13, 14, 15, 17, 19, 20, 21, 22, 23}, types


WORKER = ("connect", "sessioned", wire.i16(2) + wire.text("http://w1:8083/") + wire.i64(7) + wire.i32(-1))


def worker_assignment(leader):
    """Version 2, as the leader writes it: one connector with a task, and a task of another."""
    work = [wire.text("files") + wire.array([wire.i32(-1), wire.i32(0)]), wire.text("sink") + wire.array([wire.i32(2)])]
    head = wire.i16(2) + wire.i16(0) + wire.text(leader) + wire.text("http://w1:8083/") + wire.i64(7)
    return head + wire.array(work) + wire.array([]) + wire.i32(0)


def test_workers_of_kafka_connect(cli, server, name):
    with server.connect() as connection:
        wire.find_coordinator(connection, name)
        error, _, member = wire.join_group(connection, name, speaks=WORKER)
        assert error == wire.MEMBER_ID_REQUIRED
        error, generation, _ = wire.join_group(connection, name, member, speaks=WORKER)
        assert error == wire.NO_ERROR
        assert wire.sync_group(connection, name, member, generation, worker_assignment(member)) == wire.NO_ERROR
        [one] = shown(cli, "members", name)["members"]
        assert one["connect"] == {
            "url": "http://w1:8083/",
            "protocol_version": 2,
            "config_offset": 7,
            "is_leader": True,
            "assigned": [
                {"connector": "files", "runs_connector": True, "tasks": [0]},
                {"connector": "sink", "runs_connector": False, "tasks": [2]},
            ],
        }
        assert "files:connector,0 sink:2" in cli.run("group", "members", name).ok()
        ran = cli.run("group", "describe", name)
        assert ran.code == 0 and "commit no offsets" in ran.err, ran
        assert "connect-files, connect-sink" in ran.err
        listed = cli.run("group", "list", "--type", "connect", "--match", name, "--format", "json").json()["groups"]
        assert [group["group"] for group in listed] == [name]
        ran = cli.run("group", "reset", name, "earliest", "--all", "--yes")
        assert ran.code == 1 and "the workers of Kafka Connect commit no offsets" in ran.err, ran
        wire.leave_group(connection, name, member)


def test_a_parallel_consumers_map_is_read(cli, server, name):
    """Written by the consumer's own encoder: of 100 to 109 it had 100, 103, 104 and 108 still to do."""
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        cli.run("produce", name, stdin="".join(f"{number}\n" for number in range(115))).ok()
        wire.find_coordinator(connection, name)
        wire.commit(connection, name, {(name, 0): (100, "bwAAAArmAgA=")})
    one = partitions(cli, name)[name, 0]
    assert (one["metadata"], one["lag"]) == ("bwAAAArmAgA=", 15)
    assert one["metadata_decoded"] == {
        "kind": "parallel-consumer",
        "encoding": "BitSetV2",
        "map_end": 110,
        "done": 6,
        "done_ranges": [[101, 102], [105, 107], [109, 109]],
        "more_done_ranges": 0,
        "remaining": 9,
        "beyond_log_end": False,
    }
    wide = cli.run("group", "describe", name, "--format", "wide").ok()
    assert "parallel consumer: 6 done behind the offset, 9 not done" in wide
