"""A member that is confluent-kafka, the Python face of librdkafka."""

from importlib import metadata as packages

import puppet
from confluent_kafka import (
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


class Member:
    def __init__(self, bootstrap, group, settings):
        self.base = {"bootstrap.servers": bootstrap}
        self.admin = AdminClient(self.base)
        self.at_once = int(settings.get("max.poll.records", 500))
        settings = {key: value for key, value in settings.items() if key not in ONLY_ELSEWHERE}
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
