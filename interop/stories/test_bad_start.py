"""A start that cannot succeed ends at once, with a message that names the cause, and harms nothing."""

import os
import socket
import subprocess
import time

import pytest

from harness import batches, wire
from harness.server import DidNotStart

pytestmark = pytest.mark.own_binary

QUICK_SECONDS = 20


def refused(server, *words):
    """Starts the server, which must end by itself with a failure and say each of the words on standard error."""
    began = time.monotonic()
    with pytest.raises(DidNotStart) as ended:
        server.start()
    assert time.monotonic() - began < QUICK_SECONDS
    said, code = ended.value.said, ended.value.code
    assert code not in (0, None) and 0 < code < 100, f"exit code {code}"
    assert "panicked" not in said and "RUST_BACKTRACE" not in said
    for word in words:
        assert word.lower() in said.lower(), f"{word!r} is not in:\n{said}"


def test_a_folder_in_use(own_server, new_server, name):
    with own_server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        second = new_server()
        second.data = own_server.data
        refused(second, own_server.data, "in use")
        # The first one works on, before and after its own restart.
        assert wire.produce(connection, name, 0, batches.batch([b"one"])) == (wire.NO_ERROR, 0)
    own_server.kill()
    own_server.start()
    with own_server.connect() as connection:
        assert wire.end_offset(connection, name) == 1


def test_a_folder_of_another_version(own_server):
    own_server.stop()
    path = os.path.join(own_server.data, "milepost.format")
    with open(path) as file:
        ours = file.read()
    with open(path, "w") as file:
        file.write("milepost data folder, format 99\n")
    before = listing(own_server.data)
    refused(own_server, own_server.data, "format 99")
    assert listing(own_server.data) == before
    with open(path, "w") as file:
        file.write(ours)
    own_server.start()


def test_a_folder_of_something_else(new_server):
    server = new_server()
    os.makedirs(server.data)
    with open(os.path.join(server.data, "thesis.txt"), "w") as file:
        file.write("years of work")
    refused(server, server.data, "thesis.txt")
    with open(os.path.join(server.data, "thesis.txt")) as file:
        assert file.read() == "years of work"


def test_a_file_in_place_of_the_folder(new_server):
    server = new_server()
    with open(server.data, "w") as file:
        file.write("not a folder")
    refused(server, server.data)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_read_only_folder(own_server, name):
    with own_server.connect() as connection:
        assert wire.create_topic(connection, name) == wire.NO_ERROR
        assert wire.produce(connection, name, 0, batches.batch([b"kept"])) == (wire.NO_ERROR, 0)
    own_server.stop()
    # For root, permissions do not make a folder read-only; a mount does.
    subprocess.run(["mount", "--bind", own_server.data, own_server.data], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", own_server.data], check=True)
        refused(own_server, own_server.data, "read-only")
    finally:
        subprocess.run(["umount", own_server.data], check=True)
    own_server.start()
    with own_server.connect() as connection:
        assert wire.end_offset(connection, name) == 1


def test_a_port_in_use(new_server):
    with socket.create_server(("127.0.0.1", 0)) as other:
        server = new_server()
        server.port = other.getsockname()[1]
        refused(server, f"127.0.0.1:{server.port}", "in use")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("group.max.sise", "5", ["group.max.sise", "group.max.size"]),
        ("group.max.size", "many", ["group.max.size", "many"]),
        ("num.partitions", "-3", ["num.partitions", "-3"]),
    ],
)
def test_a_setting_that_cannot_be(new_server, key, value, words):
    refused(new_server(settings={key: value}), *words)


def test_listening_on_every_address_without_saying_how_to_be_reached(pytestconfig, tmp_path):
    ended = run(pytestconfig, "serve", "--data-dir", str(tmp_path / "data"), "--listen", "0.0.0.0:0")
    assert ended.returncode not in (0, None)
    assert "advertised.listeners" in ended.stderr
    # Refused before anything was touched.
    assert not (tmp_path / "data").exists()


def test_version_and_help(pytestconfig):
    version = run(pytestconfig, "--version")
    assert version.returncode == 0 and version.stdout.startswith("milepost ")
    helped = run(pytestconfig, "serve", "--help")
    assert helped.returncode == 0
    for word in ("--data-dir", "--listen", "group.initial.rebalance.delay.ms", "auto.create.topics.enable"):
        assert word in helped.stdout


def run(pytestconfig, *arguments):
    command = [pytestconfig.getoption("--milepost"), *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=QUICK_SECONDS)


def listing(folder):
    """Every file below with its size, locks aside."""
    found = {}
    for place, _, files in os.walk(folder):
        for file in files:
            if file != ".lock":
                path = os.path.join(place, file)
                found[path] = os.path.getsize(path)
    return found
