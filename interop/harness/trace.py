"""Reads a system-call trace of the server: in which order it read requests, synced its files and sent answers."""

import re

CALLS = ("read", "recvfrom", "readv", "recvmsg", "write", "writev", "sendto", "sendmsg", "fdatasync", "fsync")
READS, WRITES, SYNCS = CALLS[:4], CALLS[4:8], CALLS[8:]

WHOLE = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+)")
BEGUN = re.compile(r"(\d+) +(\w+)\((.*) <unfinished \.\.\.>")
ENDED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>.*\) += (-?\d+)")
PEER = re.compile(r"<TCP:\[[\d.]+:\d+->[\d.]+:(\d+)\]>")


def wrapper(path):
    """The command that traces another: the traced program keeps the process id, threads are followed."""
    return ["strace", "-D", "-f", "-yy", "-s", "0", "-e", f"trace={','.join(CALLS)}", "-o", path]


class Call:
    """One system call: the lines of the trace at which it began and ended."""

    def __init__(self, name, arguments, began):
        self.name = name
        self.arguments = arguments
        self.began = began
        self.ended = None
        self.result = None

    @property
    def peer_port(self):
        """The client's port, if the first argument is a connection."""
        match = PEER.search(self.arguments.split(",", 1)[0])
        return int(match.group(1)) if match else None


def calls(path):
    """All calls of a trace, in the order in which they began."""
    found, open_calls = [], {}
    with open(path, errors="replace") as lines:
        for number, line in enumerate(lines):
            if match := BEGUN.match(line):
                call = Call(match.group(2), match.group(3), number)
                open_calls[match.group(1)] = call
                found.append(call)
            elif match := ENDED.match(line):
                call = open_calls.pop(match.group(1), None)
                if call is not None:
                    call.ended, call.result = number, int(match.group(3))
            elif match := WHOLE.match(line):
                call = Call(match.group(2), match.group(3), number)
                call.ended, call.result = number, int(match.group(4))
                found.append(call)
    return found


def answers(all_calls, port):
    """(line where the request had been read, line where its answer was sent) of a client that waits for each answer."""
    pairs, request = [], None
    for call in all_calls:
        if call.peer_port != port:
            continue
        if call.name in READS and call.result is not None and call.result > 0:
            request = call.ended
        elif call.name in WRITES and request is not None:
            pairs.append((request, call.began))
            request = None
    return pairs


def unsynced(all_calls, port):
    """The answers that left before a sync had begun after their request and returned without an error."""
    syncs = [call for call in all_calls if call.name in SYNCS and call.result == 0]
    covered = lambda request, answer: any(sync.began > request and sync.ended < answer for sync in syncs)
    return [pair for pair in answers(all_calls, port) if not covered(*pair)]
