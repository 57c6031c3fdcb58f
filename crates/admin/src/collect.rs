//! Gathers facts from a cluster: commits first, ends of logs second, so that no lag is ever negative because of the order.
//!
//! Works with what describing needs of permissions, and changes nothing. Whoever has many groups hands them in by
//! [`GROUPS_AT_ONCE`].

use std::collections::{BTreeMap, BTreeSet};

use milepost_client::groups::{self, Commits, GroupDescription, GroupKind, Pending, PerGroup, ShareOffsets};
use milepost_client::{ClientError, Cluster, TopicPartition, offsets, stamps};
use milepost_model::{Offset, Timestamp};

use crate::facts::{GroupFacts, Logs, PartitionFacts, Position};
use crate::reason::Reason;

/// How many groups are looked at together: enough to fill batched requests, and few enough that what is held of them
/// stays small.
pub const GROUPS_AT_ONCE: usize = 500;

/// How much is asked of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Its offsets and lag, its state and members, and partitions that these have to read without having committed anything.
    Members,
    /// Also the time of the next record to read, which is fetched.
    Times,
}

/// Looks at groups, in the order of `names`. What is wrong with one hides no other.
///
/// # Errors
/// When nobody can be asked.
pub fn groups(cluster: &mut Cluster, names: &[&str], detail: Detail) -> Result<Vec<GroupFacts>, ClientError> {
    let mut described = groups::describe(cluster, names)?;
    let mut committed = groups::committed(cluster, names, Pending::Passed)?;
    let mut gathered: Vec<GroupFacts> = Vec::with_capacity(names.len());
    for name in names {
        let lacking = || ClientError::Incomplete { what: "the answer".to_owned(), lacks: (*name).to_owned() };
        let description = described.remove(*name).unwrap_or_else(|| Err(lacking())).map_err(Reason::from);
        let commits = committed.remove(*name).unwrap_or_else(|| Err(lacking())).map_err(Reason::from);
        gathered.push(without_logs((*name).to_owned(), Some(description), commits));
    }
    begin_shares(cluster, &mut gathered)?;
    let partitions: BTreeSet<TopicPartition> =
        gathered.iter().flat_map(|group| &group.partitions).map(|one| one.partition.clone()).collect();
    let logs = logs(cluster, partitions)?;
    for one in gathered.iter_mut().flat_map(|group| &mut group.partitions) {
        if let Some(log) = logs.get(&one.partition) {
            one.log.clone_from(log);
        }
    }
    gathered.iter_mut().for_each(drop_what_streams_do_not_read);
    if detail == Detail::Times {
        let times = record_times(cluster, &gathered)?;
        for one in gathered.iter_mut().flat_map(|group| &mut group.partitions) {
            let place = one.position.next().map(|offset| (one.partition.clone(), offset));
            one.next_record = place.and_then(|place| times.get(&place).copied());
        }
    }
    Ok(gathered)
}

