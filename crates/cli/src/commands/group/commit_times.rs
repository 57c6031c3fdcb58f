//! When offsets were committed, and when they expire. Only the log of committed offsets tells, so it is read for whoever asks.

use std::collections::BTreeMap;

use milepost_admin::{Reason, checkup};
use milepost_client::{Cluster, TopicPartition};
use milepost_doctor::expires;
use milepost_model::Timestamp;

use crate::commands::offsets::ledger;
use crate::failure::Failure;

/// What is known of one position.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) committed: Option<Timestamp>,
    pub(super) expires: Option<Timestamp>,
}

/// What is known of many. Nothing where it was not asked for.
#[derive(Debug, Default)]
pub(super) struct CommitTimes(BTreeMap<String, BTreeMap<TopicPartition, Times>>);

impl CommitTimes {
    /// Reads the partitions of the log in which these groups live to their ends. Also gives what could not be seen.
    pub(super) fn read(cluster: &mut Cluster, groups: &[String]) -> Result<(Self, Vec<Reason>), Failure> {
        let mut checkup = checkup::gather(cluster, groups)?;
        let history = ledger::read(cluster, &checkup.homes(), None)?;
        checkup.note(&history.ledger, &history.whole);
        for (what, reason) in history.unseen {
            checkup.miss(&what, reason);
        }
        let mut all = BTreeMap::new();
        for group in &checkup.facts.groups {
            let of_one = |one: &milepost_doctor::PartitionFacts| {
                let times = Times {
                    committed: one.commits.map(|commits| commits.last),
                    expires: expires(&checkup.facts, group, one),
                };
                (TopicPartition::new(one.topic.as_str(), one.partition), times)
            };
            all.insert(group.group.clone(), group.partitions.iter().map(of_one).collect());
        }
        Ok((Self(all), checkup.unseen()))
    }

    pub(super) fn of(&self, group: &str, partition: &TopicPartition) -> Times {
        self.0.get(group).and_then(|known| known.get(partition)).copied().unwrap_or_default()
    }
}
