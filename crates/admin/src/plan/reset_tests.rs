use milepost_client::offsets::Bounds;
use milepost_model::{LeaderEpoch, PartitionIndex, Timestamp};

use super::*;
use crate::plan::{Shift, SpanEnd};
use milepost_client::stamps::Stamp;

fn t(index: i32) -> TopicPartition {
    TopicPartition::new("t", PartitionIndex(index))
}

fn found(offset: i64, epoch: i32) -> Found {
    Found { offset: Offset(offset), timestamp: None, leader_epoch: Some(LeaderEpoch(epoch)) }
}

fn committed(offset: i64, epoch: Option<i32>, metadata: &str) -> Committed {
    Committed { offset: Offset(offset), leader_epoch: epoch.map(LeaderEpoch), metadata: metadata.to_owned() }
}

/// Two partitions with records 10 to 99, of which the group has committed 50 in the first.
fn facts() -> Facts {
    let log = Bounds { start: found(10, 1), end: found(100, 7), stable_end: Some(Offset(100)) };
    Facts {
        group: "g".to_owned(),
        presence: Presence::Empty,
        committed: BTreeMap::from([(t(0), committed(50, Some(3), "state"))]),
        left_out: BTreeMap::new(),
        scope: BTreeSet::from([t(0), t(1)]),
        logs: BTreeMap::from([(t(0), Ok(log)), (t(1), Ok(log))]),
    }
}

fn news(destination: &Destination) -> Vec<(Committed, Option<i64>)> {
    let plan = plan(&facts(), destination, Metadata::Cleared);
    plan.moves.into_iter().map(|one| (one.new, one.clamped.map(|clamped| clamped.asked.0))).collect()
}

#[test]
fn the_ends_come_with_the_epoch_of_the_log_there() {
    assert_eq!(news(&Destination::Start)[0], (committed(10, Some(1), ""), None));
    assert_eq!(news(&Destination::End)[1], (committed(100, Some(7), ""), None));
}

#[test]
fn an_offset_in_between_has_an_epoch_that_is_to_be_looked_up() {
    let mut plan = plan(&facts(), &Destination::At(Offset(60)), Metadata::Cleared);
    assert_eq!(plan.moves[0].new, committed(60, None, ""));
    assert_eq!(plan.without_epoch(), BTreeMap::from([(t(0), Offset(60)), (t(1), Offset(60))]));
    plan.set_epochs(&BTreeMap::from([(t(0), Some(LeaderEpoch(4))), (t(1), None)]));
    assert_eq!(plan.moves[0].new, committed(60, Some(4), ""));
    assert_eq!(plan.moves[1].new, committed(60, None, ""), "or none is written");
}

#[test]
fn what_lies_outside_of_the_log_is_moved_into_it_and_said() {
    assert_eq!(news(&Destination::At(Offset(5)))[0], (committed(10, Some(1), ""), Some(5)));
    assert_eq!(news(&Destination::At(Offset(500)))[0], (committed(100, Some(7), ""), Some(500)));
    assert_eq!(news(&Destination::Shift(1000))[0], (committed(100, Some(7), ""), Some(1050)));
}

#[test]
fn a_shift_counts_from_what_is_committed_and_from_nothing_else() {
    let plan = plan(&facts(), &Destination::Shift(-5), Metadata::Cleared);
    assert_eq!(plan.moves.len(), 1);
    assert_eq!((plan.moves[0].new.offset, plan.moves[0].shift()), (Offset(45), Shift::Replays(5)));
    assert_eq!(plan.left_out[0].partition, t(1));
    assert!(plan.left_out[0].why.words.contains("no committed offset"), "{:?}", plan.left_out);
}

#[test]
fn a_time_behind_the_last_record_means_the_end() {
    let there = BTreeMap::from([(t(0), Ok(Some(found(70, 5)))), (t(1), Ok(None))]);
    let news = news(&Destination::Found(there));
    assert_eq!(news, [(committed(70, Some(5), ""), None), (committed(100, Some(7), ""), None)]);
}

