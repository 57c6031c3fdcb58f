"""Kafka's own command-line tools: each is the main of a class in Kafka's jars.

They run one after the other in one JVM (`java/Tools.java`), because starting a JVM costs more than most of them do. A
tool that ends its process by itself, or goes on after its main has returned, has a JVM of its own.
"""

import queue
import subprocess
import tempfile
import threading
import time
from urllib.parse import quote, unquote_plus

from harness import asked, batches, wire

PACKAGE = "org.apache.kafka.tools"
TOOLS = {
    "kafka-broker-api-versions": "BrokerApiVersionsCommand",
    "kafka-cluster": "ClusterTool",
    "kafka-configs": "ConfigCommand",
    "kafka-console-consumer": "consumer.ConsoleConsumer",
    "kafka-console-producer": "ConsoleProducer",
    "kafka-consumer-groups": "consumer.group.ConsumerGroupCommand",
    "kafka-consumer-perf-test": "ConsumerPerformance",
    "kafka-delete-records": "DeleteRecordsCommand",
    "kafka-dump-log": "DumpLogSegments",
    "kafka-e2e-latency": "EndToEndLatency",
    "kafka-get-offsets": "GetOffsetShell",
    "kafka-groups": "GroupsCommand",
    "kafka-leader-election": "LeaderElectionCommand",
    "kafka-log-dirs": "LogDirsCommand",
    "kafka-producer-perf-test": "ProducerPerformance",
    "kafka-topics": "TopicCommand",
    "kafka-transactions": "TransactionsCommand",
    "kafka-verifiable-consumer": "VerifiableConsumer",
    "kafka-verifiable-producer": "VerifiableProducer",
}

# Tools for kinds of groups that our server does not have: they are told of a Kafka broker, to compare our command line with.
OF_KAFKA = {
    "kafka-share-groups": "consumer.group.ShareGroupCommand",
    "kafka-streams-groups": "streams.StreamsGroupCommand",
}

# Tools for what our server does not have; it says so.
NOT_SERVED = {
    "kafka-acls": "AclCommand",
    "kafka-metadata-quorum": "MetadataQuorumCommand",
    "kafka-reassign-partitions": "reassign.ReassignPartitionsCommand",
}

# It prints what was acknowledged while its process ends.
OWN_PROCESS = {"kafka-verifiable-producer"}

# It reads files.
WITHOUT_SERVER = {"kafka-dump-log"}

# It wants to hear of the server before its command, others after theirs.
SERVER_FIRST = {"kafka-transactions", "kafka-metadata-quorum"}

