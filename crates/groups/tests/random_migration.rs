//! Random lives of clients that speak the one or the other group protocol, in one group, under every migration policy. The
//! machine of tests checks after each operation that a replay of the log gives the live hard state, before and after
//! compaction; that no partition has two owners; and that generations and epochs do not go back, also when the group changes
//! its kind. Here it is also checked that everything is shared out, once, when the clients behave.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]

#[allow(dead_code, reason = "this test needs only a part of it")]
mod harness;

use std::collections::BTreeSet;

use harness::{Machine, Step, command};
use milepost_groups::{GroupError, GroupSettings, Joined, MigrationPolicy, Reply};
use milepost_records::consumer_protocol::Assignment;
use proptest::prelude::*;

/// What is done next. Clients are numbers; the odd ones are static members.
#[derive(Clone, Debug)]
enum Operation {
    /// A client begins, under a new member id.
    Begin {
        client: usize,
        protocol: Protocol,
    },
    /// It does what it would do next.
    Act {
        client: usize,
    },
    /// It leaves.
    Leave {
        client: usize,
    },
    /// It is gone, and says nothing.
    Vanish {
        client: usize,
    },
    /// It commits, perhaps in an epoch that is over.
    Commit {
        client: usize,
        back: i32,
    },
    /// Everybody does what it would do next.
    Round,
    NextTopics,
    Tick {
        ms: u32,
    },
    Restart,
    Disk {
        is_full: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Classic,
    Consumer,
}

const CLIENTS: usize = 5;
/// The topics of the cluster, one state after the other.
const TOPICS: [&str; 3] = ["a=1:4 b=2:3", "a=1:6 b=2:3", "a=1:6 b=3:5"];

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    // The last client is kept for the end.
    let client = 0..CLIENTS - 1;
    let protocol = prop_oneof![Just(Protocol::Classic), Just(Protocol::Consumer)];
    prop_oneof![
        3 => (client.clone(), protocol).prop_map(|(client, protocol)| Begin { client, protocol }),
        12 => client.clone().prop_map(|client| Act { client }),
        2 => client.clone().prop_map(|client| Leave { client }),
        1 => client.clone().prop_map(|client| Vanish { client }),
        8 => (client, 0..2).prop_map(|(client, back)| Commit { client, back }),
        12 => Just(Round),
        1 => Just(NextTopics),
        6 => prop_oneof![6 => 0..4_000_u32, 1 => 0..40_000_u32].prop_map(|ms| Tick { ms }),
        1 => Just(Restart),
        1 => prop::bool::weighted(0.2).prop_map(|is_full| Disk { is_full }),
    ]
}

/// How far a client of the classic protocol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    MustJoin,
    Joining,
    MustSync,
    Syncing,
    Settled,
}

/// What a client believes.
#[derive(Clone, Debug)]
struct Client {
    protocol: Protocol,
    /// Its name, other ones in other lives.
    name: String,
    instance: Option<String>,
    /// The id it was given, or chose.
    id: Option<String>,
    /// Its generation or epoch.
    epoch: i32,
    has: BTreeSet<String>,
    stage: Stage,
    /// Whom it assigns to, if it leads.
    members: Vec<String>,
}

struct Run {
    machine: Machine,
    lives: u32,
    clients: Vec<Option<Client>>,
    topics: usize,
    /// What happened, to be sure that the test tests something.
    commits: usize,
    upgrades: usize,
    downgrades: usize,
}

impl Run {
    fn new(policy: MigrationPolicy) -> Self {
        let settings = GroupSettings {
            consumer_session_ms: 20_000,
            consumer_assignment_interval_ms: 500,
            consumer_migration_policy: policy,
            ..GroupSettings::default()
        };
        let mut run = Self {
            machine: Machine::new(settings),
            lives: 0,
            clients: vec![None; CLIENTS],
            topics: 0,
            commits: 0,
            upgrades: 0,
            downgrades: 0,
        };
        run.command(&format!("topics {}", TOPICS[0]));
        run
    }

    /// Sends one request, and lets everybody know who is answered by that.
    fn command(&mut self, line: &str) {
        let step = command::run(&mut self.machine, line, &mut self.lives);
        self.count_conversions(&step);
        for (label, reply) in &step.replies {
            self.hear(label, reply);
        }
        for label in &step.refused {
            self.forget(label);
        }
    }

