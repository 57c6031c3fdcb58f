//! Random operations on a shard. The machine of tests checks after each of them that a replay of the log gives the live
//! hard state, before and after compaction, that answers wait for what they rest on, that epochs do not go back, that
//! nobody who was fenced gets anything accepted, and that nothing is complete before its markers; here it is also
//! checked that every transaction ends, and every transactional id after it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]

mod harness;

use std::collections::BTreeMap;

use harness::{Machine, Step, command};
use milepost_model::ProducerIdentity;
use milepost_transactions::{Reply, TransactionSettings, TransactionVersion};
use proptest::prelude::*;

/// What is done next. The numbers choose among what is known at that moment; `back` counts back from the last producer
/// that somebody was told to be.
#[derive(Clone, Debug)]
enum Operation {
    Init {
        id: u8,
    },
    InitAgain {
        id: u8,
        back: usize,
    },
    Add {
        id: u8,
        back: usize,
        partition: u8,
        version: u8,
    },
    Verify {
        id: u8,
        back: usize,
        partition: u8,
    },
    End {
        id: u8,
        back: usize,
        is_commit: bool,
        version: u8,
    },
    /// A producer that behaves: it adds, ends, and the markers are written.
    Transaction {
        id: u8,
        partition: u8,
        is_commit: bool,
        version: u8,
    },
    /// Somebody takes over, and whoever was there before tries all it can.
    Zombie {
        id: u8,
        version: u8,
    },
    Markers {
        id: u8,
    },
    MarkersAgain {
        id: u8,
    },
    ProducerId {
        id: u8,
    },
    Tick {
        ms: u32,
    },
    Jump {
        minutes: i8,
    },
    Restart,
    Reload,
    Disk {
        is_full: bool,
    },
}

fn any_operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let id = 0..3_u8;
    let back = prop_oneof![6 => Just(0_usize), 2 => Just(1), 1 => 2..6_usize];
    let version = prop_oneof![3 => Just(2_u8), 1 => Just(0)];
    prop_oneof![
        3 => id.clone().prop_map(|id| Init { id }),
        2 => (id.clone(), back.clone()).prop_map(|(id, back)| InitAgain { id, back }),
        6 => (id.clone(), back.clone(), 0..4_u8, version.clone())
            .prop_map(|(id, back, partition, version)| Add { id, back, partition, version }),
        1 => (id.clone(), back.clone(), 0..4_u8)
            .prop_map(|(id, back, partition)| Verify { id, back, partition }),
        6 => (id.clone(), back, any::<bool>(), version.clone())
            .prop_map(|(id, back, is_commit, version)| End { id, back, is_commit, version }),
        3 => (id.clone(), 0..4_u8, any::<bool>(), version)
            .prop_map(|(id, partition, is_commit, version)| Transaction { id, partition, is_commit, version }),
        2 => (id.clone(), 0..3_u8).prop_map(|(id, version)| Zombie { id, version }),
        6 => id.clone().prop_map(|id| Markers { id }),
        2 => id.clone().prop_map(|id| MarkersAgain { id }),
        1 => id.prop_map(|id| ProducerId { id }),
        3 => prop_oneof![6 => 0..2_u32, 2 => 0..20_000_u32, 1 => 0..4_000_000_u32].prop_map(|ms| Tick { ms }),
        1 => any::<i8>().prop_map(|minutes| Jump { minutes }),
        1 => Just(Restart),
        1 => Just(Reload),
        2 => prop::bool::weighted(0.15).prop_map(|is_full| Disk { is_full }),
    ]
}

/// A machine and who was told to be which producer.
struct Run {
    machine: Machine,
    told: BTreeMap<u8, Vec<ProducerIdentity>>,
    /// How often something happened, to be sure that the test tests something.
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    ended: usize,
    completed: usize,
    fenced: usize,
    rotated: usize,
}

impl Run {
    fn new(version: TransactionVersion) -> Self {
        let settings = TransactionSettings {
            expiration_ms: 3 * 3_600_000,
            transaction_version: version,
            ..TransactionSettings::default()
        };
        let mut run =
            Self { machine: Machine::new(settings), told: BTreeMap::new(), counts: Counts::default() };
        // One whose epochs are nearly used up.
        run.command("foreign t2 1000/32763 CompleteCommit version=0");
        run.told.insert(
            2,
            vec![ProducerIdentity {
                id: milepost_model::ProducerId(1000),
                epoch: milepost_model::ProducerEpoch(32763),
            }],
        );
        run
    }

    fn command(&mut self, line: &str) -> Step {
        command::run(&mut self.machine, line)
    }

    /// Runs a command of a producer, and remembers whom it is told to be.
    fn ask(&mut self, id: u8, line: &str) {
        let step = self.command(line);
        self.counts.completed += usize::from(line.starts_with("markers") && !step.records.is_empty());
        for (label, reply) in step.replies {
            let (Reply::InitProducerId(result) | Reply::EndTransaction(result)) = reply else { continue };
            self.counts.fenced +=
                usize::from(result == Err(milepost_transactions::TransactionError::ProducerFenced));
            let Ok(producer) = result else { continue };
            self.counts.ended += usize::from(label == "commit");
            let told = self.told.entry(id).or_default();
            self.counts.rotated += usize::from(told.last().is_some_and(|last| last.id < producer.id));
            if told.last() != Some(&producer) {
                told.push(producer);
            }
        }
    }

