//! Whoever commits, asks for committed offsets and deletes them.

use std::collections::BTreeMap;

use milepost_model::TopicId;
use milepost_wire::ErrorCode;
use milepost_wire::messages::delete_groups::{DeleteGroupsRequest, DeleteGroupsResponse};
use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse,
};
use milepost_wire::messages::offset_delete::{
    OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic, OffsetDeleteResponse,
};
use milepost_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
    OffsetFetchResponse,
};

use super::{COMMITTERS, FIRST_COMMITTER, MEMBER_GROUPS, PLAIN_GROUPS, World, group_name};
use crate::check::{Checked, Violation, promise};
use crate::client::{Asked, Committer, Deletion};
use crate::oracle::{EntryId, Fate, OffsetKey, PartitionKey};

/// Groups of both kinds.
pub(crate) const GROUPS: usize = PLAIN_GROUPS + MEMBER_GROUPS;

/// How a group's offsets are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// One group, topics by name (up to version 7).
    Old,
    /// Topics by name.
    Names,
    /// Topics by id.
    Ids,
    /// Everything that the group has.
    All,
}

impl Question {
    pub(crate) const ALL: [Self; 4] = [Self::Old, Self::Names, Self::Ids, Self::All];
}

/// What a commit says besides its offsets.
pub(super) struct Credentials<'a> {
    pub(super) group: usize,
    pub(super) member_id: &'a str,
    pub(super) group_instance_id: Option<&'a str>,
    pub(super) by: Committer,
}

/// One partition's part of a commit.
struct Part {
    name: String,
    id: TopicId,
    index: i32,
    offset: i64,
    metadata: String,
}

impl World {
    pub(super) fn commit_from_outside(&mut self) -> Checked {
        let client = FIRST_COMMITTER + self.dice.content.index(COMMITTERS);
        if !self.may_send(client) {
            return Ok(());
        }
        let group = if self.dice.content.chance(8) {
            self.dice.content.index(GROUPS)
        } else {
            self.dice.content.index(PLAIN_GROUPS)
        };
        let by = Committer::Outsider;
        self.commit(client, &Credentials { group, member_id: "", group_instance_id: None, by })
    }

    pub(super) fn commit(&mut self, client: usize, credentials: &Credentials<'_>) -> Checked {
        let mut partitions: Vec<PartitionKey> = Vec::new();
        for _ in 0..=self.dice.content.below(3) {
            partitions.extend(self.some_partition());
        }
        partitions.sort_unstable();
        partitions.dedup();
        if partitions.is_empty() {
            return Ok(());
        }
        let mut entries = Vec::new();
        let mut parts = Vec::new();
        for partition in partitions {
            let offset = self.oracle.offsets.new_offset();
            entries.push(
                self.oracle.offsets.sent(OffsetKey { group: credentials.group, partition }, Some(offset)),
            );
            let topic = self.oracle.topics.get(partition.topic);
            let (name, id, index) = (topic.name.clone(), topic.id, partition.index);
            parts.push(Part { name, id, index, offset, metadata: metadata_of(offset) });
        }
        let version = self.dice.content.pick(&[8, 9, 10]);
        let topic = |part| commit_topic(part, version);
        let generation = match credentials.by {
            Committer::Outsider => -1,
            Committer::Member { generation, .. } => generation,
        };
        let request = OffsetCommitRequest {
            group_id: &group_name(credentials.group),
            generation_id_or_member_epoch: generation,
            member_id: credentials.member_id,
            group_instance_id: credentials.group_instance_id,
            topics: parts.iter().map(topic).collect(),
            ..OffsetCommitRequest::default()
        };
        self.send(client, version, &request, Asked::Commit { entries, by: credentials.by })
    }

