//! Loading gives the live state again (I2), in steps, several shards side by side.

use milepost_batch::{BatchBuilder, BatchOptions, Marker, build_marker};
use milepost_log::{CleanupPolicy, PartitionConfig};
use milepost_model::{Offset, PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity, TransactionEnd};
use proptest::prelude::*;

use super::counters::{COUNTS_LOADS, KNOWN_TYPE, Reply, Request};
use super::rig::{Rig, SHARD, id, small};
use crate::{Answer, Refusal, Settings, ShardStatus};

const PRODUCER: ProducerIdentity = ProducerIdentity { id: ProducerId(4), epoch: ProducerEpoch(0) };

fn record(name: &str) -> Vec<u8> {
    [&[KNOWN_TYPE], name.as_bytes()].concat()
}

fn failure(rig: &Rig) -> (Offset, String) {
    match rig.shards.status(SHARD) {
        Some(ShardStatus::Failed(failure)) => (failure.offset, failure.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn shards_load_side_by_side_and_serve_as_soon_as_they_are_loaded() {
    let mut rig = Rig::new(3, Settings::default());
    let (short, long) = (PartitionIndex(0), PartitionIndex(2));
    for _ in 0..10 {
        rig.submit_to(long, Request::Add(&["a"]));
        rig.round();
    }
    rig.submit_to(short, Request::Add(&["a"]));
    rig.round();
    let live = rig.shard(long).hard.clone();

    let mut rig = rig.restart(Settings::default());
    let early = rig.submit_to(short, Request::Get("a"));
    assert_eq!(rig.answers(), [(early, Answer::Refused(Refusal::Loading))]);
    for _ in 0..4 {
        rig.shards.load_step(&mut rig.logs, rig.now, 1);
    }
    assert_eq!(rig.shards.status(short), Some(ShardStatus::Active));
    assert_eq!(rig.shards.status(long), Some(ShardStatus::Loading));
    let served = rig.submit_to(short, Request::Get("a"));
    let refused = rig.submit_to(long, Request::Get("a"));
    let expected =
        [(served, Answer::Reply(Reply::Value(Some(1)))), (refused, Answer::Refused(Refusal::Loading))];
    assert_eq!(rig.answers(), expected);
    rig.load();
    assert!(rig.shards.is_loaded());
    assert_eq!(rig.shard(long).hard, live);
    assert_eq!(rig.shard(long).loads, 1);
}

#[test]
fn a_budget_bounds_a_step() {
    let mut rig = Rig::single();
    for _ in 0..10 {
        rig.submit(Request::Add(&["a"]));
        rig.round();
    }
    let batch_bytes = rig.with_batches(|batch| batch.size_bytes())[0];
    let mut rig = rig.restart(Settings::default());
    let mut steps = 0;
    while rig.shards.has_load_work() {
        rig.shards.load_step(&mut rig.logs, rig.now, 4 * batch_bytes);
        steps += 1;
    }
    assert!((3..=4).contains(&steps), "{steps} steps");
    assert_eq!(rig.hard().counters["a"], (10, Offset(9)));
}

#[test]
fn unknown_types_are_skipped_and_keep_their_offsets() {
    let mut rig = Rig::unloaded(1, Settings::default(), PartitionConfig::default());
    let options = BatchOptions::coordinator(None);
    let (unknown, known) = ([99, 1, 2], record("a"));
    rig.append(options, &[(Some(&unknown), Some(b"?")), (Some(&known), Some(&3_i64.to_be_bytes()))]);
    rig.round();
    rig.load();
    assert_eq!(rig.hard().counters["a"], (3, Offset(1)));
}

#[test]
fn a_record_that_cannot_be_understood_stops_the_load_and_says_where() {
    for (key, reason) in [(None, "the record has no key"), (Some(record("b")), "not a counter")] {
        let mut rig = Rig::unloaded(1, Settings::default(), PartitionConfig::default());
        let good = record("a");
        let options = BatchOptions::coordinator(None);
        rig.append(options, &[(Some(&good), Some(&3_i64.to_be_bytes())), (key.as_deref(), Some(b"short"))]);
        rig.round();
        rig.load();
        let (offset, text) = failure(&rig);
        assert_eq!(offset, Offset(1));
        assert!(text.contains(reason) && text.contains("__consumer_offsets-0"), "{text}");
        assert_eq!(rig.shards.failures().count(), 1);
        let ticket = rig.submit(Request::Get("a"));
        assert_eq!(rig.answers(), [(ticket, Answer::Refused(Refusal::NotCoordinator))]);
        assert!(rig.shards.is_loaded());
    }
}

#[test]
fn transactions_are_replayed_with_their_producer_and_their_end() {
    for (end, expected) in [(TransactionEnd::Commit, Some(3)), (TransactionEnd::Abort, None)] {
        let mut rig = Rig::unloaded(1, Settings::default(), PartitionConfig::default());
        let known = record("a");
        let options = BatchOptions::coordinator(Some(PRODUCER));
        rig.append(options, &[(Some(&known), Some(&3_i64.to_be_bytes()))]);
        let marker = Marker { end, coordinator_epoch: 0 };
        rig.append_bytes(&build_marker(PRODUCER, marker, rig.now.wall, Offset::ZERO));
        rig.round();
        rig.load();
        let hard = rig.hard();
        assert_eq!(hard.counters.get("a").map(|counter| counter.0), expected);
        assert!(hard.held_back.is_empty());
        rig.submit(Request::Add(&["b"]));
        assert_eq!(rig.hard().counters["b"].1, Offset(2), "a marker takes an offset");
    }
}

#[test]
fn an_open_transaction_is_loaded_as_such() {
    let mut rig = Rig::unloaded(1, Settings::default(), PartitionConfig::default());
    let known = record("a");
    rig.append(BatchOptions::coordinator(Some(PRODUCER)), &[(Some(&known), None)]);
    rig.round();
    rig.load();
    assert_eq!(rig.hard().held_back[&PRODUCER].len(), 1);
}

#[test]
fn topics_deleted_during_a_load_are_told_afterwards() {
    let mut rig = Rig::single();
    rig.submit(Request::Add(&["a", "b"]));
    rig.round();
    let mut rig = rig.restart(Settings::default());
    rig.delete_topic("a");
    rig.load();
    assert_eq!(rig.hard().counters.keys().collect::<Vec<_>>(), ["b"]);
    rig.round();
    assert_eq!(rig.high_watermark(SHARD), Offset(3));
}

#[test]
fn what_a_loaded_shard_decides_is_written() {
    let mut rig = Rig::single();
    rig.submit(Request::Add(&[COUNTS_LOADS]));
    rig.round();
    for loads in 2..4 {
        rig = rig.restart(Settings::default());
        rig.load();
        rig.round();
        assert_eq!(rig.hard().counters[COUNTS_LOADS], (loads, Offset(loads - 1)));
        assert_eq!(rig.high_watermark(SHARD), Offset(loads));
    }
}

#[test]
fn a_damaged_batch_stops_the_load() {
    let mut rig = Rig::unloaded(1, Settings::default(), PartitionConfig::default());
    let mut builder = BatchBuilder::new(BatchOptions::coordinator(None));
    builder.append(rig.now.wall, Some(&record("a")), Some(&3_i64.to_be_bytes()), &[]).unwrap();
    let mut batch = builder.build(Offset::ZERO);
    let last = batch.len() - 2;
    batch[last] ^= 1;
    rig.append_bytes(&batch);
    rig.round();
    rig.load();
    let (offset, text) = failure(&rig);
    assert_eq!(offset, Offset(0));
    assert!(text.contains("checksum"), "{text}");
}

#[test]
fn kafka_16030_a_partition_that_goes_during_a_load_ends_it() {
    let mut rig = Rig::single();
    for name in ["a", "b"] {
        rig.submit(Request::Add(&[name]));
        rig.round();
    }
    let mut rig = rig.restart(Settings::default());
    rig.shards.load_step(&mut rig.logs, rig.now, 1);
    rig.logs.delete_partition(id(SHARD));
    rig.load();
    let (_, text) = failure(&rig);
    assert!(text.contains("does not exist"), "{text}");
    let ticket = rig.submit(Request::Get("a"));
    assert_eq!(rig.answers(), [(ticket, Answer::Refused(Refusal::NotCoordinator))]);
}

#[test]
fn records_below_the_log_start_are_not_replayed() {
    let mut rig = Rig::single();
    rig.submit(Request::Add(&["a", "b", "c"]));
    rig.round();
    rig.logs.advance_log_start(id(SHARD), Offset(1)).unwrap();
    rig.round();
    let mut rig = rig.restart(Settings::default());
    rig.load();
    assert_eq!(rig.hard().counters.keys().collect::<Vec<_>>(), ["b", "c"]);
}

#[derive(Clone, Debug)]
enum Step {
    Add(Vec<u8>),
    AddMaySplit(Vec<u8>),
    Read(u8),
    Round,
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let names = || proptest::collection::vec(0_u8..6, 1..5);
    let step = prop_oneof![
        4 => names().prop_map(Step::Add),
        1 => names().prop_map(Step::AddMaySplit),
        2 => (0_u8..6).prop_map(Step::Read),
        3 => Just(Step::Round),
        1 => Just(Step::Restart),
    ];
    proptest::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever happens, what is loaded is what was live when the last durable record was written, and each ticket
    /// is answered exactly once.
    #[test]
    fn what_is_loaded_is_what_was_live(steps in steps()) {
        const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
        let settings = Settings::default();
        let names = |picks: &[u8]| picks.iter().map(|pick| NAMES[usize::from(*pick)]).collect::<Vec<_>>();
        let mut rig = Rig::with_config(1, settings, small(250));
        let mut durable = rig.hard();
        let mut open = std::collections::BTreeSet::new();
        for step in steps {
            match step {
                Step::Add(picks) => drop(open.insert(rig.submit(Request::Add(&names(&picks))))),
                Step::AddMaySplit(picks) => drop(open.insert(rig.submit(Request::AddMaySplit(&names(&picks))))),
                Step::Read(pick) => drop(open.insert(rig.submit(Request::Get(NAMES[usize::from(pick)])))),
                Step::Round => {
                    rig.round();
                    durable = rig.hard();
                }
                Step::Restart => {
                    open.clear();
                    rig.answers();
                    rig = rig.restart(settings);
                    rig.load();
                    prop_assert_eq!(&rig.hard(), &durable);
                }
            }
            for (ticket, answer) in rig.answers() {
                prop_assert!(open.remove(&ticket), "{:?} twice", ticket);
                prop_assert!(matches!(answer, Answer::Reply(_)), "{:?}", answer);
            }
        }
        rig.round();
        for (ticket, _) in rig.answers() {
            prop_assert!(open.remove(&ticket));
        }
        prop_assert_eq!(open.len(), 0);
    }
}

#[test]
fn a_tombstone_that_the_cleaner_would_take_during_a_load_is_not_missed() {
    let config = PartitionConfig {
        segment_bytes: 150,
        cleanup: CleanupPolicy::Compact,
        delete_retention_ms: 0,
        ..PartitionConfig::default()
    };
    let mut rig = Rig::unloaded(1, Settings::default(), config);
    let options = BatchOptions::coordinator(None);
    let (deleted, other) = (record("a"), record("b"));
    rig.append(options, &[(Some(&deleted), Some(&3_i64.to_be_bytes()))]);
    rig.append(options, &[(Some(&deleted), None)]);
    rig.append(options, &[(Some(&other), Some(&5_i64.to_be_bytes()))]);
    rig.round();

    // The load has seen the counter and not yet its deletion when the cleaner comes, twice.
    rig.shards.load_step(&mut rig.logs, rig.now, 1);
    for _ in 0..2 {
        rig.pass_ms(10);
        rig.append(options, &[(Some(&other), Some(&5_i64.to_be_bytes()))]);
        rig.round();
        rig.logs.request_cleaning(id(SHARD), rig.now);
        for _ in 0..200 {
            rig.logs.clean(rig.now, 1000);
            rig.poll();
        }
    }
    rig.load();
    let counters: Vec<_> = rig.hard().counters.keys().cloned().collect();
    assert_eq!(counters, ["b"]);

    // Once it is loaded the cleaner goes on.
    let before = rig.logs.log(id(SHARD)).unwrap().size_bytes();
    for _ in 0..200 {
        rig.logs.clean(rig.now, 1000);
        rig.poll();
    }
    assert!(rig.logs.log(id(SHARD)).unwrap().size_bytes() < before);
}
