"""Our command line asks a person before it changes something, and takes no for an answer in every form."""

import pytest

from harness.screen import CONTROL_C, TERM


@pytest.fixture
def group(cli, name):
    """A group at 1 in the one partition of a topic of the same name."""
    cli.run("topic", "create", name, "-p", "1").ok()
    cli.run("produce", name, stdin="0\n1\n2\n").ok()
    cli.run("group", "create", name, "1", "--topic", name, "--yes").ok()
    return name


@pytest.mark.parametrize("verb", [["reset", "latest", "--all"], ["delete"]], ids=["reset", "delete"])
def test_a_signal_at_the_question_ends_it_and_changes_nothing(cli, group, verb):
    verb, *rest = verb
    for end in [lambda screen: screen.type(CONTROL_C), lambda screen: screen.send_signal(TERM)]:
        screen = cli.screen("group", verb, group, *rest)
        screen.until("Type yes:")
        end(screen)
        assert screen.ended(10) == 130
    screen = cli.screen("group", verb, group, *rest)
    screen.until("Type yes:")
    screen.type("no\r")
    assert screen.ended(10) == 1
    [partition] = cli.run("group", "describe", group, "--format", "json").json()["groups"][0]["partitions"]
    assert partition["offset"] == 1
    screen = cli.screen("group", verb, group, *rest)
    screen.until("Type yes:")
    screen.type("yes\r")
    assert screen.ended() == 0
