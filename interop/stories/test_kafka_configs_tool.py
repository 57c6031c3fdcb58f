"""kafka-configs: settings of topics are described, changed and taken back; what cannot be changed is refused."""

import re

# Those of Kafka 4.4 without tiered storage and the throttling of replication.
OF_TOPICS = {
    "cleanup.policy",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.type",
    "compression.zstd.level",
    "delete.retention.ms",
    "errors.deadletterqueue.group.enable",
    "file.delete.delay.ms",
    "flush.messages",
    "flush.ms",
    "index.interval.bytes",
    "max.compaction.lag.ms",
    "max.decompressed.message.bytes",
    "max.message.bytes",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "message.timestamp.type",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "min.insync.replicas",
    "preallocate",
    "retention.bytes",
    "retention.ms",
    "segment.bytes",
    "segment.index.bytes",
    "segment.jitter.ms",
    "segment.ms",
    "unclean.leader.election.enable",
}


def settings(shell, kind, *flags):
    """{setting: (value, [where it is set, the first one counts])}."""
    found = {}
    for line in shell("kafka-configs", "--entity-type", kind, "--describe", *flags).lines:
        entry = re.fullmatch(r"  (\S+?)=(.*) sensitive=false synonyms=\{(.*)\}", line)
        if entry:
            key, value, synonyms = entry.groups()
            found[key] = (value, re.findall(r"([A-Z_]+):", synonyms))
    return found


def alter(shell, name, *flags, kind="topic"):
    done = shell("kafka-configs", "--entity-type", f"{kind}s", "--entity-name", name, "--alter", *flags)
    assert done.lines == [f"Completed updating config for {kind} {name}."]


def test_settings_of_a_topic(shell, name):
    shell.create(name, retention_ms=100_000)
    of_topic = lambda *flags: settings(shell, "topics", "--entity-name", name, *flags)
    values = lambda: {key: value for key, (value, _) in of_topic().items()}
    assert values() == {"retention.ms": "100000"}
    value, synonyms = of_topic()["retention.ms"]
    assert synonyms[0] == "DYNAMIC_TOPIC_CONFIG"
    everything = of_topic("--all")
    others = ("remote.", "local.", "leader.replication.", "follower.replication.")
    assert {setting for setting in everything if not setting.startswith(others)} == OF_TOPICS
    assert everything["cleanup.policy"][0] == "delete" and everything["max.message.bytes"][0] == "1048588"
    assert "DEFAULT_CONFIG" in everything["segment.bytes"][1]

    alter(shell, name, "--add-config", "cleanup.policy=[compact,delete],max.message.bytes=2000")
    changed = {"cleanup.policy": "compact,delete", "max.message.bytes": "2000", "retention.ms": "100000"}
    shell.wait_for(lambda: values() == changed)
    alter(shell, name, "--delete-config", "cleanup.policy,retention.ms")
    shell.wait_for(lambda: values() == {"max.message.bytes": "2000"})
    # To take back what is not set changes nothing.
    alter(shell, name, "--delete-config", "retention.bytes")


def test_settings_of_all_topics(shell, name):
    shell.create(name, retention_bytes=123_456)
    lines = shell("kafka-configs", "--entity-type", "topics", "--describe").lines
    assert lines[lines.index(f"Dynamic configs for topic {name} are:") + 1].startswith("  retention.bytes=123456 ")


def test_settings_of_the_broker(shell):
    everything = settings(shell, "brokers", "--entity-name", "1", "--all")
    assert everything["group.min.session.timeout.ms"] == ("500", ["STATIC_BROKER_CONFIG", "DEFAULT_CONFIG"])
    assert everything["node.id"][0] == "1"
    assert "group.min.session.timeout.ms" not in settings(shell, "brokers", "--entity-name", "1"), "only dynamic ones"
    shell("kafka-configs", "--entity-type", "brokers", "--entity-default", "--describe")


def test_settings_of_what_has_none(shell, name):
    assert settings(shell, "client-metrics") == {}


def test_settings_of_a_group(shell, name):
    """The group need not exist."""
    of_group = lambda *flags: settings(shell, "groups", "--entity-name", name, *flags)
    assert of_group() == {}
    everything = of_group("--all")
    consumer = {"session.timeout.ms": "45000", "heartbeat.interval.ms": "5000", "assignment.interval.ms": "1000"}
    for setting, value in consumer.items():
        assert everything[f"consumer.{setting}"] == (value, ["DEFAULT_CONFIG"])
    alter(shell, name, "--add-config", "consumer.session.timeout.ms=50000,consumer.assignment.interval.ms=0", kind="group")
    changed = {"consumer.session.timeout.ms": "50000", "consumer.assignment.interval.ms": "0"}
    shell.wait_for(lambda: {key: value for key, (value, _) in of_group().items()} == changed)
    assert of_group()["consumer.session.timeout.ms"][1] == ["DYNAMIC_GROUP_CONFIG", "DEFAULT_CONFIG"]
    alter(shell, name, "--delete-config", "consumer.session.timeout.ms,consumer.assignment.interval.ms", kind="group")
    shell.wait_for(lambda: of_group() == {})


def test_what_is_refused(shell, name):
    shell.create(name)

    def refused(error, kind, entity, flag, value):
        output = shell.attempt("kafka-configs", "--entity-type", kind, "--entity-name", entity, "--alter", flag, value)
        assert output.code == 1 and error in output.err, output

    refused("Unknown topic config name: nonsense", "topics", name, "--add-config", "nonsense=1")
    refused("Invalid value abc for configuration retention.ms", "topics", name, "--add-config", "retention.ms=abc")
    refused("Unknown group config name: nonsense", "groups", name, "--add-config", "nonsense=1")
    of_session = "consumer.session.timeout.ms"
    refused(f"{of_session} must be in the range 45000 to 60000", "groups", name, "--add-config", f"{of_session}=1000")
    refused("UnknownTopicOrPartitionException", "topics", f"{name}-none", "--add-config", "retention.ms=1000")
    refused("Cannot update these configs dynamically: [node.id]", "brokers", "1", "--add-config", "node.id=7")
    missing = shell("kafka-configs", "--entity-type", "topics", "--entity-name", f"{name}-none", "--describe")
    assert f"The topic '{name}-none' doesn't exist" in missing.out
