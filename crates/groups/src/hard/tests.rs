use std::sync::Arc;

use milepost_model::{
    DependsOn, Generation, Offset, Origin, PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity,
    Timestamp, TransactionEnd,
};

use super::Hard;
use super::names::FIRST_SWEEP;
use super::offsets::OffsetEntry;
use crate::consumer::{Assignment, ConsumerChange, ConsumerMember, ConsumerRecord, Epoch, GroupEpoch};
use crate::{ClassicGroup, CommittedOffset, GroupRecord, OffsetRecord, Record};

fn offset(group: &str, topic: &str, partition: i32, committed: Option<i64>) -> Record {
    Record::Offset(OffsetRecord {
        group: group.into(),
        topic: topic.into(),
        partition: PartitionIndex(partition),
        committed: committed.map(|offset| CommittedOffset::new(Offset(offset), Timestamp(0))),
    })
}

fn group(id: &str, generation: Option<i32>) -> Record {
    let classic = generation
        .map(|generation| ClassicGroup { generation: Generation(generation), ..ClassicGroup::default() });
    Record::Group(GroupRecord { group: id.into(), classic: classic.map(Arc::new) })
}

fn consumer(id: &str, change: ConsumerChange) -> Record {
    Record::Consumer(ConsumerRecord { group: id.into(), change })
}

/// A member as its first records make it.
fn consumer_member(id: &str) -> Vec<Record> {
    let epoch = GroupEpoch { epoch: Epoch(2), metadata_hash: 7 };
    vec![
        consumer(id, ConsumerChange::Member("m".into(), Some(Arc::new(ConsumerMember::default())))),
        consumer(id, ConsumerChange::Group(Some(epoch))),
        consumer(id, ConsumerChange::Target("m".into(), Some(Arc::new(Assignment::default())))),
    ]
}

/// Replays records from position 0 on.
fn replayed(records: Vec<Record>) -> Hard {
    let mut hard = Hard::new(1);
    for (position, record) in (0..).zip(records) {
        hard.replay(Offset(position), Origin::Plain, record);
    }
    hard
}

fn committed(hard: &Hard, group: &str, topic: &str, partition: i32) -> Option<i64> {
    let committed = hard.group(group)?.committed(topic, PartitionIndex(partition))?;
    Some(committed.offset().0)
}

#[test]
fn an_entry_is_tens_of_bytes() {
    assert!(size_of::<CommittedOffset>() <= 48);
    assert!(size_of::<OffsetEntry>() <= 64);
}

#[test]
fn partitions_are_found_in_whatever_order_they_came() {
    let partitions = [7, 0, 3, 1, -1, 1000, 2];
    let hard = replayed(partitions.iter().map(|p| offset("g", "t", *p, Some(i64::from(*p)))).collect());
    for partition in partitions {
        assert_eq!(committed(&hard, "g", "t", partition), Some(i64::from(partition)));
    }
    assert_eq!(committed(&hard, "g", "t", 4), None);
    let listed: Vec<_> =
        hard.group("g").unwrap().topics()[0].entries().iter().map(|entry| entry.partition().0).collect();
    assert_eq!(listed, [-1, 0, 1, 2, 3, 7, 1000]);
}

#[test]
fn kafka_17306_tombstones_of_what_is_not_there_are_ignored() {
    let hard = replayed(vec![offset("g", "t", 0, None), group("g", None)]);
    assert_eq!(hard.group_count(), 0);
}

#[test]
fn a_group_of_offsets_gives_way_to_a_group_record_and_back() {
    let mut hard = replayed(vec![offset("g", "t", 0, Some(1)), group("g", Some(5))]);
    assert_eq!(hard.group("g").unwrap().classic().unwrap().generation, Generation(5));
    hard.replay(Offset(2), Origin::Plain, group("g", None));
    assert!(hard.group("g").unwrap().classic().is_none());
    assert_eq!(committed(&hard, "g", "t", 0), Some(1));
}

