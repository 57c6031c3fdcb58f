//! The first pass: reads everything that is to be moved, before anything is written.
//!
//! Every record of `__consumer_offsets` is tried on a shard of groups, as a start of the server would load it. So what
//! could not be served is found here, with its file and offset, and the totals are those of the groups themselves.

use std::collections::BTreeSet;
use std::path::Path;

use milepost_batch::{BatchView, ControlType};
use milepost_coordinator::{Failure, replay_batch};
use milepost_groups::{
    GroupSettings, Groups, ListGroups, OffsetFetch, PartitionsToFetch, Reply, Request, Stability,
    partition_for,
};
use milepost_model::{LeaderEpoch, Now, Offset, PartitionIndex, ProducerId, Shard as _, Ticket};
use milepost_records::offsets::Record;

use super::batches::{Batches, TornEnd};
use super::source::{Source, SourcePartition, SourceTopic};
use super::{ImportError, Progress, Stage};

/// What the source says beside its batches.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The highest leader epoch of any batch or committed offset.
    pub(super) highest_epoch: Option<LeaderEpoch>,
    pub(super) highest_producer: Option<ProducerId>,
    pub(super) groups: usize,
    pub(super) committed_offsets: usize,
    /// Transactions that never ended, one for each producer and partition.
    pub(super) open_transactions: usize,
    /// Topics that offsets were committed for and that are not moved in.
    pub(super) missing_topics: BTreeSet<String>,
    pub(super) torn_ends: Vec<TornEnd>,
    pub(super) partitions: usize,
    pub(super) bytes: u64,
}

/// Reads all of it.
pub(super) fn survey(source: &Source, tell: &mut dyn FnMut(Progress)) -> Result<Survey, ImportError> {
    let mut survey = Survey::default();
    let of = source.all().map(|topic| topic.partitions.len()).sum();
    for topic in source.all() {
        for (index, partition) in topic.partitions.iter().enumerate() {
            if topic.name == source.offsets.name {
                survey.offsets_partition(topic, index)?;
            } else {
                survey.partition(partition, |_, _| Ok(()))?;
            }
            survey.partitions += 1;
            tell(Progress { stage: Stage::Checking, partitions: survey.partitions, of, bytes: survey.bytes });
        }
    }
    for topic in &source.topics {
        survey.missing_topics.remove(&topic.name);
    }
    Ok(survey)
}

impl Survey {
    /// Reads one partition, and lets `look` look at each batch and where it lies.
    fn partition(
        &mut self,
        partition: &SourcePartition,
        mut look: impl FnMut(&Path, BatchView<'_>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let mut open = BTreeSet::new();
        let mut batches = Batches::open(partition)?;
        while let Some((batch, path)) = batches.next_batch()? {
            self.bytes += batch.size_bytes() as u64;
            self.highest_epoch = self.highest_epoch.max(Some(batch.leader_epoch()));
            if let Some(producer) = batch.producer() {
                self.highest_producer = self.highest_producer.max(Some(producer.id));
                match batch.control_type() {
                    Ok(Some(ControlType::Marker(_))) => drop(open.remove(&producer.id)),
                    _ if batch.is_transactional() && !batch.is_control() => drop(open.insert(producer.id)),
                    _ => {}
                }
            }
            look(path, batch)?;
        }
        self.torn_ends.extend(batches.torn().cloned());
        self.open_transactions += open.len();
        Ok(())
    }

    fn offsets_partition(&mut self, topic: &SourceTopic, index: usize) -> Result<(), ImportError> {
        let here = PartitionIndex(i32::try_from(index).expect("folders are numbered in 31 bits"));
        let mut groups = Groups::new(GroupSettings::default(), 0);
        let mut seen = Seen::default();
        self.partition(&topic.partitions[index], |path, batch| {
            let place = path.display().to_string();
            replay_batch(&mut groups, &place, Offset::ZERO, batch)?;
            seen.note(&place, batch, topic.partitions.len(), here)
        })?;
        self.highest_epoch = self.highest_epoch.max(seen.highest_epoch);
        self.missing_topics.extend(committed_topics(&mut groups));
        self.groups += groups.group_count();
        self.committed_offsets += groups.offset_count();
        Ok(())
    }
}

/// The topics that offsets of any group are committed for.
fn committed_topics(groups: &mut Groups) -> BTreeSet<String> {
    let mut ask = |request: Request<'_>| groups.handle(Now::default(), Ticket(0), request).replies;
    let listed = ask(Request::ListGroups(ListGroups { states: None, types: None }));
    let ids = listed.into_iter().flat_map(|(_, reply)| match reply {
        Reply::ListGroups(listed) => listed.into_iter().map(|group| group.group_id).collect(),
        _ => Vec::new(),
    });
    let mut topics = BTreeSet::new();
    for group_id in ids.collect::<Vec<_>>() {
        let fetch = OffsetFetch {
            group_id: &group_id,
            partitions: PartitionsToFetch::All,
            stability: Stability::CommittedNow,
            member_id: None,
            member_epoch: None,
        };
        for (_, reply) in ask(Request::OffsetFetch(fetch)) {
            if let Reply::OffsetFetchAll(fetched) = reply {
                topics.extend(fetched.into_iter().map(|topic| topic.topic.to_string()));
            }
        }
    }
    topics
}

/// What the records of one partition of `__consumer_offsets` say.
#[derive(Default)]
struct Seen {
    highest_epoch: Option<LeaderEpoch>,
}

impl Seen {
    fn note(
        &mut self,
        place: &str,
        batch: BatchView<'_>,
        partitions: usize,
        here: PartitionIndex,
    ) -> Result<(), ImportError> {
        if batch.is_control() {
            return Ok(());
        }
        let failed =
            |reason: String| Failure { place: place.to_owned(), offset: batch.base_offset(), reason };
        for record in &batch.records().map_err(|error| failed(error.to_string()))? {
            let record = record.map_err(|error| failed(error.to_string()))?;
            let decoded =
                Record::decode(record.key, record.value).map_err(|error| failed(error.to_string()))?;
            let group = match &decoded {
                Record::OffsetCommit { key, value } => {
                    let epoch = value.as_ref().and_then(|value| value.leader_epoch);
                    self.highest_epoch = self.highest_epoch.max(epoch);
                    key.group
                }
                Record::GroupMetadata { key, .. } => key.group,
                Record::ConsumerGroup { key, .. } => key.group,
                Record::Unknown { .. } => continue,
            };
            let count = u32::try_from(partitions).expect("folders are numbered in 31 bits");
            let expected = partition_for(group, count);
            if expected != here {
                let (group, place) = (group.to_owned(), place.to_owned());
                return Err(ImportError::OtherCount { group, place, partitions, expected });
            }
        }
        Ok(())
    }
}
