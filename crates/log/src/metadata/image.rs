//! The state that the metadata log's records say. Pure: replay is its only writer.

use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_model::{ProducerId, TopicId};
use milepost_records::EncodeError;
use milepost_records::metadata::{self as records, Config};

#[cfg(test)]
mod tests;

/// A topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its identity.
    pub id: TopicId,
    /// Its name.
    pub name: String,
    /// The number of its partitions; it never shrinks.
    pub partition_count: i32,
    /// As it was asked for; one node has one copy whatever it says.
    pub replication_factor: i16,
    /// Whether only the server writes to it.
    pub is_internal: bool,
    /// What was set for this topic, by Kafka's names.
    pub configs: BTreeMap<String, String>,
}

/// What is set for one group, whether it exists or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupConfigs {
    /// The group.
    pub group: String,
    /// What is set, by Kafka's names.
    pub configs: BTreeMap<String, String>,
}

/// A record of the metadata log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataRecord {
    /// A topic as it is from here on: a new one, or all of a changed one.
    Topic(Arc<Topic>),
    /// The topic is deleted.
    TopicDeletion(TopicId),
    /// The cluster's id. It never changes.
    ClusterId(String),
    /// Every producer id below this one may have been handed out. It never goes back.
    ProducerIdBlock {
        /// The first id that is certainly free.
        next_producer_id: ProducerId,
    },
    /// What is set for a group from here on; nothing, if there are no configs.
    GroupConfigs(Arc<GroupConfigs>),
}

impl MetadataRecord {
    /// The record's key and value.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`].
    pub fn encode(&self) -> Result<(Vec<u8>, Option<Vec<u8>>), EncodeError> {
        let record = match self {
            Self::Topic(topic) => records::Record::Topic(records::Topic {
                id: topic.id,
                name: &topic.name,
                partition_count: topic.partition_count,
                replication_factor: topic.replication_factor,
                is_internal: topic.is_internal,
                configs: topic.configs.iter().map(|(key, value)| Config { key, value }).collect(),
            }),
            Self::TopicDeletion(id) => records::Record::TopicDeletion(*id),
            Self::ClusterId(id) => records::Record::ClusterId(id),
            Self::ProducerIdBlock { next_producer_id } => {
                records::Record::ProducerIdBlock { next_producer_id: *next_producer_id }
            }
            Self::GroupConfigs(set) if set.configs.is_empty() => {
                records::Record::GroupConfigsDeletion(&set.group)
            }
            Self::GroupConfigs(set) => records::Record::GroupConfigs(records::GroupConfigs {
                group: &set.group,
                configs: set.configs.iter().map(|(key, value)| Config { key, value }).collect(),
            }),
        };
        let mut key = Vec::new();
        record.encode_key(&mut key)?;
        Ok((key, record.encode_value()?))
    }

    /// Reads a record of the log.
    ///
    /// # Errors
    /// [`InvalidRecord::Malformed`], [`InvalidRecord::UnknownType`].
    pub fn decode(key: Option<&[u8]>, value: Option<&[u8]>) -> Result<Self, InvalidRecord> {
        Ok(match records::Record::decode(key, value)? {
            records::Record::Topic(topic) => Self::Topic(Arc::new(Topic {
                id: topic.id,
                name: topic.name.to_owned(),
                partition_count: topic.partition_count,
                replication_factor: topic.replication_factor,
                is_internal: topic.is_internal,
                configs: topic
                    .configs
                    .iter()
                    .map(|config| (config.key.to_owned(), config.value.to_owned()))
                    .collect(),
            })),
            records::Record::TopicDeletion(id) => Self::TopicDeletion(id),
            records::Record::ClusterId(id) => Self::ClusterId(id.to_owned()),
            records::Record::ProducerIdBlock { next_producer_id } => {
                Self::ProducerIdBlock { next_producer_id }
            }
            records::Record::GroupConfigsDeletion(group) => {
                let (group, configs) = (group.to_owned(), BTreeMap::new());
                Self::GroupConfigs(Arc::new(GroupConfigs { group, configs }))
            }
            records::Record::GroupConfigs(set) => Self::GroupConfigs(Arc::new(GroupConfigs {
                group: set.group.to_owned(),
                configs: set
                    .configs
                    .iter()
                    .map(|config| (config.key.to_owned(), config.value.to_owned()))
                    .collect(),
            })),
            records::Record::Unknown { record_type } => return Err(InvalidRecord::UnknownType(record_type)),
        })
    }
}

/// Why a record cannot follow on the state there is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRecord {
    /// Its bytes are not what its type says, or of a newer version.
    #[error(transparent)]
    Malformed(#[from] milepost_records::DecodeError),
    /// It is of a newer version, and what follows may rest on it.
    #[error("the record type {0} is not known to this version")]
    UnknownType(i16),
    /// Another topic has this name.
    #[error("there is another topic called {0}")]
    NameTaken(String),
    /// A topic keeps its name, and never has fewer partitions.
    #[error("topic {0} would change its name or lose partitions")]
    TopicShrinks(String),
    /// The cluster has another id.
    #[error("the cluster has the id {0}")]
    ClusterIdChanges(String),
    /// Producer ids would be handed out twice.
    #[error("producer ids below {} may be taken", .0.0)]
    ProducerIdsReturn(ProducerId),
}

