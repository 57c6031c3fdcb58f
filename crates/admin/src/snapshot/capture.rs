//! Taking a snapshot of a cluster's groups.

use std::collections::{BTreeMap, BTreeSet};

use milepost_client::groups::GroupDescription;
use milepost_client::{ClientError, Cluster, TopicPartition};

use super::{Captured, Header, Place, Row, Snapshot};
use crate::collect::{self, Detail, GROUPS_AT_ONCE};
use crate::facts::{GroupFacts, PartitionFacts, Position};
use crate::reason::Reason;

/// What is captured of a group.
#[derive(Clone, Debug, Default)]
pub enum Scope {
    /// All that it has committed.
    #[default]
    Everything,
    /// These partitions and no others, also where nothing is committed: a restore then deletes what comes later.
    Partitions(BTreeSet<TopicPartition>),
}

impl Scope {
    fn captured(&self) -> Captured {
        match self {
            Self::Everything => Captured::Group,
            Self::Partitions(_) => Captured::Partitions,
        }
    }

    fn noted(&self) -> impl Iterator<Item = &TopicPartition> {
        let noted = if let Self::Partitions(partitions) = self { Some(partitions) } else { None };
        noted.into_iter().flatten()
    }

    fn takes(&self, partition: &TopicPartition) -> bool {
        match self {
            Self::Everything => true,
            Self::Partitions(partitions) => partitions.contains(partition),
        }
    }
}

/// Captures these groups. What could not be known is told beside the snapshot, which then lacks it: a group of which nothing is
/// known has no row, since a row without a partition says that it has committed nothing.
///
/// # Errors
/// When nobody can be asked.
pub fn capture(
    cluster: &mut Cluster,
    header: Header,
    groups: &[&str],
    scope: &Scope,
) -> Result<(Snapshot, Vec<Reason>), ClientError> {
    let mut snapshot = Snapshot { header, rows: Vec::new() };
    let mut lacking = Vec::new();
    for part in groups.chunks(GROUPS_AT_ONCE) {
        let gathered = collect::groups(cluster, part, Detail::Times)?;
        let topics = gathered.iter().flat_map(|group| &group.partitions);
        let topics: BTreeSet<String> = topics
            .map(|one| one.partition.topic.to_string())
            .chain(scope.noted().map(|one| one.topic.to_string()))
            .collect();
        let ids = topic_ids(cluster, &topics)?;
        for group in &gathered {
            match &group.unknown {
                Some(reason) => lacking.push(reason.clone().of(&group.group)),
                None => snapshot.rows.extend(rows(group, scope, &ids, &mut lacking)),
            }
        }
    }
    if snapshot.header.cluster_id.is_none() {
        snapshot.header.cluster_id = cluster.metadata(Some(&[]))?.cluster_id;
    }
    Ok((snapshot, lacking))
}

fn topic_ids(
    cluster: &mut Cluster,
    topics: &BTreeSet<String>,
) -> Result<BTreeMap<String, String>, ClientError> {
    let names: Vec<&str> = topics.iter().map(String::as_str).collect();
    let metadata = cluster.metadata(Some(&names))?;
    Ok(metadata.topics.into_iter().filter_map(|topic| Some((topic.name, topic.id?.to_string()))).collect())
}

fn rows(
    group: &GroupFacts,
    scope: &Scope,
    ids: &BTreeMap<String, String>,
    lacking: &mut Vec<Reason>,
) -> Vec<Row> {
    let row = |place| Row {
        group: group.group.clone(),
        kind: group.known().filter(|known| known.exists()).map(|known| known.kind.name().to_owned()),
        state: group.known().map(|known: &GroupDescription| known.state.clone()),
        captured: scope.captured(),
        place,
    };
    let mut places: BTreeMap<TopicPartition, Place> = BTreeMap::new();
    for one in scope.noted() {
        places.insert(one.clone(), place(one, ids));
    }
    for one in group.partitions.iter().filter(|one| scope.takes(&one.partition)) {
        match &one.position {
            Position::Unknown(reason) => {
                // What is not known must not be deleted by a restore.
                places.remove(&one.partition);
                lacking.push(reason.clone());
            }
            Position::Never | Position::Share(_) => {}
            Position::Committed(_) => {
                places.insert(one.partition.clone(), with_facts(one, ids));
            }
        }
    }
    if places.is_empty() {
        // Whether there is such a group at all is then all that the row says.
        if let Some(Err(reason)) = &group.description {
            lacking.push(reason.clone().of(&group.group));
            return Vec::new();
        }
        return vec![row(None)];
    }
    places.into_values().map(|place| row(Some(place))).collect()
}

fn place(partition: &TopicPartition, ids: &BTreeMap<String, String>) -> Place {
    Place {
        partition: partition.clone(),
        topic_id: ids.get(&*partition.topic).cloned(),
        committed: None,
        commit_time: None,
        expire_time: None,
        log_start: None,
        log_end: None,
        record_time: None,
    }
}

fn with_facts(one: &PartitionFacts, ids: &BTreeMap<String, String>) -> Place {
    let committed = one.position.committed().cloned();
    Place {
        committed,
        log_start: one.log.as_ref().ok().map(|log| log.start.offset),
        log_end: one.log.as_ref().ok().map(|log| log.end.offset),
        record_time: one.next_record,
        ..place(&one.partition, ids)
    }
}
