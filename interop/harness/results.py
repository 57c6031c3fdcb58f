"""Remembers of which client each story was told, how it ended, and which APIs each client used: what README.md's tables
of clients and of APIs are made from.

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

# How README.md calls a client, where its name here is not what its users install.
TITLES = {
    "librdkafka": "confluent-kafka for Python (librdkafka)",
    "java": "Apache Kafka's Java client",
    "kafkajs": "KafkaJS",
    "platformatic": "@platformatic/kafka",
    "confluent-js": "@confluentinc/kafka-javascript (librdkafka)",
    "sarama": "IBM/sarama",
    "kafka-go": "segmentio/kafka-go",
    "rdkafka": "rust-rdkafka (librdkafka)",
}


class Results:
    """A pytest plugin of the process that hears of every story."""

    def __init__(self, path, clients):
        self.path = path
        self.stories = {}
        self.versions = dict.fromkeys(clients)
        self.apis = {}

    def pytest_runtest_logreport(self, report):
        told = dict(report.user_properties)
        for _, (client, version) in (one for one in report.user_properties if one[0] == "version"):
            self.versions[client] = version
        for _, (client, api, version) in (one for one in report.user_properties if one[0] == "asked"):
            self.apis.setdefault(api, {}).setdefault(client, set()).add(version)
        if "client" not in told or "column" not in told:
            return
        assert told["column"] in COLUMNS, f"no such column: {told['column']}"
        new = {"client": told["client"], "column": told["column"], "story": report.nodeid}
        new |= {"outcome": "passed", "lacks": []}
        entry = self.stories.setdefault(report.nodeid, new)
        # Set-up, the story itself and its end report apart; the worst of them counts.
        worse = {"passed": 0, "skipped": 1, "failed": 2}
        entry["outcome"] = max(entry["outcome"], report.outcome, key=worse.get)
        for _, (need, reason) in (one for one in report.user_properties if one[0] == "lacks"):
            if [need, reason] not in entry["lacks"]:
                entry["lacks"].append([need, reason])

    def pytest_sessionfinish(self):
        clients = [
            {"client": client, "title": TITLES.get(client, client), "version": version}
            for client, version in self.versions.items()
        ]
        stories = [self.stories[key] for key in sorted(self.stories)]
        apis = {
            api: {client: sorted(versions) for client, versions in sorted(used.items())}
            for api, used in sorted(self.apis.items())
        }
        with open(self.path, "w") as out:
            json.dump({"columns": COLUMNS, "clients": clients, "stories": stories, "apis": apis}, out, indent=1)
