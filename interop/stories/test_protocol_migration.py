"""A running group is moved from the classic group protocol to the consumer protocol of KIP-848 and back, member by member."""

import pytest

from harness import wire
from harness import wire_consumer as by_hand
from harness.member import settle

from .test_consumer_groups import MEMBER as CONSUMER
from .test_consumer_groups import SETTINGS, create, read_all, told_of

PARTITIONS = 6
CLASSIC = {"auto_offset_reset": "earliest", "enable_auto_commit": "false"}


@pytest.fixture(scope="module")
def server(new_server):
    one = new_server(settings=SETTINGS).start()
    yield one
    one.end()


class Group:
    """A group that reads what is written to a topic of its name, and what it has read so far."""

    def __init__(self, server, clients, name):
        self.server, self.clients, self.name = server, clients, name
        self.members, self.written = [], 0

    def start(self, client, protocol):
        member = self.clients.start(client, self.server, group=self.name, **protocol)
        member.subscribe(self.name)
        self.members.append(member)

    def stop(self, member):
        self.members.remove(member)
        member.close()

    def read_on(self):
        """Everybody has its share; ten records more a partition are read, each once, and committed."""
        shares = settle(self.members, partitions_each=PARTITIONS // len(self.members))
        assert sorted(sum(shares, [])) == list(range(PARTITIONS))
        first = self.written
        for partition in range(PARTITIONS):
            self.members[0].produce(self.name, partition, first=first, count=10)
        records = read_all(self.members, 10 * PARTITIONS)
        assert sorted((partition, offset) for partition, offset, _ in records) == [
            (partition, offset) for partition in range(PARTITIONS) for offset in range(first, first + 10)
        ]
        for member in self.members:
            member.commit("sync")
        self.written += 10
        committed = self.members[0].committed(self.name, *range(PARTITIONS))
        assert {offset for offset, _ in committed.values()} == {self.written}


def roll(group, client, protocol):
    """Each member is replaced by one of another protocol, the new one first."""
    for old in list(group.members):
        group.start(client, protocol)
        group.read_on()
        group.stop(old)
        group.read_on()


@told_of("librdkafka", "java", "franz-go")
def test_a_group_is_rolled_to_the_other_protocol_and_back(client, server, clients, name):
    create(server, name, partitions=PARTITIONS)
    group = Group(server, clients, name)
    group.start(client, CLASSIC)
    group.start(client, CLASSIC)
    group.read_on()
    with server.connect() as connection:
        kind = lambda: by_hand.describe(connection, name)[0]
        assert kind() == wire.GROUP_ID_NOT_FOUND
        roll(group, client, CONSUMER)
        assert kind() == wire.NO_ERROR
        roll(group, client, CLASSIC)
        assert kind() == wire.GROUP_ID_NOT_FOUND


def test_clients_of_both_protocols_share_a_group(server, clients, name, pytestconfig):
    """Members of several makes and both protocols, one of which dies."""
    create(server, name, partitions=PARTITIONS)
    group = Group(server, clients, name)
    other = "java" if pytestconfig.getoption("--java-class-path") else "librdkafka"
    group.start("librdkafka", CLASSIC)
    group.start(other, CONSUMER)
    group.read_on()
    group.start(other, CLASSIC)
    group.read_on()
    dead = group.members.pop(0)
    dead.kill()
    group.read_on()
    # The last one of the consumer protocol dies: the group is a classic one after its session.
    dead = group.members.pop(0)
    dead.kill()
    group.read_on()


@told_of("librdkafka", "java", "franz-go")
def test_a_static_member_changes_its_protocol(client, server, clients, name):
    create(server, name, partitions=PARTITIONS)
    group = Group(server, clients, name)
    group.start(client, {**CLASSIC, "group_instance_id": "one"})
    group.start(client, {**CLASSIC, "group_instance_id": "two"})
    group.read_on()
    for protocol in (CONSUMER, CLASSIC):
        for instance in ("one", "two"):
            # A static member's close tells nobody in the classic protocol, and that it comes back in the other one.
            group.stop(group.members[0])
            group.start(client, {**protocol, "group_instance_id": instance})
            group.read_on()
