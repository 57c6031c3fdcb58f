//! An administrator: creates and deletes topics.

use milepost_model::TopicId;
use milepost_wire::ErrorCode;
use milepost_wire::messages::create_partitions::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic,
};
use milepost_wire::messages::create_topics::{
    CreatableTopic, CreatableTopicConfig, CreateTopicsRequest, CreateTopicsResponse,
};
use milepost_wire::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest, DeleteTopicsResponse};
use milepost_wire::messages::metadata::{MetadataRequest, MetadataResponse};

use super::{ADMIN, World};
use crate::check::{Checked, Violation, promise};
use crate::client::Asked;
use crate::oracle::Fate;

/// All topics of clients begin so, and with them the folders of their partitions.
pub(crate) const TOPIC_PREFIX: &str = "sim-";
const NAMES: u64 = 3;
const PARTITIONS_MAX: u64 = 3;

/// Name, id and partitions of every topic of clients, as Metadata said.
pub(crate) type Listing = Vec<(String, TopicId, i32)>;

impl World {
    pub(super) fn change_topics(&mut self) -> Checked {
        if !self.may_send(ADMIN) {
            return Ok(());
        }
        let name = format!("{TOPIC_PREFIX}{}", self.dice.content.below(NAMES));
        match self.oracle.topics.live(&name) {
            None => self.create_topic(&name),
            Some(topic) if self.oracle.topics.fate(topic) == Fate::Exists => {
                match self.dice.content.below(12) {
                    0..=1 => self.delete_topic(topic),
                    2 => self.grow_topic(topic),
                    _ => Ok(()),
                }
            }
            Some(_) => Ok(()),
        }
    }

    fn create_topic(&mut self, name: &str) -> Checked {
        let count = 1 + self.dice.content.below(PARTITIONS_MAX);
        let partitions = i32::try_from(count).expect("a few");
        // Small values make segments roll and indexes grow within a short life.
        let segment_ms = self.dice.content.pick(&["20", "200", "604800000"]);
        let index_interval_bytes = self.dice.content.pick(&["0", "200", "4096"]);
        let config = |name, value| CreatableTopicConfig { name, value: Some(value) };
        let creatable = CreatableTopic {
            name,
            num_partitions: partitions,
            replication_factor: 1,
            configs: vec![
                config("segment.ms", segment_ms),
                config("index.interval.bytes", index_interval_bytes),
            ],
            ..CreatableTopic::default()
        };
        let request = CreateTopicsRequest { topics: vec![creatable], ..CreateTopicsRequest::default() };
        let topic = self.oracle.topics.creation_sent(name, partitions);
        self.send(ADMIN, 7, &request, Asked::CreateTopic { topic })
    }

    pub(super) fn topic_created(&mut self, topic: usize, response: &CreateTopicsResponse<'_>) -> Checked {
        let [result] = response.topics.as_slice() else {
            return Err(Violation::new(format!("one topic was asked for: {response:?}")));
        };
        let code = result.error_code;
        self.tell(|| format!("topic {topic} is created: {code}"));
        match code {
            ErrorCode::None => self.oracle.topics.created(topic, result.topic_id, result.num_partitions),
            ErrorCode::KafkaStorageError if self.storage_may_fail => {
                self.oracle.topics.set_fate(topic, Fate::Gone);
                Ok(())
            }
            _ => Err(Violation::new(format!("a new topic cannot be created: {result:?}"))),
        }
    }

    fn delete_topic(&mut self, topic: usize) -> Checked {
        let known = self.oracle.topics.get(topic).clone();
        let state = if self.dice.content.chance(2) {
            DeleteTopicState { name: Some(&known.name), topic_id: TopicId::ZERO }
        } else {
            DeleteTopicState { name: None, topic_id: known.id }
        };
        let request = DeleteTopicsRequest { topics: vec![state], ..DeleteTopicsRequest::default() };
        self.oracle.topics.set_fate(topic, Fate::Deleting);
        self.send(ADMIN, 6, &request, Asked::DeleteTopic { topic, was_growing: known.growing.is_some() })
    }

    fn grow_topic(&mut self, topic: usize) -> Checked {
        let known = self.oracle.topics.get(topic).clone();
        if known.growing.is_some() || known.partitions > i32::try_from(PARTITIONS_MAX).expect("a few") {
            return Ok(());
        }
        let partitions = known.partitions + 1;
        let grown = CreatePartitionsTopic { name: &known.name, count: partitions, assignments: None };
        let request = CreatePartitionsRequest { topics: vec![grown], ..CreatePartitionsRequest::default() };
        self.oracle.topics.growth_sent(topic, partitions);
        self.send(ADMIN, 3, &request, Asked::GrowTopic { topic, partitions })
    }

    pub(super) fn topic_grown(
        &mut self,
        topic: usize,
        partitions: i32,
        response: &CreatePartitionsResponse<'_>,
    ) -> Checked {
        let [result] = response.results.as_slice() else {
            return Err(Violation::new(format!("one topic was asked for: {response:?}")));
        };
        let code = result.error_code;
        self.tell(|| format!("topic {topic} grows to {partitions}: {code}"));
        let may_be_refused = match code {
            ErrorCode::None => true,
            ErrorCode::KafkaStorageError => self.storage_may_fail,
            _ => false,
        };
        promise!(may_be_refused, "an existing topic cannot grow: {result:?}");
        self.oracle.topics.growth_answered(topic, code == ErrorCode::None);
        Ok(())
    }

    pub(super) fn topic_deleted(
        &mut self,
        topic: usize,
        was_growing: bool,
        response: &DeleteTopicsResponse<'_>,
    ) -> Checked {
        let [result] = response.responses.as_slice() else {
            return Err(Violation::new(format!("one topic was asked for: {response:?}")));
        };
        let code = result.error_code;
        self.tell(|| format!("topic {topic} is deleted: {code}"));
        match code {
            ErrorCode::None => {
                self.oracle.topics.set_fate(topic, Fate::Gone);
                self.counts.topics_deleted += 1;
            }
            ErrorCode::KafkaStorageError if self.storage_may_fail => {
                self.oracle.topics.set_fate(topic, Fate::Exists);
            }
            // Two changes of one topic at a time: the growth was not durable yet.
            ErrorCode::NotController if was_growing => {
                self.oracle.topics.set_fate(topic, Fate::Exists);
            }
            _ => return Err(Violation::new(format!("an existing topic cannot be deleted: {result:?}"))),
        }
        Ok(())
    }

    pub(crate) fn ask_metadata(&mut self, client: usize) -> Checked {
        self.listed = None;
        let request =
            MetadataRequest { topics: None, allow_auto_topic_creation: false, ..MetadataRequest::default() };
        self.send(client, 12, &request, Asked::Metadata)
    }

    pub(super) fn metadata_answered(&mut self, response: &MetadataResponse<'_>) -> Checked {
        let mut listing = Listing::new();
        for topic in &response.topics {
            promise!(topic.error_code == ErrorCode::None, "a listed topic has an error: {topic:?}");
            for partition in &topic.partitions {
                promise!(
                    partition.error_code == ErrorCode::None,
                    "a listed partition has an error: {topic:?}"
                );
                self.oracle.leader_epoch(partition.leader_epoch)?;
            }
            if !topic.is_internal {
                let name = topic.name.unwrap_or_default().to_owned();
                listing.push((name, topic.topic_id, i32::try_from(topic.partitions.len()).expect("a few")));
            }
        }
        self.listed = Some(listing);
        Ok(())
    }
}
