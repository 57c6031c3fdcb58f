"""Tools that ask for what our server does not have say which API that is, and end."""

import pytest


@pytest.mark.own_binary
@pytest.mark.parametrize(
    ("api", "command"),
    [
        ("DESCRIBE_ACLS", ["kafka-acls", "--list"]),
        ("DESCRIBE_QUORUM", ["kafka-metadata-quorum", "describe", "--status"]),
        ("LIST_PARTITION_REASSIGNMENTS", ["kafka-reassign-partitions", "--list"]),
        ("DESCRIBE_CLIENT_QUOTAS", ["kafka-configs", "--entity-type", "users", "--describe"]),
    ],
)
def test_what_it_does_not_have(shell, api, command):
    output = shell.attempt(*command)
    assert output.code == 1 and f"The node does not support {api}" in output.out + output.err, output
