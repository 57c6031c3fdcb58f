"""A member that is aiokafka. Its event loop runs in a thread of its own, so that it lives on between two words."""

import asyncio
import logging
import threading
import time
from importlib import metadata as packages

import puppet
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition, errors
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

POLL_MS = 100


class Listener(ConsumerRebalanceListener):
    def __init__(self):
        self.revoked = []

    def on_partitions_revoked(self, revoked):
        self.revoked += [entry.partition for entry in revoked]

    def on_partitions_assigned(self, assigned):
        pass


class Member:
    def __init__(self, bootstrap, group, settings):
        self.bootstrap = bootstrap
        self.group = group
        self.settings = {key.replace(".", "_"): typed(value) for key, value in settings.items()}
        self.listener = Listener()
        self.consumer = None
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        if group is not None:
            self._do(self._start_consumer())

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    async def _start_consumer(self):
        self.consumer = AIOKafkaConsumer(bootstrap_servers=self.bootstrap, group_id=self.group, **self.settings)
        await self.consumer.start()

    def version(self):
        return {"version": packages.version("aiokafka")}

    def rebalances(self):
        return puppet.revoked_answer(self.listener.revoked)

    def subscribe(self, topic):
        async def subscribe():
            self.consumer.subscribe([topic], listener=self.listener)

        self._do(subscribe())

    def poll_some(self):
        batches = self._do(self.consumer.getmany(timeout_ms=POLL_MS))
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

    def commit(self, mode, metadata):
        positions = {
            entry: (self._do(self.consumer.position(entry)), metadata) for entry in self.consumer.assignment()
        }
        # Every commit of this client is awaited. An asynchronous one is a task, while the member goes on polling.
        committing = asyncio.run_coroutine_threadsafe(self.consumer.commit(positions), self.loop)
        deadline = time.monotonic() + 20
        while mode == "async" and not committing.done() and time.monotonic() < deadline:
            for record in self.poll_some():
                raise puppet.UnexpectedRecord(f"record {record} while waiting for a commit")
        committing.result(20)

    def committed(self, topic, partitions):
        # The consumer's own call tells no metadata.
        return self.list_offsets(self.group, topic, partitions)

    def close(self):
        if self.consumer is not None:
            self._do(self.consumer.stop())

    def produce(self, topic, partition, first, count, compression):
        codec = None if compression == "none" else compression
        numbers = range(int(first), int(first) + int(count))

        async def produce():
            async with AIOKafkaProducer(
                bootstrap_servers=self.bootstrap, acks="all", linger_ms=5, compression_type=codec
            ) as producer:
                send = lambda number: producer.send(topic, f"value-{number}".encode(), partition=int(partition))
                sent = [await send(number) for number in numbers]
                return [(await asyncio.wait_for(one, 30)).offset for one in sent]

        return {"offsets": ",".join(map(str, self._do(produce())))}

    def create_topic(self, topic, partitions):
        wanted = NewTopic(topic, int(partitions), 1)
        answer = self._admin(lambda admin: admin.create_topics([wanted]))
        raise_any(error for _, error, *_ in answer.topic_errors)

    def describe_topic(self, topic):
        (described,) = self._admin(lambda admin: admin.describe_topics([topic]))
        raise_any([described["error_code"]])
        return {"partitions": len(described["partitions"])}

    def delete_topic(self, topic):
        answer = self._admin(lambda admin: admin.delete_topics([topic]))
        raise_any(error for _, error, *_ in answer.topic_error_codes)

    def list_groups(self):
        listed = self._admin(lambda admin: admin.list_consumer_groups())
        return {"groups": ",".join(group for group, *_ in listed)}

    def describe_group(self, group):
        (answer,) = self._admin(lambda admin: admin.describe_consumer_groups([group]))
        ((error, _, state, _, _, members, *_),) = answer.groups
        raise_any([error])
        return {"state": state, "members": len(members)}

    def list_offsets(self, group, topic, partitions):
        asked = [TopicPartition(topic, partition) for partition in puppet.numbers(partitions)]
        found = self._admin(lambda admin: admin.list_consumer_group_offsets(group, partitions=asked))
        known = lambda entry: entry.offset if entry.offset >= 0 else None
        return puppet.offsets_answer((entry.partition, known(found[entry]), found[entry].metadata) for entry in asked)

    def _admin(self, work):
        async def administer():
            admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
            await admin.start()
            try:
                return await work(admin)
            finally:
                await admin.close()

        return self._do(administer())


def raise_any(codes):
    """The admin client answers with codes where others raise."""
    for code in codes:
        if code != 0:
            raise errors.for_code(code)()


def typed(value):
    """aiokafka takes numbers and truth values as such."""
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.isdigit() else value


def error_of(error):
    code = getattr(error, "errno", None)
    return type(error).__name__, code if isinstance(code, int) and code > 0 else None


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    puppet.run(Member(*puppet.arguments()), error_of)
