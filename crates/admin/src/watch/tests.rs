use milepost_client::TopicPartition;
use milepost_client::groups::{Committed, GroupDescription, GroupKind, MemberDescription};
use milepost_client::offsets::{Bounds, Found};
use milepost_model::{Offset, PartitionIndex};

use super::*;
use crate::facts::{PartitionFacts, Position};
use crate::lag::{Lag, Standing};
use crate::reason::{Cause, Reason};

fn at(index: i32) -> TopicPartition {
    TopicPartition::new("t", PartitionIndex(index))
}

fn log(end: i64) -> Result<Bounds, Reason> {
    let found = |offset| Found { offset: Offset(offset), timestamp: None, leader_epoch: None };
    Ok(Bounds { start: found(0), end: found(end), stable_end: Some(Offset(end)) })
}

fn committed(offset: i64) -> Position {
    Position::Committed(Committed { offset: Offset(offset), leader_epoch: None, metadata: String::new() })
}

fn unknown() -> Reason {
    Reason { words: "no answer".to_owned(), cause: Cause::Unreachable }
}

fn partition(index: i32, position: Position, log: Result<Bounds, Reason>) -> PartitionFacts {
    PartitionFacts { partition: at(index), position, log, member: None, next_record: None }
}

fn facts(partitions: Vec<PartitionFacts>) -> GroupFacts {
    GroupFacts { group: "g".to_owned(), description: None, unknown: None, partitions }
}

/// What a look shows in each of these seconds.
fn watched(looks: Vec<(u64, GroupFacts)>) -> WatchedGroup {
    let mut watched = Watched::default();
    for (seconds, facts) in looks {
        watched.note(Duration::from_secs(seconds), facts);
        watched.end_look(Coverage::Whole);
    }
    watched.groups()["g"].clone()
}

/// A group with one partition: second, commit, end of the log.
fn single(looks: &[(u64, i64, i64)]) -> WatchedGroup {
    let look = |(seconds, commit, end): &(u64, i64, i64)| {
        (*seconds, facts(vec![partition(0, committed(*commit), log(*end))]))
    };
    watched(looks.iter().map(look).collect())
}

#[test]
fn two_looks_make_rates_and_the_time_to_catch_up() {
    let first = single(&[(0, 0, 1000)]).figures;
    assert_eq!(
        (first.lag, first.consumption, first.production, first.catch_up),
        (Some(1000), None, None, None)
    );
    let second = single(&[(0, 0, 1000), (2, 100, 1020)]).figures;
    assert_eq!((second.lag, second.consumption, second.production), (Some(920), Some(50.0), Some(10.0)));
    assert_eq!(second.catch_up, Some(CatchUp::After(Duration::from_secs(23))));
    let slower = single(&[(0, 0, 1000), (2, 10, 1020)]).figures;
    assert_eq!(slower.catch_up, Some(CatchUp::Never));
    let even = single(&[(0, 0, 1000), (2, 1000, 1000)]).figures;
    assert_eq!((even.lag, even.catch_up, even.worst), (Some(0), Some(CatchUp::Even), None));
}

#[test]
fn zero_never_beyond_and_unknown_are_counted_apart() {
    let look = || {
        facts(vec![
            partition(0, committed(10), log(10)),
            partition(1, Position::Never, log(7)),
            partition(2, committed(25), log(10)),
            partition(3, committed(3), log(10)),
            partition(4, committed(3), Err(unknown())),
        ])
    };
    let group = watched(vec![(0, look()), (2, look())]);
    let figures = &group.figures;
    let totals = figures.totals;
    assert_eq!((totals.partitions, totals.never, totals.beyond_end, totals.unknown), (5, 1, 1, 1));
    assert_eq!((figures.lag, totals.stable_lag), (Some(7), Some(7)));
    assert_eq!(figures.worst, Some(at(2)), "what is beyond the end is worse than what is behind");
    assert_eq!(group.partitions[&at(4)].production(), None);
    let nothing = watched(vec![(0, facts(vec![partition(1, Position::Never, log(7))]))]);
    assert_eq!(nothing.figures.lag, None, "never committed is not 0");
    assert!(!nothing.is_behind() && group.is_behind());
}

#[test]
fn what_is_written_where_nothing_was_committed_does_not_keep_a_group_from_catching_up() {
    let look = |commit, end_of_other| {
        facts(vec![
            partition(0, committed(commit), log(1000)),
            partition(1, Position::Never, log(end_of_other)),
        ])
    };
    let figures = watched(vec![(0, look(0, 0)), (2, look(200, 5000))]).figures;
    assert_eq!(figures.production, Some(2500.0));
    assert_eq!(figures.catch_up, Some(CatchUp::After(Duration::from_secs(8))));
}

#[test]
fn a_reset_to_earlier_is_no_reading() {
    let reset = single(&[(0, 500, 1000), (2, 600, 1000), (4, 100, 1000)]);
    assert_eq!((reset.figures.lag, reset.figures.consumption), (Some(900), None));
    assert_eq!(reset.figures.catch_up, None);
    assert_eq!(reset.figures.production, Some(0.0), "the log goes on as before");
    let after = single(&[(0, 500, 1000), (2, 600, 1000), (4, 100, 1000), (6, 300, 1000)]);
    assert_eq!(after.figures.consumption, Some(100.0));
}

