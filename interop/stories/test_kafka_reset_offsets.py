"""kafka-consumer-groups --reset-offsets: every scenario, for every scope, planned, executed and exported."""

import datetime
import time

import pytest

from harness import batches, wire
from harness.member import settle

TOOL = "kafka-consumer-groups"
RECORDS = 10
# Each record is a day younger than the one before; the last is from now.
DAY_MS = 86_400_000


@pytest.fixture
def topic(shell, name):
    """A topic with one record a day, the last just now. Returns (its name, the time of the last record)."""
    shell.create(name)
    now = int(time.time() * 1000)
    with shell.server.connect() as connection:
        for days in reversed(range(RECORDS)):
            batch = batches.batch([b"a day"], timestamp=now - days * DAY_MS)
            assert wire.produce(connection, name, 0, batch)[0] == wire.NO_ERROR
    return name, now


def reset(shell, group, *flags):
    """{(topic, partition): new offset} as printed."""
    rows = shell(TOOL, "--reset-offsets", "--group", group, *flags).rows
    return {(row[1], int(row[2])): int(row[3]) for row in rows}


def test_every_scenario(shell, topic):
    name, now = topic
    two_days_ago = datetime.datetime.fromtimestamp((now - 2 * DAY_MS) / 1000, datetime.timezone.utc)
    at = f"{two_days_ago:%Y-%m-%dT%H:%M:%S}.{now % 1000:03}"
    committed = lambda: shell.group_offsets(name)[(name, 0)][0]

    def becomes(offset, *scenario):
        assert reset(shell, name, "--topic", name, *scenario, "--execute") == {(name, 0): offset}, scenario
        assert committed() == str(offset)

    becomes(RECORDS, "--to-latest")
    becomes(0, "--to-earliest")
    becomes(4, "--to-offset", 4)
    becomes(7, "--shift-by", 3)
    becomes(2, "--shift-by", -5)
    becomes(2, "--to-current")
    # The record of two days ago is the third from the end.
    becomes(RECORDS - 3, "--to-datetime", f"{at}Z")
    becomes(RECORDS - 3, "--to-datetime", f"{at}+00:00")
    becomes(0, "--to-datetime", "2000-01-01T00:00:00.000Z")
    becomes(RECORDS, "--to-datetime", "2100-01-01T00:00:00.000Z")
    becomes(RECORDS - 3, "--by-duration", "P2DT1H")
    becomes(RECORDS, "--by-duration", "PT0S")
    # What lies outside of the log is brought to its ends.
    becomes(RECORDS, "--to-offset", 300)
    becomes(0, "--shift-by", -100)
    becomes(RECORDS, "--shift-by", 100)


def test_planned_and_exported(shell, topic, tmp_path):
    name, _ = topic
    reset(shell, name, "--topic", name, "--to-offset", 5, "--execute")
    for dry in (["--dry-run"], []):
        assert reset(shell, name, "--topic", name, "--to-earliest", *dry) == {(name, 0): 0}
    export = shell(TOOL, "--reset-offsets", "--group", name, "--topic", name, "--to-offset", 8, "--export", "--dry-run")
    assert export.out.strip() == f"{name},0,8"
    assert shell.group_offsets(name)[(name, 0)][0] == "5", "a plan changes nothing"
    file = tmp_path / "plan.csv"
    file.write_text(export.out)
    assert reset(shell, name, "--from-file", file) == {(name, 0): 8}
    assert reset(shell, name, "--from-file", file, "--execute") == {(name, 0): 8}
    assert shell.group_offsets(name)[(name, 0)][0] == "8"

    several = f"{name}-several"
    file.write_text(f"{name},{name},0,3\n{several},{name},0,4\n")
    both = ["--group", name, "--group", several]
    planned = shell(TOOL, "--reset-offsets", *both, "--from-file", file, "--execute").rows
    assert {row[0]: row[1:] for row in planned} == {name: [name, "0", "3"], several: [name, "0", "4"]}
    assert shell.group_offsets(several)[(name, 0)][0] == "4"


def test_scopes(shell, topic):
    name, _ = topic
    wide = f"{name}-wide"
    shell.create(wide, 3)
    for partition in range(3):
        shell.type_to(wide, partition, "one", "two")
    assert reset(shell, name, "--topic", f"{wide}:0,2", "--to-offset", 1, "--execute") == {(wide, 0): 1, (wide, 2): 1}
    assert shell.group_offsets(name).keys() == {(wide, 0), (wide, 2)}
    both = reset(shell, name, "--topic", name, "--topic", wide, "--to-latest", "--execute")
    assert both == {(name, 0): RECORDS, (wide, 0): 2, (wide, 1): 2, (wide, 2): 2}
    every = reset(shell, name, "--all-topics", "--to-earliest", "--execute")
    assert every == dict.fromkeys(both, 0)
    assert {key: row[0] for key, row in shell.group_offsets(name).items()} == dict.fromkeys(both, "0")


def test_what_is_refused(shell, clients, topic):
    name, _ = topic
    refused = lambda *flags: shell.attempt(TOOL, "--reset-offsets", "--group", name, *flags)
    assert "does not host this topic-partition" in repr(refused("--topic", f"{name}-none", "--to-latest", "--execute"))
    assert f"{name}-9" in repr(refused("--topic", f"{name}:9", "--to-latest", "--execute"))
    member = clients.start("java", shell.server, group=name)
    member.subscribe(name)
    settle([member], 1)
    busy = refused("--topic", name, "--to-earliest", "--execute")
    assert f"if the group '{name}' is inactive, but the current state is Stable." in busy.out
    member.close()
    assert reset(shell, name, "--topic", name, "--to-earliest", "--execute") == {(name, 0): 0}
