"""A reset writes the leader epoch of the log at the new place, whichever of many it is."""

from harness import wire
from harness.cli import Cli

# How many records are written between two restarts; where there are none the log has a gap between its epochs.
WRITTEN = [3, 0, 2, 4]


def test_the_epoch_is_that_of_the_record_before(own_server, pytestconfig, name):
    cli = Cli(pytestconfig.getoption("--cli"), own_server)
    cli.run("topic", "create", name).ok()
    epochs = []
    for generation, count in enumerate(WRITTEN):
        if generation:
            own_server.stop()
            own_server.start()
        with own_server.connect() as connection:
            wire.wait_for_leaders(connection, name, 1)
            epoch = wire.leader_epoch(connection, name)
        cli.environment["MILEPOST_BOOTSTRAP"] = own_server.bootstrap
        if count:
            cli.run("produce", name, stdin="record\n" * count).ok()
        epochs += [epoch] * count
    assert len(set(epochs)) == 3, "a leader that starts again has an epoch of its own"
    # At the ends the cluster names the epoch itself: there it is that of the record at the offset, or of the leader.
    for offset in range(1, len(epochs)):
        planned = cli.run("group", "create", name, str(offset), "--topic", name, "--dry-run", "--format", "json").json()
        [one] = planned["groups"][0]["partitions"]
        assert (one["new_offset"], one["new_leader_epoch"]) == (offset, epochs[offset - 1])