    pub(super) fn committed(
        &mut self,
        entries: &[EntryId],
        by: Committer,
        response: &OffsetCommitResponse<'_>,
    ) -> Checked {
        let codes: Vec<_> = response
            .topics
            .iter()
            .flat_map(|topic| &topic.partitions)
            .map(|partition| partition.error_code)
            .collect();
        self.tell(|| format!("commit {entries:?} by {by:?}: {codes:?}"));
        promise!(codes.len() == entries.len(), "{} partitions were committed: {response:?}", entries.len());
        for (entry, code) in entries.iter().zip(&codes) {
            self.committed_one(*entry, by, *code)?;
        }
        if let Committer::Member { member, generation, .. } = by
            && !codes.contains(&ErrorCode::None)
        {
            self.member_refused(member, generation, codes[0]);
        }
        Ok(())
    }

    fn committed_one(&mut self, entry: EntryId, by: Committer, code: ErrorCode) -> Checked {
        let key = entry.key;
        match code {
            ErrorCode::None => {
                if let Committer::Member { generation, fenced, .. } = by {
                    promise!(
                        !fenced,
                        "{key:?}: a commit under the former generation {generation} was accepted"
                    );
                    self.oracle.generations.commit_accepted(key.group, generation);
                    self.counts.member_commits += 1;
                }
                return self.oracle.offsets.acknowledged_entry(entry);
            }
            // It may still be written.
            ErrorCode::NotCoordinator | ErrorCode::CoordinatorNotAvailable => return Ok(()),
            ErrorCode::CoordinatorLoadInProgress => {}
            ErrorCode::UnknownTopicOrPartition | ErrorCode::UnknownTopicId => {
                let fate = self.oracle.topics.fate(key.partition.topic);
                promise!(fate != Fate::Exists, "{key:?}: {code}, and the topic exists");
            }
            ErrorCode::UnknownMemberId => {
                let may = by != Committer::Outsider || key.group >= PLAIN_GROUPS;
                promise!(may, "{key:?}: {code} in a group without members");
            }
            ErrorCode::IllegalGeneration
            | ErrorCode::RebalanceInProgress
            | ErrorCode::GroupIdNotFound
            | ErrorCode::FencedInstanceId => {
                promise!(by != Committer::Outsider, "{key:?}: {code} from outside");
                self.counts.fenced_commits += u64::from(code == ErrorCode::IllegalGeneration);
            }
            code => return Err(Violation::new(format!("{key:?}: a commit by {by:?} got {code}"))),
        }
        self.oracle.offsets.refused(entry);
        Ok(())
    }

    pub(super) fn fetch_offsets(&mut self) -> Checked {
        let client = FIRST_COMMITTER + self.dice.content.index(COMMITTERS);
        if !self.may_send(client) {
            return Ok(());
        }
        let group = self.dice.content.index(GROUPS);
        let question = self.dice.content.pick(&Question::ALL);
        self.ask_offsets(client, group, question)
    }

