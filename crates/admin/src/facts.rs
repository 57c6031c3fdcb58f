//! What is known of groups and logs at one moment. Plans and views are made of these and of nothing else.

use std::collections::BTreeMap;

use milepost_client::TopicPartition;
use milepost_client::groups::{Committed, GroupDescription, GroupKind, ShareStart};
use milepost_client::offsets::Bounds;
use milepost_model::{Offset, Timestamp};

use crate::lag::{Lag, Standing};
use crate::reason::Reason;

/// The ends of a log.
pub type LogFacts = Bounds;

/// The ends of many, or why they are not known.
pub type Logs = BTreeMap<TopicPartition, Result<LogFacts, Reason>>;

/// What a group has committed for a partition. Nothing, unknown and 0 are three things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// It has committed this.
    Committed(Committed),
    /// It never committed, or what it committed has expired or was deleted.
    Never,
    /// It is a share group, which commits nothing: the broker knows where it begins. `None` where it has not read yet.
    Share(Option<ShareStart>),
    /// That cannot be said, for this reason.
    Unknown(Reason),
}

impl Position {
    /// What it has committed, if that is known and something.
    #[must_use]
    pub fn committed(&self) -> Option<&Committed> {
        if let Self::Committed(committed) = self { Some(committed) } else { None }
    }

    /// The next record to read: the one at what is committed, or at which a share group begins.
    #[must_use]
    pub fn next(&self) -> Option<Offset> {
        let committed = self.committed().map(|committed| committed.offset);
        committed.or_else(|| self.share_start().map(|start| start.offset))
    }

    /// Where a share group begins.
    #[must_use]
    pub fn share_start(&self) -> Option<&ShareStart> {
        if let Self::Share(start) = self { start.as_ref() } else { None }
    }
}

/// One partition of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionFacts {
    /// Which.
    pub partition: TopicPartition,
    /// Where the group is in it.
    pub position: Position,
    /// Where its log begins and ends; read after the position.
    pub log: Result<LogFacts, Reason>,
    /// Which of the group's members has to read it, by its place in the description. None where many do, in a share group.
    pub member: Option<usize>,
    /// The time of the next record to read, where that was asked for, there is one, and it has a time.
    pub next_record: Option<Timestamp>,
}

impl PartitionFacts {
    /// One of which nothing was asked yet.
    pub(crate) fn unasked(partition: TopicPartition) -> Self {
        Self {
            position: Position::Never,
            log: Err(Reason::other(format!("{partition} was not asked about"))),
            member: None,
            next_record: None,
            partition,
        }
    }

    /// How far the group is behind the high watermark.
    #[must_use]
    pub fn lag(&self) -> Lag {
        Lag::between(&self.position, self.log.as_ref().map(|log| log.end.offset))
    }

    /// How far the group is behind the last stable offset, where those wait that read only what is committed. `None` where
    /// the broker does not say where that is, and of a share group, whose lag the broker counts.
    #[must_use]
    pub fn stable_lag(&self) -> Option<Lag> {
        if matches!(self.position, Position::Share(_)) {
            return None;
        }
        match &self.log {
            Ok(log) => {
                let stable = log.stable_end?;
                // Whoever reads everything may be beyond it without anything being wrong.
                Some(match Lag::between(&self.position, Ok(stable)) {
                    Lag::BeyondEnd(_) if self.lag().behind().is_some() => Lag::Behind(0),
                    lag => lag,
                })
            }
            Err(reason) => Some(Lag::between(&self.position, Err(reason))),
        }
    }

    /// Whether nothing is committed for it though a member has to read it and there are records: it will be read from one end
    /// or the other, and nobody can say from which.
    #[must_use]
    pub fn is_unbegun(&self) -> bool {
        let has_records = self.log.as_ref().is_ok_and(|log| log.start.offset < log.end.offset);
        self.standing() == Standing::NeverCommitted && self.member.is_some() && has_records
    }

    /// How long the next record to read has been waiting: nothing where nothing waits. `None` where that is not known.
    /// Compaction and producers' clocks make it a guess, so whoever shows it says how it was found.
    #[must_use]
    pub fn time_lag_ms(&self, now: Timestamp) -> Option<i64> {
        match (self.lag().behind()?, self.next_record) {
            (0, _) => Some(0),
            (_, Some(time)) => Some((now.0 - time.0).max(0)),
            (_, None) => None,
        }
    }

