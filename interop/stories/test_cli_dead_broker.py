"""Our command line on a cluster one broker of which does not answer: it tells what the others know, and waits once."""

import json
import signal
import time

import pytest

from harness.beside import Brokers
from harness.cli import Cli

GROUPS = [f"g-{number}" for number in range(8)]
TIMEOUT_SECONDS = 3
# One wait for whom does not answer, the rest at once; and room for a slow machine.
PATIENCE_SECONDS = TIMEOUT_SECONDS * 2 + 8


@pytest.fixture
def cluster(pytestconfig, tmp_path):
    """Two brokers, groups on each, and a topic with a partition on each. The controller is slow to notice that one is dead."""
    brokers = Brokers(pytestconfig, str(tmp_path))
    settings = {"offsets.topic.num.partitions": "6", "broker.session.timeout.ms": "600000"}
    first = brokers.start(settings)
    second = brokers.start(settings)
    cli = Cli(pytestconfig.getoption("--cli"), first)
    cli.environment["MILEPOST_SNAPSHOTS"] = str(tmp_path / "snapshots")
    cli.run("topic", "create", "t", "--partitions", "2").ok()
    cli.run("produce", "t", stdin="".join(f"{number}\n" for number in range(10))).ok()
    for group in GROUPS:
        cli.run("group", "create", group, "earliest", "--topic", "t", "--yes", "--no-snapshot").ok()
    yield cli, first, second
    cli.end()
    brokers.end()


def coordinators(cli):
    """{address: groups}."""
    found = {}
    for one in cli.run("group", "list", "--format", "json").json()["groups"]:
        found.setdefault(one["coordinator"], []).append(one["group"])
    return found


def within(cli, *arguments):
    begun = time.monotonic()
    ran = cli.run(*arguments, "--timeout", str(TIMEOUT_SECONDS))
    assert time.monotonic() - begun < PATIENCE_SECONDS, ran
    return ran


def test_who_lives_answers_and_who_is_dead_is_named(cluster):
    cli, first, second = cluster
    of = coordinators(cli)
    assert set(of) == {first.bootstrap, second.bootstrap}, "each has groups"
    # It is also named first where the cluster is looked for. First it hangs, then it is gone.
    both = ["--bootstrap", f"{second.bootstrap},{first.bootstrap}"]
    second.process.send_signal(signal.SIGSTOP)
    check(cli, of, both, second.bootstrap, "did not answer")
    second.kill()
    check(cli, of, both, second.bootstrap, "cannot connect")


def test_groups_of_a_broker_that_hangs_are_watched_as_they_were(cluster):
    cli, first, second = cluster
    of = coordinators(cli)
    assert set(of) == {first.bootstrap, second.bootstrap}, "each has groups"
    screen = cli.screen(
        "group", "watch", "--interval", "0.5", "--timeout", str(TIMEOUT_SECONDS), "--bootstrap", first.bootstrap
    )
    screen.until(lambda lines: all("10" in screen.row(group) for group in GROUPS))
    second.process.send_signal(signal.SIGSTOP)
    # Of those of the other one partition cannot be seen any more.
    screen.until(lambda lines: all("unknown" in screen.row(group) for group in of[first.bootstrap]))
    screen.until(f"{second.bootstrap} did not answer")
    for group in of[second.bootstrap]:
        assert "10" in screen.row(group), screen.text()
    screen.type("q")
    assert screen.ended() == 0 and screen.is_restored()


def check(cli, of, both, dead, silence):
    [alive] = set(of) - {dead}
    listed = within(cli, "group", "list", "--lag", "--format", "json", *both)
    assert listed.code == 4 and dead in listed.err, listed
    groups = read(listed)["groups"]
    assert sorted(one["group"] for one in groups) == sorted(of[alive])
    # Of two partitions one is led by the dead broker.
    assert {one["totals"]["unknown"] for one in groups} == {1}
    # Which partitions these are is said once, however many groups have them.
    assert len([line for line in listed.err.splitlines() if ": t-" in line and silence in line]) == 1, listed
    watched = within(cli, "group", "watch", *of[alive], "--format", "json", "--count", "1", *both)
    assert watched.code == 4 and ": t-" in watched.err and silence in watched.err, watched

    described = within(cli, "group", "describe", *GROUPS, "--format", "json", *both)
    assert described.code == 4, described
    shown = {one["group"]: one for one in read(described)["groups"]}
    assert set(shown) == set(GROUPS)
    for group in of[alive]:
        assert sorted(one["lag"] is None for one in shown[group]["partitions"]) == [False, True], shown[group]
        # All that is missing of it is where the log of that partition ends.
        [line] = [line for line in described.err.splitlines() if f"{group}:" in line]
        assert f"{group}: t-" in line and silence in line, described
    for group in of[dead]:
        assert f"{group}: " in described.err and silence in described.err, described
        assert not shown[group]["partitions"]

    doctor = within(cli, "doctor", *GROUPS, "--format", "json", *both)
    unseen = [one["error"] for one in read(doctor)["unseen"]]
    # What one broker keeps from being seen is said in one line.
    assert [line for line in unseen if dead in line and of[dead][0] in line], unseen
    assert len(unseen) <= 3, unseen
    rules = {one["rule"] for one in read(doctor)["findings"]}
    assert "offsets-topic-one-replica" in rules and doctor.code == 11, doctor


def read(ran):
    return json.loads(ran.out)
