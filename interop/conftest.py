"""What every story may ask for: a server, clients, names of its own. `cargo xtask stories` passes the options."""

import json
import os
import shutil
import tempfile
import uuid

import pytest

from harness import asked as requests
from harness import capabilities
from harness import server as servers
from harness.cli import Cli
from harness.member import GO, RUST, Clients
from harness.results import Results
from harness.tools import Shell, Tools

CLIENTS = [
    "librdkafka",
    "kafka-python",
    "java",
    "aiokafka",
    "kafkajs",
    "platformatic",
    "confluent-js",
    *GO,
    *RUST,
]

# What this machine must have for a client, by the option that says where it is.
NEEDED_OPTION = {
    "java": ("--java-class-path", "no JDK with Maven on this machine"),
    "kafkajs": ("--javascript", "no Node with npm on this machine"),
    "platformatic": ("--javascript", "no Node with npm on this machine"),
    "confluent-js": ("--javascript", "no Node with npm on this machine"),
    **dict.fromkeys(GO, ("--go", "no Go on this machine")),
    **dict.fromkeys(RUST, ("--rust", "no make and C compiler on this machine")),
}


def pytest_addoption(parser):
    group = parser.getgroup("milepost")
    group.addoption("--milepost", help="our release binary: the stories are told of it")
    group.addoption("--kafka", help="the xtask binary: the stories are told of a real Kafka broker")
    group.addoption("--kafka-beside", help="the xtask binary: a real Kafka broker beside our own server, to compare with")
    group.addoption("--cli", help="our release binary, as a client of whichever server the stories are told of")
    group.addoption("--java-class-path", help="the compiled programs that are Java clients, and their jars")
    group.addoption("--javascript", help="the folder of the JavaScript member programs and their packages")
    group.addoption("--go", help="the folder of the Go member programs")
    group.addoption("--rust", help="the folder of the Rust member programs")
    group.addoption("--tools-class-path", help="Kafka's command-line tools and the program that runs them")
    group.addoption("--tier", choices=["ci", "full"], default="full", help="how many cycles the long stories run")
    group.addoption("--counts", help="where to write how many stories passed, failed and were skipped")
    group.addoption("--results", help="where to write what was told of which client, and how it ended")


def pytest_configure(config):
    # With several workers, only the one that started them hears of every story.
    if config.getoption("--results") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Results(config.getoption("--results"), [*CLIENTS, "kcat"]))


def pytest_collection_modifyitems(config, items):
    if config.getoption("--kafka"):
        skip = pytest.mark.skip(reason="only our own server promises this")
        for item in items:
            if item.get_closest_marker("own_binary"):
                item.add_marker(skip)


def pytest_terminal_summary(terminalreporter, config):
    path = config.getoption("--counts")
    if path:
        stats = terminalreporter.stats
        count = lambda *kinds: sum(len(stats.get(kind, [])) for kind in kinds)
        counts = {"passed": count("passed"), "failed": count("failed", "error"), "skipped": count("skipped")}
        with open(path, "w") as out:
            json.dump(counts, out)


@pytest.fixture(scope="session")
def full_tier(pytestconfig):
    return pytestconfig.getoption("--tier") == "full"


@pytest.fixture(scope="session")
def against_kafka(pytestconfig):
    return pytestconfig.getoption("--kafka") is not None


@pytest.fixture(scope="session")
def new_server(pytestconfig):
    """Makes servers that are not started yet: `new_server(settings=…, flags=…, folder=…, wrapper=…)`."""
    made = []
    folders = []

    def make(settings=None, flags=(), folder=None, wrapper=()):
        if folder is None:
            folder = tempfile.mkdtemp(prefix="story-")
            folders.append(folder)
        kafka, milepost = pytestconfig.getoption("--kafka"), pytestconfig.getoption("--milepost")
        if kafka:
            one = servers.Kafka([kafka, "kafka"], folder, settings, flags, wrapper)
        else:
            # Whoever traces its system calls wants those of its work alone.
            if pytestconfig.getoption("--results") and not wrapper:
                flags = ["--log", requests.LOG_FILTER, *flags]
            one = servers.Milepost([milepost, "serve"], folder, settings, flags, wrapper)
        made.append(one)
        return one

    make.made = made
    yield make
    for one in made:
        one.end()
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def asked(request, new_server):
    """Remembers what the story's client asked our servers for."""
    story = requests.Story(new_server.made)
    yield
    request.node.user_properties += [("asked", one) for one in story.asked()]


