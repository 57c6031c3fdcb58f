"""SIGTERM: what is parked is answered, the process ends with success, and the next start finds everything."""

import threading
import time

import pytest

from harness import batches, wire

pytestmark = pytest.mark.own_binary


def test_parked_requests_are_answered(own_server, name):
    with own_server.connect(timeout=60) as connection, own_server.connect(timeout=60) as fetcher:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        assert wire.produce(connection, name, 0, batches.batch([b"one"])) == (wire.NO_ERROR, 0)
        wire.find_coordinator(connection, name)
        assert wire.commit(connection, name, {(name, 0): (1, "")}) == {(name, 0): wire.NO_ERROR}
        answers = []
        # A fetch at the end of the log waits for records that never come.
        parked = threading.Thread(target=lambda: answers.append(wire.fetch(fetcher, name, 0, 1, max_wait_ms=50_000)))
        parked.start()
        wait_until_parked(own_server)
        began = time.monotonic()
        assert own_server.stop() == 0
        assert time.monotonic() - began < 20
        parked.join(20)
        assert answers == [(wire.NO_ERROR, 1, b"")]
    own_server.start()
    with own_server.connect() as connection:
        wire.find_coordinator(connection, name)
        assert wire.committed(connection, name, name) == 1
        assert wire.end_offset(connection, name) == 1


def wait_until_parked(server):
    """Anything asked after the fetch was sent shows that the server had time to read it."""
    for _ in range(3):
        time.sleep(0.2)
        with server.connect() as connection:
            wire.api_versions(connection)
