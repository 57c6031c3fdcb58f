"""What kafka-console-consumer shows of `__consumer_offsets` with Kafka's formatters: records as Kafka writes them."""

import json

FORMATTERS = "org.apache.kafka.tools.consumer"
VARIES = {"commitTimestamp", "currentStateTimestamp", "subscription", "assignment", "topicId"}


def records(shell, formatter, group):
    """What the formatter says of the records of one group, in order: [(key, value)]; what varies left out."""
    partition = of_group(group)
    [end] = shell("kafka-get-offsets", "--topic-partitions", f"__consumer_offsets:{partition}").lines
    place = ["--partition", partition, "--offset", 0, "--formatter", f"{FORMATTERS}.{formatter}"]
    printed = "\n".join(shell.read("__consumer_offsets", int(end.split(":")[2]), *place))
    found, at, decoder = [], 0, json.JSONDecoder(object_pairs_hook=without_what_varies)
    while at < len(printed):
        entry, at = decoder.raw_decode(printed, at)
        if entry["key"]["data"]["group"] == group:
            found.append((entry["key"], entry["value"]))
    return found


def without_what_varies(pairs):
    for key, value in pairs:
        assert key != "topicId" or len(value) == 22, "a commit says which topic it is of, and not only by name"
    return {key: value for key, value in pairs if key not in VARIES}


def of_group(group):
    """The partition that holds a group: by Java's hash of its name, which has a sign."""
    code = 0
    for letter in group:
        code = (31 * code + ord(letter)) & 0xFFFFFFFF
    return min(code, 2**32 - code) % 50


def test_commits_and_deletions(shell, name):
    shell.create(name)
    shell.type_records(name, "one", "two", "three")
    reset = ["--reset-offsets", "--group", name, "--topic", name, "--execute"]
    shell("kafka-consumer-groups", *reset, "--to-offset", 1)
    shell("kafka-consumer-groups", *reset, "--to-latest")
    shell("kafka-consumer-groups", "--delete-offsets", "--group", name, "--topic", name)
    key = {"type": 1, "data": {"group": name, "topic": name, "partition": 0}}
    commit = lambda offset: {"version": 4, "data": {"offset": offset, "leaderEpoch": -1, "metadata": ""}}
    found = records(shell, "OffsetsMessageFormatter", name)
    assert found == [(key, commit(1)), (key, commit(3)), (key, None)]


def test_the_life_of_a_group(shell, name):
    shell.create(name)
    shell.type_records(name, "one")
    settings = ["client.id=the-client", "group.instance.id=the-instance"]
    settings += ["session.timeout.ms=600", "heartbeat.interval.ms=200"]
    shell.read(name, 1, *(word for setting in settings for word in ("--command-property", setting)), group=name)
    # The static member does not leave: it is put out.
    shell.wait_for(lambda: "Empty" in shell("kafka-consumer-groups", "--describe", "--state", "--group", name).out)
    shell("kafka-consumer-groups", "--delete", "--group", name)
    found = records(shell, "GroupMetadataMessageFormatter", name)
    assert {json.dumps(key) for key, _ in found} == {json.dumps({"type": 2, "data": {"group": name}})}
    values = [value and value["data"] for _, value in found]
    assert {value["version"] for _, value in found if value} == {3}

    empty = {"protocol": None, "leader": None, "members": []}
    assert values[0] == {"protocolType": "", "generation": 0, **empty}
    assert values[-2:] == [{"protocolType": "consumer", "generation": 2, **empty}, None]
    stable = values[-3]
    [member] = stable.pop("members")
    assert stable == {"protocolType": "consumer", "generation": 1, "protocol": "range", "leader": member["memberId"]}
    assert member.pop("memberId").startswith("the-instance-")
    assert member == {
        "groupInstanceId": "the-instance",
        "clientId": "the-client",
        "clientHost": "/127.0.0.1",
        "rebalanceTimeout": 300_000,
        "sessionTimeout": 600,
    }
