"""kafka-consumer-groups and kafka-groups: groups with members and without are listed, described and deleted."""

from harness.member import settle
from harness.tools import Shell

TOOL = "kafka-consumer-groups"


def listed(shell, name, *flags):
    """The row of each group of this story, by its name."""
    rows = [line.split() for line in shell(TOOL, "--list", *flags).lines]
    return {row[0]: row[1:] for row in rows if row and row[0].startswith(name)}


def members(clients, shell, group, topic, *instances):
    """Java consumers in a group, settled, one partition each."""
    joined = [
        clients.start(
            "java",
            shell.server,
            group=group,
            client_id=f"client-{instance}",
            group_instance_id=instance,
            auto_offset_reset="earliest",
            enable_auto_commit="false",
        )
        for instance in instances
    ]
    for member in joined:
        member.subscribe(topic)
    settle(joined, 1)
    return joined


def test_listed_by_state_and_type(shell, clients, name):
    active, empty = f"{name}-active", f"{name}-empty"
    shell.create(name)
    shell.create(f"{name}-quiet")
    shell.type_records(name, "one")
    shell.read(name, 1, group=empty)
    members(clients, shell, active, f"{name}-quiet", "only")
    assert listed(shell, name) == {active: [], empty: []}
    assert listed(shell, name, "--state") == {active: ["Stable"], empty: ["Empty"]}
    assert listed(shell, name, "--state", "stable") == {active: ["Stable"]}
    assert listed(shell, name, "--state", "Empty,Dead") == {empty: ["Empty"]}
    assert listed(shell, name, "--type") == {active: ["Classic"], empty: ["Classic"]}
    assert listed(shell, name, "--type", "classic") == {active: ["Classic"], empty: ["Classic"]}
    assert listed(shell, name, "--type", "consumer") == {}
    assert listed(shell, name, "--type", "--state") == {active: ["Classic", "Stable"], empty: ["Classic", "Empty"]}

    mine = lambda *flags: {row[0]: row[1:] for row in shell("kafka-groups", "--list", *flags).rows if name in row[0]}
    both = {active: ["Classic", "consumer"], empty: ["Classic", "consumer"]}
    assert mine() == mine("--consumer") == mine("--group-type", "classic") == mine("--protocol", "consumer") == both
    assert mine("--share") == mine("--streams") == mine("--group-type", "share") == mine("--protocol", "other") == {}


def test_members_and_what_they_have(shell, clients, name):
    shell.create(name, 2)
    reader, _ = members(clients, shell, name, name, "i-0", "i-1")
    for partition in (0, 1):
        shell.type_to(name, partition, "one", "two")
    assert len(reader.poll(2)) == 2
    reader.commit()
    describe = lambda *flags: [row for row in shell(TOOL, "--describe", "--group", name, *flags).rows if row[0] == name]

    rows = describe()
    assert sorted(row[2] for row in rows) == ["0", "1"]
    assert sorted(row[3:6] for row in rows) == [["-", "2", "-"], ["2", "2", "0"]], "one of them has committed"
    assert sorted(row[7:] for row in rows) == [["/127.0.0.1", "client-i-0"], ["/127.0.0.1", "client-i-1"]]

    rows = {row[2]: row for row in describe("--members")}
    assert rows.keys() == {"i-0", "i-1"}
    for instance, row in rows.items():
        assert row[1].startswith(f"{instance}-") and row[3:] == ["/127.0.0.1", f"client-{instance}", "1"]
    assigned = sorted(word for row in describe("--members", "--verbose") for word in row if word.startswith(f"{name}:"))
    assert assigned == [f"{name}:0", f"{name}:1"]

    [state] = describe("--state")
    assert state == [name, shell.server.bootstrap, "(1)", "range", "Stable", "2"]
    assert describe("--state", "--verbose")[0][:5] == [name, shell.server.bootstrap, "(1)", "range", "Stable"]


def test_a_group_without_members(shell, name):
    shell.create(name)
    shell.type_records(name, "one", "two")
    shell.read(name, 2, group=name)
    shell.type_records(name, "three")
    described = shell(TOOL, "--describe", "--group", name)
    assert f"Consumer group '{name}' has no active members." in described.err
    assert described.rows == [[name, name, "0", "2", "3", "1", "-", "-", "-"]]
    [verbose] = shell(TOOL, "--describe", "--group", name, "--offsets", "--verbose").rows
    assert verbose[3].isdigit() and verbose[4:7] == ["2", "3", "1"], "the commit says of which leader epoch it is"
    assert shell(TOOL, "--describe", "--group", name, "--members").rows == []
    [state] = shell(TOOL, "--describe", "--group", name, "--state").rows
    assert state == [name, shell.server.bootstrap, "(1)", "-", "Empty", "0"]


