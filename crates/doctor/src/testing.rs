//! A cluster and a group that are well, for tests to break.

use std::collections::{BTreeMap, BTreeSet};

use milepost_model::{LeaderEpoch, Offset, PartitionIndex, Timestamp};

use crate::facts::{
    ClusterFacts, CommitFacts, Facts, GroupFacts, GroupKind, Log, LogFacts, PartitionFacts, Position,
    Replicas, TopicFacts,
};
use crate::rules::Rule;

pub(crate) const DAY_MS: i64 = 86_400_000;
/// When everything is looked at.
pub(crate) const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// Three brokers; the group `g` with one member, which reads `t:0` and is at 5 of 2 to 10.
pub(crate) fn well() -> Facts {
    let replicas = |partition| Replicas { partition: PartitionIndex(partition), all: 3, in_sync: 3 };
    let topic = |policy: &str, partitions: i32| TopicFacts {
        cleanup_policy: Some(policy.to_owned()),
        retention_ms: Some(7 * DAY_MS),
        min_in_sync: Some(2),
        segment_bytes: Some(100 << 20),
        partitions: (0..partitions).map(replicas).collect(),
    };
    Facts {
        cluster: ClusterFacts {
            address: "broker:9092".to_owned(),
            brokers: 3,
            offsets_retention_ms: Some(7 * DAY_MS),
            metadata_max_bytes: Some(4096),
            offsets_partitions: Some(2),
            offsets_topic: Some(topic("compact", 2)),
        },
        topics: BTreeMap::from([("t".to_owned(), topic("delete", 1))]),
        groups: vec![GroupFacts {
            group: "g".to_owned(),
            state: Some("Stable".to_owned()),
            members: Some(1),
            subscribed: Some(BTreeSet::from(["t".to_owned()])),
            kind: Some(GroupKind::Classic),
            partitions: vec![partition(0, 5)],
            ..GroupFacts::default()
        }],
        now: Some(NOW),
        earlier: None,
        logs: vec![LogFacts { bytes: 4000, records: 40, live: 1, ..LogFacts::default() }],
    }
}

/// A partition of `t` with a commit.
pub(crate) fn partition(index: i32, offset: i64) -> PartitionFacts {
    let epoch = Some(LeaderEpoch(1));
    PartitionFacts {
        topic: "t".to_owned(),
        partition: PartitionIndex(index),
        position: Position::Committed {
            offset: Offset(offset),
            leader_epoch: epoch,
            metadata: String::new(),
        },
        log: Log::Ends { start: Offset(2), end: Offset(10), leader_epoch: epoch },
        has_reader: true,
        commits: Some(CommitFacts {
            commits: 1,
            most_a_minute: 1,
            ..CommitFacts::first(Offset(offset), NOW)
        }),
    }
}

/// What a rule says of the facts after they were changed.
pub(crate) fn said(rule: &Rule, change: impl FnOnce(&mut Facts)) -> Vec<String> {
    let mut facts = well();
    change(&mut facts);
    rule.find(&facts).into_iter().map(|finding| finding.says).collect()
}

/// What a rule says when the first position has this history.
pub(crate) fn said_of(rule: &Rule, change: impl FnOnce(&mut CommitFacts)) -> Vec<String> {
    said(rule, |facts| change(facts.groups[0].partitions[0].commits.as_mut().unwrap()))
}