    fn producer(&self, id: u8, back: usize) -> String {
        let told = self.told.get(&id).map_or(&[][..], Vec::as_slice);
        match told.len().checked_sub(1 + back) {
            Some(at) => format!("{}/{}", told[at].id.0, told[at].epoch.0),
            None => "1/0".to_owned(),
        }
    }

    fn operate(&mut self, operation: &Operation) {
        use Operation::*;
        let verb_of = |is_commit| if is_commit { "commit" } else { "abort" };
        match *operation {
            Init { id } => self.ask(id, &format!("init t{id}")),
            InitAgain { id, back } => {
                let producer = self.producer(id, back);
                self.ask(id, &format!("init t{id} producer={producer}"));
            }
            Add { id, back, partition, version } => {
                let producer = self.producer(id, back);
                self.ask(id, &format!("add t{id} {producer} a:{partition} version={version}"));
            }
            Verify { id, back, partition } => {
                let producer = self.producer(id, back);
                self.ask(id, &format!("verify t{id} {producer} a:{partition}"));
            }
            End { id, back, is_commit, version } => {
                let (verb, producer) = (verb_of(is_commit), self.producer(id, back));
                self.ask(id, &format!("{verb} t{id} {producer} version={version}"));
            }
            Transaction { id, partition, is_commit, version } => {
                self.operate(&Add { id, back: 0, partition, version });
                self.operate(&End { id, back: 0, is_commit, version });
                self.operate(&Markers { id });
            }
            Zombie { id, version } => self.zombie(id, version),
            Markers { id } => self.ask(id, &format!("markers t{id}")),
            MarkersAgain { id } => self.ask(id, &format!("markers t{id} again")),
            ProducerId { id } => self.ask(id, &format!("producer-id t{id}")),
            Tick { ms } => drop(self.command(&format!("tick {ms}ms"))),
            Jump { minutes } => drop(self.command(&format!("jump {minutes}m"))),
            Restart => drop(self.command("restart")),
            Reload => drop(self.command("reload")),
            Disk { is_full } => self.machine.is_full = is_full,
        }
    }

    fn zombie(&mut self, id: u8, version: u8) {
        let zombie = self.producer(id, 0);
        self.ask(id, &format!("init t{id}"));
        self.ask(id, &format!("markers t{id}"));
        self.ask(id, &format!("init t{id}"));
        let is_commit = version == 0;
        self.operate(&Operation::Transaction { id, partition: 0, is_commit, version });
        for line in ["add a:1", "add a:1 version=0", "commit", "abort", "commit version=0", "abort version=0"]
        {
            let (verb, words) = line.split_once(' ').unwrap_or((line, ""));
            self.ask(id, &format!("{verb} t{id} {zombie} {words}"));
        }
        self.ask(id, &format!("init t{id} producer={zombie}"));
    }

    /// Whoever writes markers and takes producer ids does so.
    fn carry_out(&mut self) {
        for id in 0..3_u8 {
            self.ask(id, &format!("producer-id t{id}"));
            while self.machine.asked.iter().any(|markers| *markers.transactional_id == *format!("t{id}")) {
                self.ask(id, &format!("markers t{id}"));
            }
        }
    }

    fn is_listed(&mut self, filter: &str) -> bool {
        let step = self.command(&format!("list {filter}"));
        step.replies.iter().any(|(_, reply)| matches!(reply, Reply::List(listed) if !listed.is_empty()))
    }
}

fn run(operations: &[Operation], version: TransactionVersion) -> Run {
    let mut run = Run::new(version);
    for operation in operations {
        run.operate(operation);
    }
    run.machine.is_full = false;
    // Timeouts, and the clock may stand before what was written last.
    for _ in 0..2 {
        run.command("tick 4h");
        run.carry_out();
    }
    run.command("tick 30h");
    run.carry_out();
    assert!(!run.is_listed("states=Ongoing,PrepareCommit,PrepareAbort"), "a transaction does not end");
    run.command("tick 30h");
    assert!(!run.is_listed(""), "a transactional id does not expire");
    run
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn what_must_be_true_is_true(operations in prop::collection::vec(any_operation(), 1..120)) {
        run(&operations, TransactionVersion::V2);
    }

    #[test]
    fn so_it_is_without_bumped_epochs(operations in prop::collection::vec(any_operation(), 1..80), version in 0..2_i16) {
        run(&operations, TransactionVersion(version));
    }
}

#[test]
fn random_operations_get_somewhere() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut all = Counts::default();
    for _ in 0..20 {
        let operations = prop::collection::vec(any_operation(), 100).new_tree(&mut runner).unwrap().current();
        let counts = run(&operations, TransactionVersion::V2).counts;
        all.ended += counts.ended;
        all.completed += counts.completed;
        all.fenced += counts.fenced;
        all.rotated += counts.rotated;
    }
    assert!(all.ended > 50 && all.completed > 50 && all.fenced > 50 && all.rotated > 5, "{all:?}");
}
