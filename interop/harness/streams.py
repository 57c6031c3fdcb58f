"""A word count of Kafka Streams as a process of its own (`java/WordCount.java`), and a reader of what it counted."""

import queue
import subprocess
import threading
import time

from confluent_kafka import Consumer, TopicPartition

from harness import asked
from harness.asked import BESIDE

# Quick to start rather than quick to run. What Streams unpacks goes with the folder of its state.
JAVA = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]

SETTINGS = {
    "processing.guarantee": "exactly_once_v2",
    "num.stream.threads": "2",
    "commit.interval.ms": "50",
    # Every word gives a count of its own, so that one counted twice, or not at all, shows as such.
    "statestore.cache.max.bytes": "0",
    "repartition.purge.interval.ms": "200",
    # A killed instance is missed soon.
    "consumer.session.timeout.ms": "2000",
    "consumer.heartbeat.interval.ms": "300",
    "consumer.auto.offset.reset": "earliest",
    "producer.transaction.timeout.ms": "5000",
    "reconnect.backoff.max.ms": "100",
}

START_SECONDS = 60


class WordCount:
    """One instance of the application. `server` may be killed and started meanwhile. A setting of None is left out."""

    def __init__(self, class_path, server, application, source, sink, folder, **settings):
        asked.told("Kafka Streams")
        named = {key.replace("_", "."): value for key, value in settings.items()}
        own = {"application.id": application, "bootstrap.servers": server.bootstrap, "state.dir": folder}
        given = [f"{key}={value}" for key, value in {**SETTINGS, **own, **named}.items() if value is not None]
        command = [*JAVA, f"-Djava.io.tmpdir={folder}", "-cp", class_path, "WordCount", source, sink, *given]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def wait_until_running(self):
        """Waits until it has its share of the work."""
        line = self.lines.get(timeout=START_SECONDS)
        assert line == "running", f"the word count said {line}"
        return self

    def kill(self):
        """kill -9, at once."""
        self.process.kill()
        self.process.wait()

    def close(self):
        """Asks it to end, which it must do without an error."""
        self.process.terminate()
        assert self.process.wait(60) in (0, 143), self.rest()
        assert not [line for line in self.rest() if line.startswith("failed")]

    def failure(self):
        """Waits until it gave up, and returns what it says for itself."""
        assert self.process.wait(START_SECONDS) == 1
        return [line for line in self.rest() if line.startswith("failed")]

    def rest(self):
        """What it said since it was heard last, once it has ended."""
        return list(iter(self.lines.get, None))

    def end(self):
        if self.process.poll() is None:
            self.kill()
        self.process.stdout.close()


class Counted:
    """Reads the committed counts of all partitions from their begin, and insists that each word counts up by one."""

    def __init__(self, server, topic, partitions):
        self.consumer = Consumer(
            {
                "bootstrap.servers": server.bootstrap,
                **BESIDE,
                "group.id": f"{topic}-reader",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "reconnect.backoff.max.ms": 100,
                "log_level": 2,
            }
        )
        self.consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
        self.counts = {}

    def read(self, seconds=0.1):
        """Takes in what there is. Errors of the connection pass: a server may be killed meanwhile."""
        for message in self.consumer.consume(1000, timeout=seconds):
            if message.error():
                assert message.error().retriable() or message.error().code() < 0, message.error()
                continue
            word, count = message.key().decode(), int(message.value())
            before = self.counts.get(word, 0)
            at = f"{message.topic()}-{message.partition()} at {message.offset()}"
            assert count == before + 1, f"{word} goes from {before} to {count} in {at}"
            self.counts[word] = count

    @property
    def words(self):
        """How many words were counted."""
        return sum(self.counts.values())

    def wait_for(self, words, seconds=120):
        """Reads until so many words were counted."""
        deadline = time.monotonic() + seconds
        while self.words < words:
            assert time.monotonic() < deadline, f"{self.words} words were counted, not {words}"
            self.read()

    def close(self):
        self.consumer.close()
