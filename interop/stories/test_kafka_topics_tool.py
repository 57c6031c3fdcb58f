"""kafka-topics: topics are created, listed, described by every filter, widened and deleted."""

PARTITION = ["Leader:", "1", "Replicas:", "1", "Isr:", "1"]


def described(shell, *flags):
    """({topic: (partitions, replicas, settings)}, {topic: partitions that are listed})."""
    topics, partitions = {}, {}
    for line in shell("kafka-topics", "--describe", *flags).lines:
        words = line.split()
        if line.startswith("\t"):
            assert words[4:10] == PARTITION, line
            partitions.setdefault(words[1], []).append(int(words[3]))
        else:
            assert words[2] == "TopicId:" and len(words[3]) == 22, line
            settings = words[9].split(",") if len(words) > 9 else []
            topics[words[1]] = (int(words[5]), int(words[7]), settings)
    return topics, partitions


def test_created_and_described(shell, name):
    shell.create(name, 3, retention_ms=100_000)
    topics, partitions = described(shell, "--topic", name)
    count, replicas, settings = topics[name]
    assert (count, replicas) == (3, 1) and "retention.ms=100000" in settings
    assert partitions == {name: [0, 1, 2]}
    created = shell("kafka-topics", "--create", "--topic", f"{name}-placed", "--replica-assignment", "1,1")
    assert created.lines == [f"Created topic {name}-placed."]
    partitions = lambda: described(shell, "--topic", f"{name}-placed", "--if-exists")[1]
    shell.wait_for(lambda: partitions() == {f"{name}-placed": [0, 1]})


def test_listed(shell, name):
    shell.create(name)
    shell.create(f"{name}-more")
    assert {name, f"{name}-more"} <= set(shell("kafka-topics", "--list").lines)
    assert shell("kafka-topics", "--list", "--topic", f"{name}.*").lines == [name, f"{name}-more"]
    assert "__consumer_offsets" not in shell("kafka-topics", "--list", "--exclude-internal").lines


def test_described_by_filters(shell, name):
    shell.create(name, 2)
    shell.create(f"{name}-own", 1, retention_ms=1_000_000)
    both = f"{name}.*"
    for flag in ("--under-replicated-partitions", "--unavailable-partitions", "--under-min-isr-partitions"):
        assert described(shell, "--topic", both, flag) == ({}, {}), flag
    # The one replica is all that is asked for, so every partition is just at the limit.
    assert described(shell, "--topic", both, "--at-min-isr-partitions")[1] == {name: [0, 1], f"{name}-own": [0]}
    topics, partitions = described(shell, "--topic", both, "--topics-with-overrides")
    assert f"{name}-own" in topics and partitions == {}
    identity = shell("kafka-topics", "--describe", "--topic", name).lines[0].split()[3]
    assert described(shell, "--topic-id", identity)[1] == {name: [0, 1]}
    paged = described(shell, "--topic", both, "--partition-size-limit-per-response", 1)
    assert paged[1] == {name: [0, 1], f"{name}-own": [0]}


def test_widened(shell, name):
    shell.create(name, 2)
    shell("kafka-topics", "--alter", "--topic", name, "--partitions", 5)
    shell.wait_for(lambda: described(shell, "--topic", name)[1] == {name: [0, 1, 2, 3, 4]})
    fewer = shell.attempt("kafka-topics", "--alter", "--topic", name, "--partitions", 4)
    assert fewer.code == 1 and "InvalidPartitionsException" in fewer.err


def test_deleted(shell, name):
    shell.create(name)
    shell("kafka-topics", "--delete", "--topic", name)
    shell.wait_for(lambda: name not in shell("kafka-topics", "--list").lines)
    again = shell.attempt("kafka-topics", "--delete", "--topic", name)
    assert again.code == 1 and f"Topic '{name}' does not exist as expected" in again.out
    shell("kafka-topics", "--delete", "--topic", name, "--if-exists")


def test_what_is_refused(shell, name):
    shell.create(name)

    def refused(error, *flags):
        output = shell.attempt("kafka-topics", *flags)
        assert output.code == 1 and error in output.err, output

    refused("TopicExistsException", "--create", "--topic", name)
    shell("kafka-topics", "--create", "--topic", name, "--if-not-exists")
    refused("InvalidTopicException", "--create", "--topic", f"{name}/x")
    refused("InvalidReplicationFactorException", "--create", "--topic", f"{name}-two", "--replication-factor", 2)
    for flags in (["--describe"], ["--alter", "--partitions", 2]):
        missing = [*flags, "--topic", f"{name}-none"]
        refused("does not exist as expected", *missing)
        shell("kafka-topics", *missing, "--if-exists")
