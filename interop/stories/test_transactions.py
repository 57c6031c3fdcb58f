"""Transactions as their clients tell them: what was committed is read, and nothing else, once and no more.

librdkafka speaks the first protocol of transactions, the Java client and franz-go the second (KIP-890).
"""

import random
import time

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition

from harness import wire
from harness.asked import BESIDE
from harness.member import Refused
from stories.test_kill_cycles import Writer

pytestmark = pytest.mark.parametrize("client", ["librdkafka", "java", "franz-go"], indirect=True)

COMMITTED = {"isolation_level": "read_committed", "auto_offset_reset": "earliest", "enable_auto_commit": "false"}


def create(server, topic, partitions=1):
    with server.connect() as connection:
        assert wire.create_topic(connection, topic, partitions) == wire.NO_ERROR


def reader_of(clients, client, server, topic):
    """A reader of committed records that has settled."""
    reader = clients.start(client, server, group=f"{topic}-reader", **COMMITTED)
    reader.subscribe(topic)
    return reader


def values(records):
    return [value for _, _, value in records]


def numbered(first, count):
    return [f"value-{number}" for number in range(first, first + count)]


def test_readers_see_what_was_committed(server, clients, client, name):
    create(server, name)
    producer = clients.start(client, server, transactional_id=name)
    reader = reader_of(clients, client, server, name)
    producer.begin()
    assert producer.send(name, 0, 0, 3) == [0, 1, 2]
    assert reader.poll(1, seconds=3) == []
    producer.end_transaction("commit")
    assert values(reader.poll(3)) == numbered(0, 3)
    producer.begin()
    producer.send(name, 0, 3, 2)
    producer.end_transaction("abort")
    producer.begin()
    producer.send(name, 0, 5, 2)
    producer.end_transaction("commit")
    assert values(reader.poll(2)) == numbered(5, 2)
    assert reader.poll(1, seconds=1) == []


def test_a_new_producer_fences_the_one_before(server, clients, client, name):
    create(server, name)
    old = clients.start(client, server, transactional_id=name)
    old.begin()
    old.send(name, 0, 0, 2)
    new = clients.start(client, server, transactional_id=name)
    new.begin()
    new.send(name, 0, 2, 2)
    with pytest.raises(Refused):
        old.end_transaction("commit")
    new.end_transaction("commit")
    assert values(reader_of(clients, client, server, name).poll(2)) == numbered(2, 2)


def test_offsets_are_committed_with_the_records(server, clients, client, name):
    create(server, name)
    create(server, f"{name}-out")
    admin = clients.start(client, server)
    admin.produce(name, 0, 0, 3)

    def transform(mode):
        """Reads what the group has not read yet, and writes as much in a transaction that also commits how far it read."""
        member = clients.start(client, server, group=name, transactional_id=name, **COMMITTED)
        member.subscribe(name)
        assert values(member.poll(3)) == numbered(0, 3)
        member.begin()
        member.send(f"{name}-out", 0, 0 if mode == "abort" else 10, 3)
        member.send_offsets()
        member.end_transaction(mode)
        member.close()

    transform("abort")
    assert committed(server, name, name) == {0: None}
    transform("commit")
    assert committed(server, name, name) == {0: 3}
    assert values(reader_of(clients, client, server, f"{name}-out").poll(3)) == numbered(10, 3)


def committed(server, group, topic, partitions=1):
    """What a group has committed, once no transaction is open any more that may change it."""
    consumer = Consumer(
        {"bootstrap.servers": server.bootstrap, "group.id": group, "isolation.level": "read_committed", **BESIDE}
    )
    asked = [TopicPartition(topic, partition) for partition in range(partitions)]
    deadline = time.monotonic() + 60
    while True:
        try:
            found = consumer.committed(asked, timeout=10)
            break
        except KafkaException:
            assert time.monotonic() < deadline
    consumer.close()
    return {one.partition: one.offset if one.offset >= 0 else None for one in found}


QUICK_TO_ABORT = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "500"}


@pytest.mark.parametrize("own_server", [{"settings": QUICK_TO_ABORT}], indirect=True)
def test_a_transaction_that_takes_too_long_is_aborted(own_server, clients, client, name):
    create(own_server, name)
    slow = clients.start(client, own_server, transactional_id=name, transaction_timeout_ms=2000)
    slow.begin()
    slow.send(name, 0, 0, 2)
    slow.produce(name, 0, 2, 1)
    reader = reader_of(clients, client, own_server, name)
    # The record behind is seen when the open transaction before it is over.
    assert values(reader.poll(1, seconds=60)) == numbered(2, 1)
    with pytest.raises(Refused):
        slow.end_transaction("commit")


@pytest.mark.own_binary
def test_every_record_comes_out_once_through_crashes(own_server, clients, client, name, full_tier):
    """Consume, transform, produce: through kill -9 at any moment each input comes out exactly once."""
    cycles = 30 if full_tier else 4
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    moments = random.Random(seed)
    create(own_server, name)
    create(own_server, f"{name}-out")
    writer = Writer(own_server, name)
    writer.pause = 0.2
    writer.start()
    worker = Worker(clients, client, own_server, name)
    for _ in range(cycles):
        worker.begin(2)
        time.sleep(moments.uniform(0.2, 1.8))
        own_server.kill()
        own_server.start()
        worker.end()
    writer.done.set()
    writer.join(90)
    assert not writer.is_alive() and writer.lost == []

    out, deadline = [], time.monotonic() + 240
    while len(out) < writer.sent and time.monotonic() < deadline:
        worker.begin(2)
        worker.end()
        out = read_committed(own_server, f"{name}-out")
    assert sorted(map(int, out)) == list(range(writer.sent)), "every input once"
    end = max(writer.acknowledged.values()) + 1
    assert committed(own_server, name, name) == {0: end}


class Worker:
    """Consumes, transforms and produces, in a process of its own.

    After a restart of the server librdkafka may wait for ever, without a request, for a connection to the group's
    coordinator that it does not open ("TRY_CONNECT" in its log). Whoever runs it starts it anew then, and so does this.
    """

    def __init__(self, clients, client, server, topic):
        self.start = lambda: clients.start(client, server, group=topic, transactional_id=topic, **COMMITTED)
        self.may_hang = client == "librdkafka"
        self.topic = topic
        self.open()

    def open(self):
        self.member = self.start()
        self.member.subscribe(self.topic)

    def begin(self, seconds):
        self.member.tell("transform", topic=f"{self.topic}-out", seconds=seconds)

    def end(self):
        try:
            self.member.answer(45 if self.may_hang else 200)
        except AssertionError:
            if not self.may_hang:
                raise
            self.member.kill()
            self.open()


def read_committed(server, topic):
    """Every committed record of a topic's first partition, up to its last stable offset."""
    settings = {"group.id": f"{topic}-check", "isolation.level": "read_committed", "enable.partition.eof": True}
    consumer = Consumer({"bootstrap.servers": server.bootstrap, **settings, **BESIDE})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found, deadline = [], time.monotonic() + 60
    while time.monotonic() < deadline:
        messages = consumer.consume(1000, timeout=1)
        found += [one.value().decode() for one in messages if not one.error()]
        if any(one.error() for one in messages):
            consumer.close()
            return found
    raise AssertionError("the end of the topic is not found")