#[test]
fn what_is_said_keeps_its_epoch_and_metadata_unless_it_is_moved() {
    let said = BTreeMap::from([(t(0), committed(42, Some(2), "m")), (t(1), committed(200, Some(9), "m"))]);
    let news = news(&Destination::Said(said, EpochSource::Log));
    assert_eq!(news[0], (committed(42, Some(2), "m"), None));
    assert_eq!(news[1], (committed(100, Some(7), ""), Some(200)));
}

#[test]
fn metadata_is_cleared_or_kept_on_purpose() {
    let at = Destination::At(Offset(60));
    assert_eq!(plan(&facts(), &at, Metadata::Cleared).moves[0].new.metadata, "");
    assert_eq!(plan(&facts(), &at, Metadata::Kept).moves[0].new.metadata, "state");
}

#[test]
fn a_partition_that_is_gone_or_unstable_is_left_out_and_hides_no_other() {
    let mut facts = facts();
    facts.logs.insert(t(0), Err(Reason::other("gone")));
    facts.scope.insert(t(2));
    facts.logs.insert(t(2), facts.logs[&t(1)].clone());
    facts.left_out.insert(t(2), Reason::other("unstable"));
    let plan = plan(&facts, &Destination::Start, Metadata::Cleared);
    assert_eq!(plan.moves.iter().map(|one| one.partition.clone()).collect::<Vec<_>>(), [t(1)]);
    let why: Vec<&str> = plan.left_out.iter().map(|one| one.why.words.as_str()).collect();
    assert_eq!(why, ["gone", "unstable"]);
}

#[test]
fn records_are_counted_inside_of_the_log() {
    let mut facts = facts();
    facts.committed.insert(t(0), committed(3, None, ""));
    facts.committed.insert(t(1), committed(150, None, ""));
    let plan = plan(&facts, &Destination::At(Offset(60)), Metadata::Cleared);
    // From 3, of which 10 is the first that is left, and from 150, of which 99 was the last.
    assert_eq!(
        plan.moves.iter().map(Move::shift).collect::<Vec<_>>(),
        [Shift::Skips(50), Shift::Replays(40)]
    );
    assert_eq!(plan.records(), (40, 50));
}

#[test]
fn the_span_of_time_is_that_of_the_records_in_between() {
    let mut plan = plan(&facts(), &Destination::At(Offset(60)), Metadata::Cleared);
    assert_eq!(plan.span_ends(SpanEnd::From), BTreeMap::from([(t(0), Offset(50))]));
    assert_eq!(plan.span_ends(SpanEnd::To), BTreeMap::from([(t(0), Offset(59))]));
    let stamp = Stamp { offset: Offset(50), timestamp: Some(Timestamp(7)) };
    plan.set_span(SpanEnd::From, &BTreeMap::from([(t(0), Some(stamp))]));
    assert_eq!(plan.moves[0].span, Span { from: Some(Timestamp(7)), to: None });
    assert!(plan_is_void(&Destination::Shift(0)));
}

fn plan_is_void(destination: &Destination) -> bool {
    let mut facts = facts();
    facts.committed.insert(t(0), committed(50, None, ""));
    plan(&facts, destination, Metadata::Cleared).is_void()
}

#[test]
fn an_epoch_that_was_not_there_is_put_back_as_none_unless_the_place_is_another() {
    let said = BTreeMap::from([(t(0), committed(60, None, "")), (t(1), committed(500, None, ""))]);
    let lacking = |source| {
        let plan = plan(&facts(), &Destination::Said(said.clone(), source), Metadata::Cleared);
        let lacking: Vec<TopicPartition> = plan.without_epoch().into_keys().collect();
        (lacking, plan.moves[1].new.leader_epoch)
    };
    assert_eq!(lacking(EpochSource::AsSaid), (vec![], Some(LeaderEpoch(7))));
    assert_eq!(lacking(EpochSource::Log), (vec![t(0)], Some(LeaderEpoch(7))));
}
