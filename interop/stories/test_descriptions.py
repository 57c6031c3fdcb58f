"""What an administrator asks about topics and logs: pages of topics, sizes, producers, resources, elections."""

from harness import batches, wire, wire_admin


def test_topics_page_by_page(server, name):
    with server.connect() as connection:
        partitions = {"a": 2, "b": 1, "c": 3}
        for suffix, count in partitions.items():
            assert wire.create_topic(connection, f"{name}-{suffix}", count) == wire.NO_ERROR
        topics = [f"{name}-{suffix}" for suffix in ("c", "a", "b")]
        good = lambda suffix, indices: (f"{name}-{suffix}", wire.NO_ERROR, indices)
        assert wire_admin.topic_pages(connection, topics, 2) == [
            [good("a", [0, 1])],
            [good("b", [0]), good("c", [0])],
            [good("c", [1, 2])],
        ]
        whole = [good("a", [0, 1]), good("b", [0]), good("c", [0, 1, 2])]
        assert wire_admin.topic_pages(connection, topics, 2000) == [whole]
        unknown = [(f"{name}-none", wire.UNKNOWN_TOPIC_OR_PARTITION, [])]
        assert wire_admin.topic_pages(connection, [f"{name}-none"], 10) == [unknown]
        assert wire_admin.topic_pages(connection, ["no/such"], 10) == [[("no/such", wire.INVALID_TOPIC, [])]]


def test_logs_are_as_large_as_their_batches(server, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name, 2) == wire.NO_ERROR
        batch = batches.batch([b"one", b"two"])
        for _ in range(3):
            assert wire.produce(connection, name, 1, batch)[0] == wire.NO_ERROR
        sizes = wire_admin.log_sizes(connection, {name: [0, 1, 7], f"{name}-none": [0]})
        assert sizes == {(name, 0): 0, (name, 1): 3 * len(batch)}


def test_producers_of_a_partition(server, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        producer, epoch = wire.init_producer_id(connection)
        batch = batches.batch([b"one", b"two", b"three"], (producer, epoch), base_sequence=0)
        assert wire.produce(connection, name, 0, batch) == (wire.NO_ERROR, 0)
        assert wire_admin.producers(connection, name, 0) == (wire.NO_ERROR, [(producer, epoch, 2)])
        assert wire_admin.producers(connection, name, 9) == (wire.UNKNOWN_TOPIC_OR_PARTITION, [])
        assert wire_admin.producers(connection, "no/such", 0) == (wire.INVALID_TOPIC, [])


def test_resources_that_have_settings(server, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        error, found = wire_admin.config_resources(connection, [wire_admin.TOPIC])
        assert error == wire.NO_ERROR and (wire_admin.TOPIC, name) in found
        assert wire_admin.config_resources(connection, [wire_admin.BROKER]) == (wire.NO_ERROR, {(wire_admin.BROKER, "1")})
        assert wire_admin.config_resources(connection, [3])[0] == wire_admin.UNSUPPORTED_VERSION
        error, found = wire_admin.describe_configs(connection, wire_admin.GROUP, name)
        assert error == wire.NO_ERROR, "a group need not exist"


def test_the_only_leader_needs_no_election(server, name):
    with server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        expected = {0: wire_admin.ELECTION_NOT_NEEDED, 5: wire.UNKNOWN_TOPIC_OR_PARTITION}
        assert wire_admin.elect_leaders(connection, name, [0, 5]) == expected