def test_all_groups(shell, name):
    shell.create(name)
    shell.type_records(name, "one")
    for group in (f"{name}-a", f"{name}-b"):
        shell.read(name, 1, group=group)
    everything = lambda *flags: shell(TOOL, "--describe", "--all-groups", *flags).rows
    mine = lambda *flags: [row for row in everything(*flags) if row[0].startswith(name)]
    expected = [[f"{name}-{suffix}", name, "0", "1", "1", "0", "-", "-", "-"] for suffix in "ab"]
    assert sorted(mine()) == sorted(mine("--offsets")) == expected
    assert sorted(row[4] for row in mine("--state")) == ["Empty", "Empty"]


def test_deleted(shell, clients, name):
    busy, idle = f"{name}-busy", f"{name}-idle"
    shell.create(name)
    members(clients, shell, busy, name, "only")
    shell.type_records(name, "one")
    shell.read(name, 1, group=idle)
    refused = shell(TOOL, "--delete", "--group", busy).out
    assert f"Group '{busy}' could not be deleted due to" in refused and "GroupNotEmptyException" in refused
    both = shell(TOOL, "--delete", "--group", busy, "--group", idle).out
    assert "GroupNotEmptyException" in both
    assert listed(shell, name).keys() == {busy}
    unknown = shell(TOOL, "--delete", "--group", idle).out
    assert f"Group '{idle}' could not be deleted due to" in unknown and "GroupIdNotFoundException" in unknown
    shell.read(name, 1, group=idle)
    done = shell(TOOL, "--delete", "--group", idle)
    assert done.lines == [f"Deletion of requested consumer groups ('{idle}') was successful."]


def test_deleted_offsets(shell, clients, name):
    shell.create(name, 3)
    other = f"{name}-other"
    shell.create(other)
    for topic in (f"{name}:0,1,2", other):
        shell(TOOL, "--reset-offsets", "--group", name, "--topic", topic, "--to-earliest", "--execute")
    assert len(shell.group_offsets(name)) == 4
    delete = lambda topic: shell(TOOL, "--delete-offsets", "--group", name, "--topic", topic)
    done = delete(f"{name}:1")
    assert f"Request succeeded for deleting offsets from group {name}." in done.out
    assert done.lines[-1].split() == [name, "1", "Successful"]
    assert shell.group_offsets(name).keys() == {(name, 0), (name, 2), (other, 0)}
    delete(name)
    assert shell.group_offsets(name).keys() == {(other, 0)}
    assert "UnknownTopicOrPartitionException" in delete(f"{name}-none").out
    members(clients, shell, name, other, "only")
    assert "GroupSubscribedToTopicException" in delete(other).out
    unknown = shell(TOOL, "--delete-offsets", "--group", f"{name}-none", "--topic", other).out
    assert "The group id does not exist." in unknown


def test_every_group_of_a_server(tools, own_server, name):
    shell = Shell(tools, own_server)
    shell.create(name)
    shell.type_records(name, "one", "two")
    groups = [f"{name}-a", f"{name}-b"]
    for group in groups:
        shell.read(name, 2, group=group)
    moved = shell(TOOL, "--reset-offsets", "--all-groups", "--all-topics", "--shift-by", -1, "--execute").rows
    assert sorted(moved) == [[group, name, "0", "1"] for group in groups]
    assert [shell.group_offsets(group)[(name, 0)][0] for group in groups] == ["1", "1"]
    deleted = shell(TOOL, "--delete", "--all-groups").out
    assert all(f"'{group}'" in deleted for group in groups) and deleted.strip().endswith("was successful.")
    assert shell(TOOL, "--list").lines == []


def test_what_is_unknown(shell, name):
    for flags in ([], ["--state"], ["--members"]):
        assert "GroupIdNotFoundException" in shell(TOOL, "--describe", "--group", name, *flags).out
    assert shell(TOOL, "--validate-regex", "a.*").lines == ["The regular expression `a.*` is valid."]
