"""Our command line makes, shows and deletes topics, on our server and on a Kafka broker alike."""


def test_topics_come_and_go(cli, name):
    made = cli.run("topic", "create", name, "-p", "3", "-c", "retention.ms=123456", "--format", "json").json()
    assert made["name"] == name and len(made["id"]) == 22

    listed = {topic["name"]: topic for topic in cli.run("topic", "list", "--format", "json").json()}
    assert listed[name] == {"name": name, "id": made["id"], "partitions": 3, "internal": False}

    assert cli.run("produce", name, "-p", "1", stdin="a\nb\n").ok() == "acknowledged 2\n"
    [topic] = cli.run("topic", "describe", name, "--format", "json").json()
    assert topic["configs"] == {"retention.ms": "123456"}, "what holds by default is left out"
    assert [one["partition"] for one in topic["partitions"]] == [0, 1, 2]
    assert [(one["start_offset"], one["end_offset"]) for one in topic["partitions"]] == [(0, 0), (0, 2), (0, 0)]
    assert all(one["replicas"] == one["in_sync"] == [one["leader"]] for one in topic["partitions"])

    assert cli.run("topic", "delete", name, "--yes").ok() == f"deleted {name}\n"
    assert name not in [topic["name"] for topic in cli.run("topic", "list", "--format", "json").json()]


def test_refusals_have_kafkas_names_and_exit_code_1(cli, name):
    cli.run("topic", "create", name).ok()
    refused = {
        ("topic", "create", name): "TOPIC_ALREADY_EXISTS",
        ("topic", "create", "no/name"): "INVALID_TOPIC_EXCEPTION",
        ("topic", "create", f"{name}-2", "-c", "no.such.setting=1"): "INVALID_CONFIG",
        ("topic", "create", f"{name}-2", "--replicas", "3"): "INVALID_REPLICATION_FACTOR",
        ("topic", "describe", f"{name}-2"): "UNKNOWN_TOPIC_OR_PARTITION",
        ("topic", "delete", f"{name}-2", "--yes"): "UNKNOWN_TOPIC_OR_PARTITION",
        ("produce", f"{name}-2"): "UNKNOWN_TOPIC_OR_PARTITION",
        ("consume", f"{name}-2"): "UNKNOWN_TOPIC_OR_PARTITION",
    }
    for arguments, code in refused.items():
        ran = cli.run(*arguments)
        assert ran.code == 1 and code in ran.err, (arguments, ran)
    assert f"{name}-2" not in [topic["name"] for topic in cli.run("topic", "list", "--format", "json").json()]
