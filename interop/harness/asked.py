"""Which API, in which version, each client asked our server for: what README.md's table of APIs is made from.

The server logs each request at the level `trace`. Those of a story are put down to the client that the story told what to
do; where it told several nothing is, since nobody knows who asked. Who asks beside the client has a name of its own.
"""

import os
import re

# The client id of requests that are written by hand (`wire.py`).
BY_HAND = "by-hand"

# Settings of a librdkafka that a story uses beside the client that it tells of: its requests are nobody's.
BESIDE = {"client.id": "beside"}

LOG_FILTER = "info,milepost::requests=trace"
LINE = re.compile(r'TRACE milepost::requests: api=(\w+) version=(\d+) client_id="(.*)"$')

# The clients that the story at hand has told what to do.
_told = set()


def told(client):
    """The story tells this client what to do."""
    _told.add(client)


class Story:
    """From its begin on, what is asked of the servers belongs to this story."""

    def __init__(self, servers):
        self.servers = servers
        self.begin = {one.log_path: size(one.log_path) for one in servers}
        _told.clear()

    def asked(self):
        """[(client, API, version)], each once."""
        found = set()
        for path in {one.log_path for one in self.servers}:
            if not os.path.exists(path):
                continue
            with open(path, errors="replace") as log:
                log.seek(self.begin.get(path, 0))
                found.update(filter(None, map(self._client_of, log)))
        return sorted(found)

    @staticmethod
    def _client_of(line):
        request = LINE.search(line)
        if request is None:
            return None
        api, version, client_id = request.groups()
        if client_id == BY_HAND:
            return "by hand", api, int(version)
        if client_id == BESIDE["client.id"] or len(_told) != 1:
            return None
        return next(iter(_told)), api, int(version)


def is_request(line):
    """Whether a line of a server's log is that of a request."""
    return LINE.search(line) is not None


def size(path):
    return os.path.getsize(path) if os.path.exists(path) else 0