/// KAFKA-20254: compaction took the record that ended the classic group, and its old offsets come first.
#[test]
fn kafka_20254_old_offsets_before_the_records_of_a_consumer_group_are_no_other_group() {
    let mut records = vec![offset("g", "t", 0, Some(1))];
    records.extend(consumer_member("g"));
    let hard = replayed(records);
    assert_eq!(hard.group_count(), 1);
    assert_eq!(hard.group("g").unwrap().consumer().unwrap().epoch(), Epoch(2));
    assert_eq!(committed(&hard, "g", "t", 0), Some(1));
}

/// KAFKA-17306, KAFKA-19862: compaction may have taken what a tombstone removes, and any part of what was before.
#[test]
fn kafka_19862_tombstones_of_consumer_groups_need_nothing_to_remove() {
    let everything = replayed(consumer_member("g")).group("g").unwrap().consumer().unwrap().tombstones();
    let tombstones: Vec<Record> = everything.into_iter().map(|change| consumer("g", change)).collect();
    assert!(tombstones.len() > 4);
    for kept in 0..=3 {
        let mut records = consumer_member("g");
        records.truncate(kept);
        records.extend(tombstones.clone());
        assert_eq!(replayed(records).group_count(), 0);
    }
}

#[test]
fn answers_wait_for_what_was_last_written_also_about_a_group_that_is_gone() {
    let mut hard = Hard::new(1);
    assert_eq!(hard.depends_on_group(hard.group("g")), DependsOn::Nothing);
    hard.replay(Offset(0), Origin::Plain, offset("g", "t", 0, Some(1)));
    hard.replay(Offset(1), Origin::Plain, offset("other", "t", 0, Some(1)));
    assert_eq!(hard.depends_on_group(hard.group("g")), DependsOn::Position(Offset(0)));
    hard.replay(Offset(2), Origin::Plain, offset("g", "t", 0, None));
    hard.replay(Offset(3), Origin::Plain, offset("other", "t", 0, Some(2)));
    assert!(hard.group("g").is_none());
    assert_eq!(hard.depends_on_group(hard.group("g")), DependsOn::Position(Offset(2)));
    assert_eq!(hard.depends_on_group(hard.group("other")), DependsOn::Position(Offset(3)));
}

#[test]
fn a_marker_makes_answers_about_its_groups_wait_for_it() {
    let producer = ProducerIdentity { id: ProducerId(1), epoch: ProducerEpoch(0) };
    let mut hard = Hard::new(1);
    hard.replay(Offset(0), Origin::Transactional(producer), offset("g", "t", 0, Some(1)));
    hard.replay(Offset(1), Origin::Transactional(producer), offset("gone", "t", 0, Some(1)));
    hard.replay(Offset(2), Origin::Plain, offset("gone", "t", 0, None));
    hard.replay_marker(Offset(3), producer, TransactionEnd::Commit);
    assert_eq!(committed(&hard, "g", "t", 0), Some(1));
    assert_eq!(hard.depends_on_group(hard.group("g")), DependsOn::Position(Offset(3)));
    assert!(hard.group("gone").is_none());
}

#[test]
fn topic_names_are_shared_and_forgotten() {
    let mut hard = replayed(vec![offset("g1", "t", 0, Some(1)), offset("g2", "t", 0, Some(1))]);
    let shared = hard.shared_topic("t");
    assert!(Arc::ptr_eq(hard.group("g1").unwrap().topics()[0].topic(), &shared));
    assert!(Arc::ptr_eq(hard.group("g2").unwrap().topics()[0].topic(), &shared));
    // Many names that come and go do not stay in the table.
    for number in 0..3 * i64::try_from(FIRST_SWEEP).unwrap() {
        let topic = format!("topic-{number}");
        hard.replay(Offset(2 + 2 * number), Origin::Plain, offset("g1", &topic, 0, Some(1)));
        hard.replay(Offset(3 + 2 * number), Origin::Plain, offset("g1", &topic, 0, None));
    }
    assert!(hard.topics.len() <= FIRST_SWEEP, "{} names", hard.topics.len());
    assert!(Arc::ptr_eq(&hard.shared_topic("t"), &shared));
}