    fn count_conversions(&mut self, step: &Step) {
        use milepost_groups::{ConsumerChange, Record};
        let is_converted = |from: fn(&Record) -> bool, to: fn(&Record) -> bool| {
            let at = step.records.iter().position(from);
            at.is_some_and(|at| step.records[at..].iter().any(to))
        };
        let ends_classic =
            |record: &Record| matches!(record, Record::Group(group) if group.classic.is_none());
        let takes_in = |record: &Record| {
            matches!(record, Record::Consumer(record)
                if matches!(&record.change, ConsumerChange::Member(_, Some(member)) if member.classic.is_some()))
        };
        let ends_consumer = |record: &Record| matches!(record, Record::Consumer(record) if record.change == ConsumerChange::Group(None));
        let gives_back = |record: &Record| {
            let classic = match record {
                Record::Group(group) => group.classic.as_ref(),
                _ => None,
            };
            classic.is_some_and(|classic| !classic.members.is_empty())
        };
        self.upgrades += usize::from(is_converted(ends_classic, takes_in));
        self.downgrades += usize::from(is_converted(ends_consumer, gives_back));
    }

    fn begin(&mut self, client: usize, protocol: Protocol) {
        self.lives += 1;
        let name = format!("k{client}x{}", self.lives);
        let id = (protocol == Protocol::Consumer).then(|| name.clone());
        let instance = (client % 2 == 1).then(|| format!("i{client}"));
        self.clients[client] = Some(Client {
            protocol,
            name,
            instance,
            id,
            epoch: 0,
            has: BTreeSet::new(),
            stage: Stage::MustJoin,
            members: Vec::new(),
        });
    }

    fn act(&mut self, client: usize) {
        let Some(known) = &self.clients[client] else { return };
        let names = known.names();
        let has = known.owns();
        let epoch = known.epoch;
        let name = &known.name;
        let line = match (known.protocol, known.stage) {
            (Protocol::Consumer, _) if epoch == 0 => {
                format!("consumer g{names} topics=a,b rebalance=20s")
            }
            (Protocol::Consumer, _) => format!("consumer g{names} epoch={epoch} owns={has}"),
            (Protocol::Classic, Stage::MustJoin) => {
                format!("join g{names} client={name} topics=a,b owns={has} rebalance=20s")
            }
            (Protocol::Classic, Stage::MustSync) => {
                format!("sync g{names} generation={epoch}{}", self.shares(known))
            }
            (Protocol::Classic, Stage::Settled) => format!("heartbeat g{names} generation={epoch}"),
            (Protocol::Classic, Stage::Joining | Stage::Syncing) => return,
        };
        let known = self.clients[client].as_mut().unwrap();
        known.stage = match known.stage {
            Stage::MustJoin => Stage::Joining,
            Stage::MustSync => Stage::Syncing,
            other => other,
        };
        if line.starts_with("heartbeat") || line.starts_with("consumer") {
            let step = command::run(&mut self.machine, &line, &mut self.lives);
            self.count_conversions(&step);
            for (label, reply) in &step.replies {
                match reply {
                    Reply::Heartbeat(result) => self.clients[client].as_mut().unwrap().beat(*result),
                    Reply::ConsumerGroupHeartbeat(_) => self.clients[client].as_mut().unwrap().told(reply),
                    _ => self.hear(label, reply),
                }
            }
            step.refused.iter().for_each(|label| self.forget(label));
        } else {
            self.command(&line);
        }
    }

    /// What a leader gives to everybody: partitions in turns.
    fn shares(&self, leader: &Client) -> String {
        if leader.members.is_empty() {
            return String::new();
        }
        let mut shares: Vec<Vec<String>> = vec![Vec::new(); leader.members.len()];
        for (index, partition) in self.partitions().into_iter().enumerate() {
            shares[index % leader.members.len()].push(partition);
        }
        let give = |(member, share): (&String, &Vec<String>)| {
            let share = if share.is_empty() { "nothing".to_owned() } else { share.join("+") };
            format!("{member}:{share}")
        };
        let gives: Vec<_> = leader.members.iter().zip(&shares).map(give).collect();
        format!(" gives={}", gives.join(","))
    }

