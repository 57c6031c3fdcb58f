//! Random operations on consumer groups. The machine of tests checks after each of them that a replay of the log gives the
//! live hard state, before and after compaction; that no partition has two owners and no member gets something before it
//! gave up what it had to; and that epochs do not go back. Here it is also checked that a group settles once its members
//! behave, with everything assigned, and that it ends when they fall silent.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]

mod harness;

use std::collections::{BTreeMap, BTreeSet};

use harness::{Machine, command};
use milepost_groups::{Assignment, GroupSettings, GroupState, Reply};
use milepost_model::{PartitionIndex, TopicId};
use proptest::prelude::*;

/// What is done next. Members are numbers; the odd ones are static.
#[derive(Clone, Debug)]
enum Operation {
    Join {
        member: u8,
        subscription: u8,
        assignor: u8,
    },
    Beat {
        member: u8,
        is_honest: bool,
    },
    Resubscribe {
        member: u8,
        subscription: u8,
    },
    BeatInEpoch {
        member: u8,
        epoch: u8,
    },
    Leave {
        member: u8,
    },
    Away {
        member: u8,
    },
    Commit {
        member: u8,
        back: u8,
        partition: u8,
    },
    CommitFromOutside,
    Fetch {
        member: u8,
    },
    NextTopics,
    Tick {
        ms: u32,
    },
    Jump {
        hours: i8,
    },
    Restart,
    Disk {
        is_full: bool,
    },
    Delete,
    ClassicJoin,
    RemoveByAdministrator {
        member: u8,
    },
    /// Everybody that is there says something.
    Round,
}

const MEMBERS: u8 = 5;
const SUBSCRIPTIONS: [&str; 5] =
    ["topics=a", "topics=a,b", "topics=b", "topics= regex=[ab].*", "topics=b regex=c.*"];
/// The topics of the cluster, one state after the other: topics grow, go, and come again as other ones.
const TOPICS: [&str; 7] = [
    "a=1:4 b=2:3",
    "a=1:6 b=2:3 ca=3:2",
    "a=1:6 ca=3:2",
    "a=4:2 b=5:3 cb=6:1",
    "a=4:2 b=5:7 cb=6:1 d=7:1",
    "a=8:3 b=5:7",
    "a=8:5 b=5:7 ca=9:4",
];

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let member = 0..MEMBERS;
    let subscription = 0..u8::try_from(SUBSCRIPTIONS.len()).unwrap();
    prop_oneof![
        8 => (member.clone(), subscription.clone(), 0..6_u8)
            .prop_map(|(member, subscription, assignor)| Join { member, subscription, assignor }),
        12 => (member.clone(), prop::bool::weighted(0.8))
            .prop_map(|(member, is_honest)| Beat { member, is_honest }),
        2 => (member.clone(), subscription).prop_map(|(member, subscription)| Resubscribe { member, subscription }),
        2 => (member.clone(), 0..9_u8).prop_map(|(member, epoch)| BeatInEpoch { member, epoch }),
        2 => member.clone().prop_map(|member| Leave { member }),
        2 => member.clone().prop_map(|member| Away { member }),
        5 => (member.clone(), prop_oneof![4 => Just(0_u8), 1 => 1..3_u8], 0..4_u8)
            .prop_map(|(member, back, partition)| Commit { member, back, partition }),
        1 => Just(CommitFromOutside),
        1 => member.clone().prop_map(|member| Fetch { member }),
        3 => Just(NextTopics),
        6 => prop_oneof![6 => 0..4_000_u32, 2 => 0..60_000_u32].prop_map(|ms| Tick { ms }),
        1 => any::<i8>().prop_map(|hours| Jump { hours }),
        1 => Just(Restart),
        2 => prop::bool::weighted(0.2).prop_map(|is_full| Disk { is_full }),
        1 => Just(Delete),
        1 => Just(ClassicJoin),
        1 => member.prop_map(|member| RemoveByAdministrator { member }),
        4 => Just(Round),
    ]
}

/// What a client believes.
#[derive(Clone, Debug, Default)]
struct Client {
    /// Counts its lives: a static member comes back under another member id.
    life: u32,
    epoch: i32,
    assignment: Assignment,
    subscription: u8,
}

struct Run {
    machine: Machine,
    members: u32,
    clients: BTreeMap<u8, Client>,
    topics: usize,
    /// Accepted commits and epochs reached, to be sure that the test tests something.
    commits: usize,
    settled: usize,
}