    /// In one word what is to be thought of it.
    #[must_use]
    pub fn standing(&self) -> Standing {
        Standing::of(&self.position, self.log.as_ref())
    }
}

/// One group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFacts {
    /// Its name.
    pub group: String,
    /// Its state and members, where they were asked for.
    pub description: Option<Result<GroupDescription, Reason>>,
    /// Why its offsets are not known at all.
    pub unknown: Option<Reason>,
    /// Its partitions: those that it has committed for, and those that its members have to read.
    pub partitions: Vec<PartitionFacts>,
}

/// Sums over partitions. What is not known is counted, not guessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Partitions in all.
    pub partitions: usize,
    /// Records behind, over those partitions of which that is known. `None` where it is known of none: that is no 0.
    pub lag: Option<i64>,
    /// The same to the last stable offset.
    pub stable_lag: Option<i64>,
    /// Partitions without a commit.
    pub never: usize,
    /// Partitions whose commit lies beyond the end of the log.
    pub beyond_end: usize,
    /// Partitions of which the lag is not known.
    pub unknown: usize,
    /// Partitions whose commit lies before the first record that is left; they are behind too.
    pub below_start: usize,
    /// Partitions with records and without a commit that a member has to read.
    pub unbegun: usize,
}

/// What counts of a partition in sums.
#[derive(Clone, Debug)]
pub(crate) struct Counted<'a> {
    /// How far behind the high watermark.
    pub(crate) lag: &'a Lag,
    /// How far behind the last stable offset, where that is known.
    pub(crate) stable_lag: Option<i64>,
    pub(crate) standing: Standing,
    /// Whether somebody has to read it, there is something to read, and nothing was committed.
    pub(crate) is_unbegun: bool,
}

impl Totals {
    /// Over these partitions.
    #[must_use]
    pub fn of<'a>(partitions: impl IntoIterator<Item = &'a PartitionFacts>) -> Self {
        let mut totals = Self::default();
        for one in partitions {
            totals.count(&Counted {
                lag: &one.lag(),
                stable_lag: one.stable_lag().and_then(|lag| lag.behind()),
                standing: one.standing(),
                is_unbegun: one.is_unbegun(),
            });
        }
        totals
    }

    /// Whether there is something to look at: it is behind, beyond an end, or that is not known.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.lag.is_some_and(|lag| lag > 0) || self.beyond_end > 0 || self.unknown > 0 || self.unbegun > 0
    }

    /// Counts one more partition.
    pub(crate) fn count(&mut self, one: &Counted<'_>) {
        let add = |sum: &mut Option<i64>, count: i64| *sum = Some(sum.unwrap_or(0).saturating_add(count));
        self.partitions += 1;
        self.below_start += usize::from(one.standing == Standing::BelowStart);
        self.unbegun += usize::from(one.is_unbegun);
        if let Some(count) = one.stable_lag {
            add(&mut self.stable_lag, count);
        }
        match one.lag {
            Lag::Behind(count) => add(&mut self.lag, *count),
            Lag::BeyondEnd(_) => self.beyond_end += 1,
            Lag::Never => self.never += 1,
            Lag::Unknown(_) => self.unknown += 1,
        }
    }
}

impl GroupFacts {
    /// Sums over all its partitions.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals::of(&self.partitions)
    }

    /// Why committed offsets cannot be written for it, if it keeps none at all.
    #[must_use]
    pub fn keeps_no_offsets(&self) -> Option<Reason> {
        let known = self.known()?;
        let why = if known.kind == GroupKind::Share {
            "a share group commits no offsets: the broker keeps which records are done with; \
             kafka-share-groups --reset-offsets moves where it begins"
        } else if known.is_connect() {
            "the workers of Kafka Connect commit no offsets in their group: each sink connector has a group of its own, \
             connect-NAME, and source connectors keep their positions in a topic"
        } else {
            return None;
        };
        Some(Reason::other(format!("{}: {why}", self.group)))
    }

    /// Its description, if it is known.
    #[must_use]
    pub fn known(&self) -> Option<&GroupDescription> {
        self.description.as_ref().and_then(|description| description.as_ref().ok())
    }
}
