"""Our command line shows what is in `__consumer_offsets`: as Kafka's formatters do, as a history, and to put it back."""

import json

FORMATTERS = "org.apache.kafka.tools.consumer"


def of_group(group):
    """The partition that holds a group: by Java's hash of its name, which has a sign."""
    code = 0
    for letter in group:
        code = (31 * code + ord(letter)) & 0xFFFFFFFF
    return min(code, 2**32 - code) % 50


def formatted(shell, formatter, group):
    """What Kafka's formatter writes of a group, record by record."""
    partition = of_group(group)
    [end] = shell("kafka-get-offsets", "--topic-partitions", f"__consumer_offsets:{partition}").lines
    place = ["--partition", partition, "--offset", 0, "--formatter", f"{FORMATTERS}.{formatter}"]
    printed = "\n".join(shell.read("__consumer_offsets", int(end.split(":")[2]), *place))
    found, at, decoder = [], 0, json.JSONDecoder()
    while at < len(printed):
        start = at
        entry, at = decoder.raw_decode(printed, at)
        if entry["key"]["data"]["group"] == group:
            found.append(printed[start:at])
    return found


def moved(cli, shell, group, kept):
    """A group that was at 1, then at 2, and whose offsets were deleted."""
    shell.create(group)
    shell.type_records(group, "one", "two", "three")
    cli.environment["MILEPOST_SNAPSHOTS"] = str(kept)
    cli.run("group", "create", group, "1", "--topic", group, "--yes").ok()
    cli.run("group", "reset", group, "2", "--all", "--yes").ok()
    cli.run("group", "delete-offsets", group, "--topic", group, "--yes").ok()


def test_a_dump_has_the_shape_of_kafkas_formatters(cli, shell, name, tmp_path):
    moved(cli, shell, name, tmp_path)
    shell.read(name, 1, group=name)
    shell.wait_for(lambda: "Empty" in shell("kafka-consumer-groups", "--describe", "--state", "--group", name).out)
    for only, formatter in (("offsets", "OffsetsMessageFormatter"), ("groups", "GroupMetadataMessageFormatter")):
        ours = cli.run("offsets", "dump", "--group", name, "--only", only, "--format", "kafka").lines()
        assert ours == formatted(shell, formatter, name)
    lines = cli.run("offsets", "dump", "--group", name, "--format", "json").json_lines()
    assert {line["partition"] for line in lines} == {of_group(name)}


def test_a_group_has_a_history_and_what_was_deleted_comes_back(cli, shell, name, tmp_path):
    moved(cli, shell, name, tmp_path)
    document = cli.run("offsets", "history", "--group", name, "--format", "json").json()
    assert [(one["change"], one["offset"]) for one in document["events"]] == [
        ("committed", 1),
        ("committed", 2),
        ("removed", None),
    ]
    cli.run("group", "undelete", name, "--yes").ok()
    assert shell.group_offsets(name) == {(name, 0): ("2", "3", "1")}


def test_the_doctor_finds_what_is_wrong_and_nothing_else(cli, shell, name, tmp_path):
    cli.environment["MILEPOST_SNAPSHOTS"] = str(tmp_path)
    shell.create(name)
    shell.type_records(name, "one", "two", "three")
    cli.run("group", "create", name, "latest", "--topic", name, "--yes").ok()
    assert cli.run("doctor", name, "--format", "json").json() == {
        "version": 1,
        "worst": None,
        "findings": [],
        "unseen": [],
    }
    shell("kafka-topics", "--delete", "--topic", name)
    shell.wait_for(lambda: name not in shell("kafka-topics", "--list").lines)
    shell.create(name)
    shell.type_records(name, "one")
    # Some brokers remove the offsets of a deleted topic, some the group with its last offset; then nothing is wrong with it.
    ran = cli.run("doctor", name, "--format", "json")
    worst = json.loads(ran.out)["worst"]
    assert (ran.code, worst) in ((0, None), (1, None), (12, "critical")), ran


def test_a_peek_shows_the_records_around_the_position(cli, shell, name, tmp_path):
    cli.environment["MILEPOST_SNAPSHOTS"] = str(tmp_path)
    shell.create(name)
    shell.type_records(name, "one", "two", "three")
    cli.run("group", "create", name, "1", "--topic", name, "--yes").ok()
    document = cli.run("group", "peek", name, "--format", "json").json()
    [partition] = document["partitions"]
    seen = [(one["offset"], one["place"], one["value"]) for one in partition["records"]]
    assert seen == [(0, "read", "one"), (1, "next", "two"), (2, "ahead", "three")]
