"""kafka-console-producer and kafka-console-consumer: what one types the other prints, with keys, headers and places."""

SHOW_ALL = [
    word
    for part in ("key", "headers", "offset", "partition")
    for word in ("--formatter-property", f"print.{part}=true")
]


def test_values_keys_and_headers(shell, name):
    shell.create(name)
    shell.type_records(name, "one", "two")
    shell.type_records(name, "k3:three", keys=True)
    shell.type_records(name, "h1:v1,h2:v2\tk4:four", headers=True)
    assert shell.read(name, 4) == ["one", "two", "three", "four"]
    assert shell.read(name, 4, *SHOW_ALL) == [
        "Partition:0\tOffset:0\tNO_HEADERS\tnull\tone",
        "Partition:0\tOffset:1\tNO_HEADERS\tnull\ttwo",
        "Partition:0\tOffset:2\tNO_HEADERS\tk3\tthree",
        "Partition:0\tOffset:3\th1:v1,h2:v2\tk4\tfour",
    ]


def test_every_codec(shell, name):
    shell.create(name)
    codecs = ["none", "gzip", "snappy", "lz4", "zstd"]
    for codec in codecs:
        shell.type_records(name, codec, flags=["--compression-codec", codec])
    assert shell.read(name, len(codecs)) == codecs


def test_from_a_place(shell, name):
    shell.create(name, 2)
    shell.type_to(name, 1, "a", "b", "c", "d")
    in_partition = ["--partition", "1", "--offset"]
    assert shell.read(name, 2, *in_partition, "2") == ["c", "d"]
    assert shell.read(name, 1, *in_partition, "earliest") == ["a"]
    latest = shell("kafka-console-consumer", "--topic", name, *in_partition, "latest", "--timeout-ms", 1000)
    assert latest.out == "" and "Processed a total of 0 messages" in latest.err


def test_a_group_goes_on_where_it_was(shell, name):
    shell.create(name)
    shell.type_records(name, "one", "two", "three", "four", "five")
    assert shell.read(name, 2, group=name) == ["one", "two"]
    assert shell.read(name, 2, group=name) == ["three", "four"]
    assert shell.group_offsets(name) == {(name, 0): ("4", "5", "1")}


def test_several_topics_by_a_pattern(shell, name):
    for suffix in ("a", "b", "other"):
        shell.create(f"{name}-{suffix}")
        shell.type_records(f"{name}-{suffix}", suffix)
    flags = ["--from-beginning", "--max-messages", 2, "--timeout-ms", 30_000]
    only_committed = ["--command-property", "isolation.level=read_committed"]
    output = shell("kafka-console-consumer", "--include", f"{name}-[ab]", *flags, *only_committed)
    assert sorted(output.lines) == ["a", "b"]


def test_formatters(shell, name):
    shell.create(name)
    shell.type_records(name, "k:one", keys=True)
    formatters = "org.apache.kafka.tools.consumer"
    assert shell.read(name, 1, "--formatter", f"{formatters}.NoOpMessageFormatter") == []
    assert shell.read(name, 1, "--formatter", f"{formatters}.LoggingMessageFormatter") == ["one"]
    in_bytes = ["--key-deserializer", "org.apache.kafka.common.serialization.BytesDeserializer"]
    separated = ["--formatter-property", "key.separator==>"]
    assert shell.read(name, 1, *in_bytes, *separated, "--formatter-property", "print.key=true") == ["k=>one"]


def test_what_is_refused(shell, name):
    shell.create(name, max_message_bytes=200)
    large = shell.attempt("kafka-console-producer", "--topic", name, "--sync", typed="x" * 1000 + "\n")
    assert "RecordTooLargeException" in large.err + large.out, large
    assert shell("kafka-get-offsets", "--topic", name).lines == [f"{name}:0:0"]
