"""Our live view of groups, as somebody at a terminal sees it."""

import json

import pytest

from harness.cli import Cli
from harness.screen import CONTROL_C, DOWN, END, ENTER, ESCAPE, TERM

RECORDS = 20


@pytest.fixture
def topic(cli, name):
    """A topic with records in the first of its two partitions, of which a group of the same name has read four."""
    cli.run("topic", "create", name, "-p", "2").ok()
    cli.run("produce", name, "-p", "0", stdin="".join(f"{number}\n" for number in range(RECORDS))).ok()
    read(cli, name, 4)
    return name


def read(cli, group, count):
    cli.run("consume", group, "-g", group, "-n", str(count)).ok()


def has_lag(screen, group, lag):
    """Whether the row of a group shows this lag. What its state is for the moment does not matter."""
    return lambda lines: str(lag) in screen.row(group)


def test_figures_follow_the_commits(cli, topic):
    screen = cli.screen("group", "watch", topic, "--interval", "0.2", NO_COLOR="")
    screen.until(has_lag(screen, topic, 16))
    assert screen.alternate and not screen.cursor
    # Nobody has moved for two looks, so that the rates are known: the group stands still.
    screen.until("never at this rate")
    read(cli, topic, 6)
    screen.until(has_lag(screen, topic, 10))
    cli.run("produce", topic, "-p", "0", stdin="one more\n").ok()
    screen.until(has_lag(screen, topic, 11))

    screen.type(ENTER)
    screen.until("COMMITTED")
    row = screen.row(f"{topic}-0")
    assert row[1:4] == ["10", "21", "11"], screen.text()
    screen.type("q")
    assert screen.ended() == 0
    assert screen.is_restored()


def test_groups_are_opened_sorted_and_filtered(cli, topic):
    cli.run("group", "create", f"{topic}-even", "latest", "--topic", topic, "--yes").ok()
    cli.run("group", "create", f"{topic}-other", "earliest", "--topic", topic, "--yes").ok()
    screen = cli.screen("group", "watch", "--match", topic, "--interval", "0.2")
    groups = lambda lines: [line.removeprefix("▸").split()[0] for line in lines if topic in line]
    by_lag = [f"{topic}-other", topic, f"{topic}-even"]
    screen.until(lambda lines: groups(lines) == by_lag)
    # The row that somebody went to stays selected wherever it goes.
    screen.type(DOWN)
    screen.until(f"▸ {topic} ")
    screen.type("S")
    screen.until(lambda lines: groups(lines) == by_lag[::-1])
    screen.until(f"▸ {topic} ")
    screen.type("/EVEN")
    screen.until(lambda lines: groups(lines) == [f"{topic}-even"])
    screen.type(ENTER + ENTER)
    screen.until(f"{topic}-1 ")
    screen.type(ESCAPE)
    screen.until("1 of 3 groups")
    screen.type("?")
    screen.until("any of them goes back")
    screen.type(CONTROL_C)
    assert screen.ended() == 0
    assert screen.is_restored()


def test_a_group_is_watched_as_it_comes_and_goes(cli, topic, name):
    group = f"{name}-late"
    screen = cli.screen("group", "watch", group, "--interval", "0.2")
    screen.until("no such group")
    cli.run("group", "create", group, "5", "--topic", f"{topic}:0", "--yes").ok()
    screen.until(has_lag(screen, group, RECORDS - 5))
    cli.run("group", "delete", group, "--yes").ok()
    screen.until("no such group")
    screen.type("q")
    assert screen.ended() == 0


def test_the_terminal_is_restored_after_a_signal(cli, topic):
    screen = cli.screen("group", "watch", topic)
    screen.until(has_lag(screen, topic, 16))
    screen.send_signal(TERM)
    assert screen.ended() == 0
    assert screen.is_restored()