    /// Asks for the offsets of a group in every partition that exists.
    pub(crate) fn ask_offsets(&mut self, client: usize, group: usize, question: Question) -> Checked {
        self.fetched_offsets.clear();
        let topics: Vec<_> = self
            .oracle
            .topics
            .existing()
            .iter()
            .map(|topic| (*topic, self.oracle.topics.get(*topic).clone()))
            .collect();
        let mut keys = Vec::new();
        for (topic, known) in &topics {
            for index in 0..known.partitions {
                let key = OffsetKey { group, partition: PartitionKey { topic: *topic, index } };
                keys.push((key, self.oracle.offsets.floor(key)));
            }
        }
        let group_id = group_name(group);
        let indexes = |partitions: i32| (0..partitions).collect::<Vec<_>>();
        let asked = Asked::OffsetFetch { keys };
        if question == Question::Old {
            let one = |(_, known): &'_ (usize, crate::oracle::Topic)| {
                (known.name.clone(), indexes(known.partitions))
            };
            let named: Vec<_> = topics.iter().map(one).collect();
            let topics = named
                .iter()
                .map(|(name, indexes)| OffsetFetchRequestTopic { name, partition_indexes: indexes.clone() })
                .collect();
            let request = OffsetFetchRequest {
                group_id: &group_id,
                topics: Some(topics),
                ..OffsetFetchRequest::default()
            };
            return self.send(client, 7, &request, asked);
        }
        let by_id = question == Question::Ids;
        let named = topics
            .iter()
            .map(|(_, known)| OffsetFetchRequestTopics {
                name: if by_id { "" } else { &known.name },
                topic_id: if by_id { known.id } else { TopicId::ZERO },
                partition_indexes: indexes(known.partitions),
            })
            .collect();
        let topics = (question != Question::All).then_some(named);
        let one =
            OffsetFetchRequestGroup { group_id: &group_id, topics, ..OffsetFetchRequestGroup::default() };
        let request = OffsetFetchRequest { groups: vec![one], ..OffsetFetchRequest::default() };
        self.send(client, if by_id { 10 } else { 9 }, &request, asked)
    }

    pub(super) fn offsets_fetched(
        &mut self,
        keys: &[(OffsetKey, Option<usize>)],
        response: &OffsetFetchResponse<'_>,
    ) -> Checked {
        let code = response.groups.first().map_or(response.error_code, |group| group.error_code);
        if code != ErrorCode::None {
            self.tell(|| format!("offsets: {code}"));
            promise!(Self::is_coordinator_trouble(code), "offsets cannot be had: {code}");
            return Ok(());
        }
        let found = offsets_by_place(response);
        let mut answered = Vec::new();
        for (key, floor) in keys {
            let topic = self.oracle.topics.get(key.partition.topic);
            let by_id = found.get(&(topic.id.to_string(), key.partition.index));
            let by_name = || found.get(&(topic.name.clone(), key.partition.index));
            let (offset, metadata, code) =
                by_id.or_else(by_name).cloned().unwrap_or((-1, String::new(), ErrorCode::None));
            let exists = topic.fate == Fate::Exists;
            if code != ErrorCode::None {
                promise!(!exists, "{key:?}: {code}, and the topic exists");
                continue;
            }
            if !exists {
                continue;
            }
            let offset = (offset >= 0).then_some(offset);
            answered.push((*key, offset));
            if let Some(offset) = offset {
                promise!(
                    metadata == metadata_of(offset),
                    "{key:?}: offset {offset} has the metadata {metadata:?}"
                );
            }
            self.oracle.offsets.seen(*key, offset, *floor)?;
        }
        self.tell(|| format!("offsets: {answered:?}"));
        self.fetched_offsets = answered;
        Ok(())
    }

    pub(super) fn delete_offsets(&mut self) -> Checked {
        let client = FIRST_COMMITTER + self.dice.content.index(COMMITTERS);
        if !self.may_send(client) || !self.dice.content.chance(3) {
            return Ok(());
        }
        let group = self.dice.content.index(PLAIN_GROUPS);
        let group_id = group_name(group);
        if self.dice.content.chance(4) {
            let deletions =
                self.oracle.offsets.keys_of(group).into_iter().map(|key| self.deletion(key)).collect();
            let request = DeleteGroupsRequest { groups_names: vec![&group_id] };
            return self.send(client, 2, &request, Asked::DeleteGroup { deletions });
        }
        let Some(partition) = self.some_partition() else { return Ok(()) };
        let deletions = vec![self.deletion(OffsetKey { group, partition })];
        let name = self.oracle.topics.get(partition.topic).name.clone();
        let partitions = vec![OffsetDeleteRequestPartition { partition_index: partition.index }];
        let topics = vec![OffsetDeleteRequestTopic { name: &name, partitions }];
        let request = OffsetDeleteRequest { group_id: &group_id, topics };
        self.send(client, 0, &request, Asked::OffsetDelete { deletions })
    }

    fn deletion(&mut self, key: OffsetKey) -> Deletion {
        let floor = self.oracle.offsets.floor(key);
        (self.oracle.offsets.sent(key, None), floor)
    }

    pub(super) fn offsets_deleted(
        &mut self,
        deletions: &[Deletion],
        response: &OffsetDeleteResponse<'_>,
    ) -> Checked {
        let inner = response.topics.iter().flat_map(|topic| &topic.partitions).next();
        let code = match response.error_code {
            ErrorCode::None => inner.map_or(ErrorCode::None, |partition| partition.error_code),
            code => code,
        };
        self.deletions_answered(deletions, code)
    }

    pub(super) fn group_deleted(
        &mut self,
        deletions: &[Deletion],
        response: &DeleteGroupsResponse<'_>,
    ) -> Checked {
        let code = response.results.first().map(|result| result.error_code);
        let code = code.ok_or_else(|| Violation::new(format!("one group was asked for: {response:?}")))?;
        self.deletions_answered(deletions, code)
    }

    fn deletions_answered(&mut self, deletions: &[Deletion], code: ErrorCode) -> Checked {
        self.tell(|| format!("deletion of {deletions:?}: {code}"));
        for (entry, floor) in deletions {
            let fate = self.oracle.topics.fate(entry.key.partition.topic);
            match code {
                ErrorCode::None => self.oracle.offsets.acknowledged_entry(*entry)?,
                ErrorCode::GroupIdNotFound => {
                    // As good as an answer that there is nothing.
                    self.oracle.offsets.refused(*entry);
                    if fate == Fate::Exists {
                        self.oracle.offsets.seen(entry.key, None, *floor)?;
                    }
                }
                ErrorCode::UnknownTopicOrPartition => {
                    promise!(fate != Fate::Exists, "{entry:?}: {code}, and the topic exists");
                    self.oracle.offsets.refused(*entry);
                }
                ErrorCode::CoordinatorLoadInProgress => self.oracle.offsets.refused(*entry),
                ErrorCode::NotCoordinator | ErrorCode::CoordinatorNotAvailable => {}
                code => return Err(Violation::new(format!("{entry:?}: a deletion got {code}"))),
            }
        }
        Ok(())
    }
}

