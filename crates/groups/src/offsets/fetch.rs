//! OffsetFetch. "Never committed" is `None`; a refusal is an error; neither is ever a number.

use std::sync::Arc;

use milepost_model::{PartitionIndex, Ticket};

use crate::consumer::check_fetch;
use crate::hard::{Hard, HardGroup};
use crate::request::{OffsetFetch, PartitionToFetch, PartitionsToFetch, Stability};
use crate::turn::Turn;
use crate::{CommittedOffset, FetchedPartition, FetchedTopic, GroupError, Reply};

/// Handles OffsetFetch.
pub(crate) fn offset_fetch(turn: &mut Turn<'_>, ticket: Ticket, request: &OffsetFetch<'_>) {
    let hard = turn.hard.group(request.group_id);
    let refused = hard.and_then(HardGroup::consumer).and_then(|group| check_fetch(group, request).err());
    if let Some(error) = refused {
        turn.answer(hard, ticket, Reply::OffsetFetchRefused(error));
        return;
    }
    let reply = match &request.partitions {
        PartitionsToFetch::Named(partitions) => {
            let fetch = |partition| fetch_one(turn.hard, hard, partition, request.stability);
            Reply::OffsetFetch(partitions.iter().map(fetch).collect())
        }
        PartitionsToFetch::All => Reply::OffsetFetchAll(
            hard.map_or_else(Vec::new, |group| fetch_all(turn.hard, group, request.stability)),
        ),
    };
    turn.answer(hard, ticket, reply);
}

fn fetch_one(
    hard: &Hard,
    group: Option<&HardGroup>,
    asked: &PartitionToFetch<'_>,
    stability: Stability,
) -> Result<Option<CommittedOffset>, GroupError> {
    let Some(group) = group else { return Ok(None) };
    check_stable(hard, group, asked.topic, asked.partition, stability)?;
    // What was committed for a former topic of the same name says nothing about this one (KAFKA-19154).
    let is_of_topic = |committed: &&CommittedOffset| {
        asked.topic_id.zip(committed.topic_id()).is_none_or(|(asked, known)| asked == known)
    };
    Ok(group.committed(asked.topic, asked.partition).filter(is_of_topic).cloned())
}

fn check_stable(
    hard: &Hard,
    group: &HardGroup,
    topic: &str,
    partition: PartitionIndex,
    stability: Stability,
) -> Result<(), GroupError> {
    match stability {
        Stability::RequireStable if hard.has_pending(group, topic, partition) => {
            Err(GroupError::UnstableOffsetCommit)
        }
        Stability::RequireStable | Stability::CommittedNow => Ok(()),
    }
}

fn fetch_all(hard: &Hard, group: &HardGroup, stability: Stability) -> Vec<FetchedTopic> {
    let mut fetched: Vec<FetchedTopic> = group
        .topics()
        .iter()
        .map(|topic| {
            let partitions = topic.entries().iter().map(|entry| FetchedPartition {
                partition: entry.partition(),
                offset: check_stable(hard, group, topic.topic(), entry.partition(), stability)
                    .map(|()| entry.committed().clone()),
            });
            FetchedTopic { topic: Arc::clone(topic.topic()), partitions: partitions.collect() }
        })
        .collect();
    if stability == Stability::RequireStable {
        for (topic, partition) in hard.pending_partitions(group) {
            add_unstable(&mut fetched, &topic, partition);
        }
    }
    fetched
}

/// Lists a partition that only an open transaction has an offset for.
fn add_unstable(fetched: &mut Vec<FetchedTopic>, topic: &Arc<str>, partition: PartitionIndex) {
    let index = fetched.binary_search_by(|known| known.topic.cmp(topic)).unwrap_or_else(|place| {
        fetched.insert(place, FetchedTopic { topic: Arc::clone(topic), partitions: Vec::new() });
        place
    });
    let partitions = &mut fetched[index].partitions;
    if let Err(place) = partitions.binary_search_by_key(&partition, |known| known.partition) {
        let offset = Err(GroupError::UnstableOffsetCommit);
        partitions.insert(place, FetchedPartition { partition, offset });
    }
}
