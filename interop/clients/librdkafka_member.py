"""A member that is confluent-kafka, the Python face of librdkafka."""

import time
import traceback
from importlib import metadata as packages

import puppet
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

# Names that librdkafka has other words or no word for.
ONLY_ELSEWHERE = {"max.poll.records"}
# Names that are the transactional producer's.
OF_TRANSACTIONS = {"transactional.id", "transaction.timeout.ms"}


class Transactions:
    """A transactional producer, made anew after an error that ends it."""

    def __init__(self, make):
        self.make = make
        self.producer = None

    def start_anew(self):
        """Ends whatever the producer before left open, as soon as the server can be reached."""
        self.producer = None
        deadline = time.monotonic() + 60
        while self.producer is None:
            producer = self.make()
            try:
                producer.init_transactions(10)
                self.producer = producer
            except KafkaException as error:
                if time.monotonic() > deadline:
                    raise
                traceback.print_exc()

    def begin(self):
        if self.producer is None:
            self.start_anew()
        self.producer.begin_transaction()

    def send(self, topic, partition, values):
        reports = []
        report = lambda error, message: reports.append((error, message.offset()))
        for value in values:
            self.producer.produce(topic, value, partition=partition, on_delivery=report)
            self.producer.poll(0)
        self.producer.flush(30)
        if len(reports) != len(values):
            raise TimeoutError(f"{len(reports)} of {len(values)} records were reported")
        for error, _ in reports:
            if error:
                raise KafkaException(error)
        return [offset for _, offset in reports]

    def send_offsets(self, positions, group):
        self.producer.send_offsets_to_transaction(positions, group, 30)

    def end(self, mode):
        end = {"commit": self.producer.commit_transaction, "abort": self.producer.abort_transaction}[mode]
        end(30)


