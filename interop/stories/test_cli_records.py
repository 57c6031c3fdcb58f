"""Our command line writes records and reads them; so do others what it wrote, and it what they wrote."""

import json

import pytest

from harness import capabilities

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def skip_unless_known(can, client, codec):
    if codec != "none" and not can(codec):
        pytest.skip(f"{client} lacks {codec}")
    if client == "kafka-python" and codec not in ("none", "gzip"):
        pytest.skip("kafka-python needs more packages for it")


@pytest.mark.parametrize("codec", CODECS)
def test_what_it_writes_others_read(cli, server, clients, client, can, codec, name):
    skip_unless_known(can, client, codec)
    if codec == "snappy" and not can(capabilities.FRAMED_SNAPPY):
        pytest.skip(f"{client} lacks {capabilities.FRAMED_SNAPPY}")
    cli.run("topic", "create", name).ok()
    values = "".join(f"value-{number}\n" for number in range(500))
    assert cli.run("produce", name, "-z", codec, stdin=values).ok() == "acknowledged 500\n"
    reader = clients.start(client, server, group=name, auto_offset_reset="earliest")
    reader.subscribe(name)
    got = reader.poll(500)
    assert [(offset, value) for _, offset, value in got] == [(n, f"value-{n}") for n in range(500)]
    reader.close()


@pytest.mark.parametrize("codec", CODECS)
def test_what_others_write_it_reads(cli, server, clients, client, can, codec, name):
    skip_unless_known(can, client, codec)
    cli.run("topic", "create", name).ok()
    writer = clients.start(client, server)
    writer.produce(name, partition=0, first=0, count=500, compression=codec)
    assert cli.run("consume", name, "--until-end").lines() == [f"value-{n}" for n in range(500)]
    assert cli.run("consume", name, "--until-end", "--from", "-1", "--format", "%t %p %o %v").lines() == [
        f"{name} 0 499 value-499"
    ]


def test_all_that_a_record_has_comes_back(cli, name):
    # The records are old, and a topic keeps its records for a week unless it says otherwise.
    cli.run("topic", "create", name, "-p", "2", "-c", "retention.ms=-1").ok()
    records = [
        {"key": "k", "value": None, "headers": [], "partition": 1, "timestamp": 1700000000000},
        {"key": None, "value_base64": "/w==", "headers": [{"key": "a", "value": "1"}, {"key": "a", "value": None}],
         "partition": 1, "timestamp": 1700000001000},
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    sent = cli.run("produce", name, "--format", "json", stdin=lines).json()
    assert sent == {"acknowledged": 2, "refused": 0, "unknown": 0}
    expected = [{**record, "topic": name, "offset": offset} for offset, record in enumerate(records)]
    assert cli.run("consume", name, "-n", "2", "--format", "json").json_lines() == expected
    # By time, by number, and by count from the end.
    for place in ["@1700000000001", "@2023-11-14T22:13:21Z", "-1"]:
        read = cli.run("consume", name, "--until-end", "--from", place, "--format", "%p %o").lines()
        assert read == ["1 1"], place
    assert cli.run("consume", name, "-p", "1", "--from", "1", "-e", "--format", "%o").lines() == ["1"]
    out_of_range = cli.run("consume", name, "-p", "1", "--from", "3")
    assert out_of_range.code == 1 and "which has 0 to 2" in out_of_range.err


def test_what_the_topic_refuses_is_counted_and_the_rest_is_written(cli, name):
    cli.run("topic", "create", name, "-c", "max.message.bytes=2000").ok()
    lines = [f"value-{number}" for number in range(200)] + ["x" * 3000, "last"]
    ran = cli.run("produce", name, stdin="\n".join(lines))
    assert ran.code == 1 and ran.out == "acknowledged 201, refused 1\n", ran
    assert cli.run("consume", name, "-e").lines() == lines[:200] + ["last"]


def test_a_compacted_topic_wants_keys(cli, name):
    cli.run("topic", "create", name, "-c", "cleanup.policy=compact").ok()
    ran = cli.run("produce", name, stdin="no key")
    assert ran.code == 1 and ran.out == "acknowledged 0, refused 1\n" and "INVALID_RECORD" in ran.err, ran
    assert cli.run("produce", name, "-k", ":", stdin="a:key").ok() == "acknowledged 1\n"
