"""Scripts of tests/kafka_bytes: says to a server, request by request, what each line says.

The words are those of the scenarios (tests/scenarios/README.md), as far as they are needed here, and a few of their own:
`$1` is the id of the first member that was given one, `waits` at a line's end says that its answer comes later, and
`answered $1` that it has come now (`answered new`: that of a member that gets its id by it).
"""

import re
import time
from pathlib import Path

from harness import batches, wire, wire_consumer
from harness.wire import array, blob, i8, i16, i32, i64, text
from harness.wire_consumer import NO_TAGS

FOLDER = Path(__file__).parents[2] / "tests" / "kafka_bytes"
ADD_OFFSETS_TO_TXN, END_TXN, TXN_OFFSET_COMMIT = 25, 26, 28
CONCURRENT_TRANSACTIONS = 51
OFFSET_DELETE, DELETE_GROUPS, DELETE_TOPICS = 47, 42, 20
OFFSETS_TOPIC = "__consumer_offsets"
CAPTURED = re.compile(r"== Kafka (\S+)")
PATIENCE_SECONDS = 90


class Script:
    """A file: what is said, and what a Kafka broker wrote when it was said to it."""

    def __init__(self, path):
        with open(path) as file:
            lines = file.read().splitlines()
        captured = next((number for number, line in enumerate(lines) if CAPTURED.match(line)), len(lines))
        self.path = path
        self.head = lines[:captured]
        self.captured = lines[captured:]
        said = [line for line in self.head if line and not line.startswith("#")]
        self.settings = dict(line.removeprefix("set ").split("=", 1) for line in said if line.startswith("set "))
        self.lines = [line for line in said if not line.startswith(("set ", "needs "))]
        self.needs = [int(line.removeprefix("needs ")) for line in said if line.startswith("needs ")]

    def rewrite(self, version, told):
        """Puts what was just written in the place of what is there."""
        text_of = "\n".join([*self.head, f"== Kafka {version}", *told.lines()]) + "\n"
        with open(self.path, "w") as file:
            file.write(text_of)

    def expected(self):
        """What the file has, or nothing."""
        return Told.parsed(self.captured[1:])


class Told:
    """What a script brought: the ids that the server chose, and the records of each group, in order."""

    def __init__(self, topics, members, groups):
        self.topics = topics  # {name: id}
        self.members = members  # [id]
        self.groups = groups  # {group: [(key, value or None)]}

    def lines(self):
        yield from (f"id {name} {topic_id.hex()}" for name, topic_id in self.topics.items())
        yield from (f"member {member}" for member in self.members)
        for group, records in self.groups.items():
            yield f"group {group}"
            yield from (f"    {key.hex()} {'-' if value is None else value.hex()}" for key, value in records)

    @classmethod
    def parsed(cls, lines):
        told = cls({}, [], {})
        for line in lines:
            words = line.split()
            if line.startswith("id "):
                told.topics[words[1]] = bytes.fromhex(words[2])
            elif line.startswith("member "):
                told.members.append(words[1])
            elif line.startswith("group "):
                records = told.groups.setdefault(words[1], [])
            elif line.startswith("    "):
                records.append((bytes.fromhex(words[0]), None if words[1] == "-" else bytes.fromhex(words[1])))
        return told


class Words:
    def __init__(self, line):
        words = line.split()
        self.verb, self.waits = words[0], words[-1] == "waits"
        words = words[1:-1] if self.waits else words[1:]
        is_option = lambda word: re.fullmatch(r"[a-z-]+=.*", word)
        self.plain = [word for word in words if not is_option(word)]
        self.options = [tuple(word.split("=", 1)) for word in words if is_option(word)]

    def get(self, name, default=None):
        return dict(reversed(self.options)).get(name, default)

    def number(self, name, default=-1):
        value = self.get(name)
        return default if value is None else int(value)

    def listed(self, name):
        value = self.get(name)
        return [] if not value else value.split(",")


def milliseconds(value):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m|h|d)", value).groups()
    return int(number) * {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}[unit]


def place(word):
    topic, partition = word.rsplit(":", 1)
    return topic, int(partition)


def by_topic(words):
    """{topic: [partition]} of TOPIC:PARTITION words; the word `nothing` says nothing."""
    topics = {}
    for topic, partition in map(place, (word for word in words if word != "nothing")):
        topics.setdefault(topic, []).append(partition)
    return topics


def assigned(topics):
    """Partitions by topic, as consumers tell each other."""
    return array([text(topic) + array([i32(partition) for partition in partitions]) for topic, partitions in topics.items()])


