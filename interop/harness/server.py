"""Starts, stops, kills and restarts the server of a story, on the same port and folder."""

import os
import re
import signal
import socket
import subprocess
import time

from harness import asked, wire

READY_SECONDS = 60
STOP_SECONDS = 60

# Groups settle at once, and a session may be short: a story waits for neither longer than it must.
SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "500",
}


class DidNotStart(Exception):
    """The server ended, or said nothing, before it was ready. Carries its exit code and what it said."""

    def __init__(self, code, said):
        super().__init__(f"exit code {code}: {said}")
        self.code = code
        self.said = said


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server process with its folder. `launch` is the command up to the flags."""

    def __init__(self, launch, folder, settings=None, flags=(), wrapper=()):
        self.launch = list(launch)
        self.folder = folder
        self.data = os.path.join(folder, "data")
        self.settings = {**SETTINGS, **(settings or {})}
        self.flags = list(flags)
        self.wrapper = list(wrapper)
        self.port = 0
        self.process = None
        self.log_path = os.path.join(folder, "server.log")
        os.makedirs(folder, exist_ok=True)

    @property
    def bootstrap(self):
        return f"127.0.0.1:{self.port}"

    def command(self):
        command = [*self.wrapper, *self.launch, "--data-dir", self.data, "--listen", self.bootstrap, *self.flags]
        for key, value in self.settings.items():
            command += ["--set", f"{key}={value}"]
        return command

    def spawn(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True
            )

    def start(self):
        """Starts and waits until clients may connect. Returns self."""
        raise NotImplementedError

    def stop(self):
        """Asks for a graceful stop and waits for it. Returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        """kill -9, at once."""
        self.process.kill()
        return self.wait()

    def wait(self):
        try:
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the server did not stop within {STOP_SECONDS} s\n{self.log_tail()}") from None
        finally:
            self.process.stdout.close()
        self.process = None
        return code

    def running(self):
        return self.process is not None and self.process.poll() is None

    def end(self):
        """At the end of a story, however it went."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
            self.wait()

    def log_tail(self, lines=40):
        with open(self.log_path, errors="replace") as log:
            return "".join([line for line in log if not asked.is_request(line)][-lines:])

    def connect(self, **options):
        return wire.Connection(self.bootstrap, **options)


class Milepost(Server):
    """Our own binary."""

    READY = re.compile(r"milepost ready listen=(\S+):(\d+) data=(.+) durability=(\w+)\n")

    def start(self):
        self.spawn()
        # The first line on standard output is the promise that clients may connect; it is exactly this line.
        line = self.process.stdout.readline().decode()
        ready = self.READY.fullmatch(line)
        if ready is None:
            code = self.process.wait(READY_SECONDS)
            self.process.stdout.close()
            self.process = None
            raise DidNotStart(code, line + self.log_tail())
        self.port = int(ready.group(2))
        self.ready_line = line
        return self


class Kafka(Server):
    """A real Kafka broker, started by `xtask kafka`."""

    def start(self):
        if self.port == 0:
            self.port = free_port()
        self.spawn()
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with self.connect(timeout=5) as connection:
                    error, _ = wire.api_versions(connection)
                    if error == wire.NO_ERROR and self.knows_itself(connection):
                        return self
            except (OSError, wire.Closed):
                pass
            time.sleep(0.1)
        raise DidNotStart(self.process.poll(), self.log_tail())

    @staticmethod
    def knows_itself(connection):
        """A Kafka broker answers before it has registered; until then it lists no broker."""
        reader = connection.ask(wire.METADATA, 1, wire.array([]))
        return reader.i32() > 0