class Member:
    def __init__(self, bootstrap, group, settings):
        self.base = {"bootstrap.servers": bootstrap}
        self.admin = AdminClient(self.base)
        self.at_once = int(settings.get("max.poll.records", 500))
        of_transactions = {key: value for key, value in settings.items() if key in OF_TRANSACTIONS}
        settings = {key: value for key, value in settings.items() if key not in ONLY_ELSEWHERE | OF_TRANSACTIONS}
        make = lambda: Producer({**self.base, **of_transactions, "linger.ms": 5, "reconnect.backoff.max.ms": 200})
        self.transactions = Transactions(make)
        if settings.get("auto.offset.reset") == "none":
            settings["auto.offset.reset"] = "error"
        self.commit_results = []
        self.revoked = []
        self.consumer = None
        if group is not None:
            on_commit = lambda error, _: self.commit_results.append(error)
            self.consumer = Consumer({**self.base, "group.id": group, "on_commit": on_commit, **settings})

    def version(self):
        return {"version": packages.version("confluent-kafka")}

    def subscribe(self, topic):
        self.consumer.subscribe([topic], on_revoke=self._note_revoked, on_lost=self._note_revoked)

    def _note_revoked(self, _, partitions):
        self.revoked += [entry.partition for entry in partitions]

    def rebalances(self):
        return puppet.revoked_answer(self.revoked)

    def subscribe_pattern(self, pattern):
        # The circumflex tells librdkafka that it is an expression; matching whole names is the server's business.
        self.consumer.subscribe([f"^{pattern}"])

    def poll_some(self):
        records = []
        for message in self.consumer.consume(num_messages=self.at_once, timeout=0.1):
            if message.error():
                raise KafkaException(message.error())
            records.append((message.partition(), message.offset(), message.value().decode()))
        return records

    def poll(self, records, seconds):
        return puppet.gather(self.poll_some, records, seconds)

    def settle(self, seconds):
        assignment = lambda: [entry.partition for entry in self.consumer.assignment()]
        return puppet.settle(self.poll_some, assignment, seconds)

    def commit(self, mode, metadata, epoch=None):
        given = () if epoch is None else (int(epoch),)
        positions = [
            TopicPartition(entry.topic, entry.partition, entry.offset, metadata, *given)
            for entry in self.consumer.position(self.consumer.assignment())
            if entry.offset >= 0
        ]
        self.commit_results.clear()
        if mode == "sync":
            for entry in self.consumer.commit(offsets=positions, asynchronous=False):
                if entry.error:
                    raise KafkaException(entry.error)
            return
        self.consumer.commit(offsets=positions, asynchronous=True)
        while not self.commit_results:
            if self.consumer.poll(0.05) is not None:
                raise puppet.UnexpectedRecord("record while waiting for a commit")
        if self.commit_results[0]:
            raise KafkaException(self.commit_results[0])

    def committed(self, topic, partitions):
        asked = [TopicPartition(topic, partition) for partition in puppet.numbers(partitions)]
        found = self.consumer.committed(asked, timeout=20)
        for entry in found:
            if entry.error:
                raise KafkaException(entry.error)
        known = lambda entry: entry.offset if entry.offset >= 0 else None
        return puppet.offsets_answer((entry.partition, known(entry), entry.metadata) for entry in found)

    def close(self):
        if self.consumer is not None:
            self.consumer.close()

    def produce(self, topic, partition, first, count, compression):
        reports = []
        producer = Producer({**self.base, "acks": "all", "linger.ms": 5, "compression.type": compression})
        for number in range(int(first), int(first) + int(count)):
            producer.produce(
                topic,
                f"value-{number}",
                partition=int(partition),
                on_delivery=lambda error, message: reports.append((error, message.offset())),
            )
            producer.poll(0)
        producer.flush(30)
        if len(reports) != int(count):
            raise TimeoutError(f"{len(reports)} of {count} records were reported")
        for error, _ in reports:
            if error:
                raise KafkaException(error)
        return {"offsets": ",".join(str(offset) for _, offset in reports)}

    # --- Transactions ---

    def begin(self):
        self.transactions.begin()

    def send(self, topic, partition, first, count):
        values = [f"value-{number}" for number in range(int(first), int(first) + int(count))]
        offsets = self.transactions.send(topic, int(partition), values)
        return {"offsets": ",".join(str(offset) for offset in offsets)}

    def send_offsets(self):
        positions = [entry for entry in self.consumer.position(self.consumer.assignment()) if entry.offset >= 0]
        self.transactions.send_offsets(positions, self.consumer.consumer_group_metadata())

    def end(self, mode):
        self.transactions.end(mode)

    def transform(self, topic, seconds):
        """Reads, writes what it read elsewhere, and commits both together; after an error it goes back and on."""
        done, deadline = 0, time.monotonic() + float(seconds)
        while time.monotonic() < deadline:
            messages = [one for one in self.consumer.consume(num_messages=500, timeout=0.1) if not one.error()]
            if not messages:
                continue
            ends = {one.partition(): TopicPartition(one.topic(), one.partition(), one.offset() + 1) for one in messages}
            try:
                self.transactions.begin()
                self.transactions.send(topic, 0, [one.value() for one in messages])
                self.transactions.send_offsets(list(ends.values()), self.consumer.consumer_group_metadata())
                self.transactions.end("commit")
                done += len(messages)
            except (KafkaException, TimeoutError):
                traceback.print_exc()
                self.transactions.start_anew()
                self._go_back()
        return {"records": done}

    def _go_back(self):
        """To what is committed: whether the last transaction was, its coordinator knows by now."""
        for attempt in range(60):
            try:
                for entry in self.consumer.committed(self.consumer.assignment(), timeout=5):
                    if entry.error:
                        raise KafkaException(entry.error)
                    offset = entry.offset if entry.offset >= 0 else OFFSET_BEGINNING
                    self.consumer.seek(TopicPartition(entry.topic, entry.partition, offset))
                return
            except KafkaException:
                traceback.print_exc()
        raise TimeoutError("the committed offsets are not to be had")

    def create_topic(self, topic, partitions):
        self._admin_result("create_topics", [NewTopic(topic, int(partitions), 1)])

    def describe_topic(self, topic):
        described = self._admin_result("describe_topics", TopicCollection([topic]))
        return {"partitions": len(described.partitions)}

    def delete_topic(self, topic):
        self._admin_result("delete_topics", [topic])

    def list_groups(self):
        listed = self.admin.list_consumer_groups(request_timeout=20).result()
        if listed.errors:
            raise KafkaException(listed.errors[0])
        return {"groups": ",".join(group.group_id for group in listed.valid)}

    def describe_group(self, group):
        described = self._admin_result("describe_consumer_groups", [group])
        return {"state": described.state.name.title(), "members": len(described.members)}

    def delete_group(self, group):
        self._admin_result("delete_consumer_groups", [group])

    def list_offsets(self, group, topic, partitions):
        asked = [TopicPartition(topic, partition) for partition in puppet.numbers(partitions)]
        found = self._admin_result("list_consumer_group_offsets", [ConsumerGroupTopicPartitions(group, asked)])
        known = lambda entry: entry.offset if entry.offset >= 0 else None
        return puppet.offsets_answer(
            (entry.partition, known(entry), entry.metadata) for entry in found.topic_partitions
        )

    def alter_offset(self, group, topic, partition, offset):
        target = [TopicPartition(topic, int(partition), int(offset))]
        altered = self._admin_result("alter_consumer_group_offsets", [ConsumerGroupTopicPartitions(group, target)])
        for entry in altered.topic_partitions:
            if entry.error:
                raise KafkaException(entry.error)

    def _admin_result(self, verb, asked):
        futures = getattr(self.admin, verb)(asked, request_timeout=20)
        (future,) = futures.values()
        return future.result()


def error_of(error):
    if isinstance(error, KafkaException):
        kafka_error = error.args[0]
        code = kafka_error.code()
        # librdkafka's own errors are negative; Kafka's are the broker's.
        return kafka_error.name(), code if code >= 0 else None
    return type(error).__name__, None


if __name__ == "__main__":
    puppet.run(Member(*puppet.arguments()), error_of)
