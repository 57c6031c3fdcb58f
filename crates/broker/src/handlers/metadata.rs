//! Metadata (3), versions 0–13: the broker, topics and partitions; and, if allowed, the creation of topics asked for.
//!
//! A topic that is created on the way is answered with UNKNOWN_TOPIC_OR_PARTITION this time, as Kafka does; the
//! client asks again and finds it, by then durable.

use std::collections::{BTreeMap, BTreeSet};

use milepost_log::metadata::{MetadataImage, Topic};
use milepost_model::TopicId;
use milepost_wire::ErrorCode;
use milepost_wire::messages::metadata::{
    MetadataRequest, MetadataResponse, MetadataResponseBroker, MetadataResponsePartition,
    MetadataResponseTopic,
};

use super::{Context, Handled};
use crate::node::Node;
use crate::operations;
use crate::topics::{self, NewTopic};

/// What was asked for.
enum Wanted<'a> {
    All,
    Names(BTreeSet<&'a str>),
    Ids(BTreeSet<TopicId>),
    /// Versions 10 and 11 know ids in the answer but not in the question.
    Malformed,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &MetadataRequest<'_>) -> Handled {
    let version = context.key.version;
    let wanted = wanted(version, request);
    if let Wanted::Names(names) = &wanted
        && node.settings.auto_create_topics
        && (version < 4 || request.allow_auto_topic_creation)
    {
        create_missing(node, context, names);
    }
    let view = View {
        image: node.metadata.image(),
        node_id: node.settings.node_id,
        leader_epoch: node.logs.leader_epoch().0,
        operations: operations::if_asked(request.include_topic_authorized_operations, operations::TOPIC),
    };
    let (error_code, topics) = match &wanted {
        Wanted::All => (ErrorCode::None, view.image.topics().map(|topic| view.topic(topic)).collect()),
        Wanted::Names(names) => (ErrorCode::None, view.by_names(names)),
        Wanted::Ids(ids) => (ErrorCode::None, view.by_ids(ids)),
        Wanted::Malformed => (ErrorCode::InvalidRequest, view.refuse_all(request)),
    };
    let response = MetadataResponse {
        brokers: vec![MetadataResponseBroker {
            node_id: node.settings.node_id,
            host: &node.endpoint.host,
            port: i32::from(node.endpoint.port),
            rack: None,
        }],
        cluster_id: view.image.cluster_id(),
        controller_id: node.settings.node_id,
        topics,
        cluster_authorized_operations: operations::if_asked(
            request.include_cluster_authorized_operations,
            operations::CLUSTER,
        ),
        error_code: if version >= 13 { error_code } else { ErrorCode::None },
        ..MetadataResponse::default()
    };
    node.connections.respond(context.key, &response);
    Ok(())
}

fn wanted<'a>(version: i16, request: &MetadataRequest<'a>) -> Wanted<'a> {
    let Some(asked) = &request.topics else { return Wanted::All };
    if asked.is_empty() && version == 0 {
        return Wanted::All;
    }
    let by_id = asked.iter().any(|topic| !topic.topic_id.is_zero());
    let nameless = asked.iter().any(|topic| topic.name.is_none());
    if version < 12 && (by_id || nameless) {
        return Wanted::Malformed;
    }
    if by_id {
        return Wanted::Ids(asked.iter().map(|topic| topic.topic_id).filter(|id| !id.is_zero()).collect());
    }
    if nameless {
        return Wanted::Malformed;
    }
    Wanted::Names(asked.iter().filter_map(|topic| topic.name).collect())
}

/// Creates what does not exist. Whatever hinders it is for the log: the client sees an unknown topic either way.
fn create_missing(node: &mut Node, context: Context<'_>, names: &BTreeSet<&str>) {
    for name in names {
        let known = node.metadata.image().topic(name).is_some() || node.metadata.is_pending(name);
        if known || topics::check_name(name).is_err() || topics::is_reserved(name) {
            continue;
        }
        if let Some(other) = topics::colliding(node, name) {
            tracing::warn!("topic {name} is not created: its name collides with {other}");
            continue;
        }
        let topic = NewTopic {
            name: (*name).to_owned(),
            partitions: node.settings.num_partitions,
            configs: BTreeMap::new(),
        };
        if let Err(error) = topics::propose(node, topic, context.now) {
            // The others would fare no better.
            tracing::warn!("topic {name} cannot be created now: {error}");
            return;
        }
    }
}

/// What the answer is made of.
struct View<'a> {
    image: &'a MetadataImage,
    node_id: i32,
    leader_epoch: i32,
    operations: i32,
}

impl<'a> View<'a> {
    fn by_names(&self, names: &BTreeSet<&'a str>) -> Vec<MetadataResponseTopic<'a>> {
        let one = |name: &&'a str| match self.image.topic(name) {
            Some(topic) => self.topic(topic),
            None => {
                let named_well = topics::check_name(name).is_ok();
                let error = if named_well {
                    ErrorCode::UnknownTopicOrPartition
                } else {
                    ErrorCode::InvalidTopicException
                };
                refused(Some(name), TopicId::ZERO, error)
            }
        };
        let (known, unknown): (Vec<_>, Vec<_>) =
            names.iter().map(one).partition(|topic| topic.error_code == ErrorCode::None);
        known.into_iter().chain(unknown).collect()
    }

    fn by_ids(&self, ids: &BTreeSet<TopicId>) -> Vec<MetadataResponseTopic<'a>> {
        let (known, unknown): (Vec<_>, Vec<_>) =
            ids.iter().partition(|id| self.image.topic_by_id(**id).is_some());
        let refusals = unknown.into_iter().map(|id: &TopicId| refused(None, *id, ErrorCode::UnknownTopicId));
        let topics =
            known.into_iter().filter_map(|id| self.image.topic_by_id(*id)).map(|topic| self.topic(topic));
        refusals.chain(topics).collect()
    }

    fn refuse_all(&self, request: &MetadataRequest<'a>) -> Vec<MetadataResponseTopic<'a>> {
        let asked = request.topics.iter().flatten();
        // Before version 12 a name may not be null, in the answer either.
        asked
            .map(|topic| refused(Some(topic.name.unwrap_or("")), topic.topic_id, ErrorCode::InvalidRequest))
            .collect()
    }

    fn topic(&self, topic: &'a Topic) -> MetadataResponseTopic<'a> {
        let partition = |index| MetadataResponsePartition {
            partition_index: index,
            leader_id: self.node_id,
            leader_epoch: self.leader_epoch,
            replica_nodes: vec![self.node_id],
            isr_nodes: vec![self.node_id],
            ..MetadataResponsePartition::default()
        };
        MetadataResponseTopic {
            error_code: ErrorCode::None,
            name: Some(&topic.name),
            topic_id: topic.id,
            is_internal: topic.is_internal,
            partitions: (0..topic.partition_count).map(partition).collect(),
            topic_authorized_operations: self.operations,
        }
    }
}

fn refused(name: Option<&str>, id: TopicId, error: ErrorCode) -> MetadataResponseTopic<'_> {
    MetadataResponseTopic {
        error_code: error,
        name,
        topic_id: id,
        topic_authorized_operations: operations::NOT_ASKED,
        ..MetadataResponseTopic::default()
    }
}
