//! The command lines of a scenario. tests/transactions/README.md explains them to whoever writes one.

use std::collections::BTreeSet;
use std::sync::Arc;

use milepost_model::{PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity, TransactionEnd};
use milepost_transactions::*;

use super::{Asker, Machine, Step};

/// The words of one line: the verb, the plain words after it, and the `name=value` words.
struct Words<'a> {
    plain: Vec<&'a str>,
    options: Vec<(&'a str, &'a str)>,
}

impl<'a> Words<'a> {
    fn new(words: &[&'a str]) -> Self {
        let plain = words.iter().filter(|word| !word.contains('=')).copied().collect();
        let options = words.iter().filter_map(|word| word.split_once('=')).collect();
        Self { plain, options }
    }

    fn transactional_id(&self) -> &'a str {
        match *self.plain.first().expect("the transactional id is missing") {
            "''" => "",
            id => id,
        }
    }

    fn producer(&self) -> ProducerIdentity {
        producer(self.plain.get(1).expect("the producer is missing"))
    }

    fn partitions(&self) -> Vec<PartitionToAdd<'a>> {
        self.plain[2..].iter().map(|word| place(word)).collect()
    }

    fn has(&self, word: &str) -> bool {
        self.plain.contains(&word)
    }

    fn get(&self, option: &str) -> Option<&'a str> {
        self.options.iter().find(|(name, _)| *name == option).map(|(_, value)| *value)
    }

    fn version(&self) -> TransactionVersion {
        TransactionVersion(self.get("version").map_or(2, |version| version.parse().unwrap()))
    }
}

/// A length of time: a number and `ms`, `s`, `m`, `h` or `d`.
pub(crate) fn duration_ms(text: &str) -> i64 {
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let number: i64 = text[..digits].parse().unwrap_or_else(|_| panic!("'{text}' is no length of time"));
    number
        * match &text[digits..] {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            unit => panic!("'{unit}' is no unit of time"),
        }
}

/// `id/epoch`.
fn producer(word: &str) -> ProducerIdentity {
    let (id, epoch) = word.split_once('/').unwrap_or_else(|| panic!("'{word}' is no id/epoch"));
    ProducerIdentity { id: ProducerId(id.parse().unwrap()), epoch: ProducerEpoch(epoch.parse().unwrap()) }
}

/// `topic:partition`.
fn place(word: &str) -> PartitionToAdd<'_> {
    let (topic, partition) = word.split_once(':').unwrap_or_else(|| panic!("'{word}' is no topic:partition"));
    PartitionToAdd { topic, partition: PartitionIndex(partition.parse().unwrap()) }
}

fn state(name: &str) -> TransactionState {
    let is_it = |state: &TransactionState| state.name() == name;
    TransactionState::ALL.into_iter().find(is_it).unwrap_or_else(|| panic!("'{name}' is no state"))
}

/// Runs one line.
pub(crate) fn run(machine: &mut Machine, line: &str) -> Step {
    let all: Vec<&str> = line.split_whitespace().collect();
    let (verb, rest) = all.split_first().expect("a line has a verb");
    let words = Words::new(rest);
    match *verb {
        "init" => init(machine, &words),
        "add" | "verify" => add(machine, verb, &words),
        "commit" => end(machine, verb, TransactionEnd::Commit, &words),
        "abort" => end(machine, verb, TransactionEnd::Abort, &words),
        "markers" if words.has("again") => machine.report_again(words.transactional_id()),
        "markers" => machine.write_markers(words.transactional_id()),
        "producer-id" => machine.bring_producer_id(words.transactional_id()),
        "describe" => {
            let transactional_id = words.transactional_id();
            let asker = Asker { label: verb, transactional_id: Some(transactional_id), producer: None };
            machine.ask(asker, |_| Request::Describe(DescribeTransaction { transactional_id }))
        }
        "list" => list(machine, &words),
        "tick" => machine.tick(duration_ms(rest[0]).unsigned_abs()),
        "jump" => {
            machine.now.wall = machine.now.wall.plus_ms(duration_ms(rest[0]));
            Step::default()
        }
        "restart" => machine.restart(),
        "reload" => machine.reload(),
        "disk" => {
            machine.is_full = rest == ["full"];
            Step::default()
        }
        "foreign" => foreign(machine, &words),
        other => panic!("there is no command '{other}'"),
    }
}