fn metadata_of(offset: i64) -> String {
    format!("commit {offset}")
}

fn commit_topic(part: &Part, version: i16) -> OffsetCommitRequestTopic<'_> {
    let by_name = version < 10;
    let partition = OffsetCommitRequestPartition {
        partition_index: part.index,
        committed_offset: part.offset,
        committed_metadata: Some(&part.metadata),
        ..OffsetCommitRequestPartition::default()
    };
    OffsetCommitRequestTopic {
        name: if by_name { &part.name } else { "" },
        topic_id: if by_name { TopicId::ZERO } else { part.id },
        partitions: vec![partition],
    }
}

/// Offset, metadata and code by topic (its name, or its id as text) and partition.
type OffsetsByPlace = BTreeMap<(String, i32), (i64, String, ErrorCode)>;

fn offsets_by_place(response: &OffsetFetchResponse<'_>) -> OffsetsByPlace {
    let mut found = OffsetsByPlace::new();
    for topic in &response.topics {
        for partition in &topic.partitions {
            let metadata = partition.metadata.unwrap_or_default().to_owned();
            let place = (topic.name.to_owned(), partition.partition_index);
            found.insert(place, (partition.committed_offset, metadata, partition.error_code));
        }
    }
    for topic in response.groups.iter().flat_map(|group| &group.topics) {
        let place = if topic.topic_id.is_zero() { topic.name.to_owned() } else { topic.topic_id.to_string() };
        for partition in &topic.partitions {
            let metadata = partition.metadata.unwrap_or_default().to_owned();
            let place = (place.clone(), partition.partition_index);
            found.insert(place, (partition.committed_offset, metadata, partition.error_code));
        }
    }
    found
}
