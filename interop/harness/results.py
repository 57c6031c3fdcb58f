"""Remembers of which client each story was told, and how it ended: what README.md's table of clients is made from.

The file holds no times and no order of running, so two full runs with the same outcomes write the same bytes.
"""

import json

# The columns of the table, in their order.
COLUMNS = [
    "whole story",
    "automatic commit",
    "commit with epoch",
    "static member",
    "cooperative",
    "killed member",
    "zombie",
    "reset policies",
    "codecs",
    "admin of topics",
    "admin of groups",
]


class Results:
    """A pytest plugin of the process that hears of every story."""

    def __init__(self, path, clients):
        self.path = path
        self.stories = {}
        self.clients = {client: {"version": None, "absent": None} for client in clients}

    def pytest_runtest_logreport(self, report):
        told = dict(report.user_properties)
        for _, (client, version) in (one for one in report.user_properties if one[0] == "version"):
            self.clients[client]["version"] = version
        if "client" not in told or "column" not in told:
            return
        if "absent" in told:
            self.clients[told["client"]]["absent"] = told["absent"]
        assert told["column"] in COLUMNS, f"no such column: {told['column']}"
        entry = self.stories.setdefault(
            report.nodeid,
            {"client": told["client"], "column": told["column"], "story": report.nodeid, "outcome": "passed", "lacks": []},
        )
        # Set-up, the story itself and its end report apart; the worst of them counts.
        worse = {"passed": 0, "skipped": 1, "failed": 2}
        entry["outcome"] = max(entry["outcome"], report.outcome, key=worse.get)
        for _, (need, reason) in (one for one in report.user_properties if one[0] == "lacks"):
            if [need, reason] not in entry["lacks"]:
                entry["lacks"].append([need, reason])

    def pytest_sessionfinish(self):
        stories = [self.stories[key] for key in sorted(self.stories)]
        with open(self.path, "w") as out:
            json.dump({"columns": COLUMNS, "clients": self.clients, "stories": stories}, out, indent=1)
