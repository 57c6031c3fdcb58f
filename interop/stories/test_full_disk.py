"""A full disk: writes are refused in Kafka's codes, everything else goes on, and room heals it without a restart."""

import os
import shutil
import subprocess
import tempfile
import time

import pytest

from harness import batches, wire

pytestmark = [
    pytest.mark.own_binary,
    pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root"),
]

MIB = 1 << 20
# What Kafka's coordinator and its log make of a disk that cannot be written.
COMMIT_REFUSED = (wire.COORDINATOR_NOT_AVAILABLE, wire.NOT_COORDINATOR)
PRODUCE_REFUSED = (wire.KAFKA_STORAGE_ERROR, wire.REQUEST_TIMED_OUT)

# Metadata that makes a commit big, and enough tries to fill the disk with commits alone.
LONG = "m" * 4000
TRIES = 20_000


@pytest.fixture
def small_disk():
    folder = tempfile.mkdtemp(prefix="small-disk-")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160m", "milepost-story", folder], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)
    shutil.rmtree(folder, ignore_errors=True)


def fill(folder, leave_bytes):
    """Somebody else's file takes what is free, all but `leave_bytes`."""
    path = os.path.join(folder, "somebody-elses")
    with open(path, "wb") as file:
        while True:
            free = shutil.disk_usage(folder).free - leave_bytes
            if free <= 0:
                return path
            try:
                file.write(b"\xff" * min(MIB, free))
                file.flush()
            except OSError:
                return path


@pytest.fixture
def server(new_server, small_disk):
    """Only its data lies on the small disk, not its log."""
    one = new_server()
    one.data = os.path.join(small_disk, "data")
    yield one.start()
    one.end()


class Load:
    """Produces and commits through one connection, and remembers what was acknowledged."""

    def __init__(self, server, topic):
        self.connection = server.connect(timeout=60)
        self.topic = topic
        self.batch = batches.batch([os.urandom(200_000)])
        assert wire.create_topic(self.connection, topic) == wire.NO_ERROR
        wire.find_coordinator(self.connection, topic)
        self.membership = wire.joined_member(self.connection, topic, session_timeout_ms=60_000)
        self.records = 0
        # A request whose time ran out was not refused: it may be carried out when there is room again.
        self.timed_out = 0
        self.committed = None
        self.tried = 0

    def once(self):
        """One produce and one commit: both error codes."""
        produced, base_offset = wire.produce(self.connection, self.topic, 0, self.batch)
        if produced == wire.NO_ERROR:
            assert self.records <= base_offset <= self.records + self.timed_out
            self.records = base_offset + 1
        elif produced == wire.REQUEST_TIMED_OUT:
            self.timed_out += 1
        self.tried += 1
        codes = wire.commit(self.connection, self.topic, {(self.topic, 0): (self.tried, LONG)}, *self.membership)
        committed = codes[(self.topic, 0)]
        if committed == wire.NO_ERROR:
            self.committed = self.tried
        return produced, committed

    def until_refused(self):
        """One may still find room where the other does not; full is when neither does."""
        for _ in range(TRIES):
            codes = self.once()
            if wire.NO_ERROR not in codes:
                return codes
        raise AssertionError("the disk is never full")

    def until_taken(self):
        deadline = time.monotonic() + 60
        while self.once() != (wire.NO_ERROR, wire.NO_ERROR):
            assert time.monotonic() < deadline, "it does not heal"
            time.sleep(0.2)


def check_nothing_is_lost(server, load):
    """A request without an answer, or whose time ran out, may have been carried out."""
    with server.connect(timeout=60) as connection:
        wire.find_coordinator(connection, load.topic)
        assert wire.committed(connection, load.topic, load.topic) in range(load.committed, load.tried + 1)
        assert load.records <= wire.end_offset(connection, load.topic) <= load.records + load.timed_out + 1


def test_filled_by_another_program(server, small_disk, name):
    load = Load(server, name)
    assert load.once() == (wire.NO_ERROR, wire.NO_ERROR)
    filler = fill(small_disk, leave_bytes=0)
    produced, committed = load.until_refused()
    assert produced in PRODUCE_REFUSED and committed in COMMIT_REFUSED

    # What needs no room goes on.
    connection, topic = load.connection, load.topic
    assert server.running()
    assert wire.heartbeat(connection, topic, *load.membership) == wire.NO_ERROR
    assert wire.committed(connection, topic, topic) == load.committed
    assert wire.end_offset(connection, topic) == load.records
    error, _, data = wire.fetch(connection, topic, 0, load.records - 1)
    assert error == wire.NO_ERROR and [base for base, *_ in batches.headers(data)] == [load.records - 1]

    os.remove(filler)
    load.until_taken()
    # And nothing acknowledged is missing after a crash right then.
    server.kill()
    server.start()
    check_nothing_is_lost(server, load)


def test_filled_by_the_server_itself(server, small_disk, name):
    """What it writes to the journal it writes to the segments too: it refuses before either finds no room."""
    load = Load(server, name)
    filler = fill(small_disk, leave_bytes=40 * MIB)
    produced, committed = load.until_refused()
    assert produced in PRODUCE_REFUSED and committed in COMMIT_REFUSED
    assert server.running()
    os.remove(filler)
    load.until_taken()
    check_nothing_is_lost(server, load)