impl Run {
    fn new() -> Self {
        let settings = GroupSettings {
            consumer_max_size: 4,
            consumer_session_ms: 20_000,
            consumer_assignment_interval_ms: 500,
            offsets_retention_ms: 1_800_000,
            ..GroupSettings::default()
        };
        let mut run = Self {
            machine: Machine::new(settings),
            members: 0,
            clients: BTreeMap::new(),
            topics: 0,
            commits: 0,
            settled: 0,
        };
        run.command(&format!("topics {}", TOPICS[0]));
        run
    }

    fn command(&mut self, line: &str) -> Option<Reply> {
        let step = command::run(&mut self.machine, line, &mut self.members);
        step.replies.into_iter().next().map(|(_, reply)| reply)
    }

    fn names(&self, member: u8) -> String {
        let life = self.clients.get(&member).map_or(0, |client| client.life);
        let instance = if member % 2 == 1 { format!(" instance=i{member}") } else { String::new() };
        format!("member=m{member}-{life}{instance}")
    }

    fn join(&mut self, member: u8, subscription: u8, assignor: u8) {
        let client = self.clients.entry(member).or_default();
        client.subscription = subscription;
        if member % 2 == 1 {
            client.life += 1;
        }
        let assignor = match assignor {
            0 => " assignor=range",
            1 => " assignor=uniform",
            _ => "",
        };
        let names = self.names(member);
        let words = SUBSCRIPTIONS[usize::from(subscription)];
        self.beat(member, &format!("consumer g {names} {words}{assignor} rebalance=30s"));
    }

    /// One heartbeat, and what the client makes of the answer.
    fn beat(&mut self, member: u8, line: &str) {
        let reply = self.command(line);
        let client = self.clients.entry(member).or_default();
        match reply {
            Some(Reply::ConsumerGroupHeartbeat(Ok(told))) => {
                client.epoch = told.epoch.0;
                if let Some(assignment) = told.assignment {
                    client.assignment = assignment;
                }
            }
            Some(Reply::ConsumerGroupHeartbeat(Err(_))) => {
                client.epoch = 0;
                client.assignment = Assignment::default();
            }
            _ => {}
        }
    }

    fn stay(&mut self, member: u8, is_honest: bool) {
        let Some(client) = self.clients.get(&member).filter(|client| client.epoch > 0) else { return };
        let owns = if is_honest { owns(&client.assignment) } else { "unsaid".to_owned() };
        let epoch = client.epoch;
        let names = self.names(member);
        self.beat(member, &format!("consumer g {names} epoch={epoch} owns={owns}"));
    }

    fn go(&mut self, member: u8, how: &str) {
        let names = self.names(member);
        self.beat(member, &format!("consumer g {names} epoch={how}"));
        if let Some(client) = self.clients.get_mut(&member) {
            client.epoch = 0;
            client.assignment = Assignment::default();
        }
    }

    fn operate(&mut self, operation: &Operation) {
        use Operation::*;
        match *operation {
            Join { member, subscription, assignor } => self.join(member, subscription, assignor),
            Beat { member, is_honest } => self.stay(member, is_honest),
            Resubscribe { member, subscription } => {
                let Some(client) = self.clients.get_mut(&member).filter(|client| client.epoch > 0) else {
                    return;
                };
                client.subscription = subscription;
                let (epoch, owns) = (client.epoch, owns(&client.assignment));
                let (names, words) = (self.names(member), SUBSCRIPTIONS[usize::from(subscription)]);
                let regex = if words.contains("regex") { "" } else { " regex=" };
                self.beat(member, &format!("consumer g {names} epoch={epoch} owns={owns} {words}{regex}"));
            }
            BeatInEpoch { member, epoch } => {
                let names = self.names(member);
                self.beat(member, &format!("consumer g {names} epoch={} owns=nothing", epoch + 1));
            }
            Leave { member } => self.go(member, "leave"),
            Away { member } => self.go(member, "away"),
            Commit { member, back, partition } => {
                let epoch = self.clients.get(&member).map_or(0, |client| client.epoch) - i32::from(back);
                let name = self.names(member);
                let name = name.split(' ').next().unwrap();
                let reply =
                    self.command(&format!("commit g a:{partition}=7 {name} generation={epoch} topic-id=1"));
                self.commits += usize::from(matches!(reply, Some(Reply::OffsetCommit(Ok(_)))));
            }
            CommitFromOutside => drop(self.command("commit g a:0=1 b:0=1")),
            Fetch { member } => {
                let epoch = self.clients.get(&member).map_or(0, |client| client.epoch);
                let name = self.names(member);
                let name = name.split(' ').next().unwrap();
                self.command(&format!("fetch g all {name} epoch={epoch}"));
            }
            NextTopics => {
                self.topics = (self.topics + 1).min(TOPICS.len() - 1);
                self.command(&format!("topics {}", TOPICS[self.topics]));
            }
            Tick { ms } => drop(self.command(&format!("tick {ms}ms"))),
            Jump { hours } => drop(self.command(&format!("jump {hours}h"))),
            Restart => drop(self.command("restart")),
            Disk { is_full } => self.machine.is_full = is_full,
            Delete => drop(self.command("delete g")),
            ClassicJoin => drop(self.command("join g client=c topics=a")),
            RemoveByAdministrator { member } => {
                let names = self.names(member);
                self.command(&format!("leave g {names}"));
            }
            Round => (0..MEMBERS).for_each(|member| self.stay(member, true)),
        }
    }

