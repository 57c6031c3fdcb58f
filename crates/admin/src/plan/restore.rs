//! Putting a group back to what a snapshot says: the same offsets, epochs and metadata, and nothing where there was nothing.

use std::collections::BTreeMap;

use milepost_client::TopicPartition;
use milepost_client::groups::Committed;

use super::offsets::{EpochSource, LeftOut, Move, OffsetPlan, Presence, Span};
use crate::facts::Logs;
use crate::reason::Reason;

/// What is known when a restore is planned.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The group.
    pub group: String,
    /// Whether it is there.
    pub presence: Presence,
    /// What it has committed.
    pub committed: BTreeMap<TopicPartition, Committed>,
    /// What the snapshot says of each partition; `None` where nothing was committed.
    pub snapshot: BTreeMap<TopicPartition, Option<Committed>>,
    /// Partitions that are left out from the start: what is committed is not known, or the topic is another now.
    pub left_out: BTreeMap<TopicPartition, Reason>,
    /// Where the logs begin and end.
    pub logs: Logs,
}

/// Plans it. An offset goes back as it was, even if the log has moved on since: an undo that changes what it restores is
/// none. Where the topic is gone nothing can be written.
#[must_use]
pub fn plan(facts: &Facts) -> OffsetPlan {
    let mut plan = OffsetPlan::new(&facts.group, facts.presence.clone());
    for (partition, said) in &facts.snapshot {
        let old = facts.committed.get(partition).cloned();
        if let Some(why) = facts.left_out.get(partition) {
            plan.left_out.push(LeftOut { partition: partition.clone(), why: why.clone() });
            continue;
        }
        let log = match facts.logs.get(partition) {
            Some(Err(why)) if why.is_gone() => {
                plan.left_out.push(LeftOut { partition: partition.clone(), why: why.clone() });
                continue;
            }
            Some(Ok(log)) => Some(*log),
            Some(Err(_)) | None => None,
        };
        match (said, old) {
            (Some(new), old) => plan.moves.push(Move {
                partition: partition.clone(),
                old,
                new: new.clone(),
                epoch: EpochSource::AsSaid,
                clamped: None,
                log,
                span: Span::default(),
            }),
            (None, Some(old)) => plan.forgets.push((partition.clone(), old)),
            (None, None) => {}
        }
    }
    plan
}

/// What is to be said of offsets that the log no longer has, or does not have yet.
#[must_use]
pub fn warnings(plan: &OffsetPlan) -> Vec<Reason> {
    let outside = |one: &Move| {
        let log = one.log?;
        let (offset, start, end) = (one.new.offset, log.start.offset, log.end.offset);
        (offset < start || offset > end).then(|| {
            Reason::other(format!(
                "{}: {offset} is outside of the log, which has {start} to {end}",
                one.partition
            ))
        })
    };
    plan.moves.iter().filter_map(outside).collect()
}

#[cfg(test)]
mod tests {
    use milepost_client::offsets::{Bounds, Found};
    use milepost_model::{LeaderEpoch, Offset, PartitionIndex};

    use super::*;
    use crate::reason::Cause;

    fn t(index: i32) -> TopicPartition {
        TopicPartition::new("t", PartitionIndex(index))
    }

    fn committed(offset: i64) -> Committed {
        let leader_epoch = (offset != 12).then_some(LeaderEpoch(2));
        Committed { offset: Offset(offset), leader_epoch, metadata: "m".to_owned() }
    }

    #[test]
    fn everything_goes_back_as_it_was() {
        let found = |offset| Found { offset: Offset(offset), timestamp: None, leader_epoch: None };
        let log = Bounds { start: found(10), end: found(20), stable_end: None };
        let gone = Reason { words: "gone".to_owned(), cause: Cause::Refused("UNKNOWN_TOPIC_OR_PARTITION") };
        let facts = Facts {
            group: "g".to_owned(),
            presence: Presence::Empty,
            committed: BTreeMap::from([(t(0), committed(20)), (t(1), committed(20)), (t(3), committed(20))]),
            snapshot: BTreeMap::from([
                (t(0), Some(committed(12))),
                (t(1), None),
                (t(2), None),
                (t(3), Some(committed(5))),
                (t(4), Some(committed(5))),
                (t(5), Some(committed(5))),
            ]),
            left_out: BTreeMap::from([(t(5), Reason::other("another"))]),
            logs: BTreeMap::from([(t(0), Ok(log)), (t(1), Ok(log)), (t(3), Ok(log)), (t(4), Err(gone))]),
        };
        let plan = plan(&facts);
        let moves: Vec<(TopicPartition, Committed)> =
            plan.moves.iter().map(|one| (one.partition.clone(), one.new.clone())).collect();
        assert_eq!(moves, [(t(0), committed(12)), (t(3), committed(5))]);
        assert_eq!(plan.forgets, [(t(1), committed(20))]);
        let left_out: Vec<&str> = plan.left_out.iter().map(|one| one.why.words.as_str()).collect();
        assert_eq!(left_out, ["gone", "another"]);
        assert!(plan.without_epoch().is_empty(), "what had no epoch gets none");
        assert!(warnings(&plan)[0].words.starts_with("t-3: 5 is outside of the log"));
    }
}
