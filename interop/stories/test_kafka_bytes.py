"""The scripts of tests/kafka_bytes leave the records in __consumer_offsets that a Kafka broker left, byte for byte.

Told of our server they are compared with what the files have, and, where there is Java, with what a broker that runs beside it
writes at the same time. Told of Kafka they show that the files still say what Kafka does; with UPDATE_CAPTURED=4.4.0 (its
version) in the environment they are written anew.
"""

import os

import pytest

from harness import wire
from harness.normalise import normalised
from harness.script import FOLDER, Script, Teller

SCRIPTS = sorted(FOLDER.glob("*.txt"))
# Whatever a script says besides.
SETTINGS = {"offsets.topic.num.partitions": "3"}

# They let a minute pass for real, so they are told to a server only where there is time; the machine is told all of
# them with a clock of its own (crates/groups/tests/kafka_bytes.rs).
SLOW = {"expiry_by_retention"}


@pytest.fixture(params=SCRIPTS, ids=lambda path: path.stem)
def script(request, full_tier):
    one = Script(request.param)
    if request.param.stem in SLOW and not full_tier:
        pytest.skip("it lets a minute pass")
    return one


def told(server, script):
    server.start()
    with server.connect() as connection:
        _, apis = wire.api_versions(connection)
    try:
        for api in script.needs:
            if api not in apis:
                pytest.skip(f"the server does not offer API {api} yet")
        return Teller(server).tell(script)
    finally:
        server.end()


def test_the_records_are_those_of_kafka(new_server, against_kafka, script):
    found = told(new_server(settings={**SETTINGS, **script.settings}), script)
    version = os.environ.get("UPDATE_CAPTURED")
    if against_kafka and version:
        script.rewrite(version, found)
    else:
        compare(normalised(found), normalised(script.expected()))


def compare(found, expected):
    assert list(found) == list(expected), "groups"
    for group, records in expected.items():
        for number, (ours, kafkas) in enumerate(zip(found[group], records)):
            shown = lambda record: (record[0].hex(), None if record[1] is None else record[1].hex())
            assert shown(ours) == shown(kafkas), f"record {number} of {group}"
        assert len(found[group]) == len(records), f"the number of records of {group}"


@pytest.mark.own_binary
def test_a_broker_that_runs_beside_writes_the_same(new_server, kafka_server, script):
    settings = {**SETTINGS, **script.settings}
    ours = told(new_server(settings=settings), script)
    kafka = kafka_server(settings=settings)
    compare(normalised(ours), normalised(Teller(kafka).tell(script)))
