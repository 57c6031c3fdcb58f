"""kafka-transactions: what is open is listed, described and aborted."""

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from harness.asked import BESIDE


@pytest.fixture
def transaction(shell, name):
    """An open transaction of two records in a topic of this story."""
    shell.create(name)
    producer = Producer({"bootstrap.servers": shell.server.bootstrap, "transactional.id": name, **BESIDE})
    producer.init_transactions(30)
    producer.begin_transaction()
    for value in ("one", "two"):
        producer.produce(name, value, partition=0)
    producer.flush(30)
    return producer


def rows(shell, *words):
    """The words of each line below the heading."""
    return [line.split() for line in shell("kafka-transactions", *words).lines[1:]]


def row_of(shell, name):
    """Its row in the list: coordinator, producer id, state."""
    [row] = [row for row in rows(shell, "list") if row[0] == name]
    return row[1:]


def test_a_transaction_is_listed_and_described(shell, name, transaction):
    coordinator, producer_id, state = row_of(shell, name)
    assert (coordinator, state) == ("1", "Ongoing")
    [described] = rows(shell, "describe", "--transactional-id", name)
    assert described[:3] == ["1", name, producer_id] and "Ongoing" in described and described[-1] == f"{name}-0"
    place = ["--topic", name, "--partition", "0"]
    [producer] = rows(shell, "describe-producers", *place)
    assert producer[0] == producer_id and producer[-1] == "0", "it began at the first offset"
    by_name = rows(shell, "list", "--transactional-id-pattern", f"{name[:-1]}.")
    assert [row[0] for row in by_name] == [name]

    transaction.commit_transaction(30)
    assert row_of(shell, name)[-1] in ("PrepareCommit", "CompleteCommit")
    [producer] = rows(shell, "describe-producers", *place)
    assert producer[-1] in ("0", "None")


def test_nothing_hangs(shell, transaction):
    hanging = rows(shell, "find-hanging", "--broker-id", "1", "--max-transaction-timeout", "15")
    assert hanging == []
    transaction.abort_transaction(30)


def test_an_open_transaction_is_aborted_by_an_administrator(shell, name, transaction):
    place = ["--topic", name, "--partition", "0"]
    shell("kafka-transactions", "abort", *place, "--start-offset", "0")
    [producer] = rows(shell, "describe-producers", *place)
    assert producer[-1] == "None", "it is over in this partition"
    reader = Consumer(
        {
            "bootstrap.servers": shell.server.bootstrap,
            **BESIDE,
            "group.id": name,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    reader.assign([TopicPartition(name, 0, 0)])
    message = reader.poll(30)
    assert message is not None and message.error(), "the end, and no record before it"
    reader.close()
    try:
        transaction.abort_transaction(30)
    except KafkaException:
        pass  # Its coordinator may take the epoch for an older one; what counts is what readers see.
