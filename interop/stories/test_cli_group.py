"""Our command line as a member of a group: alone, and beside members that are other programs."""

import pytest

from harness import capabilities, wire


def committed(server, group, topic, partition):
    with server.connect() as connection:
        wire.find_coordinator(connection, group)
        return wire.committed(connection, group, topic, partition)


def test_a_group_goes_on_behind_what_was_printed(cli, server, name):
    cli.run("topic", "create", name).ok()
    cli.run("produce", name, stdin="".join(f"{number}\n" for number in range(10))).ok()
    assert cli.run("consume", name, "-g", name, "-n", "4").lines() == ["0", "1", "2", "3"]
    assert committed(server, name, name, 0) == 4
    assert cli.run("consume", name, "-g", name, "-e").lines() == [str(number) for number in range(4, 10)]
    assert committed(server, name, name, 0) == 10
    # With the epoch of the last record, as other clients do.
    with server.connect() as connection:
        epoch = wire.leader_epoch(connection, name)
        wire.find_coordinator(connection, name)
        found, _ = wire.fetch_offsets_with_epochs(connection, name, [(name, 0)])
        assert found[name, 0][1] == epoch, found
    assert cli.run("consume", name, "-g", name, "-e").lines() == []


@pytest.mark.needs(capabilities.RANGE_ASSIGNOR)
def test_it_shares_with_other_programs(cli, server, clients, client, name):
    """The other member comes second, when ours shares out; then ours leaves, and it has all."""
    cli.run("topic", "create", name, "-p", "2").ok()
    ours = cli.start("consume", name, "-g", name, "--format", "%p %v")
    cli.run("produce", name, "-p", "1", stdin="first").ok()
    assert ours.line() == "1 first"
    theirs = clients.start(client, server, group=name, auto_offset_reset="earliest", enable_auto_commit="false")
    theirs.subscribe(name)
    # Records come to both partitions until the other member has read some, which it can only when it has a share.
    got = []
    written = 0
    while not got:
        cli.run("produce", name, stdin=f"{written}\n{written + 1}\n").ok()
        written += 2
        got += theirs.poll(1, seconds=1)
    theirs.commit("sync")
    ran = ours.stop()
    assert ran.code == 0, ran
    printed = {line.split(" ")[1] for line in ran.lines()}
    # What ours has committed is not read again, and what it has not read comes to the other.
    left = {str(number) for number in range(written)} - printed - {value for _, _, value in got}
    if left:
        rest = theirs.poll(len(left))
        assert {value for _, _, value in rest} == left
        # Some clients have nothing to commit where nothing was read since the rebalance.
        theirs.commit("sync")
    theirs.close()
    assert cli.run("consume", name, "-g", name, "-e").lines() == [], "everything is committed"
