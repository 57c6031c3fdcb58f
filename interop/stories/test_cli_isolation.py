"""`consume --isolation read-committed`: what was aborted is not read, and what is open is waited for."""

from confluent_kafka import Producer

from harness.asked import BESIDE


def transaction(producer, topic, *values):
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value, partition=0)
    # It is in the log before anybody decides.
    producer.flush(60)


def test_what_was_committed_is_read_and_nothing_else(cli, server, name):
    cli.run("topic", "create", name, "-p", "1").ok()

    def producer(transactional_id):
        named = {"transactional.id": f"{name}-{transactional_id}", **BESIDE}
        made = Producer({"bootstrap.servers": server.bootstrap, **named})
        made.init_transactions(60)
        return made

    def consumed(*flags):
        return cli.run("consume", name, "--until-end", *flags).lines()

    one, other = producer("one"), producer("other")
    transaction(one, name, "kept-1", "kept-2")
    one.commit_transaction(60)
    transaction(one, name, "aborted-1", "aborted-2")
    transaction(other, name, "open")
    one.abort_transaction(60)
    transaction(one, name, "kept-3")
    one.commit_transaction(60)
    cli.run("produce", name, stdin="plain\n").ok()

    everything = ["kept-1", "kept-2", "aborted-1", "aborted-2", "open", "kept-3", "plain"]
    assert consumed() == everything
    assert consumed("--isolation", "read-committed") == ["kept-1", "kept-2"]
    other.commit_transaction(60)
    settled = ["kept-1", "kept-2", "open", "kept-3", "plain"]
    assert consumed("--isolation", "read-committed") == settled
    # From within what was aborted, the broker names a transaction that began before.
    assert consumed("--isolation", "read-committed", "--from", "4") == ["open", "kept-3", "plain"]

    assert consumed("--isolation", "read-committed", "--group", name) == settled
    [partition] = cli.run("group", "describe", name, "--format", "json").json()["groups"][0]["partitions"]
    assert partition["lag"] == 0, partition
