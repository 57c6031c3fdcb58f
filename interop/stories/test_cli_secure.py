"""Our command line reaches a cluster that asks for TLS and for a password."""

import pathlib

import pytest

from harness.cli import Cli
from harness.server import free_port
from harness.tools import Shell

FIXTURES = pathlib.Path(__file__).parents[2] / "crates" / "client" / "tests" / "fixtures"
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
PASSWORD = "a=secret, with words"


@pytest.fixture
def secure(against_kafka, new_server, tools, tmp_path):
    """A broker with a listener for SASL_SSL beside the plain one. Returns it, and where that listener is."""
    if not against_kafka:
        pytest.skip("our server has neither TLS nor SASL")
    store = tmp_path / "keystore.pem"
    store.write_bytes((FIXTURES / "server-key.pem").read_bytes() + (FIXTURES / "server.pem").read_bytes())
    plain, secured, controller = free_port(), free_port(), f"127.0.0.1:{free_port()}"
    listener = "listener.name.secure"
    settings = {
        "listeners": f"PLAINTEXT://127.0.0.1:{plain},SECURE://localhost:{secured},CONTROLLER://{controller}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL",
        "inter.broker.listener.name": "PLAINTEXT",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        f"{listener}.plain.sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'user_alice="{PASSWORD}";',
    }
    for mechanism in MECHANISMS[1:]:
        name = f"{listener}.{mechanism.lower()}.sasl.jaas.config"
        settings[name] = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    server = new_server(settings=settings, folder=str(tmp_path / "server"))
    # The launcher keeps the controller's address that it finds here.
    (tmp_path / "server" / "data.properties").write_text(f"controller.quorum.voters=1@{controller}\n")
    server.port = plain
    server.start()
    for mechanism in MECHANISMS[1:]:
        alter = ["--alter", "--entity-type", "users", "--entity-name", "alice"]
        Shell(tools, server)("kafka-configs", *alter, "--add-config", f"{mechanism}=[password=secret]")
    yield server, f"localhost:{secured}"
    server.end()


def config(folder, bootstrap, mechanism, password, **more):
    """A properties file as librdkafka reads it."""
    settings = {
        "bootstrap.servers": bootstrap,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": mechanism,
        "sasl.username": "alice",
        "sasl.password": password,
        "ssl.ca.location": str(FIXTURES / "ca.pem"),
        **more,
    }
    file = folder / f"{mechanism}.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return str(file)


def test_every_mechanism_is_spoken_over_tls(secure, pytestconfig, tmp_path, name):
    server, bootstrap = secure
    cli = Cli(pytestconfig.getoption("--cli"), server)
    del cli.environment["MILEPOST_BOOTSTRAP"]
    cli.environment["MILEPOST_SNAPSHOTS"] = str(tmp_path / "snapshots")
    for mechanism in MECHANISMS:
        password = PASSWORD if mechanism == "PLAIN" else "secret"
        reach = ["--client-config", config(tmp_path, bootstrap, mechanism, password)]
        topic = f"{name}-{mechanism}"
        cli.run("topic", "create", topic, *reach).ok()
        cli.run("produce", topic, *reach, stdin="one\ntwo\n").ok()
        undo = cli.run("group", "create", topic, "1", "--topic", topic, "--yes", *reach)
        assert f"--client-config {reach[1]}" in undo.ok(), "the undo line reaches the same cluster"
        [group] = cli.run("group", "describe", topic, "--format", "json", *reach).json()["groups"]
        assert group["totals"]["lag"] == 1
        wrong = config(tmp_path, bootstrap, mechanism, "wrong")
        refused = cli.run("topic", "list", "--client-config", wrong, "--timeout", "10")
        assert refused.code == 1 and "[SASL_AUTHENTICATION_FAILED]" in refused.err, refused
    # Nobody that is trusted has signed this certificate.
    stranger = config(tmp_path, bootstrap, "PLAIN", PASSWORD, **{"ssl.ca.location": str(FIXTURES / "server.pem")})
    refused = cli.run("topic", "list", "--client-config", stranger, "--timeout", "10")
    assert refused.code == 4 and "certificate" in refused.err, refused