/// What a record changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataChange {
    /// There is a new topic.
    TopicCreated(Arc<Topic>),
    /// A topic has more partitions or other settings.
    TopicChanged {
        /// As it was.
        before: Arc<Topic>,
        /// As it is.
        after: Arc<Topic>,
    },
    /// A topic is gone.
    TopicDeleted(Arc<Topic>),
    /// The cluster has its id.
    ClusterIdChosen,
    /// Producer ids from the first to below the second were taken.
    ProducerIdsTaken {
        /// The first that was free before.
        from: ProducerId,
        /// The first that is free now.
        to: ProducerId,
    },
    /// Something else is set for a group.
    GroupConfigsChanged,
}

/// The state that the records up to some offset say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataImage {
    topics: BTreeMap<TopicId, Arc<Topic>>,
    ids: BTreeMap<String, TopicId>,
    cluster_id: Option<String>,
    next_producer_id: ProducerId,
    groups: BTreeMap<String, Arc<GroupConfigs>>,
}

impl Default for MetadataImage {
    /// What an empty log says.
    fn default() -> Self {
        Self {
            topics: BTreeMap::new(),
            ids: BTreeMap::new(),
            cluster_id: None,
            next_producer_id: ProducerId(0),
            groups: BTreeMap::new(),
        }
    }
}

impl MetadataImage {
    /// All topics, internal ones included, in the order of their names.
    pub fn topics(&self) -> impl Iterator<Item = &Arc<Topic>> {
        self.ids.values().filter_map(|id| self.topics.get(id))
    }

    /// The topic of this name.
    #[must_use]
    pub fn topic(&self, name: &str) -> Option<&Arc<Topic>> {
        self.topics.get(self.ids.get(name)?)
    }

    /// The topic of this identity.
    #[must_use]
    pub fn topic_by_id(&self, id: TopicId) -> Option<&Arc<Topic>> {
        self.topics.get(&id)
    }

    /// The groups for which something is set, in the order of their ids.
    pub fn group_configs(&self) -> impl Iterator<Item = &Arc<GroupConfigs>> {
        self.groups.values()
    }

    /// What is set for a group, if anything is.
    #[must_use]
    pub fn configs_of_group(&self, group: &str) -> Option<&Arc<GroupConfigs>> {
        self.groups.get(group)
    }

    /// The cluster's id; `None` before the first start is through.
    #[must_use]
    pub fn cluster_id(&self) -> Option<&str> {
        self.cluster_id.as_deref()
    }

    /// Every producer id from this one on is free.
    #[must_use]
    pub fn next_producer_id(&self) -> ProducerId {
        self.next_producer_id
    }

    /// Applies a record. `None`: it changed nothing (a deletion whose topic was compacted away).
    ///
    /// # Errors
    /// [`InvalidRecord`]; the image is as before.
    pub fn replay(&mut self, record: &MetadataRecord) -> Result<Option<MetadataChange>, InvalidRecord> {
        match record {
            MetadataRecord::Topic(topic) => self.replay_topic(topic).map(Some),
            MetadataRecord::TopicDeletion(id) => Ok(self.topics.remove(id).map(|topic| {
                self.ids.remove(&topic.name);
                MetadataChange::TopicDeleted(topic)
            })),
            MetadataRecord::ClusterId(id) => match &self.cluster_id {
                Some(present) if present == id => Ok(None),
                Some(present) => Err(InvalidRecord::ClusterIdChanges(present.clone())),
                None => {
                    self.cluster_id = Some(id.clone());
                    Ok(Some(MetadataChange::ClusterIdChosen))
                }
            },
            MetadataRecord::ProducerIdBlock { next_producer_id: to } => {
                let from = self.next_producer_id;
                if *to < from {
                    return Err(InvalidRecord::ProducerIdsReturn(from));
                }
                self.next_producer_id = *to;
                Ok(Some(MetadataChange::ProducerIdsTaken { from, to: *to }))
            }
            MetadataRecord::GroupConfigs(set) if set.configs.is_empty() => {
                Ok(self.groups.remove(&set.group).map(|_| MetadataChange::GroupConfigsChanged))
            }
            MetadataRecord::GroupConfigs(set) => {
                self.groups.insert(set.group.clone(), Arc::clone(set));
                Ok(Some(MetadataChange::GroupConfigsChanged))
            }
        }
    }

    fn replay_topic(&mut self, topic: &Arc<Topic>) -> Result<MetadataChange, InvalidRecord> {
        if self.ids.get(&topic.name).is_some_and(|&id| id != topic.id) {
            return Err(InvalidRecord::NameTaken(topic.name.clone()));
        }
        if let Some(present) = self.topics.get(&topic.id)
            && (present.name != topic.name || present.partition_count > topic.partition_count)
        {
            return Err(InvalidRecord::TopicShrinks(present.name.clone()));
        }
        self.ids.insert(topic.name.clone(), topic.id);
        Ok(match self.topics.insert(topic.id, Arc::clone(topic)) {
            Some(before) => MetadataChange::TopicChanged { before, after: Arc::clone(topic) },
            None => MetadataChange::TopicCreated(Arc::clone(topic)),
        })
    }
}