    /// Every partition that is subscribed to.
    fn partitions(&self) -> BTreeSet<String> {
        let of_topic = |name: &'static str| {
            let count = self.machine.topics.topic(name).map_or(0, |topic| topic.partition_count);
            (0..count).map(move |partition| format!("{name}:{partition}"))
        };
        ["a", "b"].into_iter().flat_map(of_topic).collect()
    }

    /// An answer to JoinGroup or SyncGroup, perhaps to a client that is long gone.
    fn hear(&mut self, label: &str, reply: &Reply) {
        match reply {
            Reply::OffsetCommit(Ok(_)) => self.commits += 1,
            Reply::JoinGroup(result) => {
                let Some(client) = self.client_of(label) else { return };
                match result {
                    Ok(joined) => client.joined(joined),
                    Err(refused) if refused.error == GroupError::MemberIdRequired => {
                        client.id = refused.member_id.as_deref().map(str::to_owned);
                        client.stage = Stage::MustJoin;
                    }
                    Err(refused) => client.refused(refused.error),
                }
            }
            Reply::SyncGroup(result) => {
                let Some(client) = self.client_of(label) else { return };
                match result {
                    Ok(synced) => {
                        let assigned = Assignment::decode(&synced.assignment).unwrap();
                        let named = assigned.partitions.iter().flat_map(|topic| {
                            topic.partitions.iter().map(|partition| format!("{}:{partition}", topic.topic))
                        });
                        client.has = named.collect();
                        client.stage = Stage::Settled;
                    }
                    Err(error) => client.refused(*error),
                }
            }
            _ => {}
        }
    }

    fn client_of(&mut self, label: &str) -> Option<&mut Client> {
        let (_, who) = label.split_once(' ')?;
        let is_meant = |client: &&mut Client| {
            client.id.as_deref() == Some(who)
                || client.name == who
                || (client.id.is_none() && client.instance.as_deref() == Some(who))
        };
        self.clients.iter_mut().flatten().find(is_meant)
    }

    /// A request came to nothing.
    fn forget(&mut self, label: &str) {
        if let Some(client) = self.client_of(label).filter(|client| client.protocol == Protocol::Classic) {
            client.stage = Stage::MustJoin;
        }
    }

    fn operate(&mut self, operation: &Operation) {
        use Operation::*;
        match *operation {
            Begin { client, protocol } => self.begin(client, protocol),
            Act { client } => self.act(client),
            Vanish { client } => self.clients[client] = None,
            Leave { client } => {
                let Some(gone) = self.clients[client].take().filter(|gone| gone.id.is_some()) else { return };
                let names = gone.names();
                match gone.protocol {
                    Protocol::Classic => self.command(&format!("leave g{names}")),
                    Protocol::Consumer => self.command(&format!("consumer g{names} epoch=leave")),
                }
            }
            Commit { client, back } => {
                let Some(known) = &self.clients[client] else { return };
                let (names, epoch) = (known.names(), known.epoch - back);
                let Some(partition) = known.has.first() else { return };
                let (topic, _) = partition.split_once(':').unwrap();
                let id = self.machine.topics.topic(topic).map_or(1, |topic| topic.id.0[15]);
                self.command(&format!("commit g {partition}=7{names} generation={epoch} topic-id={id}"));
            }
            Round => (0..CLIENTS).for_each(|client| self.act(client)),
            NextTopics => {
                self.topics = (self.topics + 1).min(TOPICS.len() - 1);
                self.command(&format!("topics {}", TOPICS[self.topics]));
            }
            Tick { ms } => self.command(&format!("tick {ms}ms")),
            Restart => {
                self.command("restart");
                // Whoever waited lost its connection.
                for client in self.clients.iter_mut().flatten() {
                    if matches!(client.stage, Stage::Joining | Stage::Syncing) {
                        client.stage = Stage::MustJoin;
                    }
                }
            }
            Disk { is_full } => self.machine.is_full = is_full,
        }
    }

    /// Clients behave from now on, and one more comes: everything is shared out then.
    fn settle(&mut self, protocol: Protocol) {
        self.machine.is_full = false;
        self.begin(CLIENTS - 1, protocol);
        for _ in 0..40 {
            (0..3).for_each(|_| self.operate(&Operation::Round));
            self.command("tick 2s");
        }
        let mut shared_out = BTreeSet::new();
        let settled = self.clients.iter().flatten().filter(|client| client.is_settled());
        for client in settled {
            for partition in &client.has {
                assert!(shared_out.insert(partition.clone()), "{partition} twice: {:?}", self.clients);
            }
        }
        assert_eq!(shared_out, self.partitions(), "{:?}", self.clients);
    }
}

