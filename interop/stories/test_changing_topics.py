"""Settings of a topic are changed while the server runs: shown, kept, and in force."""

from harness import batches, wire, wire_admin
from harness.wire_admin import APPEND, BROKER, DELETE, SET, SUBTRACT, TOPIC

MESSAGE_TOO_LARGE = 10
INVALID_TIMESTAMP = 32


def test_settings_are_changed_shown_and_kept(own_server, name):
    server = own_server
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        change = lambda *changes: wire_admin.change_topic(connection, name, *changes)
        shown = lambda: wire_admin.own_settings(connection, name)
        assert change(("retention.ms", SET, "5000000"), ("flush.ms", SET, "7")) == wire.NO_ERROR
        # A Kafka broker shows a change a moment after it was acknowledged.
        wire_admin.wait_for(lambda: shown() == {"retention.ms": "5000000", "flush.ms": "7"})
        assert change(("flush.ms", DELETE, None), ("cleanup.policy", APPEND, "compact")) == wire.NO_ERROR
        wire_admin.wait_for(lambda: shown() == {"retention.ms": "5000000", "cleanup.policy": "delete,compact"})
        assert change(("cleanup.policy", SUBTRACT, "delete")) == wire.NO_ERROR
        left = {"retention.ms": "5000000", "cleanup.policy": "compact"}
        wire_admin.wait_for(lambda: shown() == left)
    server.stop()
    server.start()
    with server.connect() as connection:
        wire.wait_for_leaders(connection, name, 1)
        wire_admin.wait_for(lambda: wire_admin.own_settings(connection, name) == left)
        whole = wire_admin.alter_configs(connection, [(TOPIC, name, {"flush.ms": "8"})])
        assert whole[(TOPIC, name)][0] == wire.NO_ERROR
        wire_admin.wait_for(lambda: wire_admin.own_settings(connection, name) == {"flush.ms": "8"})


def test_a_change_holds_for_what_is_produced_next(server, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        change = lambda *changes: wire_admin.change_topic(connection, name, *changes)
        produce = lambda batch: wire.produce(connection, name, 0, batch)[0]
        large = batches.batch([b"x" * 500])
        assert produce(large) == wire.NO_ERROR
        assert change(("max.message.bytes", SET, "100")) == wire.NO_ERROR
        wire_admin.wait_for(lambda: produce(large) == MESSAGE_TOO_LARGE)
        undo = ("max.message.bytes", DELETE, None)
        assert change(undo, ("message.timestamp.before.max.ms", SET, "1000")) == wire.NO_ERROR
        wire_admin.wait_for(lambda: produce(large) == INVALID_TIMESTAMP)
        undo = ("message.timestamp.before.max.ms", DELETE, None)
        assert change(undo, ("compression.type", SET, "gzip")) == wire.NO_ERROR
        wire_admin.wait_for(lambda: produce(large) == wire.NO_ERROR)
        end = wire.end_offset(connection, name)
        wire_admin.wait_for(lambda: codec_of_next(connection, name) == "gzip")
        assert wire.end_offset(connection, name) > end


def codec_of_next(connection, topic):
    """How a batch that came uncompressed is stored."""
    error, base = wire.produce(connection, topic, 0, batches.batch([b"a value", b"another value"]))
    assert error == wire.NO_ERROR
    _, _, data = wire.fetch(connection, topic, 0, base)
    found = [codec for first, codec, *_ in batches.headers(data) if first == base]
    return found[0]


def test_what_is_refused_changes_nothing(server, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        cases = [
            ([("no.such", SET, "1")], wire_admin.INVALID_CONFIG),
            ([("retention.ms", SET, "-2")], wire_admin.INVALID_CONFIG),
            ([("retention.ms", SET, "soon")], wire_admin.INVALID_CONFIG),
            ([("retention.ms", SET, None)], wire_admin.INVALID_REQUEST),
            ([("retention.ms", APPEND, "1")], wire_admin.INVALID_CONFIG),
            ([("flush.ms", SET, "1"), ("flush.ms", SET, "2")], wire_admin.INVALID_REQUEST),
            ([("flush.ms", SET, "1"), ("no.such", SET, "2")], wire_admin.INVALID_CONFIG),
            ([("min.compaction.lag.ms", SET, "2"), ("max.compaction.lag.ms", SET, "1")], wire_admin.INVALID_CONFIG),
            ([("cleanup.policy", SET, "shred")], wire_admin.INVALID_CONFIG),
        ]
        for changes, expected in cases:
            assert wire_admin.change_topic(connection, name, *changes) == expected, changes
        good = [("flush.ms", SET, "1")]
        alter = lambda *resources, **options: wire_admin.incremental_alter_configs(connection, resources, **options)
        code = lambda kind, topic: alter((kind, topic, good))[(kind, topic)][0]
        assert code(TOPIC, f"{name}-none") == wire.UNKNOWN_TOPIC_OR_PARTITION
        assert code(TOPIC, "no/such") == wire.INVALID_TOPIC
        assert code(TOPIC, "") == wire_admin.INVALID_REQUEST
        assert alter((TOPIC, name, good), (TOPIC, name, good))[(TOPIC, name)][0] == wire_admin.INVALID_REQUEST
        assert alter((TOPIC, name, good), validate_only=True)[(TOPIC, name)][0] == wire.NO_ERROR
        assert wire_admin.own_settings(connection, name) == {}


def test_what_cannot_change_while_a_broker_runs(server):
    with server.connect() as connection:
        for broker in ("1", ""):
            change = (BROKER, broker, [("node.id", SET, "7")])
            code, why = wire_admin.incremental_alter_configs(connection, [change])[(BROKER, broker)]
            assert code == wire_admin.INVALID_REQUEST
            assert why.startswith("Cannot update these configs dynamically"), why
        change = (BROKER, "99", [("log.cleaner.threads", SET, "1")])
        assert wire_admin.incremental_alter_configs(connection, [change])[(BROKER, "99")][0] == wire_admin.INVALID_REQUEST
