"""Our own command line as a client: its verbs must work against any Kafka cluster."""

import json
import os
import signal
import subprocess
import tempfile

from harness import asked
from harness.screen import Screen

SECONDS = 120


class Ran:
    """A command that has ended."""

    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err

    def __repr__(self):
        return f"exit code {self.code}\n{self.out}\n{self.err}"

    def ok(self):
        assert self.code == 0, self
        return self.out

    def lines(self):
        return self.ok().splitlines()

    def json(self):
        return json.loads(self.ok())

    def json_lines(self):
        return [json.loads(line) for line in self.lines()]


class Running:
    """A command that goes on until somebody ends it."""

    def __init__(self, process):
        self.process = process

    def line(self):
        return self.process.stdout.readline().rstrip("\n")

    def rest(self):
        """Waits for its end. Returns what it had not said before."""
        out, err = self.process.communicate(timeout=SECONDS)
        return Ran(self.process.returncode, out, err)

    def stop(self):
        """Ctrl-C. Returns what it had not said before."""
        self.process.send_signal(signal.SIGINT)
        return self.rest()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


class Cli:
    """The program, talking to one server."""

    def __init__(self, binary, server):
        self.binary = binary
        # What the person keeps who runs the stories is neither read nor added to.
        self.folder = tempfile.TemporaryDirectory(prefix="story-cli-")
        self.environment = {
            **os.environ,
            "MILEPOST_BOOTSTRAP": server.bootstrap,
            "XDG_CONFIG_HOME": self.folder.name,
            "XDG_DATA_HOME": self.folder.name,
        }
        self.running = []

    def run(self, *arguments, stdin=""):
        asked.told("milepost")
        ended = subprocess.run(
            [self.binary, *arguments],
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        return Ran(ended.returncode, ended.stdout, ended.stderr)

    def start(self, *arguments):
        asked.told("milepost")
        process = subprocess.Popen(
            [self.binary, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        one = Running(process)
        self.running.append(one)
        return one

    def screen(self, *arguments, width=120, height=20, **variables):
        """Starts the program on a terminal."""
        asked.told("milepost")
        environment = {**self.environment, "TERM": "xterm-256color", **variables}
        one = Screen([self.binary, *arguments], environment, width, height)
        self.running.append(one)
        return one

    def end(self):
        for one in self.running:
            one.end()
        self.folder.cleanup()
