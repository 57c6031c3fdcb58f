"""Our command line lists, describes, moves and keeps groups, with the same answers as Kafka's own tool."""

import json
import tempfile
import time

import pytest
from confluent_kafka import Producer

from harness import batches, wire
from harness.asked import BESIDE

TOOL = "kafka-consumer-groups"
RECORDS = 10
DAY_MS = 86_400_000


@pytest.fixture
def kept(cli, tmp_path):
    """Snapshots of this story alone."""
    cli.environment["MILEPOST_SNAPSHOTS"] = str(tmp_path / "snapshots")
    return tmp_path


@pytest.fixture
def topic(shell, name):
    """A topic with one record a day in its first partition, the last just now; the second is empty."""
    shell.create(name, 2)
    now = int(time.time() * 1000)
    with shell.server.connect() as connection:
        for days in reversed(range(RECORDS)):
            batch = batches.batch([b"a day"], timestamp=now - days * DAY_MS)
            assert wire.produce(connection, name, 0, batch)[0] == wire.NO_ERROR
    return name


def described(cli, group):
    """{(topic, partition): what is shown}."""
    ran = cli.run("group", "describe", group, "--format", "json")
    [shown] = json.loads(ran.out)["groups"]
    return {(one["topic"], one["partition"]): one for one in shown["partitions"]}


def committed(cli, group):
    """{(topic, partition): (offset, leader epoch, metadata)}."""
    fields = ("offset", "leader_epoch", "metadata")
    return {
        place: tuple(one[field] for field in fields)
        for place, one in described(cli, group).items()
        if one["offset"] is not None
    }


def test_what_is_shown_is_what_kafkas_tool_shows(cli, shell, topic):
    cli.run("group", "create", topic, "4", "--topic", f"{topic}:0", "--yes").ok()
    text = lambda value: "-" if value is None else str(value)
    ours = {
        place: (text(one["offset"]), text(one["log_end"]), text(one["lag"]))
        for place, one in described(cli, topic).items()
    }
    assert ours == shell.group_offsets(topic) == {(topic, 0): ("4", "10", "6")}
    listed = {one["group"]: one for one in cli.run("group", "list", "--format", "json").json()["groups"]}
    assert (listed[topic]["state"], listed[topic]["type"].lower()) == ("Empty", "classic")
    assert topic in shell(TOOL, "--list").lines
    [state] = cli.run("group", "state", topic, "--format", "json").json()["groups"]
    assert (state["state"], state["members"], state["coordinator"]) == ("Empty", 0, shell.server.bootstrap)


def test_every_target_is_where_kafkas_tool_would_go(cli, shell, topic, kept):
    cli.run("group", "create", topic, "5", "--topic", f"{topic}:0", "--yes").ok()
    now = int(time.time() * 1000)
    pairs = [
        ("earliest", ["--to-earliest"]),
        ("latest", ["--to-latest"]),
        ("4", ["--to-offset", "4"]),
        ("300", ["--to-offset", "300"]),
        ("+2", ["--shift-by", "2"]),
        ("-3", ["--shift-by", "-3"]),
        ("-300", ["--shift-by", "-300"]),
        ("@-49h", ["--by-duration", "P2DT1H"]),
        (f"@{now + DAY_MS}", ["--to-datetime", "2100-01-01T00:00:00.000Z"]),
        ("@2000-01-01T00:00Z", ["--to-datetime", "2000-01-01T00:00:00.000Z"]),
    ]
    for target, scenario in pairs:
        rows = shell(TOOL, "--reset-offsets", "--group", topic, "--topic", f"{topic}:0", *scenario, "--dry-run").rows
        ran = cli.run("group", "reset", topic, target, "--all", "--dry-run", "--format", "json").json()
        [one] = ran["groups"][0]["partitions"]
        assert str(one["new_offset"]) == rows[0][3], (target, rows, ran)
    assert committed(cli, topic)[(topic, 0)][0] == 5, "nothing was written"


def test_undo_brings_everything_back(cli, topic, kept):
    """Epoch and metadata included, and nothing where there was nothing."""
    cluster = {one["group"]: one for one in cli.run("group", "list", "--format", "json").json()["groups"]}
    assert topic not in cluster
    cli.run("group", "create", topic, "4", "--topic", f"{topic}:0", "--yes").ok()
    exported = cli.run("group", "export", topic).lines()
    row = json.loads(exported[1])
    row["metadata"] = "state of a parallel consumer"
    file = kept / "with-metadata.jsonl"
    file.write_text("\n".join([exported[0], json.dumps(row)]) + "\n")
    cli.run("group", "import", str(file), "--yes").ok()
    before = committed(cli, topic)
    [(offset, epoch, metadata)] = before.values()
    assert (offset, metadata) == (4, row["metadata"]) and epoch is not None

    document = cli.run("group", "reset", topic, "latest", "--topic", topic, "--yes", "--format", "json").json()
    assert [one["result"] for one in document["groups"][0]["partitions"]] == ["ok", "ok"]
    assert {place: one[0] for place, one in committed(cli, topic).items()} == {(topic, 0): 10, (topic, 1): 0}
    [program, *words] = document["undo"].split()
    assert program == "milepost"
    cli.run(*words).ok()
    assert committed(cli, topic) == before


