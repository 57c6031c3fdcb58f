"""Our command line where a user may only look, or only at some groups, or shows who they are with a certificate."""

import json
import pathlib

import pytest

from harness.beside import Brokers
from harness.cli import Cli
from harness.server import free_port
from harness.tools import Shell

FIXTURES = pathlib.Path(__file__).parents[2] / "crates" / "client" / "tests" / "fixtures"
USERS = ["alice", "bob", "carol"]
LISTENERS = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", "USERS": "SASL_PLAINTEXT", "MUTUAL": "SSL"}


@pytest.fixture
def guarded(pytestconfig, tools, tmp_path):
    """A broker that asks who one is and what one may: passwords at one listener, certificates at another. Whoever comes in
    plainly may do everything."""
    folder = tmp_path
    store = folder / "keystore.pem"
    store.write_bytes((FIXTURES / "server-key.pem").read_bytes() + (FIXTURES / "server.pem").read_bytes())
    brokers = Brokers(pytestconfig, str(folder))
    users, mutual = free_port(), free_port()
    passwords = " ".join(f'user_{name}="secret"' for name in USERS)
    settings = {
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in LISTENERS.items()),
        "inter.broker.listener.name": "PLAINTEXT",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:CN=client",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.users.plain.sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f"{passwords};",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(FIXTURES / "client-ca.pem"),
        "listener.name.mutual.ssl.client.auth": "required",
    }
    server = brokers.start(settings, f",USERS://localhost:{users},MUTUAL://localhost:{mutual}")
    shell = Shell(tools, server)
    cli = Cli(pytestconfig.getoption("--cli"), server)
    cli.environment["MILEPOST_SNAPSHOTS"] = str(folder / "snapshots")
    shell.create("t", 1)
    cli.run("produce", "t", stdin="one\ntwo\n").ok()
    for group in ("seen", "hidden"):
        cli.run("group", "create", group, "earliest", "--topic", "t", "--yes").ok()
    allow = lambda user, operation, *what: shell(
        "kafka-acls", "--add", "--allow-principal", f"User:{user}", "--operation", operation, *what
    )
    # Alice may look at groups and topics, Carol at settings and at what was committed when too, and Bob at one group.
    for user in ("alice", "carol"):
        allow(user, "Describe", "--group", "*")
        allow(user, "Describe", "--topic", "*")
    allow("carol", "DescribeConfigs", "--topic", "*")
    allow("carol", "DescribeConfigs", "--cluster")
    allow("carol", "Read", "--topic", "__consumer_offsets")
    allow("bob", "Describe", "--group", "seen")
    allow("bob", "Describe", "--topic", "t")
    del cli.environment["MILEPOST_BOOTSTRAP"]
    yield cli, f"localhost:{users}", f"localhost:{mutual}", folder
    cli.end()
    brokers.end()


@pytest.fixture
def run_as(guarded):
    """Runs a command as a user."""
    cli, users, _, folder = guarded

    def run(user, *arguments):
        file = folder / f"{user}.properties"
        settings = {
            "bootstrap.servers": users,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": "secret",
        }
        file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        return cli.run(*arguments, "--client-config", str(file), "--timeout", "20")

    return run


def test_what_one_may_see_is_seen(run_as):
    """One broker for all of it: it takes longer to start than the rest."""
    for user in ("alice", "carol"):
        sees_every_group(run_as, user)
    doctor_needs_no_more_than_to_look(run_as)
    sees_one_group(run_as)


def sees_every_group(run_as, user):
    listed = run_as(user, "group", "list", "--lag", "--format", "json").json()["groups"]
    assert {one["group"]: one["totals"]["lag"] for one in listed} == {"seen": 2, "hidden": 2}
    described = run_as(user, "group", "describe", "--all", "--format", "json").json()["groups"]
    assert [one["partitions"][0]["lag"] for one in described] == [2, 2]
    refused = run_as(user, "group", "delete", "seen", "--yes", "--no-snapshot")
    assert refused.code == 1 and "[GROUP_AUTHORIZATION_FAILED]" in refused.err, refused


def doctor(ran):
    document = json.loads(ran.out)
    return {one["rule"] for one in document["findings"]}, {one["code"] for one in document["unseen"]}, ran


def doctor_needs_no_more_than_to_look(run_as):
    # What the settings and the log of committed offsets would tell is said to be missing; the rest is found.
    rules, unseen, ran = doctor(run_as("alice", "doctor", "--format", "json"))
    assert "offsets-topic-one-replica" not in rules or ran.code > 0
    assert {"CLUSTER_AUTHORIZATION_FAILED", "TOPIC_AUTHORIZATION_FAILED"} <= unseen, ran
    assert "not seen: the settings of t: no permission for that topic [TOPIC_AUTHORIZATION_FAILED]" in ran.err, ran
    assert rules == set() and ran.code == 0, ran
    log = [line for line in ran.err.splitlines() if "not seen: __consumer_offsets" in line]
    assert len(log) == 1 and "[TOPIC_AUTHORIZATION_FAILED]" in log[0], ran
    _, unseen, ran = doctor(run_as("carol", "doctor", "--format", "json"))
    assert unseen == set(), ran


def sees_one_group(run_as):
    listed = run_as("bob", "group", "list", "--format", "json").json()["groups"]
    assert [one["group"] for one in listed] == ["seen"]
    described = run_as("bob", "group", "describe", "seen", "hidden", "--format", "json")
    assert described.code == 1 and "hidden: no permission for that group [GROUP_AUTHORIZATION_FAILED]" in described.err
    shown = {one["group"]: one["totals"]["lag"] for one in json.loads(described.out)["groups"]}
    assert shown["seen"] == 2
    _, unseen, ran = doctor(run_as("bob", "doctor", "seen", "hidden", "--format", "json"))
    assert {"GROUP_AUTHORIZATION_FAILED", "TOPIC_AUTHORIZATION_FAILED"} <= unseen, ran


def test_a_certificate_says_who_one_is(guarded):
    cli, _, mutual, folder = guarded
    both = folder / "client-both.pem"
    both.write_bytes((FIXTURES / "client-key.pem").read_bytes() + (FIXTURES / "client.pem").read_bytes())
    trusted = {"bootstrap.servers": mutual, "security.protocol": "SSL"}
    # As librdkafka names them, and as Java's clients do.
    ways = [
        {
            "ssl.ca.location": FIXTURES / "ca.pem",
            "ssl.certificate.location": FIXTURES / "client.pem",
            "ssl.key.location": FIXTURES / "client-key.pem",
        },
        {
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": FIXTURES / "ca.pem",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": both,
        },
    ]
    for number, way in enumerate(ways):
        file = folder / f"mutual-{number}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in {**trusted, **way}.items()))
        assert "seen" in cli.run("group", "list", "--client-config", str(file)).ok()
    # Whoever shows none is told that one is wanted, at once.
    file = folder / "nobody.properties"
    nobody = {**trusted, "ssl.ca.location": FIXTURES / "ca.pem"}
    file.write_text("".join(f"{key}={value}\n" for key, value in nobody.items()))
    refused = cli.run("group", "list", "--client-config", str(file), "--timeout", "20")
    assert refused.code == 1 and "wants a certificate of this side" in refused.err, refused