def test_a_terminal_of_any_size(cli, topic):
    screen = cli.screen("group", "watch", topic, "--interval", "0.2", width=200, height=5)
    screen.until("WORST PARTITION")
    screen.resize(10, 3)
    screen.until("the window")
    screen.resize(60, 30)
    screen.until(lambda lines: any(line.startswith(f"▸ {topic[:10]}") and " 16 " in line for line in lines))
    assert all(len(line) <= 60 for line in screen.lines())
    screen.type(END + "q")
    assert screen.ended() == 0


def test_colours_are_left_out_where_nobody_wants_them(cli, topic):
    for variables, are_there in [({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)]:
        screen = cli.screen("group", "watch", topic, **variables)
        screen.until(has_lag(screen, topic, 16))
        assert ("\x1b[38;5;3" in screen.seen) == are_there, repr(screen.seen)
        screen.type("q")
        assert screen.ended() == 0


def test_without_a_terminal_it_says_what_to_use_instead(cli, topic):
    ran = cli.run("group", "watch", topic)
    assert (ran.code, ran.out) == (2, "")
    assert "milepost group describe" in ran.err and "--format json" in ran.err


def test_a_line_for_each_look(cli, topic):
    ran = cli.run("group", "watch", topic, "--format", "json", "--count", "2", "--interval", "0.2")
    first, second = ran.json_lines()
    for look in (first, second):
        [group] = look["groups"]
        assert (look["version"], look["errors"]) == (1, [])
        assert (group["lag"], group["totals"]["partitions"]) == (16, len(group["partitions"]))
        assert group["worst"] == {"topic": topic, "partition": 0}
    assert first["groups"][0]["consumed_per_second"] is None, "it takes two looks"
    assert second["groups"][0]["consumed_per_second"] == 0
    assert second["groups"][0]["catch_up"] == "never"
    assert second["time_ms"] > first["time_ms"]


def test_rates_are_those_of_the_program_that_reads(cli, topic):
    watching = cli.start("group", "watch", topic, "--format", "json", "--interval", "0.2")
    looks = []

    def watch_until(offset):
        """Looks on until the group is there."""
        while True:
            look = json.loads(watching.line())
            [place] = [one for one in look["groups"][0]["partitions"] if one["partition"] == 0]
            looks.append((look["time_ms"], place))
            if place["offset"] == offset:
                return

    watch_until(4)
    for step in range(1, 6):
        cli.run("produce", topic, "-p", "0", stdin="record\n" * 50).ok()
        read(cli, topic, 50)
        watch_until(4 + 50 * step)
    assert watching.stop().code == 0
    (begin_ms, first), (end_ms, last) = looks[0], looks[-1]
    for figure, moved in [("consumed_per_second", "offset"), ("produced_per_second", "log_end")]:
        expected = (last[moved] - first[moved]) / (end_ms - begin_ms) * 1000
        assert expected > 0
        assert last[figure] == pytest.approx(expected, rel=0.5), (figure, looks)


def test_the_cluster_goes_away_and_comes_back(own_server, pytestconfig, name):
    cli = Cli(pytestconfig.getoption("--cli"), own_server)
    try:
        cli.run("topic", "create", name).ok()
        cli.run("produce", name, stdin="a\nb\nc\n").ok()
        cli.run("group", "create", name, "1", "--topic", name, "--yes").ok()
        screen = cli.screen("group", "watch", name, "--interval", "0.2", "--timeout", "2")
        screen.until(has_lag(screen, name, 2))
        own_server.stop()
        screen.until("the figures are")
        screen.until("Connection refused")
        assert has_lag(screen, name, 2)(screen.lines()), "the last figures stay"
        own_server.start()
        screen.until("the last look took")
        cli.run("produce", name, stdin="d\n").ok()
        screen.until(has_lag(screen, name, 3))
        screen.type("q")
        assert screen.ended() == 0
        # A cluster that is not there from the beginning is an error like any other, and the terminal stays as it is.
        own_server.stop()
        screen = cli.screen("group", "watch", name)
        assert screen.ended() == 4
        assert screen.is_restored() and "cannot connect" in screen.seen
        assert "\x1b" not in screen.seen
    finally:
        cli.end()
