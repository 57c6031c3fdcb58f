"""Commits that Kafka refuses: each with its code, and nothing of them stored."""

import pytest

from harness import wire


@pytest.fixture
def connection(server, name):
    with server.connect() as one:
        assert wire.create_topic(one, name, partitions=2) == wire.NO_ERROR
        wire.find_coordinator(one, name)
        yield one


def test_metadata_of_5000_characters(connection, name):
    long, allowed = "m" * 5000, "m" * 4096
    codes = wire.commit(connection, name, {(name, 0): (7, long), (name, 1): (8, allowed)})
    assert codes == {(name, 0): wire.OFFSET_METADATA_TOO_LARGE, (name, 1): wire.NO_ERROR}
    found, _ = wire.fetch_offsets(connection, name, None)
    assert found == {(name, 1): (8, allowed)}


def test_unknown_topics_and_partitions(connection, name):
    unknown = f"{name}-unknown"
    codes = wire.commit(connection, name, {(name, 0): (7, ""), (name, 2): (7, ""), (unknown, 0): (7, "")})
    refused = wire.UNKNOWN_TOPIC_OR_PARTITION
    assert codes == {(name, 0): wire.NO_ERROR, (name, 2): refused, (unknown, 0): refused}
    found, _ = wire.fetch_offsets(connection, name, None)
    assert found == {(name, 0): (7, "")}


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        ("an unknown member", wire.UNKNOWN_MEMBER_ID),
        ("the member with an older generation", wire.ILLEGAL_GENERATION),
        ("the member with a later generation", wire.ILLEGAL_GENERATION),
        ("nobody, generation -1, on a live group", wire.UNKNOWN_MEMBER_ID),
        ("the member with generation -1", wire.ILLEGAL_GENERATION),
    ],
)
def test_on_a_live_group(connection, name, who, expected):
    member, generation = wire.joined_member(connection, name)
    wire.commit(connection, name, {(name, 0): (100, "")}, member, generation)
    as_whom = {
        "an unknown member": ("somebody-else", generation),
        "the member with an older generation": (member, generation - 1),
        "the member with a later generation": (member, generation + 1),
        "nobody, generation -1, on a live group": ("", -1),
        "the member with generation -1": (member, -1),
    }[who]
    codes = wire.commit(connection, name, {(name, 0): (50, ""), (name, 1): (50, "")}, *as_whom)
    assert set(codes.values()) == {expected}
    found, _ = wire.fetch_offsets(connection, name, None)
    assert found == {(name, 0): (100, "")}


def test_by_a_member_of_a_group_that_does_not_exist(connection, name):
    codes = wire.commit(connection, name, {(name, 0): (50, "")}, "somebody", 3)
    assert codes == {(name, 0): wire.ILLEGAL_GENERATION}
    assert wire.fetch_offsets(connection, name, None) == ({}, wire.NO_ERROR)
    assert wire.describe_group(connection, name)[0] == "Dead"


def test_without_a_group_anybody_may_commit(connection, name):
    """A group that does not exist, generation -1: the one case that is stored, for consumers that only keep offsets."""
    assert wire.commit(connection, name, {(name, 0): (50, "kept")}) == {(name, 0): wire.NO_ERROR}
    assert wire.fetch_offsets(connection, name, None) == ({(name, 0): (50, "kept")}, wire.NO_ERROR)
    assert wire.describe_group(connection, name) == ("Empty", [])
