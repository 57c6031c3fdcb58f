//! Gathers what a plan is made of: what a target means in this cluster, and what is known of the group that it is for.

use std::collections::{BTreeMap, BTreeSet};

use milepost_client::groups::Committed;
use milepost_client::offsets::{self, Moment};
use milepost_client::{ClientError, Cluster, TopicPartition, stamps};
use milepost_model::{Offset, Timestamp, TopicId};

use crate::collect::{self, Detail};
use crate::facts::{GroupFacts, Position};
use crate::formats::OffsetRow;
use crate::name_map::NameMap;
use crate::plan::copy::{self, Copied};
use crate::plan::reset::{self, Destination};
use crate::plan::{Presence, restore};
use crate::reason::Reason;
use crate::same_topic;
use crate::snapshot::Snapshot;
use crate::topic_filter::TopicFilter;

/// One group with all that is known of it. A group that is not there is `Dead` and has no partitions.
///
/// # Errors
/// When nobody can be asked.
pub fn group(cluster: &mut Cluster, name: &str) -> Result<GroupFacts, ClientError> {
    let found = collect::groups(cluster, &[name], Detail::Members)?.pop();
    found.ok_or_else(|| ClientError::Incomplete { what: "the answer".to_owned(), lacks: name.to_owned() })
}

/// The same of a group that is to be written to.
///
/// # Errors
/// When nobody can be asked; and the reason, if the group is of a kind that keeps no committed offsets.
pub fn group_to_write(cluster: &mut Cluster, name: &str) -> Result<Result<GroupFacts, Reason>, ClientError> {
    let group = group(cluster, name)?;
    Ok(match group.keeps_no_offsets() {
        Some(reason) => Err(reason),
        None => Ok(group),
    })
}

/// What a group has committed, of the partitions of which that is known.
#[must_use]
pub fn committed(group: &GroupFacts) -> BTreeMap<TopicPartition, Committed> {
    let of = group.partitions.iter();
    of.filter_map(|one| Some((one.partition.clone(), one.position.committed()?.clone()))).collect()
}

/// The partitions of a group of which it is not known what is committed. All of `scope` are, where nothing is known.
#[must_use]
pub fn unknown<'a>(
    group: &GroupFacts,
    scope: impl IntoIterator<Item = &'a TopicPartition>,
) -> BTreeMap<TopicPartition, Reason> {
    let unknown = group.partitions.iter().filter_map(|one| match &one.position {
        Position::Unknown(reason) => Some((one.partition.clone(), reason.clone())),
        Position::Committed(_) | Position::Never | Position::Share(_) => None,
    });
    let mut unknown: BTreeMap<TopicPartition, Reason> = unknown.collect();
    if let Some(reason) = &group.unknown {
        unknown.extend(scope.into_iter().map(|one| (one.clone(), reason.clone())));
    }
    unknown
}

/// The partitions that some filters mean: those they name, or all of a topic.
///
/// # Errors
/// When nobody can be asked; and the reason, if a topic is not there.
pub fn scope(
    cluster: &mut Cluster,
    filters: &[TopicFilter],
) -> Result<Result<BTreeSet<TopicPartition>, Reason>, ClientError> {
    let topics: BTreeSet<String> = filters.iter().map(|filter| filter.topic.clone()).collect();
    let found = collect::partitions_of(cluster, &topics)?;
    let mut scope = BTreeSet::new();
    for filter in filters {
        match found.get(&filter.topic) {
            Some(Ok(partitions)) if filter.partitions.is_empty() => scope.extend(partitions.iter().cloned()),
            Some(Ok(_)) => {
                let named = filter.partitions.iter();
                scope.extend(named.map(|index| TopicPartition::new(filter.topic.as_str(), *index)));
            }
            Some(Err(reason)) => return Ok(Err(reason.clone())),
            None => {}
        }
    }
    Ok(Ok(scope))
}

/// The facts of a reset.
///
/// # Errors
/// When nobody can be asked.
pub fn reset(
    cluster: &mut Cluster,
    group: &GroupFacts,
    scope: BTreeSet<TopicPartition>,
) -> Result<reset::Facts, ClientError> {
    Ok(reset::Facts {
        group: group.group.clone(),
        presence: Presence::of(group.description.as_ref()),
        committed: committed(group),
        left_out: unknown(group, &scope),
        logs: collect::logs(cluster, scope.iter().cloned())?,
        scope,
    })
}

/// The first record of each partition that is not older than a time.
///
/// # Errors
/// When nobody can be asked.
pub fn since(
    cluster: &mut Cluster,
    scope: &BTreeSet<TopicPartition>,
    time: Timestamp,
) -> Result<Destination, ClientError> {
    let found = offsets::look_up_all(cluster, scope.iter().cloned(), Moment::Time(time))?;
    Ok(Destination::Found(found.into_iter().map(|(one, found)| (one, found.map_err(Reason::from))).collect()))
}

