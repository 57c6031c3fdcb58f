//! Random operations on a shard. The machine of tests checks after each of them that a replay of the log gives the live
//! hard state, before and after compaction, that answers wait for what they rest on, and that generations do not go
//! back; here it is also checked that everybody is answered in the end.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]

mod harness;

use std::collections::BTreeMap;

use harness::{Machine, command};
use milepost_groups::{GroupSettings, Reply};
use proptest::prelude::*;

/// What is done next. The numbers choose among what is known at that moment.
#[derive(Clone, Debug)]
enum Operation {
    JoinNew {
        group: u8,
        client: u8,
        version: u8,
        protocols: u8,
    },
    JoinStatic {
        group: u8,
        instance: u8,
        version: u8,
        protocols: u8,
    },
    JoinAgain {
        known: usize,
        protocols: u8,
    },
    Sync {
        known: usize,
        generations_back: u8,
    },
    /// Members that behave: all known ones join, and those who are told so sync.
    Rebalance {
        group: u8,
        protocols: u8,
        syncing: usize,
    },
    Heartbeat {
        known: usize,
    },
    Leave {
        known: usize,
    },
    Commit {
        known: usize,
        generations_back: u8,
        partition: u8,
        offset: u8,
        metadata: bool,
    },
    CommitFromOutside {
        group: u8,
        partition: u8,
        offset: u8,
        retention: bool,
    },
    Fetch {
        group: u8,
    },
    Delete {
        group: u8,
    },
    DeleteOffsets {
        group: u8,
        partition: u8,
    },
    /// What the embedded library may ask, on a log that members use too.
    Embedded {
        group: u8,
        verb: u8,
        generations_back: u8,
    },
    TopicDeleted {
        id: u8,
    },
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
    Transactional {
        group: u8,
        partition: u8,
        producer: u8,
    },
    Marker {
        producer: u8,
        commit: bool,
    },
}

/// How many members are remembered, the latest ones; some of them are long gone.
const KNOWN: usize = 6;

/// The verb of [`Operation::Embedded`] that commits; those below it change the group.
const COMMIT: u8 = 3;

fn plain_operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let group = 0..2_u8;
    let known = 0..KNOWN;
    let back = prop_oneof![8 => Just(0_u8), 1 => Just(1_u8)];
    prop_oneof![
        4 => (group.clone(), 0..3_u8, 3..=9_u8, 0..4_u8)
            .prop_map(|(group, client, version, protocols)| JoinNew { group, client, version, protocols }),
        3 => (group.clone(), 0..2_u8, 8..=9_u8, 0..4_u8)
            .prop_map(|(group, instance, version, protocols)| JoinStatic { group, instance, version, protocols }),
        6 => (known.clone(), 0..4_u8).prop_map(|(known, protocols)| JoinAgain { known, protocols }),
        8 => (known.clone(), back.clone())
            .prop_map(|(known, generations_back)| Sync { known, generations_back }),
        5 => (group.clone(), 0..4_u8, prop_oneof![3 => Just(KNOWN), 1 => 0..KNOWN])
            .prop_map(|(group, protocols, syncing)| Rebalance { group, protocols, syncing }),
        4 => known.clone().prop_map(|known| Heartbeat { known }),
        2 => known.clone().prop_map(|known| Leave { known }),
        6 => (known, back, 0..4_u8, any::<u8>(), any::<bool>()).prop_map(
            |(known, generations_back, partition, offset, metadata)| Commit {
                known, generations_back, partition, offset, metadata
            }
        ),
        3 => (group.clone(), 0..4_u8, any::<u8>(), any::<bool>()).prop_map(
            |(group, partition, offset, retention)| CommitFromOutside { group, partition, offset, retention }
        ),
        2 => group.clone().prop_map(|group| Fetch { group }),
        1 => group.clone().prop_map(|group| Delete { group }),
        1 => (group.clone(), 0..4_u8).prop_map(|(group, partition)| DeleteOffsets { group, partition }),
        3 => (group.clone(), prop_oneof![4 => Just(0_u8), 1 => 1..3_u8, 4 => Just(COMMIT)], 0..2_u8).prop_map(
            |(group, verb, generations_back)| Embedded { group, verb, generations_back }
        ),
        1 => (1..3_u8).prop_map(|id| TopicDeleted { id }),
        5 => prop_oneof![8 => 0..10_000_u32, 1 => 0..4_000_000_u32].prop_map(|ms| Tick { ms }),
        1 => any::<i8>().prop_map(|hours| Jump { hours }),
        1 => Just(Restart),
        2 => prop::bool::weighted(0.15).prop_map(|is_full| Disk { is_full }),
    ]
}

fn any_operation() -> impl Strategy<Value = Operation> {
    use Operation::{Marker, Transactional};
    prop_oneof![
        12 => plain_operation(),
        2 => (0..2_u8, 0..4_u8, 0..2_u8)
            .prop_map(|(group, partition, producer)| Transactional { group, partition, producer }),
        1 => (0..2_u8, any::<bool>()).prop_map(|(producer, commit)| Marker { producer, commit }),
    ]
}

