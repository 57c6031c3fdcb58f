//! Copying what one group has committed to another: under other topics' names if wanted, into the range of the log, by
//! time where the offsets mean nothing.

use std::collections::{BTreeMap, BTreeSet};

use milepost_client::TopicPartition;
use milepost_client::groups::Committed;
use milepost_client::offsets::Found;

use super::offsets::{EpochSource, LeftOut, Move, OffsetPlan, Presence, Span};
use super::reset::carried;
use crate::facts::Logs;
use crate::reason::Reason;

/// What is to be copied: an offset, and the time of its record if that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// What the other group has committed. Its epoch counts only in the same topic of the same cluster.
    pub committed: Committed,
    /// What was found by the time of its record, where that is preferred to the offset.
    pub by_time: Option<Found>,
}

/// What is known when a copy is planned.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The group that is written to.
    pub group: String,
    /// Whether it is there.
    pub presence: Presence,
    /// What it has committed.
    pub committed: BTreeMap<TopicPartition, Committed>,
    /// Partitions that are left out from the start: what is committed is not known, or the topic is another now.
    pub left_out: BTreeMap<TopicPartition, Reason>,
    /// What is copied, under the names that are written.
    pub copied: BTreeMap<TopicPartition, Copied>,
    /// Where the logs that are written about begin and end.
    pub logs: Logs,
    /// Partitions in which the epoch that comes along means nothing: of another topic or cluster.
    pub foreign: BTreeSet<TopicPartition>,
}

/// Plans a copy. Nothing is ever written beyond the end of a log.
#[must_use]
pub fn plan(facts: &Facts) -> OffsetPlan {
    let mut plan = OffsetPlan::new(&facts.group, facts.presence.clone());
    for (partition, copied) in &facts.copied {
        match one(facts, partition, copied) {
            Ok(planned) => plan.moves.push(planned),
            Err(why) => plan.left_out.push(LeftOut { partition: partition.clone(), why }),
        }
    }
    plan
}

fn one(facts: &Facts, partition: &TopicPartition, copied: &Copied) -> Result<Move, Reason> {
    if let Some(why) = facts.left_out.get(partition) {
        return Err(why.clone());
    }
    let log = match facts.logs.get(partition) {
        Some(log) => log.clone()?,
        None => return Err(Reason::other(format!("{partition} was not asked about"))),
    };
    let mut said = copied.committed.clone();
    let mut epoch = EpochSource::AsSaid;
    if let Some(found) = copied.by_time {
        said.offset = found.offset;
        said.leader_epoch = found.leader_epoch;
        epoch = EpochSource::Log;
    } else if facts.foreign.contains(partition) && said.leader_epoch.take().is_some() {
        epoch = EpochSource::Log;
    }
    let (new, clamped) = carried(&said, &log);
    if clamped.is_some() {
        epoch = EpochSource::Log;
    }
    Ok(Move {
        partition: partition.clone(),
        old: facts.committed.get(partition).cloned(),
        new,
        epoch,
        clamped,
        log: Some(log),
        span: Span::default(),
    })
}

#[cfg(test)]
mod tests {
    use milepost_client::offsets::Bounds;
    use milepost_model::{LeaderEpoch, Offset, PartitionIndex};

    use super::*;

    fn place(topic: &str) -> TopicPartition {
        TopicPartition::new(topic, PartitionIndex(0))
    }

    fn found(offset: i64, epoch: i32) -> Found {
        Found { offset: Offset(offset), timestamp: None, leader_epoch: Some(LeaderEpoch(epoch)) }
    }

    fn copied(offset: i64, by_time: Option<Found>) -> Copied {
        let leader_epoch = Some(LeaderEpoch(3));
        let committed = Committed { offset: Offset(offset), leader_epoch, metadata: "m".to_owned() };
        Copied { committed, by_time }
    }

    fn facts() -> Facts {
        let log = Bounds { start: found(10, 1), end: found(100, 7), stable_end: None };
        let names = ["same", "other", "short", "timed", "unread", "bare"];
        let mut bare = copied(42, None);
        bare.committed.leader_epoch = None;
        Facts {
            group: "to".to_owned(),
            presence: Presence::Absent,
            committed: BTreeMap::new(),
            left_out: BTreeMap::from([(place("unread"), Reason::other("unread"))]),
            copied: BTreeMap::from([
                (place("same"), copied(42, None)),
                (place("other"), copied(42, None)),
                (place("short"), copied(420, None)),
                (place("timed"), copied(420, Some(found(33, 2)))),
                (place("gone"), copied(1, None)),
                (place("unread"), copied(1, None)),
                (place("bare"), bare),
            ]),
            logs: names
                .iter()
                .map(|name| (place(name), Ok(log)))
                .chain([(place("gone"), Err(Reason::other("gone")))])
                .collect(),
            foreign: BTreeSet::from([place("other"), place("bare")]),
        }
    }

    #[test]
    fn an_epoch_goes_only_where_it_means_the_same() {
        let plan = plan(&facts());
        let of = |topic: &str| plan.moves.iter().find(|one| one.partition == place(topic)).unwrap();
        assert_eq!(of("same").new.leader_epoch, Some(LeaderEpoch(3)));
        assert_eq!((of("other").new.offset, of("other").new.leader_epoch), (Offset(42), None));
        assert_eq!(
            plan.without_epoch(),
            BTreeMap::from([(place("other"), Offset(42))]),
            "what had none gets none"
        );
    }

    #[test]
    fn nothing_is_written_beyond_the_end_and_a_time_is_preferred() {
        let plan = plan(&facts());
        let of = |topic: &str| plan.moves.iter().find(|one| one.partition == place(topic)).unwrap();
        assert_eq!((of("short").new.offset, of("short").new.metadata.as_str()), (Offset(100), ""));
        assert_eq!(of("short").clamped.map(|clamped| clamped.asked), Some(Offset(420)));
        assert_eq!(
            (of("timed").new.offset, of("timed").new.leader_epoch),
            (Offset(33), Some(LeaderEpoch(2)))
        );
        let left_out: Vec<&str> = plan.left_out.iter().map(|one| one.why.words.as_str()).collect();
        assert_eq!(left_out, ["gone", "unread"], "where it is not known what would be written over");
    }
}