/// What rows of another tool's file say of a group. Rows without a group are about any.
#[must_use]
pub fn said_by_rows(rows: &[OffsetRow], group: &str) -> BTreeMap<TopicPartition, Committed> {
    let meant = rows.iter().filter(|row| row.group.as_deref().is_none_or(|name| name == group));
    meant
        .map(|row| {
            let committed = Committed { offset: row.offset, leader_epoch: None, metadata: String::new() };
            (row.partition.clone(), committed)
        })
        .collect()
}

/// What a snapshot says of a group. An epoch counts only in the cluster that it comes from.
#[must_use]
pub fn said_by_snapshot(
    snapshot: &Snapshot,
    group: &str,
    cluster_id: Option<&str>,
) -> Option<BTreeMap<TopicPartition, Committed>> {
    let is_ours = snapshot.header.cluster_id.as_deref() == cluster_id;
    let mut groups = snapshot.groups();
    let said = groups.remove(group)?;
    let said = said.into_iter().filter_map(|(one, committed)| {
        let committed = committed?;
        let leader_epoch = committed.leader_epoch.filter(|_| is_ours);
        Some((one, Committed { leader_epoch, ..committed }))
    });
    Some(said.collect())
}

/// What is copied, before it is known where to: an offset, and the time of its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What was committed.
    pub committed: Committed,
    /// The time of the record there, if it is known.
    pub time: Option<Timestamp>,
    /// The identity of the topic, if it is known and another one could be in its place now.
    pub topic_id: Option<TopicId>,
}

/// The times of the records at a group's offsets.
///
/// # Errors
/// When nobody can be asked.
pub fn sources(
    cluster: &mut Cluster,
    committed: BTreeMap<TopicPartition, Committed>,
) -> Result<BTreeMap<TopicPartition, Source>, ClientError> {
    let places: BTreeMap<TopicPartition, Offset> =
        committed.iter().map(|(one, committed)| (one.clone(), committed.offset)).collect();
    let mut stamps = stamps::first_at(cluster, &places)?;
    let with_time = |(one, committed)| {
        let time =
            stamps.remove(&one).and_then(|stamp| stamp.ok().flatten()).and_then(|stamp| stamp.timestamp);
        (one, Source { committed, time, topic_id: None })
    };
    Ok(committed.into_iter().map(with_time).collect())
}

/// How a copy finds its places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// By offset, moved into the log where need be.
    ByOffset,
    /// By the time of the record, where that is known.
    ByTime,
}

/// Where epochs of a copy come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This cluster: they count in topics that keep their names.
    SameCluster,
    /// Another: they count nowhere.
    Elsewhere,
}

/// The facts of a copy to `group`.
///
/// # Errors
/// When nobody can be asked.
pub fn copy(
    cluster: &mut Cluster,
    group: &GroupFacts,
    sources: &BTreeMap<TopicPartition, Source>,
    map: &NameMap,
    (places, origin): (Places, Origin),
) -> Result<copy::Facts, ClientError> {
    let mut copied = BTreeMap::new();
    let mut foreign = BTreeSet::new();
    let mut moments = BTreeMap::new();
    let mut ids = BTreeMap::new();
    for (one, source) in sources {
        let to = map.apply(one);
        if origin == Origin::Elsewhere || !map.keeps(one) {
            foreign.insert(to.clone());
        }
        if let (Places::ByTime, Some(time)) = (places, source.time) {
            moments.insert(to.clone(), Moment::Time(time));
        } else if let (Origin::SameCluster, true, Some(id)) = (origin, map.keeps(one), source.topic_id) {
            ids.insert(to.clone(), id);
        }
        copied.insert(to, Copied { committed: source.committed.clone(), by_time: None });
    }
    let mut left_out = same_topic::made_again(cluster, &ids)?;
    left_out.extend(unknown(group, copied.keys()));
    let logs = collect::logs(cluster, copied.keys().cloned())?;
    for (one, found) in offsets::look_up(cluster, &moments)? {
        let (Some(copied), Ok(found)) = (copied.get_mut(&one), found) else { continue };
        // No record is that late: the end is where the next one comes.
        let end = logs.get(&one).and_then(|log| log.as_ref().ok()).map(|log| log.end);
        copied.by_time = found.or(end);
    }
    Ok(copy::Facts {
        group: group.group.clone(),
        presence: Presence::of(group.description.as_ref()),
        committed: committed(group),
        left_out,
        copied,
        logs,
        foreign,
    })
}

/// The facts of putting a group back to what a snapshot says of it.
///
/// # Errors
/// When nobody can be asked.
pub fn restore(
    cluster: &mut Cluster,
    group: &GroupFacts,
    snapshot: BTreeMap<TopicPartition, Option<Committed>>,
    topic_ids: &BTreeMap<TopicPartition, TopicId>,
) -> Result<restore::Facts, ClientError> {
    let mut left_out = same_topic::made_again(cluster, topic_ids)?;
    left_out.extend(unknown(group, snapshot.keys()));
    Ok(restore::Facts {
        group: group.group.clone(),
        presence: Presence::of(group.description.as_ref()),
        committed: committed(group),
        left_out,
        logs: collect::logs(cluster, snapshot.keys().cloned())?,
        snapshot,
    })
}