# Quick to start rather than quick to run.
JAVA = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
JAVA += ["-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]

TOOL_SECONDS = 120


class ShareConsumer:
    """kafka-console-share-consumer: a member of a share group until it is closed, in a process of its own."""

    def __init__(self, class_path, server, topic, group):
        asked.told("Kafka's tools")
        main = f"{PACKAGE}.consumer.ConsoleShareConsumer"
        flags = ["--bootstrap-server", server.bootstrap, "--topic", topic, "--group", group]
        self.process = subprocess.Popen(
            [*JAVA, "-cp", class_path, main, *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def line(self):
        """The next record that it was given."""
        return self.process.stdout.readline().rstrip("\n")

    def close(self):
        """Asks it to end, which gives up its place in the group."""
        self.process.terminate()
        self.process.wait(TOOL_SECONDS)
        self.end()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Output:
    """What a tool printed, and its exit code."""

    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err

    def __repr__(self):
        return f"exit code {self.code}\n{self.out}\n{self.err}"

    @property
    def lines(self):
        return self.out.splitlines()

    @property
    def rows(self):
        """The words of each line of all tables, without their headings and what stands before the first."""
        words = [line.split() for line in self.lines if line.strip()]
        headings = [number for number, line in enumerate(words) if line[0].isupper()]
        return [line for number, line in enumerate(words) if number > headings[0] and number not in headings]


class Tools:
    """The JVM that runs the tools; started when it is needed, and again after a tool that never came back."""

    def __init__(self, class_path):
        self.class_path = class_path
        self.process = None
        self.log = tempfile.TemporaryFile()

    def run(self, tool, arguments, typed=""):
        asked.told("Kafka's tools")
        main = f"{PACKAGE}.{({**TOOLS, **OF_KAFKA, **NOT_SERVED})[tool]}"
        run = self._alone if tool in OWN_PROCESS else self._together
        return run(main, arguments, typed)

    def _alone(self, main, arguments, typed):
        command = [*JAVA, "-cp", self.class_path, main, *arguments]
        done = subprocess.run(command, input=typed, capture_output=True, text=True, timeout=TOOL_SECONDS, check=False)
        return Output(done.returncode, done.stdout, done.stderr)

    def _together(self, main, arguments, typed):
        if self.process is None:
            self._start()
        self.process.stdin.write(" ".join(quote(word, safe="") for word in [main, typed, *arguments]) + "\n")
        self.process.stdin.flush()
        try:
            line = self.answers.get(timeout=TOOL_SECONDS)
        except queue.Empty:
            self.end()
            raise AssertionError(f"{main} {arguments} did not end within {TOOL_SECONDS} s") from None
        if line is None:
            self.end()
            raise AssertionError(f"the JVM ended in {main} {arguments}")
        code, out, err = line.split(" ")
        return Output(int(code), unquote_plus(out[1:]), unquote_plus(err[1:]))

    def _start(self):
        self.process = subprocess.Popen(
            [*JAVA, "-cp", self.class_path, "Tools"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        self.answers = queue.Queue()
        threading.Thread(target=self._read, args=(self.process, self.answers), daemon=True).start()

    @staticmethod
    def _read(process, answers):
        for line in process.stdout:
            answers.put(line.rstrip("\n"))
        answers.put(None)

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process = None


class Shell:
    """Where a person types: `shell("kafka-topics", "--list")`. The tools are told of one server."""

    def __init__(self, tools, server):
        self.tools = tools
        self.server = server

    def attempt(self, tool, *arguments, typed=""):
        """Runs a tool, however it ends."""
        of_server = [] if tool in WITHOUT_SERVER else ["--bootstrap-server", self.server.bootstrap]
        arguments = [*of_server, *arguments] if tool in SERVER_FIRST else [*arguments, *of_server]
        return self.tools.run(tool, [str(argument) for argument in arguments], typed)

    def __call__(self, tool, *arguments, typed=""):
        """Runs a tool that must end well."""
        output = self.attempt(tool, *arguments, typed=typed)
        assert output.code == 0, output
        return output

    @staticmethod
    def wait_for(holds, seconds=60):
        """Asks again until it is so: a Kafka broker acknowledges a change of a topic before it knows of it itself."""
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, "it does not come true"
            time.sleep(0.1)

    # --- What many stories type ---

    def create(self, topic, partitions=1, **settings):
        """Creates a topic, ready for use; settings are named as Kafka names them, with underscores for dots."""
        given = [word for key, value in settings.items() for word in ("--config", f"{key.replace('_', '.')}={value}")]
        self("kafka-topics", "--create", "--topic", topic, "--partitions", partitions, *given)
        with self.server.connect() as connection:
            wire.wait_for_leaders(connection, topic, partitions)

    def type_records(self, topic, *lines, keys=False, headers=False, flags=()):
        """Produces a record for each line: a value, or `key:value`, or `name:value,…<tab>key:value`."""
        if keys or headers:
            flags = [*flags, "--reader-property", "parse.key=true", "--reader-property", "key.separator=:"]
        if headers:
            flags = [*flags, "--reader-property", "parse.headers=true"]
        typed = "".join(f"{line}\n" for line in lines)
        # It would wait a second for more records to put into a batch.
        at_once = ["--sync", "--command-property", "linger.ms=0"]
        self("kafka-console-producer", "--topic", topic, *at_once, *flags, typed=typed)

    def type_to(self, topic, partition, *values):
        """Produces to one partition, which the console producer cannot be told."""
        with self.server.connect() as connection:
            for value in values:
                assert wire.produce(connection, topic, partition, batches.batch([value.encode()]))[0] == wire.NO_ERROR

    def read(self, topic, count, *flags, group=None):
        """The lines that the console consumer prints for so many records."""
        flags = [*flags, "--group", group] if group else [*flags]
        if "--offset" not in flags:
            flags.append("--from-beginning")
        end = ["--max-messages", count, "--timeout-ms", 30_000]
        output = self("kafka-console-consumer", "--topic", topic, *end, *flags)
        assert f"Processed a total of {count} messages" in output.err, output
        return output.lines

    def group_offsets(self, group):
        """{(topic, partition): (committed, end, lag)} as a description says; texts, "-" for none."""
        rows = self("kafka-consumer-groups", "--describe", "--group", group).rows
        return {(row[1], int(row[2])): tuple(row[3:6]) for row in rows if row[0] == group}
