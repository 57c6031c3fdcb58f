//! Snapshots: what groups had committed at one moment, as JSON lines that people can read and other programs can make.

mod capture;
mod diff;
mod lines;
mod store;

pub use capture::{Scope, capture};
pub use diff::{Difference, diff};
pub use lines::{FORMAT, VERSION, read, write};
pub use store::{Kept, NAME_MAX, Store, StoreError, is_name};

use std::collections::{BTreeMap, BTreeSet};

use milepost_client::TopicPartition;
use milepost_client::groups::Committed;
use milepost_model::{Offset, Timestamp, TopicId};

/// What stands above the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The snapshot's name.
    pub name: String,
    /// What somebody wrote about it.
    pub label: Option<String>,
    /// When it was taken.
    pub created: Timestamp,
    /// The cluster's name for itself.
    pub cluster_id: Option<String>,
}

/// How much of its group a row was captured with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Captured {
    /// All of it: of what no row speaks nothing was committed.
    Group,
    /// Some partitions: nothing is said of the others.
    #[default]
    Partitions,
}

/// One group, or one partition of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The group.
    pub group: String,
    /// Its type, if that is known.
    pub kind: Option<String>,
    /// Its state, if that is known; `Dead` for one that was not there.
    pub state: Option<String>,
    /// How much was captured of the group.
    pub captured: Captured,
    /// The partition. None for a group that has committed nothing.
    pub place: Option<Place>,
}

/// One partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which.
    pub partition: TopicPartition,
    /// The topic's id, in the form in which Kafka writes it.
    pub topic_id: Option<String>,
    /// What was committed. None where nothing was, which a restore puts back too.
    pub committed: Option<Committed>,
    /// When, if whoever made the file knew.
    pub commit_time: Option<Timestamp>,
    /// When it expires, likewise.
    pub expire_time: Option<Timestamp>,
    /// The first offset of the log.
    pub log_start: Option<Offset>,
    /// The offset after its last.
    pub log_end: Option<Offset>,
    /// The time of the record at the offset, by which its place can be found elsewhere.
    pub record_time: Option<Timestamp>,
}

/// A snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// What stands above the rows.
    pub header: Header,
    /// By group, then by partition.
    pub rows: Vec<Row>,
}

impl Row {
    /// Whether it says that there is no such group: the state of one is known and its type is not.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.place.is_none() && self.kind.is_none() && self.state.is_some()
    }
}

impl Snapshot {
    /// The groups in it, in the order of their names, each with what it says of its partitions.
    #[must_use]
    pub fn groups(&self) -> BTreeMap<&str, BTreeMap<TopicPartition, Option<Committed>>> {
        let mut groups: BTreeMap<&str, BTreeMap<TopicPartition, Option<Committed>>> = BTreeMap::new();
        for row in &self.rows {
            let of_group = groups.entry(&row.group).or_default();
            if let Some(place) = &row.place {
                of_group.insert(place.partition.clone(), place.committed.clone());
            }
        }
        groups
    }

    /// The groups of which it says all.
    #[must_use]
    pub fn whole_groups(&self) -> BTreeSet<&str> {
        self.captured(Captured::Group)
    }

    /// The groups of which it has some partitions, and says nothing of the others.
    pub(super) fn part_groups(&self) -> BTreeSet<&str> {
        self.captured(Captured::Partitions)
    }

    fn captured(&self, captured: Captured) -> BTreeSet<&str> {
        let rows = self.rows.iter().filter(|row| row.captured == captured);
        rows.map(|row| row.group.as_str()).collect()
    }

    /// What the topics of each group were then, as far as it says so.
    #[must_use]
    pub fn topic_ids(&self) -> BTreeMap<&str, BTreeMap<TopicPartition, TopicId>> {
        let mut ids: BTreeMap<&str, BTreeMap<TopicPartition, TopicId>> = BTreeMap::new();
        for row in &self.rows {
            if let Some(place) = &row.place
                && let Some(id) = place.topic_id()
            {
                ids.entry(&row.group).or_default().insert(place.partition.clone(), id);
            }
        }
        ids
    }
}

impl Place {
    /// The topic's id, if it is known and can be one.
    #[must_use]
    pub fn topic_id(&self) -> Option<TopicId> {
        self.topic_id.as_ref()?.parse().ok()
    }
}
