//! OffsetDelete, and what becomes of offsets when their topic is deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use milepost_model::{DeletedTopic, PartitionIndex, Ticket, WithoutId};

use super::tombstone;
use crate::hard::{Hard, HardGroup};
use crate::request::OffsetDelete;
use crate::turn::Turn;
use crate::view::{GroupView, subscription_of};
use crate::{CommittedOffset, GroupError, GroupState, Record, Reply};

/// Handles OffsetDelete.
pub(crate) fn offset_delete(turn: &mut Turn<'_>, ticket: Ticket, request: &OffsetDelete<'_>) {
    let hard = turn.hard.group(request.group_id);
    let result = match hard {
        _ if request.group_id.is_empty() => Err(GroupError::InvalidGroupId),
        None => Err(GroupError::GroupIdNotFound),
        Some(group) => delete(turn, group, request),
    };
    turn.answer(hard, ticket, Reply::OffsetDelete(result));
}

fn delete(
    turn: &mut Turn<'_>,
    group: &HardGroup,
    request: &OffsetDelete<'_>,
) -> Result<Vec<Result<(), GroupError>>, GroupError> {
    let view = GroupView::new(Some(group), turn.soft.group(request.group_id));
    let has_consumers = view.is_of_consumers() || group.consumer().is_some();
    if view.state() != GroupState::Empty && !has_consumers {
        return Err(GroupError::NonEmptyGroup);
    }
    let subscription = subscription_of(&view, group);
    let mut results = Vec::with_capacity(request.partitions.len());
    let mut deleted = BTreeSet::new();
    for asked in &request.partitions {
        // Consumers whose subscription cannot be read might be subscribed to anything.
        if subscription.contains(asked.topic).unwrap_or(has_consumers) {
            results.push(Err(GroupError::GroupSubscribedToTopic));
            continue;
        }
        results.push(Ok(()));
        let exists = group.committed(asked.topic, asked.partition).is_some()
            || turn.hard.has_pending(group, asked.topic, asked.partition);
        if exists && deleted.insert((asked.topic, asked.partition)) {
            let topic = turn.hard.shared_topic(asked.topic);
            turn.records.push(tombstone(group, &topic, asked.partition));
            turn.counts.offset_deletions += 1;
        }
    }
    Ok(results)
}

/// The tombstones for what groups have committed in deleted topics. An offset that was committed for another topic of
/// the same name (its id says so) stays.
pub(crate) fn tombstones_of_topics(hard: &Hard, topics: &[DeletedTopic]) -> Vec<Record> {
    let mut deleted: BTreeMap<&str, Vec<&DeletedTopic>> = BTreeMap::new();
    for topic in topics {
        deleted.entry(&topic.name).or_default().push(topic);
    }
    let mut records = Vec::new();
    for group_id in hard.group_ids() {
        let Some(group) = hard.group(&group_id) else { continue };
        let mut gone: BTreeSet<(Arc<str>, PartitionIndex)> = BTreeSet::new();
        for topic in group.topics() {
            let Some(deleted) = deleted.get(&**topic.topic()) else { continue };
            let entries = topic.entries().iter().filter(|entry| is_of_any(deleted, entry.committed()));
            gone.extend(entries.map(|entry| (Arc::clone(topic.topic()), entry.partition())));
        }
        gone.extend(hard.pending_partitions_where(group, |topic, committed| {
            deleted.get(topic).is_some_and(|deleted| is_of_any(deleted, committed))
        }));
        records.extend(gone.iter().map(|(topic, partition)| tombstone(group, topic, *partition)));
    }
    records
}

/// Whether the offset was committed for one of these topics, which all have the name it was committed under.
fn is_of_any(deleted: &[&DeletedTopic], committed: &CommittedOffset) -> bool {
    deleted.iter().any(|topic| match committed.topic_id() {
        Some(id) => id == topic.id,
        None => topic.without_id == WithoutId::Goes,
    })
}
