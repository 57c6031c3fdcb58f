//! Loading what compaction left: the random histories of this room are checked against it after every step
//! (`harness::Machine::check`); here are those that Kafka stumbled over, each named after its ticket, and a proof that the check
//! can fail.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]

#[allow(dead_code, reason = "this test needs only a part of it")]
mod harness;

use std::sync::Arc;

use harness::compaction::{Dice, Removable, cleaned, cleaned_whole, first_unstable};
use harness::{Entry, Machine, START, command, replayed};
use milepost_groups::{
    Assignment, ConsumerChange, ConsumerMember, ConsumerRecord, CurrentAssignment, Epoch, GroupEpoch,
    GroupSettings, Groups, Record, Reply, Request, TargetEpoch,
};
use milepost_model::{
    Encoded, Now, Offset, Origin, PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity, Shard as _,
    Ticket, TopicId, TransactionEnd,
};

const TOPIC: TopicId = TopicId([7; 16]);

/// A machine that was told these lines.
fn told(lines: &[&str]) -> Machine {
    let settings = GroupSettings { initial_rebalance_delay_ms: 0, ..GroupSettings::default() };
    let mut machine = Machine::new(settings);
    let mut members = 0;
    for line in lines {
        command::run(&mut machine, line, &mut members);
    }
    machine
}

fn log_of(machine: &Machine) -> Vec<(usize, Entry)> {
    machine.log.iter().cloned().enumerate().collect()
}

/// A shard that loads these records, through their bytes, and is ready to serve.
fn loaded(records: Vec<Record>) -> Groups {
    let mut groups = Groups::new(GroupSettings::default(), 1);
    for (position, record) in (0..).zip(records) {
        let mut bytes = Encoded::default();
        groups.encode(&record, &mut bytes);
        let decoded = groups.decode(Some(&bytes.key), bytes.value.as_deref()).unwrap().unwrap();
        groups.replay(Offset(position), Origin::Plain, decoded);
    }
    assert!(groups.on_loaded(START).records.is_empty(), "a load writes nothing");
    groups
}

fn of_group(change: ConsumerChange) -> Record {
    Record::Consumer(ConsumerRecord { group: "g".into(), change })
}

fn member(id: &str) -> Record {
    let member = ConsumerMember { subscribed_topics: [Arc::from("t")].into(), ..ConsumerMember::default() };
    of_group(ConsumerChange::Member(id.into(), Some(Arc::new(member))))
}

fn group_epoch(epoch: i32) -> Record {
    of_group(ConsumerChange::Group(Some(GroupEpoch { epoch: Epoch(epoch), metadata_hash: 7 })))
}

fn target(id: &str, partitions: &[i32]) -> Record {
    let target: Assignment = partitions.iter().map(|index| (TOPIC, PartitionIndex(*index))).collect();
    of_group(ConsumerChange::Target(id.into(), Some(Arc::new(target))))
}

fn target_epoch(epoch: i32) -> Record {
    of_group(ConsumerChange::TargetEpoch(Some(TargetEpoch {
        epoch: Epoch(epoch),
        made_at: Some(START.wall),
    })))
}

/// What a member has, all of it since its present epoch.
fn current(id: &str, epoch: i32, partitions: &[i32]) -> Record {
    let mut current = CurrentAssignment { epoch: Epoch(epoch), ..CurrentAssignment::default() };
    let owned = partitions.iter().map(|index| (PartitionIndex(*index), Epoch(epoch)));
    current.assigned.0.insert(TOPIC, owned.collect());
    of_group(ConsumerChange::Current(id.into(), Some(Arc::new(current))))
}

fn tombstones(id: &str) -> Vec<Record> {
    vec![
        of_group(ConsumerChange::Current(id.into(), None)),
        of_group(ConsumerChange::Target(id.into(), None)),
        of_group(ConsumerChange::TargetEpoch(None)),
        of_group(ConsumerChange::Member(id.into(), None)),
        of_group(ConsumerChange::Group(None)),
    ]
}

/// An offset that somebody without a group commits.
fn offset(value: i64) -> Record {
    let mut machine = Machine::new(GroupSettings::default());
    let step = command::run(&mut machine, &format!("commit g t:0={value}"), &mut 0);
    step.records.into_iter().next().unwrap()
}