/// A member that some answer spoke of.
#[derive(Clone, Debug)]
struct Known {
    group: String,
    member: String,
    instance: Option<String>,
    generation: i32,
}

const PROTOCOLS: [&str; 4] = ["range", "range,roundrobin", "roundrobin,range", "sticky,range"];

/// A machine and who is known of it.
struct Run {
    machine: Machine,
    members: u32,
    known: Vec<Known>,
    /// Accepted commits, to be sure that the test tests something.
    commits: usize,
    syncs: usize,
    embedded_commits: usize,
    /// The generation of the last take-over of each group.
    taken_over: BTreeMap<u8, i32>,
}

impl Run {
    fn new() -> Self {
        let settings = GroupSettings {
            max_size: 3,
            offsets_retention_ms: 1_800_000,
            initial_rebalance_delay_ms: 1_000,
            ..GroupSettings::default()
        };
        Self {
            machine: Machine::new(settings),
            members: 0,
            known: Vec::new(),
            commits: 0,
            syncs: 0,
            embedded_commits: 0,
            taken_over: BTreeMap::new(),
        }
    }

    fn known(&self, choice: usize) -> Option<Known> {
        // The latest come first: the others are mostly gone.
        let count = self.known.len();
        (count > 0).then(|| self.known[count - 1 - choice % count].clone())
    }

