"""A member that is kafka-python."""

import logging
import time
from importlib import metadata as packages

import puppet
from kafka import ConsumerRebalanceListener, KafkaAdminClient, KafkaConsumer, KafkaProducer, errors
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.structs import OffsetAndMetadata, TopicPartition

# Long enough for a whole rebalance. kafka-python 3.0.12 forgets an assignment when a poll ends between the SyncGroup of
# a leader that joined again for new metadata and its answer: it then never consumes.
POLL_MS = 1000


class Listener(ConsumerRebalanceListener):
    def __init__(self):
        self.revoked = []

    def on_partitions_assigned(self, assigned):
        pass

    def on_partitions_revoked(self, revoked):
        self.revoked += [entry.partition for entry in revoked]


class Member:
    def __init__(self, bootstrap, group, settings):
        self.bootstrap = bootstrap
        self.consumer = None
        self.listener = Listener()
        if group is not None:
            given = {key.replace(".", "_"): typed(value) for key, value in settings.items()}
            if given.get("partition_assignment_strategy") == "cooperative-sticky":
                given["partition_assignment_strategy"] = [CooperativeStickyAssignor]
            self.consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=group, **given)

    def version(self):
        return {"version": packages.version("kafka-python")}

    def rebalances(self):
        return puppet.revoked_answer(self.listener.revoked)

    def subscribe(self, topic):
        # Known partitions spare the first assignment a second rebalance.
        self.consumer.partitions_for_topic(topic)
        self.consumer.subscribe([topic], listener=self.listener)

    def poll_some(self):
        batches = self.consumer.poll(timeout_ms=POLL_MS)
        return [
            (record.partition, record.offset, record.value.decode())
            for records in batches.values()
            for record in records
        ]

    def poll(self, records, seconds):
        return puppet.gather(self.poll_some, records, seconds)

    def settle(self, seconds):
        assignment = lambda: [entry.partition for entry in self.consumer.assignment()]
        return puppet.settle(self.poll_some, assignment, seconds)

    def commit(self, mode, metadata, epoch=-1):
        positions = {
            entry: OffsetAndMetadata(self.consumer.position(entry), metadata, int(epoch))
            for entry in self.consumer.assignment()
        }
        if mode == "sync":
            self.consumer.commit(positions, timeout_ms=20_000)
            return
        results = []
        self.consumer.commit_async(positions, callback=lambda _, result: results.append(result))
        deadline = time.monotonic() + 20
        while not results:
            for record in self.poll_some():
                raise puppet.UnexpectedRecord(f"record {record} while waiting for a commit")
            if time.monotonic() > deadline:
                raise TimeoutError("no answer to an asynchronous commit")
        if isinstance(results[0], Exception):
            raise results[0]

    def committed(self, topic, partitions):
        found = []
        for partition in puppet.numbers(partitions):
            entry = self.consumer.committed(TopicPartition(topic, partition), metadata=True, timeout_ms=20_000)
            found.append((partition, entry and entry.offset, entry and entry.metadata))
        return puppet.offsets_answer(found)

    def close(self):
        if self.consumer is not None:
            self.consumer.close()

    def produce(self, topic, partition, first, count, compression):
        codec = None if compression == "none" else compression
        producer = KafkaProducer(
            bootstrap_servers=self.bootstrap, acks="all", linger_ms=5, compression_type=codec
        )
        numbers = range(int(first), int(first) + int(count))
        sent = [producer.send(topic, f"value-{number}".encode(), partition=int(partition)) for number in numbers]
        offsets = [future.get(timeout=30).offset for future in sent]
        producer.close()
        return {"offsets": ",".join(map(str, offsets))}

    def create_topic(self, topic, partitions):
        self._admin(
            lambda admin: admin.create_topics({topic: {"num_partitions": int(partitions), "replication_factor": 1}})
        )

    def describe_topic(self, topic):
        (described,) = self._admin(lambda admin: admin.describe_topics([topic]))
        return {"partitions": len(described["partitions"])}

    def delete_topic(self, topic):
        self._admin(lambda admin: admin.delete_topics([topic]))

    def list_groups(self):
        listed = self._admin(lambda admin: admin.list_groups())
        return {"groups": ",".join(group["group_id"] for group in listed)}

    def describe_group(self, group):
        described = self._admin(lambda admin: admin.describe_groups([group]))[group]
        return {"state": described["group_state"], "members": len(described["members"])}

    def delete_group(self, group):
        self._raise_any(self._admin(lambda admin: admin.delete_groups([group])))

    def delete_offsets(self, group, topic, partitions):
        asked = [TopicPartition(topic, partition) for partition in puppet.numbers(partitions)]
        self._raise_any(self._admin(lambda admin: admin.delete_group_offsets(group, asked)))

    def list_offsets(self, group, topic, partitions):
        asked = [TopicPartition(topic, partition) for partition in puppet.numbers(partitions)]
        found = self._admin(lambda admin: admin.list_group_offsets({group: asked}))[group]
        entries = [(key.partition, found.get(key)) for key in asked]
        known = lambda entry: entry.offset if entry is not None and entry.offset >= 0 else None
        return puppet.offsets_answer(
            (partition, known(entry), entry.metadata if entry is not None else "") for partition, entry in entries
        )

    def alter_offset(self, group, topic, partition, offset):
        target = {TopicPartition(topic, int(partition)): OffsetAndMetadata(int(offset), "", -1)}
        self._raise_any(self._admin(lambda admin: admin.alter_group_offsets(group, target)))

    def _admin(self, work):
        admin = KafkaAdminClient(bootstrap_servers=self.bootstrap)
        try:
            return work(admin)
        finally:
            admin.close()

    @staticmethod
    def _raise_any(results):
        """Some of the client's answers hold error classes, some only their names."""
        for result in results.values():
            error = getattr(errors, result, None) if isinstance(result, str) else result
            if error is not None and error.errno != 0:
                raise error()


def typed(value):
    """kafka-python takes numbers and truth values as such."""
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.isdigit() else value


def error_of(error):
    code = getattr(error, "errno", None)
    return type(error).__name__, code if isinstance(code, int) and code > 0 else None


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    puppet.run(Member(*puppet.arguments()), error_of)