@pytest.fixture
def kafka_server(pytestconfig):
    """Starts real Kafka brokers beside our own server: `kafka_server(settings=…)`."""
    xtask = pytestconfig.getoption("--kafka-beside")
    if not xtask:
        pytest.skip("no JDK with Maven on this machine")
    made = []
    folder = tempfile.mkdtemp(prefix="story-")

    def make(settings=None):
        one = servers.Kafka([xtask, "kafka"], os.path.join(folder, f"kafka-{len(made)}"), settings)
        made.append(one)
        return one.start()

    yield make
    for one in made:
        one.end()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server(new_server):
    """One running server that many stories share. A story that stops or breaks it takes `own_server` instead."""
    return new_server().start()


@pytest.fixture
def own_server(new_server, request):
    """A running server of this story alone."""
    one = new_server(**getattr(request, "param", {})).start()
    yield one
    one.end()


@pytest.fixture
def name():
    """A name for this story's topic and group: stories that share a server never meet."""
    return f"story-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def clients(request, pytestconfig):
    """Starts client processes; ends them with the story."""
    where = [pytestconfig.getoption(option) for option in ("--java-class-path", "--javascript", "--go", "--rust")]
    made = Clients(*where)
    yield made
    made.end()
    request.node.user_properties += [("version", pair) for pair in made.versions.items()]


@pytest.fixture
def cli(pytestconfig, server):
    """Our command line, talking to the shared server."""
    one = Cli(pytestconfig.getoption("--cli"), server)
    yield one
    one.end()


@pytest.fixture(scope="session")
def tools(pytestconfig):
    """Kafka's command-line tools, in one JVM for all stories of a worker."""
    class_path = pytestconfig.getoption("--tools-class-path")
    if not class_path:
        pytest.skip("no JDK with Maven on this machine")
    made = Tools(class_path)
    yield made
    made.end()


@pytest.fixture
def shell(tools, server):
    """Where a person types Kafka's command-line tools, to the server that many stories share."""
    return Shell(tools, server)


@pytest.fixture(params=CLIENTS)
def client(request, pytestconfig):
    """The name of each client in turn: the story is told once for each that has what it needs."""
    told = request.node
    told.user_properties.append(("client", request.param))
    told.user_properties += [("column", marker.args[0]) for marker in told.iter_markers("column")]
    option, absent = NEEDED_OPTION.get(request.param, (None, None))
    if option and not pytestconfig.getoption(option):
        pytest.skip(absent)
    for marker in told.iter_markers("needs"):
        if not has(told, request.param, marker.args[0]):
            pytest.skip(f"{request.param} lacks {marker.args[0]}")
    return request.param


@pytest.fixture
def can(request, client):
    """Whether the client has this capability: for a part of a story. What it lacks is in the results."""
    return lambda need: has(request.node, client, need)


def has(told, client, need):
    reason = capabilities.reason(client, need)
    if reason is not None:
        told.user_properties.append(("lacks", [need, reason]))
    return reason is None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A failed story shows the ends of the logs of its server and its clients."""
    report = yield
    if report.failed:
        for fixture in ("own_server", "server"):
            one = item.funcargs.get(fixture)
            if one is not None and os.path.exists(one.log_path):
                report.sections.append((f"log of the server ({one.bootstrap})", one.log_tail()))
        for number, member in enumerate(item.funcargs["clients"].members if "clients" in item.funcargs else []):
            report.sections.append((f"log of client {number}", member.log_tail()))
    return report