    /// Members behave from now on: after some rounds the group is stable and everything is assigned, once.
    fn settle(&mut self) {
        self.machine.is_full = false;
        for _ in 0..14 {
            for member in 0..3 {
                match self.clients.get(&member) {
                    Some(client) if client.epoch > 0 => self.stay(member, true),
                    Some(client) if member % 2 == 1 && client.life > 0 => self.rejoin(member),
                    _ => self.join(member, member, 9),
                }
            }
            // Longer than anything that is waited for but a session.
            self.command("tick 3s");
        }
        let described = self.command("describe-consumer g");
        let Some(Reply::DescribeConsumerGroup(Ok(group))) = described else { panic!("{described:?}") };
        assert_eq!(group.state, GroupState::Stable, "{group:?}");
        let mut owned = BTreeSet::new();
        for member in &group.members {
            assert_eq!(member.assignment, member.target, "{group:?}");
            owned.extend(partitions(&member.assignment));
            let number = member.member_id.as_bytes()[1] - b'0';
            assert_eq!(self.clients[&number].assignment, member.assignment, "a client knows what it has");
        }
        let wanted: BTreeSet<_> = group
            .members
            .iter()
            .flat_map(|member| {
                let by_name = member.member.subscribed_topics.iter().map(AsRef::as_ref);
                let regex = member.member.subscribed_regex.as_deref();
                let by_regex: &[&str] = match regex {
                    Some("[ab].*") => &["a", "b"],
                    Some(_) => &["ca", "cb"],
                    None => &[],
                };
                by_name.chain(by_regex.iter().copied()).collect::<Vec<&str>>()
            })
            .filter_map(|name| self.machine.topics.topic(name))
            .flat_map(|topic| (0..topic.partition_count).map(|index| (topic.id, PartitionIndex(index))))
            .collect();
        assert_eq!(owned, wanted, "{group:?}");
        self.settled += usize::from(!owned.is_empty());
    }

    /// A static member that does not know what became of it says that it goes, and comes again.
    fn rejoin(&mut self, member: u8) {
        let instance = format!("instance=i{member}");
        self.command(&format!("leave g {instance}"));
        self.join(member, member, 9);
    }
}

fn partitions(assignment: &Assignment) -> Vec<(TopicId, PartitionIndex)> {
    let topics = assignment.0.iter();
    topics.flat_map(|(topic, partitions)| partitions.iter().map(|one| (*topic, *one))).collect()
}

fn owns(assignment: &Assignment) -> String {
    let words: Vec<_> = partitions(assignment)
        .iter()
        .map(|(topic, partition)| format!("{}:{partition}", topic.0[15]))
        .collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(",") }
}

fn run(operations: &[Operation]) -> Run {
    let mut run = Run::new();
    for operation in operations {
        run.operate(operation);
    }
    // A classic member that asked for an id, or a deleted group, must not be in the way.
    run.machine.is_full = false;
    run.settle();
    run.command("tick 2h");
    run.command("tick 2h");
    assert_eq!(run.machine.waiting(), Vec::<String>::new());
    let hard = run.machine.shard.describe_hard_state();
    assert!(!hard.contains("client_host"), "members are still there after hours of silence: {hard}");
    run
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn consumer_groups_keep_what_they_promise(operations in prop::collection::vec(operation(), 1..120)) {
        run(&operations);
    }
}

#[test]
fn random_operations_get_somewhere() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let (mut commits, mut settled) = (0, 0);
    for _ in 0..20 {
        let operations = prop::collection::vec(operation(), 100).new_tree(&mut runner).unwrap().current();
        let run = run(&operations);
        commits += run.commits;
        settled += run.settled;
    }
    assert!(commits > 20, "only {commits} commits");
    assert!(settled > 10, "only {settled} groups had something to share");
}