/// Puts in where share groups begin.
fn begin_shares(cluster: &mut Cluster, gathered: &mut [GroupFacts]) -> Result<(), ClientError> {
    let is_share = |group: &GroupFacts| group.known().is_some_and(|known| known.kind == GroupKind::Share);
    let names: Vec<&str> =
        gathered.iter().filter(|group| is_share(group)).map(|group| group.group.as_str()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let mut found: PerGroup<ShareOffsets> = groups::share_offsets(cluster, &names)?;
    for group in gathered {
        match found.remove(&group.group) {
            None => {}
            Some(Err(error)) => group.unknown = Some(error.into()),
            Some(Ok(starts)) => begin_share(group, starts),
        }
    }
    Ok(())
}

fn begin_share(group: &mut GroupFacts, starts: ShareOffsets) {
    let mut partitions: BTreeMap<TopicPartition, PartitionFacts> = std::mem::take(&mut group.partitions)
        .into_iter()
        .map(|one| (one.partition.clone(), PartitionFacts { position: Position::Share(None), ..one }))
        .collect();
    for (place, start) in starts {
        let one = partitions.entry(place.clone()).or_insert_with(|| PartitionFacts::unasked(place));
        one.position = match start {
            Ok(start) => Position::Share(start),
            Err(error) => Position::Unknown(error.into()),
        };
    }
    group.partitions = partitions.into_values().collect();
}

/// What the members of a streams group read is made of their tasks, and a topic may have fewer partitions than its
/// subtopology has tasks.
fn drop_what_streams_do_not_read(group: &mut GroupFacts) {
    if group.known().is_some_and(|known| known.kind == GroupKind::Streams) {
        group
            .partitions
            .retain(|one| one.position != Position::Never || !one.log.as_ref().is_err_and(Reason::is_gone));
    }
}

/// The ends of these logs.
///
/// # Errors
/// When nobody can be asked.
pub fn logs(
    cluster: &mut Cluster,
    partitions: impl IntoIterator<Item = TopicPartition>,
) -> Result<Logs, ClientError> {
    let found = offsets::bounds(cluster, partitions)?;
    Ok(found.into_iter().map(|(one, found)| (one, found.map_err(Reason::from))).collect())
}

/// All partitions of these topics; of a topic that is not there, the reason.
///
/// # Errors
/// When nobody can be asked.
pub fn partitions_of(
    cluster: &mut Cluster,
    topics: &BTreeSet<String>,
) -> Result<BTreeMap<String, Result<Vec<TopicPartition>, Reason>>, ClientError> {
    let names: Vec<&str> = topics.iter().map(String::as_str).collect();
    let metadata = cluster.metadata(Some(&names))?;
    let of_topic = |name: &String| {
        let found = metadata.partitions_of(name).map_err(Reason::from);
        (name.clone(), found)
    };
    Ok(topics.iter().map(of_topic).collect())
}

/// The time of the record at each committed offset, where there is one.
fn record_times(
    cluster: &mut Cluster,
    gathered: &[GroupFacts],
) -> Result<BTreeMap<(TopicPartition, Offset), Timestamp>, ClientError> {
    // Groups may be at different places of one partition: each round asks about one of them.
    let mut places: BTreeSet<(TopicPartition, Offset)> = BTreeSet::new();
    for one in gathered.iter().flat_map(|group| &group.partitions) {
        if let (Some(offset), Ok(log)) = (one.position.next(), &one.log)
            && (log.start.offset..log.end.offset).contains(&offset)
        {
            places.insert((one.partition.clone(), offset));
        }
    }
    let mut times = BTreeMap::new();
    while !places.is_empty() {
        let round: BTreeMap<TopicPartition, Offset> = places.iter().cloned().collect();
        for (partition, stamp) in stamps::first_at(cluster, &round)? {
            if let (Ok(Some(stamp)), Some(offset)) = (stamp, round.get(&partition))
                && let Some(time) = stamp.timestamp
            {
                times.insert((partition, *offset), time);
            }
        }
        for place in round {
            places.remove(&place);
        }
    }
    Ok(times)
}

fn without_logs(
    group: String,
    description: Option<Result<GroupDescription, Reason>>,
    commits: Result<Commits, Reason>,
) -> GroupFacts {
    let (commits, unknown) = match commits {
        Ok(commits) => (commits, None),
        Err(reason) => (Commits::new(), Some(reason)),
    };
    let mut members: BTreeMap<TopicPartition, Option<usize>> = BTreeMap::new();
    if let Some(Ok(description)) = &description {
        for (index, member) in description.members.iter().enumerate() {
            for one in &member.assigned {
                // Many members of a share group may read one partition; then it is nobody's.
                let is_shared = description.kind == GroupKind::Share && members.contains_key(one);
                members.insert(one.clone(), (!is_shared).then_some(index));
            }
        }
    }
    let mut positions: BTreeMap<TopicPartition, Position> = members
        .keys()
        .map(|one| (one.clone(), unknown.clone().map_or(Position::Never, Position::Unknown)))
        .collect();
    for (one, commit) in commits {
        let position = match commit {
            Ok(committed) => Position::Committed(committed),
            Err(error) => Position::Unknown(Reason::from(error)),
        };
        positions.insert(one, position);
    }
    let partitions = positions.into_iter().map(|(partition, position)| PartitionFacts {
        member: members.get(&partition).copied().flatten(),
        position,
        ..PartitionFacts::unasked(partition)
    });
    let partitions = partitions.collect();
    GroupFacts { group, description, unknown, partitions }
}
