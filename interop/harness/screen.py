"""A terminal with somebody at it: a pseudo-terminal, and as much of a screen as our programs write to."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

SECONDS = 60
# Control sequences, and what may be the beginning of one.
SEQUENCE = re.compile(r"\x1b\[([?]?)([0-9;]*)([A-Za-z])")
UNFINISHED = re.compile(r"\x1b(\[[?]?[0-9;]*)?$")


class Screen:
    """A program on a terminal of its own. `lines` is what a person sees there."""

    def __init__(self, command, environment, width=120, height=20):
        self.master, self.slave = pty.openpty()
        self.cells = {}
        self.at = (0, 0)
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.rest = ""
        self.alternate = False
        self.cursor = True
        self.seen = ""
        self.resize(width, height)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            # Only the terminal that a program controls tells it of a new size.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def resize(self, width, height):
        self.width, self.height = width, height
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def type(self, keys):
        os.write(self.master, keys.encode())

    def lines(self):
        rows = []
        for row in range(self.height):
            rows.append("".join(self.cells.get((row, column), " ") for column in range(self.width)).rstrip())
        return rows

    def text(self):
        return "\n".join(self.lines())

    def until(self, what, seconds=SECONDS):
        """Waits until the screen is as it should be. `what` is a text on it, or says so of its lines."""
        holds = what if callable(what) else lambda lines: any(what in line for line in lines)
        deadline = time.monotonic() + seconds
        while not holds(self.lines()):
            assert time.monotonic() < deadline, f"not within {seconds} s\n{self.text()}"
            self.read(0.1)
        return self.lines()

    def row(self, beginning):
        """The words of the line that begins so, selected or not; none if it is not there."""
        for line in self.lines():
            words = line.removeprefix("▸").split()
            if words[:1] == [beginning]:
                return words
        return []

    def ended(self, seconds=SECONDS):
        """Waits for the end of the program, and returns its exit code."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"it does not end\n{self.text()}"
            self.read(0.1)
        while self.read(0):
            pass
        return self.process.returncode

    def is_restored(self):
        """Whether the terminal is as it was before the program."""
        return termios.tcgetattr(self.slave) == self.before and not self.alternate and self.cursor

    def send_signal(self, number):
        self.process.send_signal(number)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        text = self.rest + self.decoder.decode(os.read(self.master, 65536))
        # A sequence may be cut in two, as a character may.
        cut = UNFINISHED.search(text)
        text, self.rest = (text[: cut.start()], text[cut.start() :]) if cut else (text, "")
        self.seen += text
        self.take(text)
        return True

    def take(self, text):
        place = 0
        while place < len(text):
            sequence = SEQUENCE.match(text, place)
            if sequence:
                self.control(*sequence.groups())
                place = sequence.end()
                continue
            self.put(text[place])
            place += 1

    def put(self, character):
        row, column = self.at
        if character == "\r":
            self.at = (row, 0)
        elif character == "\n":
            self.at = (row + 1, column)
        else:
            self.cells[row, column] = character
            self.at = (row, column + 1)

    def control(self, private, numbers, letter):
        given = [int(number or 0) for number in numbers.split(";")]
        if private and letter in "hl":
            if 1049 in given:
                self.alternate, self.cells, self.at = letter == "h", {}, (0, 0)
            if 25 in given:
                self.cursor = letter == "h"
        elif letter == "H":
            row, column = (given + [1])[:2] if numbers else (1, 1)
            self.at = (max(row, 1) - 1, max(column, 1) - 1)
        elif letter == "J":
            self.cells = {}
        elif letter != "m":
            raise AssertionError(f"this terminal does not know {private}{numbers}{letter}")


# What the keys that are no letters send.
ENTER, ESCAPE, CONTROL_C = "\r", "\x1b", "\x03"
DOWN, END = "\x1b[B", "\x1b[F"
TERM = signal.SIGTERM