fn listed(groups: &mut Groups) -> Vec<(String, &'static str)> {
    let request = Request::ListGroups(milepost_groups::ListGroups { states: None, types: None });
    let replies = groups.handle(START, Ticket(1), request).replies;
    let Some((_, Reply::ListGroups(listed))) = replies.into_iter().next() else { panic!("no list") };
    listed.into_iter().map(|group| (group.group_id.to_string(), group.state.name())).collect()
}

/// The whole hard state, which must say so about the partition.
fn says(groups: &Groups, what: &str) -> bool {
    groups.describe_hard_state().contains(what)
}

/// A heartbeat of a member in its epoch; the shard must answer it.
fn beats(groups: &mut Groups, id: &str, epoch: i32, now: Now) -> Result<Epoch, milepost_groups::GroupError> {
    let request = milepost_groups::ConsumerGroupHeartbeat {
        group_id: "g",
        member_id: id,
        step: milepost_groups::HeartbeatStep::Stay(Epoch(epoch)),
        instance_id: None,
        rack_id: None,
        client_id: "client",
        client_host: "/127.0.0.1",
        rebalance_timeout_ms: None,
        subscribed_topics: None,
        subscribed_regex: None,
        server_assignor: None,
        owned: None,
        topics: milepost_groups::ClusterTopics::new(1, [("t".into(), TOPIC, 4)]).into(),
    };
    let outcome = groups.handle(now, Ticket(2), Request::ConsumerGroupHeartbeat(request));
    for (position, record) in (100..).zip(outcome.records) {
        groups.replay(Offset(position), Origin::Plain, record);
    }
    let Some((_, Reply::ConsumerGroupHeartbeat(reply))) = outcome.replies.into_iter().next() else {
        panic!("no answer")
    };
    reply.map(|beat| beat.epoch)
}

/// KAFKA-20254: the tombstone that ended the classic group was compacted away, its offsets were not, and the id is that of a
/// consumer group now.
#[test]
fn kafka_20254_old_offsets_before_a_consumer_group() {
    let records = vec![
        offset(5),
        member("m"),
        group_epoch(2),
        target("m", &[0]),
        target_epoch(2),
        current("m", 2, &[0]),
    ];
    let mut groups = loaded(records);
    assert_eq!(listed(&mut groups), [("g".to_owned(), "Stable")]);
    assert_eq!(groups.offset_count(), 1);
    assert_eq!(beats(&mut groups, "m", 2, START), Ok(Epoch(2)));
}

/// KAFKA-19862: the record by which one member gave a partition up was cleaned away during the load, so that two have it.
#[test]
fn kafka_19862_two_owners_because_a_record_is_gone() {
    let records = vec![
        member("a"),
        member("b"),
        group_epoch(3),
        target("a", &[0, 1]),
        target("b", &[2, 3]),
        target_epoch(3),
        current("a", 2, &[0, 1, 2, 3]),
        current("b", 3, &[2, 3]),
        // What was cleaned away stood before `b` took over; this comes later and frees what is not `a`'s any more.
        current("a", 3, &[0, 1]),
    ];
    let mut groups = loaded(records);
    assert_eq!(beats(&mut groups, "a", 3, START), Ok(Epoch(3)));
    assert_eq!(beats(&mut groups, "b", 3, START), Ok(Epoch(3)));
}

/// KAFKA-17306: tombstones for what compaction has removed, wherever the log was cut.
#[test]
fn kafka_17306_tombstones_of_what_is_gone() {
    let history = [member("m"), group_epoch(2), target("m", &[0]), target_epoch(2), current("m", 2, &[0])];
    for missing in 0..=history.len() {
        let mut records = history[missing..].to_vec();
        records.extend(tombstones("m"));
        // A second member of the same group, of whom nothing is left.
        records.extend(tombstones("n"));
        let groups = loaded(records);
        assert_eq!((groups.group_count(), groups.offset_count()), (0, 0), "{missing} missing");
    }
    let machine = told(&["delete-offsets nobody t:0", "commit g t:0=1", "delete g"]);
    let tombstones_alone: Vec<_> = log_of(&machine).split_off(1);
    assert!(!tombstones_alone.is_empty());
    assert_eq!(replayed(&machine.settings, tombstones_alone.into_iter()).group_count(), 0);
}

/// The facts' order of a deleted group's tombstones need not be that of the log: compaction keeps of each key the last.
#[test]
fn tombstones_of_a_consumer_group_in_any_order() {
    let history = [member("m"), group_epoch(2), target("m", &[0]), target_epoch(2), current("m", 2, &[0])];
    for rotation in 0..5 {
        let mut removed = tombstones("m");
        removed.rotate_left(rotation);
        let groups = loaded(history.iter().cloned().chain(removed).collect());
        assert_eq!(groups.group_count(), 0, "rotated by {rotation}");
    }
}

