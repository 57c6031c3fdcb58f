"""kcat: a command line, so there is no member program. A run of it to its end, or one that consumes until it is killed."""

import queue
import re
import subprocess
import threading
import time

from harness import asked

RUN_SECONDS = 60


def run(*arguments, given="", code=0):
    """Runs kcat to its end. Returns what it printed, and what it said beside."""
    asked.told("kcat")
    ended = subprocess.run(["kcat", *arguments], input=given, capture_output=True, text=True, timeout=RUN_SECONDS)
    assert ended.returncode == code, f"exit code {ended.returncode}: {ended.stderr}"
    return ended.stdout, ended.stderr


def version():
    said, _ = run("-V")
    own, librdkafka = re.search(r"Version (\S+).*librdkafka (\S+)", said).groups()
    return f"{own} with librdkafka {librdkafka}"


def produce(server, topic, partition, values, *flags):
    lines = "".join(f"{value}\n" for value in values)
    run("-P", "-b", server.bootstrap, "-t", topic, "-p", str(partition), *flags, given=lines)


FORMAT = ["-q", "-u", "-f", "%p:%o:%s\\n"]


def records(text):
    """[(partition, offset, value)] of what was printed in our format."""
    entries = [line.split(":", 2) for line in text.splitlines()]
    return [(int(partition), int(offset), value) for partition, offset, value in entries]


class Consumer:
    """A member of a group that prints what it reads until it is killed."""

    def __init__(self, server, group, topic, **settings):
        asked.told("kcat")
        words = [word for key, value in settings.items() for word in ("-X", f"{key.replace('_', '.')}={value}")]
        # Without -q: the rebalances are told there.
        command = ["kcat", "-G", group, "-b", server.bootstrap, *words, *FORMAT[1:], topic]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.assigned = set()
        self.revoked = set()
        for work in (self._read, self._listen):
            threading.Thread(target=work, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def _listen(self):
        for line in self.process.stderr:
            if not line.startswith("% Group ") or " rebalanced" not in line:
                continue
            partitions = {int(number) for number in re.findall(r"\[(\d+)\]", line)}
            # "revoked: …", or "incremental revoke of …".
            if "revoke" in line:
                self.assigned = self.assigned - partitions
                self.revoked = self.revoked | partitions
            else:
                self.assigned = self.assigned | partitions

    def read(self, count, seconds=60):
        """So many records."""
        deadline = time.monotonic() + seconds
        return records("".join(self.lines.get(timeout=max(0, deadline - time.monotonic())) for _ in range(count)))

    def stop(self):
        """A graceful end: it commits what it read, and leaves the group."""
        self.process.terminate()
        assert self.process.wait(30) == 0

    def kill(self):
        self.process.kill()
        self.process.wait()
