"""The words a client program understands, one a line: `verb key=value …`, values percent-encoded.

Each is answered by one line: `ok key=value …`, or `error name=… code=… text=…`. A client program gives an object with
one method a verb; this module reads the lines, calls the methods, and turns exceptions into error lines.
"""

import argparse
import sys
import time
import traceback
from urllib.parse import quote, unquote

# A record that comes while members only settle would be lost to the story: it is an error.
class UnexpectedRecord(Exception):
    pass


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--group")
    parser.add_argument("--set", action="append", default=[])
    given = parser.parse_args()
    return given.bootstrap, given.group, dict(setting.split("=", 1) for setting in given.set)


def numbers(value):
    return [int(number) for number in value.split(",")]


def gather(poll_some, wanted, seconds):
    """Calls `poll_some` until so many records came or the time ran out."""
    records, deadline = [], time.monotonic() + float(seconds)
    while len(records) < int(wanted) and time.monotonic() < deadline:
        records += poll_some()
    return {"records": ",".join(f"{partition}:{offset}:{value}" for partition, offset, value in records)}


def settle(poll_some, assignment, seconds):
    """Polls for so long and tells what is assigned then; no record may come."""
    deadline = time.monotonic() + float(seconds)
    while time.monotonic() < deadline:
        for record in poll_some():
            raise UnexpectedRecord(f"record {record} while settling")
    return {"partitions": ",".join(str(partition) for partition in sorted(assignment()))}


def offsets_answer(found):
    """`found`: [(partition, offset or None, metadata)]."""
    entries = (
        f"{partition}:{'none' if offset is None else offset}:{quote(metadata or '', safe='')}"
        for partition, offset, metadata in found
    )
    return {"offsets": ",".join(entries)}


def revoked_answer(revoked):
    """Tells what was taken away, and forgets it."""
    answer = {"revoked": ",".join(str(partition) for partition in sorted(revoked))}
    revoked.clear()
    return answer


def run(client, error_of):
    """Serves lines until `close` or the end of input. `error_of(exception)` gives (name, code or None)."""
    for line in sys.stdin:
        verb, *words = line.rstrip("\n").split(" ")
        values = {key: unquote(value) for key, value in (word.split("=", 1) for word in words)}
        try:
            answer = getattr(client, verb.replace("-", "_"))(**values) or {}
        except Exception as error:  # Whatever a client throws is an answer.
            traceback.print_exc()
            name, code = error_of(error)
            answer = {"name": name, "code": "" if code is None else code, "text": error}
            say("error", answer)
        else:
            say("ok", answer)
            if verb == "close":
                return


def say(kind, values):
    words = [kind] + [f"{key}={quote(str(value), safe='')}" for key, value in values.items()]
    print(" ".join(words), flush=True)
