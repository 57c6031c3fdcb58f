"""Kafka Streams with `exactly_once_v2`: every word of the input is counted once, whoever is killed.

A word count with a repartition topic and a store: each step of it is a transaction that has in it the input's committed
offsets, the changelog of the store, and what goes on. Its cache is off, so the output has a record for each word, and
each word's counts must be 1, 2, 3 … without one missing or twice.
"""

import random
import shutil
from collections import Counter

import pytest
from confluent_kafka import Producer

from harness import wire, wire_admin
from harness.asked import BESIDE
from harness.streams import Counted, WordCount

PARTITIONS = 3
WORDS = [f"word{number}" for number in range(40)]


class Text:
    """What is produced into the input topic: lines of words, and how often each word is in it."""

    def __init__(self, server, topic, seed):
        quick = {**BESIDE, "reconnect.backoff.ms": 10, "reconnect.backoff.max.ms": 100, "log_level": 2}
        self.producer = Producer({"bootstrap.servers": server.bootstrap, "enable.idempotence": True, **quick})
        self.topic = topic
        self.random = random.Random(seed)
        self.words = Counter()
        self.errors = []

    def write(self, lines):
        for _ in range(lines):
            words = self.random.choices(WORDS, k=5)
            self.words.update(words)
            self.producer.produce(
                self.topic, " ".join(words), partition=self.random.randrange(PARTITIONS), on_delivery=self._note
            )

    def _note(self, error, _):
        if error:
            self.errors.append(error)

    def finish(self):
        """Waits until all of it is in the log."""
        assert self.producer.flush(60) == 0 and self.errors == []


class Story:
    """The topics of a word count, its text, its instances and the reader of its counts."""

    def __init__(self, class_path, server, name, folder):
        self.class_path, self.server, self.name, self.folder = class_path, server, name, folder
        self.source, self.sink = f"{name}-lines", f"{name}-counts"
        with server.connect() as connection:
            for topic in (self.source, self.sink):
                assert wire.create_topic(connection, topic, PARTITIONS) == wire.NO_ERROR
                wire.wait_for_leaders(connection, topic, PARTITIONS)
        seed = random.randrange(1 << 32)
        print(f"seed {seed}")
        self.moments = random.Random(seed)
        self.text = Text(server, self.source, seed)
        self.counted = Counted(server, self.sink, PARTITIONS)
        self.instances = []

    def start(self, folder="state", **settings):
        """An instance of the application, which keeps its state in a folder below the story's."""
        state = self.folder / folder
        state.mkdir(exist_ok=True)
        one = WordCount(self.class_path, self.server, self.name, self.source, self.sink, str(state), **settings)
        self.instances.append(one)
        return one

    def lose(self, folder="state"):
        """The folder of an instance is gone, as when it starts anew on another machine."""
        shutil.rmtree(self.folder / folder)

    def count_some(self, lines=1000):
        """New text, and the application somewhere in the first half of it."""
        done = self.text.words.total()
        self.text.write(lines)
        self.text.producer.poll(0)
        self.counted.wait_for(self.moments.randrange(done + 1, (done + self.text.words.total()) // 2))

    def check(self):
        """All that was written was counted, and read from the begin the output says just that, and no more."""
        self.text.finish()
        self.counted.wait_for(self.text.words.total())
        again = Counted(self.server, self.sink, PARTITIONS)
        again.wait_for(self.text.words.total())
        again.read(seconds=1)
        again.close()
        assert self.counted.counts == again.counts == dict(self.text.words)

    def end(self):
        for one in self.instances:
            one.end()
        self.counted.close()


@pytest.fixture
def story(pytestconfig, own_server, name, tmp_path):
    class_path = pytestconfig.getoption("--java-class-path")
    if not class_path:
        pytest.skip("no JDK with Maven on this machine")
    one = Story(class_path, own_server, name, tmp_path)
    yield one
    one.end()


def test_every_word_is_counted_once(story):
    story.text.write(300)
    application = story.start().wait_until_running()
    story.count_some()
    story.check()
    # What lies between its two halves is deleted once both are done with it.
    with story.server.connect() as connection:
        between = f"{story.name}-words-repartition"
        starts = lambda: [wire_admin.list_offset(connection, between, number, -2)[2] for number in range(PARTITIONS)]
        wire_admin.wait_for(lambda: min(starts()) > 0)
        assert wire_admin.own_settings(connection, f"{story.name}-counts-changelog")["cleanup.policy"] == "compact"
    application.close()
    # It goes on where it stopped.
    story.text.write(100)
    application = story.start().wait_until_running()
    story.check()
    application.close()


def test_killed_applications_count_every_word_once(story, full_tier):
    for cycle in range(10 if full_tier else 2):
        application = story.start()
        story.count_some()
        application.kill()
        # Half of the time it comes back without its folder: then nothing but the transaction's timeout, or the
        # coordinator's fencing of its name, ends what it left behind.
        if cycle % 2 == 1:
            story.lose()
    story.start()
    story.check()


def test_at_least_once_counts_some_words_twice(story):
    # The same with the guarantee off: that the stories above notice is what they are worth.
    rarely = {"processing_guarantee": "at_least_once", "commit_interval_ms": 60_000}
    application = story.start(**rarely)
    story.count_some()
    application.kill()
    story.start(**rarely)
    with pytest.raises(AssertionError, match=r"word\d+"):
        story.check()


def test_an_application_takes_over_from_a_killed_one(story):
    first, second = story.start("first"), story.start("second")
    story.count_some()
    second.wait_until_running()
    first.kill()
    story.count_some()
    story.check()


@pytest.mark.own_binary
def test_killed_servers_count_every_word_once(story, own_server, full_tier):
    story.start()
    for _ in range(10 if full_tier else 2):
        story.count_some()
        own_server.kill()
        own_server.start()
    story.check()


@pytest.mark.own_binary
def test_a_streams_group_is_refused_in_plain_words(story):
    failures = story.start(group_protocol="streams").failure()
    assert any("The cluster does not support the STREAMS group protocol" in line for line in failures)
