//! DeleteTopics (20), versions 1–6. A topic is answered as deleted once its tombstone is durable; its files and the
//! offsets committed for it go after that.

use std::collections::BTreeMap;

use milepost_log::metadata::MetadataRecord;
use milepost_model::{Offset, TopicId};
use milepost_wire::ErrorCode;
use milepost_wire::messages::delete_topics::{
    DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse,
};

use super::{Context, Handled};
use crate::errors::{self, Refusal};
use crate::node::{Node, RequestKey, TopicWait};
use crate::topics;

/// The result for one topic, until the answer leaves.
#[derive(Debug)]
pub(crate) struct Deleted {
    name: Option<String>,
    id: TopicId,
    result: Result<(), Refusal>,
}

/// What an entry of the request names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked<'a> {
    Name(&'a str),
    Id(TopicId),
    /// Both or neither.
    Unclear(Option<&'a str>, TopicId),
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &DeleteTopicsRequest<'_>) -> Handled {
    let asked = asked(context.key.version, request);
    let mut times: BTreeMap<TopicId, usize> = BTreeMap::new();
    for id in asked.iter().filter_map(|asked| find(node, *asked).ok()) {
        *times.entry(id).or_default() += 1;
    }
    let mut last = None;
    let mut deleted = Vec::with_capacity(asked.len());
    for entry in asked {
        let found = find(node, entry);
        let result = match found {
            _ if !node.settings.delete_topics => Err(disabled(context.key.version)),
            Err(code) => Err(code.into()),
            Ok(id) if times.get(&id).is_some_and(|count| *count > 1) => Err(Refusal::with_message(
                ErrorCode::InvalidRequest,
                "the topic is named twice in the request",
            )),
            Ok(id) => delete(node, context, id, &mut last),
        };
        let (name, id) = shown(node, entry, found.ok());
        deleted.push(Deleted { name, id, result });
    }
    match last {
        Some(position) => node.topics.park(position, context.key, TopicWait::Delete(deleted)),
        None => finish(node, context.key, &deleted),
    }
    Ok(())
}

fn asked<'a>(version: i16, request: &DeleteTopicsRequest<'a>) -> Vec<Asked<'a>> {
    if version < 6 {
        return request.topic_names.iter().map(|name| Asked::Name(name)).collect();
    }
    let entry = |topic: &milepost_wire::messages::delete_topics::DeleteTopicState<'a>| match topic.name {
        Some(name) if topic.topic_id.is_zero() => Asked::Name(name),
        None if !topic.topic_id.is_zero() => Asked::Id(topic.topic_id),
        name => Asked::Unclear(name, topic.topic_id),
    };
    request.topics.iter().map(entry).collect()
}

fn find(node: &Node, asked: Asked<'_>) -> Result<TopicId, ErrorCode> {
    let image = node.metadata.image();
    match asked {
        Asked::Name(name) => {
            image.topic(name).map(|topic| topic.id).ok_or(ErrorCode::UnknownTopicOrPartition)
        }
        Asked::Id(id) => image.topic_by_id(id).map(|topic| topic.id).ok_or(ErrorCode::UnknownTopicId),
        Asked::Unclear(..) => Err(ErrorCode::InvalidRequest),
    }
}

fn shown(node: &Node, asked: Asked<'_>, found: Option<TopicId>) -> (Option<String>, TopicId) {
    match asked {
        Asked::Name(name) => (Some(name.to_owned()), found.unwrap_or(TopicId::ZERO)),
        Asked::Id(id) => (node.metadata.image().topic_by_id(id).map(|topic| topic.name.clone()), id),
        Asked::Unclear(name, id) => (name.map(str::to_owned), id),
    }
}

fn disabled(version: i16) -> Refusal {
    let code = if version >= 3 { ErrorCode::TopicDeletionDisabled } else { ErrorCode::InvalidRequest };
    Refusal::with_message(code, "topics cannot be deleted: delete.topic.enable is false")
}

fn delete(
    node: &mut Node,
    context: Context<'_>,
    id: TopicId,
    last: &mut Option<Offset>,
) -> Result<(), Refusal> {
    let internal = node.metadata.image().topic_by_id(id).filter(|topic| topic.is_internal);
    if let Some(topic) = internal {
        // Every committed offset of every group, or every transaction, would go at once; nobody means that.
        let why = if topic.name == topics::OFFSETS_TOPIC {
            "the topic of committed offsets cannot be deleted"
        } else {
            "the topic of transactions cannot be deleted"
        };
        return Err(Refusal::with_message(ErrorCode::InvalidTopicException, why));
    }
    topics::check_not_changing(node, id)?;
    let position = node
        .metadata
        .propose(&mut node.logs, vec![MetadataRecord::TopicDeletion(id)], context.now)
        .map_err(|error| errors::of_proposal(&error))?;
    *last = Some(position);
    Ok(())
}

/// Answers once the tombstones are durable.
pub(crate) fn finish(node: &mut Node, key: RequestKey, deleted: &[Deleted]) {
    let responses = deleted
        .iter()
        .map(|topic| DeletableTopicResult {
            // Before version 6 a name may not be null, and cannot be: only names were asked for.
            name: topic.name.as_deref(),
            topic_id: topic.id,
            error_code: topic.result.as_ref().err().map_or(ErrorCode::None, |refusal| refusal.code),
            error_message: topic.result.as_ref().err().and_then(|refusal| refusal.message.as_deref()),
        })
        .collect();
    node.connections.respond(key, &DeleteTopicsResponse { responses, ..DeleteTopicsResponse::default() });
}