#[test]
fn a_topic_that_was_made_anew_is_measured_anew() {
    let recreated = single(&[(0, 900, 1000), (2, 1000, 1000), (4, 1000, 5)]);
    let one = &recreated.partitions[&at(0)];
    assert_eq!((&one.lag, one.standing), (&Lag::BeyondEnd(995), Standing::BeyondEnd));
    assert_eq!((one.production(), one.catch_up(), recreated.figures.lag), (None, None, None));
    let after = single(&[(0, 900, 1000), (2, 1000, 1000), (4, 1000, 5), (6, 0, 25), (8, 10, 45)]);
    let one = &after.partitions[&at(0)];
    assert_eq!((one.consumption(), one.production()), (Some(5.0), Some(10.0)));
}

#[test]
fn commits_that_expired_are_not_measured_on() {
    let look = |position| facts(vec![partition(0, position, log(1000))]);
    let looks = [committed(100), committed(200), Position::Never, committed(900)];
    let group =
        watched(looks.into_iter().enumerate().map(|(second, one)| (second as u64, look(one))).collect());
    assert_eq!(group.figures.consumption, None, "from 200 to 900 nobody has read");
}

#[test]
fn a_look_without_an_answer_hides_figures_and_the_next_spans_it() {
    let good = |commit| facts(vec![partition(0, committed(commit), log(1000))]);
    let hidden = || GroupFacts { unknown: Some(unknown()), ..facts(Vec::new()) };
    let group = watched(vec![(0, good(0)), (2, good(20)), (4, hidden())]);
    assert_eq!((group.figures.lag, group.figures.consumption), (None, None));
    assert_eq!(group.partitions[&at(0)].lag, Lag::Unknown(unknown()));
    assert_eq!(group.unknown, Some(unknown()));
    let group = watched(vec![(0, good(0)), (2, good(20)), (4, hidden()), (6, good(60))]);
    assert_eq!(group.figures.consumption, Some(10.0));
    assert_eq!(group.lags, [Some(1000), Some(980), None, Some(940)]);
    assert_eq!(group.unknown, None);
}

#[test]
fn groups_come_and_go() {
    let mut watched = Watched::default();
    let named = |name: &str| GroupFacts { group: name.to_owned(), ..facts(Vec::new()) };
    let names = |watched: &Watched| watched.groups().keys().cloned().collect::<Vec<_>>();
    let mut look = |shown: &[&str], coverage| {
        for name in shown {
            watched.note(Duration::ZERO, named(name));
        }
        watched.end_look(coverage);
        names(&watched)
    };
    assert_eq!(look(&["a", "b"], Coverage::Whole), ["a", "b"]);
    assert_eq!(look(&["b", "c"], Coverage::Whole), ["b", "c"]);
    assert_eq!(look(&["b"], Coverage::Partial), ["b", "c"], "the broker of c did not answer");
    assert_eq!(look(&["b"], Coverage::Whole), ["b"]);
}

#[test]
fn partitions_come_and_go() {
    let both = facts(vec![partition(0, committed(0), log(10)), partition(1, committed(0), log(10))]);
    let first = facts(vec![partition(0, committed(4), log(10))]);
    let group = watched(vec![(0, both), (2, first)]);
    assert_eq!(group.partitions.keys().collect::<Vec<_>>(), [&at(0)]);
    assert_eq!(group.figures.consumption, Some(2.0));
}

#[test]
fn history_is_bounded() {
    let looks: Vec<(u64, i64, i64)> = (0..200).map(|second| (second, 0, second as i64)).collect();
    let lags = single(&looks).lags;
    assert_eq!((lags.len(), lags.back()), (HISTORY_LOOKS_MAX, Some(&Some(199))));
}

#[test]
fn partitions_know_their_members() {
    let member = MemberDescription {
        member_id: "m-1".to_owned(),
        instance_id: None,
        client_id: "billing".to_owned(),
        host: "/10.0.0.7".to_owned(),
        epoch: None,
        subscribed: None,
        assigned: [at(0)].into(),
        target: None,
        work: None,
    };
    let description = GroupDescription {
        kind: GroupKind::Classic,
        state: "Stable".to_owned(),
        protocol_type: "consumer".to_owned(),
        assignor: "range".to_owned(),
        epochs: None,
        topology: None,
        members: vec![member],
    };
    let mut one = partition(0, committed(4), log(10));
    one.member = Some(0);
    let described = GroupFacts { description: Some(Ok(description)), ..facts(vec![one]) };
    let group = watched(vec![(0, described)]);
    let host = group.member_of(&group.partitions[&at(0)]).map(|member| member.host.as_str());
    assert_eq!((group.state.as_deref(), host), (Some("Stable"), Some("/10.0.0.7")));
    let refused = GroupFacts { description: Some(Err(unknown())), ..facts(Vec::new()) };
    let group = watched(vec![(0, refused)]);
    assert_eq!((group.state.as_deref(), group.unknown.as_ref()), (None, Some(&unknown())));
}