def subscription(words):
    """What a classic consumer says of itself: version 0, or the first one that says what it has."""
    owned = words.get("owns")
    said = i16(0 if owned is None else 1) + array([text(topic) for topic in words.listed("topics")]) + i32(-1)
    return said if owned is None else said + assigned(by_topic(words.listed("owns")))


class Teller:
    """Says a script to a server."""

    def __init__(self, server):
        self.server = server
        self.connections = {}
        self.topics = {}
        self.members = []
        self.groups = []
        self.newcomer = None
        self.producers = {}

    def tell(self, script):
        try:
            for line in script.lines:
                for number, member in enumerate(self.members, 1):
                    line = re.sub(rf"\${number}\b", member, line)
                words = Words(line)
                getattr(self, "say_" + words.verb.replace("-", "_"))(words)
            return Told(self.topics, self.members, dump(self.connection(), self.groups))
        finally:
            for connection in self.connections.values():
                connection.socket.close()

    def connection(self, member=None):
        """Each member has one of its own, because an answer may wait for others."""
        if member not in self.connections:
            self.connections[member] = self.server.connect(timeout=PATIENCE_SECONDS)
        return self.connections[member]

    def group(self, words):
        group = words.plain[0]
        if group not in self.groups:
            wire.find_coordinator(self.connection(), group)
            self.groups.append(group)
        return group

    # --- What there is ---

    def say_topics(self, words):
        connection = self.connection()
        for topic, value in words.options:
            assert wire.create_topic(connection, topic, int(value.split(":")[1])) == wire.NO_ERROR
            self.topics[topic] = topic_id(connection, topic)

    def say_tick(self, words):
        wanted = milliseconds(words.plain[0])
        if wanted:
            return time.sleep(wanted / 1000)
        # Nothing passes but what the server does by itself: the topics of a regular expression are found.
        group = self.groups[-1]
        regexes = lambda: [key for key, _ in dump(self.connection(), [group])[group] if key[:2] == b"\0\x10"]
        wait_for(regexes)

    def say_topic_deleted(self, words):
        topic, connection = words.plain[0], self.connection()
        reader = connection.ask(DELETE_TOPICS, 3, array([text(topic)]) + i32(10_000))
        reader.i32()
        assert reader.array(lambda: (reader.text(), reader.i16())) == [(topic, wire.NO_ERROR)]
        has_offsets = lambda group: any(key[0] == topic for key in wire.fetch_offsets(connection, group, None)[0])
        wait_for(lambda: not any(has_offsets(group) for group in self.groups))

    # --- Classic members ---

    def say_join(self, words):
        group, member = self.group(words), words.get("member", "")
        connection = self.connection(member) if member else self.server.connect(timeout=PATIENCE_SECONDS)
        version = words.number("version", 9)
        wanted = subscription(words)
        protocols = words.get("protocols", "range").split(",")
        session, rebalance = milliseconds(words.get("session", "10s")), milliseconds(words.get("rebalance", "60s"))
        instance, kind = words.get("instance"), words.get("type", "consumer")
        client = words.get("client", "by-hand")
        assert client == "by-hand", "that is how these connections are called"
        if version < 6:
            listed = array([text(name) + blob(wanted) for name in protocols])
            fields = text(group) + i32(session) + i32(rebalance) + text(member)
            fields += (text(instance) if version >= 5 else b"") + text(kind) + listed
        else:
            compact = wire_consumer.text
            packed = wire_consumer.number(len(wanted) + 1) + wanted
            listed = wire_consumer.array([compact(name) + packed + NO_TAGS for name in protocols])
            fields = NO_TAGS + compact(group) + i32(session) + i32(rebalance) + compact(member) + compact(instance)
            fields += compact(kind) + listed + (compact(None) if version >= 8 else b"") + NO_TAGS
        connection.send(wire.JOIN_GROUP, version, fields)
        connection.joining = version
        if words.waits:
            self.newcomer = connection
            return wait_for(lambda: wire.describe_group(self.connection(), group)[0] == "PreparingRebalance")
        if not member:
            return self.welcome(connection)
        return self.joined(connection)

    def welcome(self, connection):
        """A member gets its id."""
        given = self.joined(connection)
        self.members.append(given)
        self.connections[given] = connection

    @staticmethod
    def joined(connection):
        """Reads the answer to a JoinGroup; the member's id."""
        version, reader = connection.joining, connection.receive()
        if version >= 6:
            reader = wire_consumer.Reader(reader)
            reader.tags()
        reader.i32()
        error, _ = reader.i16(), reader.i32()
        assert error in (wire.NO_ERROR, wire.MEMBER_ID_REQUIRED), f"JoinGroup answered {error}"
        _ = reader.text() if version >= 7 else None
        reader.text(), reader.text()
        if version >= 9:
            reader.i8()
        return reader.text()

    def say_answered(self, words):
        if words.plain == ["new"]:
            self.welcome(self.newcomer)
        else:
            self.joined(self.connection(words.plain[0]))

    def say_sync(self, words):
        group, member = self.group(words), words.get("member")
        given = [(name, value.encode()) for name, value in (one.split(":", 1) for one in words.listed("assign"))]
        for name, partitions in (one.split(":", 1) for one in words.listed("gives")):
            given.append((name, i16(0) + assigned(by_topic(partitions.split("+"))) + i32(-1)))
        assignments = array([text(name) + blob(value) for name, value in given])
        head = text(group) + i32(words.number("generation")) + text(member) + text(words.get("instance"))
        reader = self.connection(member).ask(wire.SYNC_GROUP, 3, head + assignments)
        reader.i32()
        assert reader.i16() == wire.NO_ERROR

    def say_heartbeat(self, words):
        group, member = self.group(words), words.get("member")
        error = wire.heartbeat(self.connection(member), group, member, words.number("generation"))
        # It is how a member hears that it must join again.
        assert error in (wire.NO_ERROR, wire.REBALANCE_IN_PROGRESS), error

    def say_leave(self, words):
        group, leaving = self.group(words), []
        for option, value in words.options:
            if option == "member":
                leaving.append([value, None])
            elif leaving and leaving[-1][1] is None:
                leaving[-1][1] = value
            else:
                leaving.append(["", value])
        members = array([text(member) + text(instance) for member, instance in leaving])
        reader = self.connection().ask(wire.LEAVE_GROUP, 3, text(group) + members)
        reader.i32()
        assert reader.i16() == wire.NO_ERROR
        assert all(error == 0 for *_, error in reader.array(lambda: (reader.text(), reader.text(), reader.i16())))

    # --- Members of consumer groups ---

    def say_consumer(self, words):
        epochs = {"leave": -1, "away": -2}
        epoch = words.get("epoch", "0")
        owned = None
        if words.get("owns"):
            owned = [(self.topics[topic], partitions) for topic, partitions in by_topic(words.listed("owns")).items()]
        error, _, _ = wire_consumer.heartbeat(
            self.connection(),
            self.group(words),
            words.get("member"),
            epochs[epoch] if epoch in epochs else int(epoch),
            topics=None if words.get("topics") is None else words.listed("topics"),
            regex=words.get("regex"),
            instance=words.get("instance"),
            assignor=words.get("assignor"),
            owns=owned,
        )
        assert error == wire.NO_ERROR, f"{words.plain} {words.options}: {error}"

    # --- Offsets ---

    def say_commit(self, words):
        version, topics = words.number("version", 9), {}
        is_flexible = version >= 8
        string, listed = (wire_consumer.text, wire_consumer.array) if is_flexible else (text, array)
        end = NO_TAGS if is_flexible else b""
        for word in words.plain[1:]:
            target, offset = word.rsplit("=", 1)
            topic, partition = place(target)
            epoch = i32(words.number("epoch")) if version >= 6 else b""
            entry = i32(partition) + i64(int(offset)) + epoch + string(words.get("metadata", "")) + end
            topics.setdefault(topic, []).append(entry)
        name = lambda topic: self.topics[topic] if version >= 10 else string(topic)
        fields = string(self.group(words)) + i32(words.number("generation")) + string(words.get("member", ""))
        if version >= 7:
            fields += string(words.get("instance"))
        if version <= 4:
            fields += i64(milliseconds(words.get("retention")) if words.get("retention") else -1)
        fields += listed([name(topic) + listed(entries) + end for topic, entries in topics.items()]) + end
        reader = self.connection().ask(wire.OFFSET_COMMIT, version, end + fields)
        # Past the header's tags and the throttle time there are names, numbers, and codes that are all 0.
        rest = reader.take(len(reader.data) - reader.at)
        if is_flexible:
            assert b"\0\0" in rest and codes(rest[5:], version) == [0], rest
        else:
            plain = wire.Reader(rest[4:] if version >= 3 else rest)
            found = plain.array(lambda: (plain.text(), plain.array(lambda: (plain.i32(), plain.i16()))))
            assert all(code == 0 for _, partitions in found for _, code in partitions), found

    # --- Transactions: producer N has the transactional id `txn-N` ---

    def say_transactional(self, words):
        group, name, connection = self.group(words), f"txn-{words.get('producer')}", self.connection()
        target, offset = words.plain[1].rsplit("=", 1)
        topic, partition = place(target)
        if name not in self.producers:
            self.producers[name] = self.first_answer(wire.INIT_PRODUCER_ID, text(name) + i32(60_000), transactional_id=name)
        producer = self.producers[name]
        self.first_answer(ADD_OFFSETS_TO_TXN, text(name) + producer + text(group))
        entry = i32(partition) + i64(int(offset)) + i32(-1) + text("")
        fields = text(name) + text(group) + producer + array([text(topic) + array([entry])])
        reader = connection.ask(TXN_OFFSET_COMMIT, 2, fields)
        reader.i32()
        found = reader.array(lambda: (reader.text(), reader.array(lambda: (reader.i32(), reader.i16()))))
        assert found == [(topic, [(partition, wire.NO_ERROR)])], found

    def say_marker(self, words):
        name, before = f"txn-{words.get('producer')}", markers(self.connection())
        committed = i8(words.plain[0] == "commit")
        self.first_answer(END_TXN, text(name) + self.producers[name] + committed)
        wait_for(lambda: markers(self.connection()) > before)

    def first_answer(self, api, fields, transactional_id=None):
        """Asks until the coordinator is ready; the rest of its answer."""
        answer = []

        def is_ready():
            if transactional_id:
                # Whoever asks for it makes the coordinator's topic exist.
                self.connection().ask(wire.FIND_COORDINATOR, 1, text(transactional_id) + i8(1))
            reader = self.connection().ask(api, 0, fields)
            reader.i32()
            error = reader.i16()
            assert error in (wire.NO_ERROR, CONCURRENT_TRANSACTIONS, *wire.NOT_READY), f"{api}: {error}"
            answer.append(reader.take(len(reader.data) - reader.at))
            return error == wire.NO_ERROR

        wait_for(is_ready)
        return answer[-1]

    def say_delete(self, words):
        for group in words.plain:
            reader = self.connection().ask(DELETE_GROUPS, 1, array([text(group)]))
            reader.i32()
            assert reader.array(lambda: (reader.text(), reader.i16())) == [(group, wire.NO_ERROR)]

    def say_delete_offsets(self, words):
        topics = {}
        for topic, partition in map(place, words.plain[1:]):
            topics.setdefault(topic, []).append(i32(partition))
        listed = array([text(topic) + array(partitions) for topic, partitions in topics.items()])
        reader = self.connection().ask(OFFSET_DELETE, 0, text(self.group(words)) + listed)
        assert reader.i16() == wire.NO_ERROR


