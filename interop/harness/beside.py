"""Real Kafka brokers beside whatever the stories are told of: those of our command line that our own server cannot show."""

import os

import pytest

from harness.server import Kafka, free_port


class Brokers:
    """Makes Kafka brokers, one cluster in all: the first is the controller too. Ends them with the story."""

    def __init__(self, pytestconfig, folder):
        self.xtask = pytestconfig.getoption("--kafka-beside") or pytestconfig.getoption("--kafka")
        if not self.xtask:
            pytest.skip("no JDK with Maven on this machine")
        self.folder = folder
        self.controller = f"127.0.0.1:{free_port()}"
        self.made = []

    def start(self, settings=None, listeners=""):
        """One more broker. `listeners` stand beside the plain one."""
        number = len(self.made) + 1
        port = free_port()
        mine = f"PLAINTEXT://127.0.0.1:{port}{listeners}"
        role = "broker"
        if number == 1:
            mine += f",CONTROLLER://{self.controller}"
            role = "broker,controller"
        said = {"node.id": str(number), "process.roles": role, "listeners": mine, **(settings or {})}
        folder = os.path.join(self.folder, f"broker-{number}")
        one = Kafka([self.xtask, "kafka"], folder, said)
        # The launcher keeps the controller's address that it finds here.
        with open(os.path.join(folder, "data.properties"), "w") as file:
            file.write(f"controller.quorum.voters=1@{self.controller}\n")
        one.port = port
        self.made.append(one)
        return one.start()

    def end(self):
        for one in self.made:
            one.end()
