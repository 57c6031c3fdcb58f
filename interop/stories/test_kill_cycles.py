"""kill -9 at random moments under load: nothing acknowledged is lost, and no committed offset goes back.

One real producer and one real member of a group work on through all of it; after each restart the committed offset is
compared with what was acknowledged, and at the end every acknowledged record is looked up.
"""

import random
import threading
import time

from confluent_kafka import Consumer, KafkaException, Producer

from harness import wire
from harness.asked import BESIDE

QUICK = {**BESIDE, "reconnect.backoff.ms": 10, "reconnect.backoff.max.ms": 100, "socket.timeout.ms": 10_000, "log_level": 2}


class Writer(threading.Thread):
    """Produces numbered records without end, and remembers the offset of each one that was acknowledged."""

    def __init__(self, server, topic):
        super().__init__(daemon=True)
        self.producer = Producer({"bootstrap.servers": server.bootstrap, "enable.idempotence": True, **QUICK})
        self.topic = topic
        self.sent = 0
        # How long it rests after every twenty records.
        self.pause = 0.01
        self.acknowledged = {}
        self.lost = []
        self.done = threading.Event()

    def report(self, error, message):
        number = int(message.value())
        if error:
            self.lost.append((number, error))
        else:
            self.acknowledged[number] = message.offset()

    def run(self):
        while not self.done.is_set():
            for _ in range(20):
                self.producer.produce(self.topic, str(self.sent), partition=0, on_delivery=self.report)
                self.sent += 1
            self.producer.poll(self.pause)
            while len(self.producer) > 2000 and not self.done.is_set():
                self.producer.poll(0.05)
        self.producer.flush(60)


class Reader(threading.Thread):
    """Consumes in a group, commits after every few records, and remembers each commit that was acknowledged."""

    def __init__(self, server, topic):
        super().__init__(daemon=True)
        settings = {"group.id": topic, "auto.offset.reset": "earliest", "enable.auto.commit": False}
        quick = {"session.timeout.ms": 20_000, "heartbeat.interval.ms": 300}
        self.consumer = Consumer({"bootstrap.servers": server.bootstrap, **settings, **quick, **QUICK})
        self.consumer.subscribe([topic])
        self.acknowledged = 0
        self.commits = 0
        self.attempted = 0
        self.wrong = []
        self.done = threading.Event()

    def run(self):
        expected = None
        while not self.done.is_set():
            messages = [one for one in self.consumer.consume(50, timeout=0.05) if not one.error()]
            for message in messages:
                # A member that had to join again starts at what was committed: never before it, never after it.
                if expected is not None and message.offset() != expected:
                    if not self.acknowledged <= message.offset() < expected:
                        self.wrong.append((self.acknowledged, expected, message.offset()))
                expected = message.offset() + 1
            if not messages:
                continue
            self.attempted = max(self.attempted, expected)
            try:
                (answer,) = self.consumer.commit(messages[-1], asynchronous=False)
            except KafkaException:
                continue
            if answer.error is None:
                self.acknowledged = answer.offset
                self.commits += 1
        self.consumer.close()


def committed_after_restart(server, topic):
    """Asks until the server knows; "not yet" is an answer, "none" and a lower number are not."""
    deadline = time.monotonic() + 60
    with server.connect() as connection:
        while True:
            found, error = wire.fetch_offsets(connection, topic, [(topic, 0)])
            if error == wire.NO_ERROR:
                return found[(topic, 0)][0]
            assert error in wire.NOT_READY and time.monotonic() < deadline, f"OffsetFetch answered {error}"


def test_kill_at_random_moments(own_server, name, full_tier, against_kafka):
    cycles = 3 if against_kafka else 50 if full_tier else 8
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    moments = random.Random(seed)
    with own_server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
    writer, reader = Writer(own_server, name), Reader(own_server, name)
    writer.start()
    reader.start()
    wait_until(lambda: reader.commits > 0)

    seen = 0
    commits_seen = 0
    for cycle in range(cycles):
        # Most kills strike at work; every third strikes during or right after a start.
        if cycle % 3 != 2:
            before = reader.commits
            wait_until(lambda: reader.commits > before)
            time.sleep(moments.uniform(0, 0.5))
        else:
            time.sleep(moments.uniform(0, 0.05))
        own_server.kill()
        # Read after the kill: nothing can be acknowledged any more.
        acknowledged, attempted = reader.acknowledged, reader.attempted
        own_server.start()
        now = committed_after_restart(own_server, name)
        assert now is not None and now >= acknowledged, f"cycle {cycle}: {now} after {acknowledged} was acknowledged"
        assert now >= seen, f"cycle {cycle}: the committed offset went back from {seen} to {now}"
        assert now <= max(attempted, reader.attempted), f"cycle {cycle}: nobody committed {now}"
        seen = now

    before = reader.commits
    wait_until(lambda: reader.commits > before)
    writer.done.set()
    writer.join(90)
    reader.done.set()
    reader.join(90)
    assert not writer.is_alive() and not reader.is_alive()
    assert writer.lost == [] and reader.wrong == []
    assert len(writer.acknowledged) == writer.sent > 20 * cycles
    check_every_record(own_server, name, writer)
    assert committed_after_restart(own_server, name) >= reader.acknowledged


def check_every_record(server, topic, writer):
    """Each acknowledged record lies at the offset that was acknowledged, and idempotence let none in twice."""
    consumer = Consumer({"bootstrap.servers": server.bootstrap, "group.id": f"{topic}-check", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    found, deadline = {}, time.monotonic() + 60
    while len(found) < writer.sent and time.monotonic() < deadline:
        for message in consumer.consume(1000, timeout=0.5):
            assert not message.error()
            number = int(message.value())
            assert number not in found, f"record {number} is there twice"
            found[number] = message.offset()
    consumer.close()
    assert found == writer.acknowledged


def wait_until(holds, seconds=60):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "the load does not go on"
        time.sleep(0.01)
