"""Client programs as processes of their own: a story tells each what to do, line by line.

A member is a real consumer, producer and admin client in a real process, so it can be frozen, killed and started anew.
The programs are `clients/*.py`, `java/Member.java`, `js/*_member.js`, `go/*` and `rust/*`; all know the same
words (see `clients/puppet.py`).
"""

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from urllib.parse import quote, unquote

from harness import asked

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ANSWER_SECONDS = 90

# A group settles by heartbeats: quick ones make a story quick.
QUICK_GROUP = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 200}

PYTHON = {
    "librdkafka": "librdkafka_member.py",
    "kafka-python": "kafka_python_member.py",
    "aiokafka": "aiokafka_member.py",
}
JAVASCRIPT = {
    "kafkajs": "kafkajs_member.js",
    "platformatic": "platformatic_member.js",
    "confluent-js": "confluent_member.js",
}
# Compiled programs have the client's own name.
GO = ["franz-go", "sarama", "kafka-go"]
RUST = ["rdkafka", "krafka"]


class Refused(Exception):
    """The client reported an error: its own name for it, and Kafka's code if it knew one."""

    def __init__(self, name, code, message):
        super().__init__(f"{name} ({code}): {message}")
        self.name = name
        self.code = code


class Member:
    """One client process."""

    def __init__(self, command, log_path):
        self.log_path = log_path
        with open(log_path, "wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, bufsize=1
            )
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    # Asking and answering apart lets a story keep two members busy at once.

    def tell(self, verb, **arguments):
        words = [verb] + [f"{key}={quote(str(value), safe='')}" for key, value in arguments.items()]
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()

    def answer(self, seconds=ANSWER_SECONDS):
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            raise AssertionError(f"a client did not answer within {seconds} s\n{self.log_tail()}") from None
        assert line is not None, f"a client ended instead of answering\n{self.log_tail()}"
        kind, *words = line.split(" ")
        values = {key: unquote(value) for key, value in (word.split("=", 1) for word in words)}
        if kind == "error":
            raise Refused(values["name"], int(values["code"]) if values["code"] else None, values["text"])
        assert kind == "ok", f"a client said {line!r}"
        return values

    def ask(self, verb, **arguments):
        self.tell(verb, **arguments)
        return self.answer()

    def log_tail(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()[-4000:]

    # --- Words of a consumer ---

    def subscribe(self, topic):
        self.ask("subscribe", topic=topic)

    def subscribe_pattern(self, pattern):
        """Subscribes to whatever topics match, as the server finds them."""
        self.ask("subscribe-pattern", pattern=pattern)

    def poll(self, records, seconds=30):
        """Polls until so many records came or the time ran out: [(partition, offset, value)]."""
        return self._records(self.ask("poll", records=records, seconds=seconds))

    @staticmethod
    def _records(answer):
        entries = [entry.split(":") for entry in answer["records"].split(",") if entry]
        return [(int(partition), int(offset), value) for partition, offset, value in entries]

    def commit(self, mode="sync", metadata="", epoch=None):
        """Commits the positions of what is assigned, with a leader epoch if one is given."""
        with_epoch = {} if epoch is None else {"epoch": epoch}
        self.ask("commit", mode=mode, metadata=metadata, **with_epoch)

    def rebalances(self):
        """What was taken away since this was asked last, as one sorted list of partitions."""
        return [int(number) for number in self.ask("rebalances")["revoked"].split(",") if number]

    def committed(self, topic, *partitions):
        """{partition: (offset, metadata)}; the offset is None if there is none."""
        answer = self.ask("committed", topic=topic, partitions=",".join(map(str, partitions or (0,))))
        found = {}
        for entry in answer["offsets"].split(","):
            partition, offset, metadata = entry.split(":")
            found[int(partition)] = (None if offset == "none" else int(offset), unquote(metadata))
        return found

    def close(self):
        """Closes the client properly and waits for the process to end."""
        self.ask("close")
        self.process.wait(30)

    # --- Words of a producer ---

    def produce(self, topic, partition, first, count, compression="none"):
        """Sends `value-N` for N from `first`, waits for all acknowledgements, returns the offset of each."""
        answer = self.ask(
            "produce", topic=topic, partition=partition, first=first, count=count, compression=compression
        )
        return [int(offset) for offset in answer["offsets"].split(",")]

    # --- Words of a producer of transactions, whose settings have a `transactional_id` ---

    def begin(self):
        """Begins a transaction; the first one starts the producer."""
        self.ask("begin")

    def send(self, topic, partition, first, count):
        """Sends `value-N` for N from `first` within the transaction; the offset of each."""
        answer = self.ask("send", topic=topic, partition=partition, first=first, count=count)
        return [int(offset) for offset in answer["offsets"].split(",")]

    def send_offsets(self):
        """The positions of what is assigned are committed by the transaction."""
        self.ask("send-offsets")

    def end_transaction(self, mode):
        """`commit` or `abort`."""
        self.ask("end", mode=mode)

    # --- What happens to processes ---

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdin.close()


def settle(members, partitions_each, seconds=60):
    """Lets all members poll at once until each has its share, twice in a row. Returns the partitions of each.

    All go on polling until the last one has settled: a member that stops would hold up the rebalance that another asks
    for meanwhile. A record that arrives is an error of the story, or a record delivered twice: the member reports it.
    """
    deadline = time.monotonic() + seconds
    before = None
    while True:
        for member in members:
            member.tell("settle", seconds=0.5)
        answers = [member.answer() for member in members]
        shares = [[int(number) for number in answer["partitions"].split(",") if number] for answer in answers]
        if shares == before and all(len(share) == partitions_each for share in shares):
            return shares
        before = shares
        assert time.monotonic() < deadline, f"the group did not settle: {shares}"


class Clients:
    """Starts members and ends them all with the story."""

    # What the running programs said they are: asked once of each client, in each process that runs stories.
    versions = {}

    def __init__(self, java_class_path, javascript, go, rust):
        self.java_class_path = java_class_path
        self.javascript = javascript
        self.compiled = {**dict.fromkeys(GO, go), **dict.fromkeys(RUST, rust)}
        self.folder = tempfile.TemporaryDirectory(prefix="clients-")
        self.members = []

    def start(self, client, server, group=None, **settings):
        """Settings are named as Kafka names them, with underscores for dots."""
        asked.told(client)
        command = [*self.program(client), "--bootstrap", server.bootstrap]
        if group is not None:
            command += ["--group", group]
            # Of a consumer group (KIP-848) the server decides how often its members speak.
            quick = {} if settings.get("group_protocol") == "consumer" else QUICK_GROUP
            settings = {**quick, **settings}
        for key, value in settings.items():
            command += ["--set", f"{key.replace('_', '.')}={value}"]
        member = Member(command, os.path.join(self.folder.name, f"{len(self.members)}.log"))
        self.members.append(member)
        if client not in self.versions:
            self.versions[client] = member.ask("version")["version"]
        return member

    def program(self, client):
        if client == "java":
            # Quick to start rather than quick to run.
            flags = ["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
            return ["java", *flags, "-cp", self.java_class_path, "Member"]
        if client in self.compiled:
            return [os.path.join(self.compiled[client], client)]
        if client in JAVASCRIPT:
            return ["node", "--disable-warning=ExperimentalWarning", os.path.join(self.javascript, JAVASCRIPT[client])]
        return [sys.executable, os.path.join(HERE, "clients", PYTHON[client])]

    def end(self):
        for member in self.members:
            member.end()
        self.folder.cleanup()