    fn command(&mut self, line: &str, instance: Option<&str>) {
        let group = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let step = command::run(&mut self.machine, line, &mut self.members);
        for (label, reply) in step.replies {
            self.known.drain(..self.known.len().saturating_sub(KNOWN));
            match reply {
                Reply::JoinGroup(Ok(joined)) => {
                    let of = |known: &&Known| *known.member == *joined.member_id;
                    let before = self.known.iter().find(of).cloned();
                    let group = before.as_ref().map_or(group.clone(), |known| known.group.clone());
                    let instance = label.strip_prefix("join i").map(|number| format!("i{number}"));
                    let instance = before.and_then(|known| known.instance).or(instance);
                    let (member, generation) = (joined.member_id.to_string(), joined.generation.0);
                    self.known.retain(|known| known.member != member);
                    self.known.push(Known { group, member, instance, generation });
                }
                Reply::JoinGroup(Err(refused)) => {
                    if let Some(member) = refused.member_id.filter(|_| line.starts_with("join")) {
                        let member = member.to_string();
                        if !self.known.iter().any(|known| known.member == member) {
                            let instance = instance.map(str::to_owned);
                            self.known.push(Known { group: group.clone(), member, instance, generation: 0 });
                        }
                    }
                }
                Reply::OffsetCommit(Ok(_)) => self.commits += 1,
                Reply::SyncGroup(Ok(_)) => self.syncs += 1,
                _ => {}
            }
        }
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each operation")]
    fn operate(&mut self, operation: &Operation) {
        use Operation::*;
        match *operation {
            JoinNew { group, client, version, protocols } => {
                let protocols = PROTOCOLS[usize::from(protocols)];
                let line = format!(
                    "join g{group} client=c{client} topics=t1 protocols={protocols} version={version} rebalance=20s"
                );
                self.command(&line, None);
            }
            JoinStatic { group, instance, version, protocols } => {
                let protocols = PROTOCOLS[usize::from(protocols)];
                let instance = format!("i{instance}");
                let line = format!(
                    "join g{group} instance={instance} topics=t1 protocols={protocols} version={version} rebalance=20s"
                );
                self.command(&line, Some(&instance));
            }
            JoinAgain { known, protocols } => {
                let protocols = PROTOCOLS[usize::from(protocols)];
                self.member_command(known, 0, |known, _| {
                    format!(
                        "join {} member={} topics=t1 protocols={protocols} rebalance=20s",
                        known.group, known.member
                    )
                });
            }
            Sync { known, generations_back } => {
                self.member_command(known, generations_back, |known, generation| {
                    let (group, member) = (&known.group, &known.member);
                    format!("sync {group} member={member} generation={generation} assign={member}:part")
                });
            }
            Rebalance { group, protocols, syncing } => {
                self.rebalance(&format!("g{group}"), protocols, syncing);
            }
            Heartbeat { known } => self.member_command(known, 0, |known, generation| {
                format!("heartbeat {} member={} generation={generation}", known.group, known.member)
            }),
            Leave { known } => {
                self.member_command(known, 0, |known, _| {
                    format!("leave {} member={}", known.group, known.member)
                });
            }
            Commit { known, generations_back, partition, offset, metadata } => {
                let words = if metadata { " metadata=x topic-id=1 epoch=2" } else { "" };
                self.member_command(known, generations_back, |known, generation| {
                    let (group, member) = (&known.group, &known.member);
                    format!("commit {group} member={member} generation={generation} t{}:{partition}={offset}{words}", offset % 2)
                });
            }
            CommitFromOutside { group, partition, offset, retention } => {
                let words = if retention { " retention=10m topic-id=1 epoch=2" } else { " topic-id=2" };
                self.command(&format!("commit g{group} t{}:{partition}={offset}{words}", offset % 2), None);
            }
            Fetch { group } => self.command(&format!("fetch g{group} all stable"), None),
            Delete { group } => self.command(&format!("delete g{group}"), None),
            DeleteOffsets { group, partition } => {
                self.command(&format!("delete-offsets g{group} t0:{partition} t1:{partition}"), None);
            }
            Embedded { group, verb, generations_back } => self.embedded(group, verb, generations_back),
            TopicDeleted { id } => self.command(&format!("topic-deleted t0 topic-id={id}"), None),
            Tick { ms } => self.command(&format!("tick {ms}ms"), None),
            Jump { hours } => self.command(&format!("jump {hours}h"), None),
            Restart => self.command("restart", None),
            Disk { is_full } => self.machine.is_full = is_full,
            Transactional { group, partition, producer } => {
                self.command(&format!("txn-commit g{group} t1:{partition}=7 producer={producer}"), None);
            }
            Marker { producer, commit } => {
                let end = if commit { "commit" } else { "abort" };
                self.command(&format!("marker {end} producer={producer}"), None);
            }
        }
    }

    fn embedded(&mut self, group: u8, verb: u8, generations_back: u8) {
        let line = match verb {
            0 => "rebalance".to_owned(),
            1 => "delete".to_owned(),
            2 => "forget".to_owned(),
            COMMIT.. => {
                let present = self.taken_over.get(&group).copied().unwrap_or_default();
                format!("commit t1:0=9 generation={}", present - i32::from(generations_back))
            }
        };
        let (verb, words) = line.split_once(' ').unwrap_or((&line, ""));
        let line = format!("embedded-{verb} g{group} {words}");
        let step = command::run(&mut self.machine, &line, &mut self.members);
        for (label, reply) in step.replies {
            match (label.as_str(), reply) {
                ("embedded-rebalance", Reply::Embedded(Ok(Some(generation)))) => {
                    self.taken_over.insert(group, generation.0);
                    // Whoever takes a group over commits at once, mostly.
                    self.embedded(group, COMMIT, generations_back);
                }
                ("embedded-commit", Reply::Embedded(Ok(_))) => self.embedded_commits += 1,
                _ => {}
            }
        }
    }

    /// Everybody known joins, time passes, and `syncing` of them sync.
    fn rebalance(&mut self, group: &str, protocols: u8, syncing: usize) {
        let protocols = PROTOCOLS[usize::from(protocols)];
        let of_group = |run: &Self| -> Vec<Known> {
            run.known.iter().filter(|known| known.group == group).cloned().collect()
        };
        for known in of_group(self) {
            let (member, instance) = (&known.member, known.instance.as_deref());
            let instance_word = instance.map(|id| format!(" instance={id}")).unwrap_or_default();
            let words = format!("topics=t1 protocols={protocols} rebalance=20s{instance_word}");
            self.command(&format!("join {group} member={member} {words}"), instance);
        }
        self.command("tick 2s", None);
        for known in of_group(self).into_iter().rev().take(syncing) {
            let Known { member, generation, .. } = known;
            self.command(
                &format!("sync {group} member={member} generation={generation} assign={member}:part"),
                None,
            );
        }
    }

    fn member_command(&mut self, choice: usize, back: u8, line: impl Fn(&Known, i32) -> String) {
        let Some(known) = self.known(choice) else { return };
        let mut line = line(&known, known.generation - i32::from(back));
        if let Some(instance) = &known.instance {
            line += &format!(" instance={instance}");
        }
        self.command(&line, known.instance.as_deref());
    }
}

fn run(operations: &[Operation]) -> Run {
    let mut run = Run::new();
    for operation in operations {
        run.operate(operation);
    }
    run.machine.is_full = false;
    run.machine.tick(4 * 3_600_000);
    assert_eq!(run.machine.waiting(), Vec::<String>::new(), "somebody still waits after four hours");
    let hard = run.machine.shard.describe_hard_state();
    assert!(!hard.contains("member_id"), "members are still there after four hours of silence: {hard}");
    run
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_replay_of_the_log_is_the_live_state(operations in prop::collection::vec(plain_operation(), 1..120)) {
        run(&operations);
    }

    #[test]
    fn so_it_is_with_transactions(operations in prop::collection::vec(any_operation(), 1..80)) {
        run(&operations);
    }
}

#[test]
fn random_operations_get_somewhere() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let (mut commits, mut syncs, mut embedded_commits) = (0, 0, 0);
    for _ in 0..20 {
        let operations =
            prop::collection::vec(plain_operation(), 100).new_tree(&mut runner).unwrap().current();
        let run = run(&operations);
        commits += run.commits;
        syncs += run.syncs;
        embedded_commits += run.embedded_commits;
    }
    assert!(commits > 50, "only {commits} commits");
    assert!(syncs > 50, "only {syncs} syncs");
    assert!(embedded_commits > 10, "only {embedded_commits} commits of the embedded library");
}