def codes(data, version):
    """The distinct codes of a flexible answer to OffsetCommit."""
    reader = wire_consumer.Reader(wire.Reader(data))
    found = set()

    def partition():
        reader.i32()
        found.add(reader.i16())
        reader.tags()

    def topic():
        _ = reader.take(16) if version >= 10 else reader.text()
        reader.array(partition)
        reader.tags()

    reader.array(topic)
    return sorted(found)


def wait_for(holds):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it does not come true"
        time.sleep(0.05)


def topic_id(connection, topic):
    """The id of a topic, by DescribeTopicPartitions."""
    names = wire_consumer.array([wire_consumer.text(topic) + NO_TAGS])
    reader = wire_consumer.Reader(connection.ask(75, 0, NO_TAGS + names + i32(1) + i8(-1) + NO_TAGS))
    reader.tags()
    reader.i32()
    assert reader.number() == 2 and reader.i16() == wire.NO_ERROR and reader.text() == topic
    return reader.take(16)


def dump(connection, groups):
    """{group: [(key, value)]} of every record of the groups, as a consumer reads it, partition by partition."""
    found = {group: [] for group in groups}
    for whole in all_batches(connection):
        if not batches.is_control(whole):
            for _, key, value in batches.records(whole):
                length = int.from_bytes(key[2:4], "big")
                group = key[4 : 4 + length].decode()
                if group in found:
                    found[group].append((key, value))
    return found


def markers(connection):
    """How many transactions ended in the log of committed offsets."""
    return sum(batches.is_control(whole) for whole in all_batches(connection))


def all_batches(connection):
    """Every batch of every partition of the log of committed offsets."""
    partition = 0
    while True:
        error, end = wire.list_offsets(connection, OFFSETS_TOPIC, partition)
        if error == wire.UNKNOWN_TOPIC_OR_PARTITION:
            return
        assert error == wire.NO_ERROR
        position = 0
        while position < end:
            error, _, data = wire.fetch(connection, OFFSETS_TOPIC, partition, position)
            assert error == wire.NO_ERROR
            for base_offset, _, _, whole in batches.headers(data):
                position = base_offset + batches.last_offset_delta(whole) + 1
                yield whole
        partition += 1
