use milepost_client::TopicPartition;
use milepost_client::groups::{Committed, ShareStart};
use milepost_client::offsets::{Bounds, Found};
use milepost_model::{Offset, PartitionIndex, Timestamp};

use super::*;
use crate::facts::{PartitionFacts, Totals};
use crate::reason::Cause;

fn at(offset: i64) -> Found {
    Found { offset: Offset(offset), timestamp: None, leader_epoch: None }
}

fn committed(offset: i64) -> Position {
    Position::Committed(Committed { offset: Offset(offset), leader_epoch: None, metadata: String::new() })
}

fn partition(position: Position, log: Result<(i64, i64, i64), Reason>) -> PartitionFacts {
    let log = log.map(|(start, stable, end)| Bounds {
        start: at(start),
        end: at(end),
        stable_end: Some(Offset(stable)),
    });
    PartitionFacts {
        partition: TopicPartition::new("t", PartitionIndex(0)),
        position,
        log,
        member: None,
        next_record: None,
    }
}

fn gone() -> Reason {
    Reason { words: "t-0: gone".to_owned(), cause: Cause::Refused("UNKNOWN_TOPIC_OR_PARTITION") }
}

#[test]
fn zero_never_and_unknown_are_three_things() {
    let log = Ok((0, 10, 10));
    assert_eq!(partition(committed(10), log.clone()).lag(), Lag::Behind(0));
    assert_eq!(partition(Position::Never, log.clone()).lag(), Lag::Never);
    assert_eq!(partition(committed(10), Err(gone())).lag(), Lag::Unknown(gone()));
    let unstable = Reason::other("an open transaction");
    assert_eq!(partition(Position::Unknown(unstable.clone()), log).lag(), Lag::Unknown(unstable));
    // Whether something was committed is not the question where there is no log.
    assert_eq!(partition(Position::Never, Err(gone())).standing(), Standing::Gone);
}

#[test]
fn a_commit_beyond_the_end_is_said_and_not_clamped() {
    let one = partition(committed(15), Ok((0, 10, 10)));
    assert_eq!((one.lag(), one.standing()), (Lag::BeyondEnd(5), Standing::BeyondEnd));
    assert_eq!(one.stable_lag(), Some(Lag::BeyondEnd(5)));
    let one = partition(committed(2), Ok((5, 10, 10)));
    assert_eq!((one.lag(), one.standing()), (Lag::Behind(8), Standing::BelowStart));
}

#[test]
fn an_open_transaction_makes_the_two_lags_differ() {
    let one = partition(committed(4), Ok((0, 6, 10)));
    assert_eq!((one.lag(), one.stable_lag()), (Lag::Behind(6), Some(Lag::Behind(2))));
    // Whoever reads uncommitted records is past the transaction's beginning, and that is not beyond the end.
    let one = partition(committed(8), Ok((0, 6, 10)));
    assert_eq!((one.lag(), one.stable_lag()), (Lag::Behind(2), Some(Lag::Behind(0))));
}

#[test]
fn how_long_a_record_waits_is_told_only_where_it_is_known() {
    let now = Timestamp(1000);
    let mut one = partition(committed(4), Ok((0, 10, 10)));
    assert_eq!(one.time_lag_ms(now), None);
    one.next_record = Some(Timestamp(400));
    assert_eq!(one.time_lag_ms(now), Some(600));
    one.next_record = Some(Timestamp(4000));
    assert_eq!(one.time_lag_ms(now), Some(0), "a producer's clock may be ahead");
    assert_eq!(partition(committed(10), Ok((0, 10, 10))).time_lag_ms(now), Some(0));
    assert_eq!(partition(committed(12), Ok((0, 10, 10))).time_lag_ms(now), None);
}

#[test]
fn totals_count_what_is_not_known() {
    let all = [
        partition(committed(4), Ok((0, 6, 10))),
        partition(committed(9), Ok((0, 10, 10))),
        partition(committed(12), Ok((0, 10, 10))),
        partition(Position::Never, Ok((0, 10, 10))),
        partition(committed(1), Err(gone())),
    ];
    let expected = Totals {
        partitions: 5,
        lag: Some(7),
        stable_lag: Some(3),
        never: 1,
        beyond_end: 1,
        unknown: 1,
        ..Totals::default()
    };
    assert_eq!(Totals::of(&all), expected);
    // Nothing known is no 0.
    let sums = Totals::of(&all[2..]);
    assert_eq!((sums.lag, sums.stable_lag), (None, None));
    assert_eq!(Totals::of(&[]).lag, None);
    assert_eq!(Totals::of(&[partition(committed(10), Ok((0, 10, 10)))]).lag, Some(0));
    assert_eq!(Totals::of(&[partition(committed(1), Ok((4, 10, 10)))]).below_start, 1);
}

#[test]
fn what_a_member_has_to_read_and_nobody_has_begun_is_something_to_look_at() {
    let read = |log| PartitionFacts { member: Some(0), ..partition(Position::Never, log) };
    let with_records = Totals::of(&[read(Ok((0, 10, 10)))]);
    assert!(with_records.unbegun == 1 && with_records.is_behind());
    assert!(!Totals::of(&[read(Ok((10, 10, 10)))]).is_behind(), "there is nothing to read");
    assert!(!Totals::of(&[partition(Position::Never, Ok((0, 10, 10)))]).is_behind(), "nobody wants it");
}

#[test]
fn a_share_group_has_a_start_and_the_brokers_lag() {
    let start = |offset, lag| Position::Share(Some(ShareStart { offset: Offset(offset), lag }));
    let log = Ok((5, 10, 10));
    let one = partition(start(6, Some(3)), log.clone());
    assert_eq!((one.lag(), one.standing(), one.stable_lag()), (Lag::Behind(3), Standing::Inside, None));
    assert_eq!(one.position.committed(), None, "it is not committed, and nothing writes it as if it were");
    assert!(matches!(partition(start(6, None), log.clone()).lag(), Lag::Unknown(_)));
    assert_eq!(partition(start(2, Some(5)), log.clone()).standing(), Standing::BelowStart);
    let one = partition(Position::Share(None), log);
    assert_eq!((one.lag(), one.standing()), (Lag::Never, Standing::NotBegun));
    assert_eq!(partition(start(2, Some(5)), Err(gone())).standing(), Standing::Gone);
}