def test_a_group_with_members_is_refused(cli, topic, kept):
    member = cli.start("consume", topic, "--group", topic)
    member.line()
    for verb in (["reset", topic, "earliest", "--all"], ["delete", topic]):
        ran = cli.run("group", *verb, "--yes")
        assert ran.code == 1 and "[NON_EMPTY_GROUP]" in ran.err, ran
    shown = described(cli, topic)
    assert shown[(topic, 1)]["standing"] == "never committed" and shown[(topic, 1)]["lag"] is None
    assert member.stop().code == 0


def test_a_deleted_topic_hides_no_other(cli, shell, topic, kept):
    other = f"{topic}-other"
    shell.create(other)
    cli.run("group", "create", topic, "earliest", "--topic", other, "--topic", f"{topic}:0", "--yes").ok()
    cli.run("topic", "delete", other, "--yes").ok()
    # Whether the offsets go with the topic at once is the broker's business; the other topic is there all the same.
    assert committed(cli, topic)[(topic, 0)][0] == 0
    cli.run("group", "reset", topic, "latest", "--topic", topic, "--yes").ok()


def test_groups_and_offsets_are_deleted(cli, shell, topic, kept):
    for suffix in "ab":
        cli.run("group", "create", f"{topic}-{suffix}", "4", "--topic", topic, "--yes").ok()
    cli.run("group", "delete-offsets", f"{topic}-a", "--topic", f"{topic}:1", "--yes").ok()
    assert shell.group_offsets(f"{topic}-a").keys() == {(topic, 0)}
    ran = cli.run("group", "delete", "--match", f"^{topic}-", "--yes", "--format", "json").json()
    assert [one["result"] for one in ran["groups"]] == ["ok", "ok"]
    assert not [name for name in shell(TOOL, "--list").lines if name.startswith(f"{topic}-")]
    [_, *words] = ran["undo"].split()
    cli.run(*words).ok()
    assert shell.group_offsets(f"{topic}-b")[(topic, 0)][0] == "4"


def test_kafkas_csv_goes_both_ways(cli, shell, topic, kept):
    cli.run("group", "create", topic, "4", "--topic", topic, "--yes").ok()
    file = kept / "offsets.csv"
    file.write_text(cli.run("group", "export", topic, "--as", "csv").ok())
    theirs = shell(TOOL, "--reset-offsets", "--group", topic, "--all-topics", "--to-current", "--export", "--dry-run")
    of_tool = {line for line in theirs.lines if line.count(",") == 2}
    assert of_tool == set(file.read_text().splitlines())
    planned = shell(TOOL, "--reset-offsets", "--group", f"{topic}-2", "--from-file", str(file), "--dry-run").rows
    assert {(row[1], row[2]): row[3] for row in planned} == {(topic, "0"): "4", (topic, "1"): "0"}
    cli.run("group", "import", str(file), "--group", f"{topic}-3", "--yes").ok()
    assert {place: one[0] for place, one in committed(cli, f"{topic}-3").items()} == {(topic, 0): 4, (topic, 1): 0}


def test_positions_outside_of_the_log_are_said_and_not_clamped(cli, shell, topic):
    with shell.server.connect() as connection:
        wire.find_coordinator(connection, topic)
        assert set(wire.commit(connection, topic, {(topic, 0): (25, "m")}).values()) == {wire.NO_ERROR}
    [one] = described(cli, topic).values()
    assert (one["standing"], one["lag"], one["offset"]) == ("beyond end", -15, 25)
    with shell.server.connect() as connection:
        assert set(wire.commit(connection, topic, {(topic, 0): (2, "m")}).values()) == {wire.NO_ERROR}
    deletion = {"partitions": [{"topic": topic, "partition": 0, "offset": 5}], "version": 1}
    delete_records(shell, deletion)
    [one] = described(cli, topic).values()
    assert (one["standing"], one["lag"], one["log_start"]) == ("below start", 8, 5)


def delete_records(shell, deletion):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(deletion, file)
        file.flush()
        shell("kafka-delete-records", "--offset-json-file", file.name)


def test_a_group_in_the_middle_of_a_rebalance(cli, server, topic):
    """It is described at once, as what it is, and nothing is written to it."""
    with server.connect() as connection:
        wire.find_coordinator(connection, topic)
        _, _, member = wire.join_group(connection, topic)
        # From here on the group waits for the assignment of its leader, who says nothing.
        assert wire.join_group(connection, topic, member)[0] == wire.NO_ERROR
        [state] = cli.run("group", "state", topic, "--format", "json").json()["groups"]
        assert (state["state"], state["members"]) == ("CompletingRebalance", 1)
        ran = cli.run("group", "create", topic, "earliest", "--topic", topic, "--yes")
        assert ran.code == 1 and "exists already" in ran.err, ran


def test_an_open_transaction_makes_the_two_lags_differ(cli, server, topic):
    producer = Producer({"bootstrap.servers": server.bootstrap, "transactional.id": topic, **BESIDE})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(topic, b"not yet", partition=0)
    producer.flush(60)
    cli.run("group", "create", topic, "4", "--topic", f"{topic}:0", "--yes").ok()
    [one] = described(cli, topic).values()
    assert (one["log_stable_end"], one["log_end"]) == (10, 11)
    assert (one["stable_lag"], one["lag"]) == (6, 7)
    producer.abort_transaction(60)
