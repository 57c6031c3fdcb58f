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
# What Kafka's coordinator makes of a log that cannot be written.
COMMIT_REFUSED = (wire.COORDINATOR_NOT_AVAILABLE, wire.NOT_COORDINATOR)


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


@pytest.mark.parametrize("leave_bytes", [0, 40 * MIB], ids=["filled by another program", "filled by the server"])
def test_a_full_disk_heals(new_server, small_disk, name, leave_bytes):
    # The log of the server lies elsewhere: only its data is on the small disk.
    server = new_server()
    server.data = os.path.join(small_disk, "data")
    server.start()
    try:
        story(server, small_disk, name, leave_bytes)
    finally:
        server.end()


def story(server, small_disk, name, leave_bytes):
    big = batches.batch([os.urandom(200_000)])
    with server.connect(timeout=60) as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        wire.find_coordinator(connection, name)
        member, generation = wire.joined_member(connection, name, session_timeout_ms=60_000)
        commit = lambda offset: wire.commit(connection, name, {(name, 0): (offset, "")}, member, generation)
        assert commit(7) == {(name, 0): wire.NO_ERROR}
        assert wire.produce(connection, name, 0, big) == (wire.NO_ERROR, 0)

        filler = fill(small_disk, leave_bytes)
        acknowledged, error = 1, wire.NO_ERROR
        for _ in range(1000):
            error, offset = wire.produce(connection, name, 0, big)
            if error != wire.NO_ERROR:
                break
            assert offset == acknowledged
            acknowledged += 1
        assert error == wire.KAFKA_STORAGE_ERROR
        # A commit is smaller than a batch: there may be room for some yet.
        committed, code = 7, wire.NO_ERROR
        for offset in range(8, 20_000):
            (code,) = commit(offset).values()
            if code != wire.NO_ERROR:
                break
            committed = offset
        assert code in COMMIT_REFUSED

        # What needs no room goes on.
        assert server.running()
        assert wire.heartbeat(connection, name, member, generation) == wire.NO_ERROR
        assert wire.committed(connection, name, name) == committed
        assert wire.end_offset(connection, name) == acknowledged
        error, _, data = wire.fetch(connection, name, 0, acknowledged - 1)
        assert error == wire.NO_ERROR and [base for base, *_ in batches.headers(data)] == [acknowledged - 1]

        os.remove(filler)
        deadline = time.monotonic() + 60
        while wire.produce(connection, name, 0, big)[0] != wire.NO_ERROR or commit(30_000) != {(name, 0): wire.NO_ERROR}:
            assert time.monotonic() < deadline, "it does not heal"
            time.sleep(0.2)
        end = wire.end_offset(connection, name)
        assert end > acknowledged

    # And nothing acknowledged is missing after a crash right then.
    server.kill()
    server.start()
    with server.connect(timeout=60) as connection:
        wire.find_coordinator(connection, name)
        assert wire.committed(connection, name, name) == 30_000
        assert wire.end_offset(connection, name) == end