/// KAFKA-4704: a group was removed, and its id is used to keep offsets alone.
#[test]
fn kafka_4704_the_id_of_a_removed_group_keeps_offsets() {
    let lines = [
        "join g client=client topics=t version=3",
        "sync g member=client-1 generation=1 assign=client-1:all",
        "commit g t:0=4 member=client-1 generation=1",
        "leave g member=client-1",
        "delete g",
        "commit g t:0=9",
    ];
    let machine = told(&lines);
    for removable in [Removable::Kept, Removable::Dropped] {
        let mut groups = replayed(&machine.settings, cleaned_whole(&log_of(&machine), removable).into_iter());
        assert_eq!(listed(&mut groups), [("g".to_owned(), "Empty")]);
        assert_eq!(groups.offset_count(), 1);
        assert!(groups.on_loaded(START).records.is_empty(), "a load writes nothing");
    }
}

/// KAFKA-8351, KAFKA-13727: of a transaction whose data was cleaned in part the marker stays, and applies to the rest.
#[test]
fn kafka_8351_the_marker_outlives_part_of_its_transaction() {
    let machine = told(&[
        "transactional g t:0=7 producer=1",
        "transactional g t:1=8 producer=1",
        "commit g t:0=9",
        "marker commit producer=1",
        "transactional g t:2=5 producer=2",
        "marker abort producer=2",
    ]);
    let log = log_of(&machine);
    assert_eq!(first_unstable(&log), log.len());
    let left = cleaned_whole(&log, Removable::Dropped);
    assert!(left.len() < log.len());
    assert_eq!(
        replayed(&machine.settings, left.into_iter()).describe_hard_state(),
        machine.shard.describe_hard_state()
    );
}

/// Half a transaction: its offsets stay pending, and a marker without data has no effect.
#[test]
fn half_a_transaction_is_loaded() {
    let machine = told(&["commit g t:0=1", "transactional g t:0=7 producer=1"]);
    let mut groups = replayed(&machine.settings, log_of(&machine).into_iter());
    assert_eq!(groups.offset_count(), 1);
    assert!(says(&groups, "pending"), "{}", groups.describe_hard_state());
    assert!(groups.on_loaded(START).records.is_empty(), "a load writes nothing");
    let stranger = ProducerIdentity { id: ProducerId(9), epoch: ProducerEpoch(0) };
    let before = groups.describe_hard_state();
    groups.replay_marker(Offset(5), stranger, TransactionEnd::Commit);
    assert_eq!(groups.describe_hard_state(), before);
}

/// Unknown types are skipped, an unknown version of a known type stops the load (KIP-915).
#[test]
fn unknown_types_are_skipped_and_unknown_versions_are_not() {
    let groups = Groups::new(GroupSettings::default(), 1);
    for unknown_type in [9_i16, 10, 18, 23, 99, -1] {
        let key = [&unknown_type.to_be_bytes()[..], b"whatever"].concat();
        assert_eq!(groups.decode(Some(&key), Some(b"whatever")), Ok(None), "{unknown_type}");
        assert_eq!(groups.decode(Some(&key), None), Ok(None), "{unknown_type}");
    }
    let mut bytes = Encoded::default();
    groups.encode(&offset(1), &mut bytes);
    let mut newer = bytes.value.unwrap();
    newer[1] = 5;
    let reason = groups.decode(Some(&bytes.key), Some(&newer)).unwrap_err().0;
    assert!(reason.contains('5'), "{reason}");
    assert!(groups.decode(None, Some(b"")).is_err(), "a record without a key");
}

/// A cleaner that went above the first open transaction would be noticed: what the transaction hides is gone with its abort.
#[test]
fn a_pass_above_the_last_stable_offset_is_noticed() {
    let machine = told(&["commit g t:0=1", "transactional g t:0=7 producer=1"]);
    let log = log_of(&machine);
    assert_eq!(first_unstable(&log), 1);
    let wrong = cleaned(&log, 2, Removable::Kept, &mut Dice(1));
    assert_eq!(wrong.len(), 1, "the committed offset went");
    let state = |log: Vec<(usize, Entry)>| replayed(&machine.settings, log.into_iter()).describe_hard_state();
    assert_ne!(state(wrong), state(log));
}
