"""The real binary under a system-call trace: no answer to a commit or a produce leaves before its sync returned."""

import os
import shutil
import threading

import pytest

from harness import batches, trace, wire

pytestmark = [
    pytest.mark.own_binary,
    pytest.mark.skipif(shutil.which("strace") is None, reason="no strace on this machine"),
]

CLIENTS = 3
REQUESTS = 20


def traced_ports(server, topic):
    """Three clients at once, so that rounds are shared; each waits for every answer. Returns their ports and calls."""
    with server.connect() as connection:
        assert wire.create_topic(connection, topic) == wire.NO_ERROR
        for number in range(CLIENTS):
            wire.find_coordinator(connection, f"{topic}-{number}")
    connections = [server.connect(timeout=60) for _ in range(CLIENTS)]

    def work(number, connection):
        for offset in range(REQUESTS):
            if offset % 2 == 0:
                codes = wire.commit(connection, f"{topic}-{number}", {(topic, 0): (offset, "")})
                assert codes == {(topic, 0): wire.NO_ERROR}
            else:
                assert wire.produce(connection, topic, 0, batches.batch([b"value"]))[0] == wire.NO_ERROR

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    ports = [connection.local_port for connection in connections]
    for connection in connections:
        connection.socket.close()
    assert server.stop() == 0
    return ports


def traced_server(new_server, tmp_path, flags):
    path = os.path.join(tmp_path, "trace")
    return new_server(flags=flags, folder=os.path.join(tmp_path, "server"), wrapper=trace.wrapper(path)), path


def test_no_answer_leaves_before_its_sync_returned(new_server, tmp_path, name):
    server, path = traced_server(new_server, tmp_path, flags=["--durability", "sync"])
    ports = traced_ports(server.start(), name)
    all_calls = trace.calls(path)
    for port in ports:
        assert len(trace.answers(all_calls, port)) == REQUESTS
        assert trace.unsynced(all_calls, port) == []


def test_the_trace_would_show_it(new_server, tmp_path, name):
    """The same look at a server that was told not to wait for the disk finds answers without a sync."""
    server, path = traced_server(new_server, tmp_path, flags=["--durability", "os"])
    ports = traced_ports(server.start(), name)
    assert server.ready_line.endswith("durability=os\n")
    all_calls = trace.calls(path)
    assert any(trace.unsynced(all_calls, port) for port in ports)