fn init(machine: &mut Machine, words: &Words<'_>) -> Step {
    let transactional_id = words.transactional_id();
    let current = words.get("producer").map(producer);
    let timeout_ms = i32::try_from(duration_ms(words.get("timeout").unwrap_or("60s"))).unwrap();
    let asker = Asker { label: "init", transactional_id: Some(transactional_id), producer: current };
    machine.ask(asker, |fresh_producer_id| {
        Request::InitProducerId(InitProducerId {
            transactional_id,
            timeout_ms,
            current,
            two_phase_commit: if words.has("2pc") { TwoPhaseCommit::Yes } else { TwoPhaseCommit::No },
            open_transaction: if words.has("keep") { OpenTransaction::Keep } else { OpenTransaction::Abort },
            fresh_producer_id,
        })
    })
}

fn add(machine: &mut Machine, verb: &str, words: &Words<'_>) -> Step {
    let (transactional_id, producer) = (words.transactional_id(), words.producer());
    let asker = Asker { label: verb, transactional_id: Some(transactional_id), producer: Some(producer) };
    machine.ask(asker, |_| {
        let partitions = words.partitions();
        if verb == "verify" {
            return Request::VerifyPartitions(VerifyPartitions { transactional_id, producer, partitions });
        }
        let version = words.version();
        Request::AddPartitions(AddPartitions { transactional_id, producer, version, partitions })
    })
}

fn end(machine: &mut Machine, verb: &str, end: TransactionEnd, words: &Words<'_>) -> Step {
    let (transactional_id, producer) = (words.transactional_id(), words.producer());
    let asker = Asker { label: verb, transactional_id: Some(transactional_id), producer: Some(producer) };
    machine.ask(asker, |fresh_producer_id| {
        let version = words.version();
        Request::EndTransaction(EndTransaction {
            transactional_id,
            producer,
            end,
            version,
            fresh_producer_id,
        })
    })
}

fn list(machine: &mut Machine, words: &Words<'_>) -> Step {
    let words_of = |option| words.get(option).map(|value| value.split(',').filter(|word| !word.is_empty()));
    let request = ListTransactions {
        states: words_of("states").map(|names| names.map(state).collect()),
        producer_ids: words_of("producers")
            .map(|ids| ids.map(|id| ProducerId(id.parse().unwrap())).collect()),
        longer_than_ms: words.get("longer").map(duration_ms),
    };
    let asker = Asker { label: "list", transactional_id: None, producer: None };
    machine.ask(asker, |_| Request::List(request.clone()))
}

fn foreign(machine: &mut Machine, words: &Words<'_>) -> Step {
    let id = words.producer();
    let state = state(words.plain[2]);
    let partitions: BTreeSet<_> = words.plain[3..]
        .iter()
        .map(|word| place(word))
        .map(|place| TransactionPartition { topic: place.topic.into(), partition: place.partition })
        .collect();
    let has_room = machine.settings.transaction_version >= TransactionVersion::V1;
    let now = machine.now.wall;
    let transaction = Transaction {
        producer: id,
        previous_producer_id: has_room.then_some(id.id),
        next_producer_id: None,
        timeout_ms: 60_000,
        state,
        partitions: Arc::new(partitions),
        last_update: now,
        start: (state != TransactionState::Empty).then_some(now),
        client_version: words.version(),
    };
    let record = Record {
        transactional_id: words.transactional_id().into(),
        transaction: Some(Arc::new(transaction)),
    };
    machine.foreign(record, id.id)
}