impl Client {
    fn names(&self) -> String {
        let id = self.id.as_ref().map(|id| format!(" member={id}")).unwrap_or_default();
        let instance =
            self.instance.as_ref().map(|instance| format!(" instance={instance}")).unwrap_or_default();
        format!("{id}{instance}")
    }

    fn owns(&self) -> String {
        let words: Vec<_> = self.has.iter().map(String::as_str).collect();
        if words.is_empty() { "nothing".to_owned() } else { words.join(",") }
    }

    fn is_settled(&self) -> bool {
        match self.protocol {
            Protocol::Classic => self.stage == Stage::Settled,
            Protocol::Consumer => self.epoch > 0,
        }
    }

    fn joined(&mut self, joined: &Joined) {
        self.id = Some(joined.member_id.to_string());
        self.epoch = joined.generation.0;
        let leads = joined.leader == joined.member_id && !joined.skip_assignment;
        let members = joined.members.iter().map(|member| member.member_id.to_string());
        self.members = if leads { members.collect() } else { Vec::new() };
        self.stage = Stage::MustSync;
    }

    fn refused(&mut self, error: GroupError) {
        if matches!(error, GroupError::UnknownMemberId | GroupError::FencedInstanceId) {
            self.id = None;
            self.has.clear();
        }
        self.stage = Stage::MustJoin;
    }

    fn beat(&mut self, result: Result<(), GroupError>) {
        if let Err(error) = result {
            self.refused(error);
        }
    }

    fn told(&mut self, reply: &Reply) {
        let Reply::ConsumerGroupHeartbeat(result) = reply else { return };
        let Ok(told) = result else {
            self.epoch = 0;
            self.has.clear();
            return;
        };
        self.epoch = told.epoch.0;
        if let Some(assignment) = &told.assignment {
            let name = |number: u8| if number == 1 { "a" } else { "b" };
            let named = assignment.0.iter().flat_map(|(topic, partitions)| {
                partitions.iter().map(move |partition| format!("{}:{partition}", name(topic.0[15])))
            });
            self.has = named.collect();
        }
    }
}

fn run(policy: MigrationPolicy, last: Protocol, operations: &[Operation]) -> Run {
    let mut run = Run::new(policy);
    for operation in operations {
        run.operate(operation);
    }
    run.settle(last);
    run
}

fn policy() -> impl Strategy<Value = MigrationPolicy> {
    prop_oneof![
        5 => Just(MigrationPolicy::Bidirectional),
        1 => Just(MigrationPolicy::Upgrade),
        1 => Just(MigrationPolicy::Downgrade),
        1 => Just(MigrationPolicy::Disabled),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn groups_keep_what_they_promise_when_they_change_their_protocol(
        policy in policy(),
        last in prop_oneof![Just(Protocol::Classic), Just(Protocol::Consumer)],
        operations in prop::collection::vec(operation(), 1..120),
    ) {
        run(policy, last, &operations);
    }
}

#[test]
fn random_migrations_get_somewhere() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let (mut commits, mut upgrades, mut downgrades) = (0, 0, 0);
    for _ in 0..8 {
        let operations = prop::collection::vec(operation(), 150).new_tree(&mut runner).unwrap().current();
        let run = run(MigrationPolicy::Bidirectional, Protocol::Classic, &operations);
        commits += run.commits;
        upgrades += run.upgrades;
        downgrades += run.downgrades;
    }
    assert!(commits > 10, "only {commits} commits");
    assert!(upgrades > 3 && downgrades > 3, "only {upgrades} upgrades and {downgrades} downgrades");
}

/// Found by the test above: two members came within the assignment interval, and the only one whose heartbeats would have made
/// another target died. What it had was nobody's for as long as nobody joined.
#[test]
fn classic_members_alone_come_to_a_target_that_waited_for_its_time() {
    use Operation::*;
    let operations = [
        Begin { client: 1, protocol: Protocol::Consumer },
        Begin { client: 2, protocol: Protocol::Classic },
        Round,
        Disk { is_full: true },
        Begin { client: 0, protocol: Protocol::Classic },
        Leave { client: 1 },
    ];
    run(MigrationPolicy::Upgrade, Protocol::Classic, &operations);
}
