//! One group that is watched.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use milepost_client::TopicPartition;
use milepost_client::groups::{GroupDescription, GroupKind};

use super::catch_up::CatchUp;
use super::partition::WatchedPartition;
use crate::facts::{Counted, GroupFacts, PartitionFacts, Totals};
use crate::lag::Lag;
use crate::reason::Reason;

/// Of how many looks the lag of a group is kept: as many as a wide terminal has room for.
pub const HISTORY_LOOKS_MAX: usize = 120;

/// What the last look showed of it, and how it moves.
#[derive(Clone, Debug, Default)]
pub struct WatchedGroup {
    /// Its type, if it is known.
    pub kind: Option<GroupKind>,
    /// Its state by Kafka's name, if it is known.
    pub state: Option<String>,
    /// Its members, if they are known.
    pub members: Option<Vec<WatchedMember>>,
    /// Why something is not known of it as a whole.
    pub unknown: Option<Reason>,
    /// Its partitions.
    pub partitions: BTreeMap<TopicPartition, WatchedPartition>,
    /// Its figures.
    pub figures: Figures,
    /// Its lag in the last looks, oldest first; `None` where it was not known. At most [`HISTORY_LOOKS_MAX`].
    pub lags: VecDeque<Option<i64>>,
    pub(super) seen_in: u64,
}

/// A member of a group that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedMember {
    /// Its id.
    pub member_id: String,
    /// What the program calls itself.
    pub client_id: String,
    /// Where it connects from.
    pub host: String,
}

/// The figures of a group: sums over those of its partitions of which they are known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Of how many partitions what is known.
    pub totals: Totals,
    /// How far it is behind. `None` where no partition's lag is known.
    pub lag: Option<i64>,
    /// Records a second that it reads.
    pub consumption: Option<f64>,
    /// Records a second by which the logs grow that it reads.
    pub production: Option<f64>,
    /// When it will have caught up.
    pub catch_up: Option<CatchUp>,
    /// The partition that is worst off: one beyond its end before any that is behind, and of these the furthest.
    pub worst: Option<TopicPartition>,
}

impl WatchedGroup {
    /// The member that has to read a partition.
    #[must_use]
    pub fn member_of(&self, partition: &WatchedPartition) -> Option<&WatchedMember> {
        self.members.as_ref()?.get(partition.member?)
    }

    /// Whether there is something to look at: it is behind, beyond an end, or not known.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.unknown.is_some() || self.figures.totals.is_behind()
    }

    pub(super) fn note(&mut self, at: Duration, facts: GroupFacts) {
        let (description, mut unknown) = match facts.description {
            Some(Ok(description)) => (Some(description), None),
            Some(Err(reason)) => (None, Some(reason)),
            None => (None, None),
        };
        if let Some(reason) = facts.unknown {
            self.partitions.values_mut().for_each(|one| one.hide(&reason));
            self.add(at, &facts.partitions);
            unknown = Some(reason);
        } else {
            let before = std::mem::take(&mut self.partitions);
            self.partitions = before
                .into_iter()
                .filter(|(one, _)| {
                    facts.partitions.binary_search_by(|facts| facts.partition.cmp(one)).is_ok()
                })
                .collect();
            self.add(at, &facts.partitions);
        }
        self.unknown = unknown;
        self.describe(description);
        self.figures = figures(&self.partitions);
        if self.lags.len() >= HISTORY_LOOKS_MAX {
            self.lags.pop_front();
        }
        self.lags.push_back(self.figures.lag);
    }

    fn add(&mut self, at: Duration, facts: &[PartitionFacts]) {
        for one in facts {
            match self.partitions.get_mut(&one.partition) {
                Some(known) => known.note(at, one),
                None => {
                    self.partitions.insert(one.partition.clone(), WatchedPartition::first(at, one));
                }
            }
        }
    }

    fn describe(&mut self, description: Option<GroupDescription>) {
        let Some(description) = description else {
            (self.kind, self.state, self.members) = (None, None, None);
            return;
        };
        self.kind = Some(description.kind);
        self.state = Some(description.state);
        let members = description.members.into_iter().map(|member| WatchedMember {
            member_id: member.member_id,
            client_id: member.client_id,
            host: member.host,
        });
        self.members = Some(members.collect());
    }
}

fn figures(partitions: &BTreeMap<TopicPartition, WatchedPartition>) -> Figures {
    let mut totals = Totals::default();
    let mut worst: Option<(bool, i64, &TopicPartition)> = None;
    // Whether it catches up is asked only of partitions whose lag is known: of the others no reading would help.
    let mut rates_of_known = (None, None);
    let (mut consumption, mut production) = (None, None);
    for (partition, one) in partitions {
        totals.count(&Counted {
            lag: &one.lag,
            stable_lag: one.stable_lag,
            standing: one.standing,
            is_unbegun: one.is_unbegun,
        });
        let standing = match one.lag {
            Lag::BeyondEnd(count) => Some((true, count, partition)),
            Lag::Behind(count) if count > 0 => Some((false, count, partition)),
            Lag::Behind(_) | Lag::Never | Lag::Unknown(_) => None,
        };
        // Of equals the first stays.
        if standing.map(|(beyond, count, _)| (beyond, count))
            > worst.map(|(beyond, count, _)| (beyond, count))
        {
            worst = standing;
        }
        add(&mut consumption, one.consumption());
        add(&mut production, one.production());
        if one.lag.behind().is_some() {
            add(&mut rates_of_known.0, one.consumption());
            add(&mut rates_of_known.1, one.production());
        }
    }
    let lag = totals.lag;
    let catch_up = lag.and_then(|lag| CatchUp::estimate(lag, rates_of_known.0, rates_of_known.1));
    let worst = worst.map(|(_, _, partition)| partition.clone());
    Figures { totals, lag, consumption, production, catch_up, worst }
}

fn add(sum: &mut Option<f64>, rate: Option<f64>) {
    if let Some(rate) = rate {
        *sum = Some(sum.unwrap_or(0.0) + rate);
    }
}
