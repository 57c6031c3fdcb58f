//! What a Fetch is to read: from the request, or from the session that it goes on with.

use milepost_log::IsolationLevel;
use milepost_log::metadata::MetadataImage;
use milepost_model::{Instant, TopicId, TopicPartition};
use milepost_wire::ErrorCode;
use milepost_wire::messages::fetch::{FetchPartition, FetchRequest};

use super::super::Context;
use crate::fetch_sessions::{SessionId, SessionPartition, TopicKey, TopicKeys, Update, Updated};
use crate::node::Node;
use crate::topics;

/// The first version that names topics by id.
const TOPIC_IDS_FROM: i16 = 13;
/// The epoch of a fetch that would begin a session, and of one outside sessions.
const FULL_EPOCH: i32 = 0;
const SESSIONLESS_EPOCH: i32 = -1;

/// A fetch, owned, so that it can wait.
#[derive(Debug)]
pub(crate) struct FetchPlan {
    pub(super) max_bytes: usize,
    pub(super) min_bytes: usize,
    pub(super) isolation_level: IsolationLevel,
    pub(super) session: PlanSession,
    pub(super) topics: Vec<TopicPlan>,
}

/// What the answer has to do with sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlanSession {
    /// Nothing.
    None,
    /// It begins one, if there is room.
    Begins { asked_at: Instant, topic_keys: TopicKeys },
    /// It says what is new in this one.
    Continues { id: SessionId, epoch: i32 },
}

#[derive(Debug)]
pub(super) struct TopicPlan {
    pub(super) key: TopicKey,
    pub(super) partitions: Vec<PartitionPlan>,
}

impl TopicPlan {
    /// The name and the id, of which one is empty, as the answer has them.
    pub(super) fn name_and_id(&self) -> (&str, TopicId) {
        match &self.key {
            TopicKey::Name(name) => (name, TopicId::ZERO),
            TopicKey::Id(id) => ("", *id),
        }
    }
}

#[derive(Debug)]
pub(super) struct PartitionPlan {
    pub(super) asked: FetchPartition,
    pub(super) found: Result<TopicPartition, ErrorCode>,
}

impl FetchPlan {
    /// The partitions that exist, which may grow.
    pub(crate) fn partitions(&self) -> Vec<TopicPartition> {
        self.topics.iter().flat_map(|topic| &topic.partitions).filter_map(|plan| plan.found.ok()).collect()
    }

    /// The session that the answer continues.
    pub(crate) fn continues(&self) -> Option<SessionId> {
        match self.session {
            PlanSession::Continues { id, .. } => Some(id),
            PlanSession::None | PlanSession::Begins { .. } => None,
        }
    }
}

/// What a version says of a topic that does not exist, or no longer.
pub(super) fn missing(version: i16) -> ErrorCode {
    if version >= TOPIC_IDS_FROM { ErrorCode::UnknownTopicId } else { ErrorCode::UnknownTopicOrPartition }
}

/// Takes the request into its session, if it has one, and plans what is to be read.
///
/// # Errors
/// What is wrong with the session; nothing is read then.
pub(super) fn plan(
    node: &mut Node,
    context: Context<'_>,
    request: &FetchRequest<'_>,
) -> Result<FetchPlan, ErrorCode> {
    let version = context.key.version;
    let topic_keys = if version >= TOPIC_IDS_FROM { TopicKeys::Ids } else { TopicKeys::Names };
    let key = |name: &str, id| match topic_keys {
        TopicKeys::Names => TopicKey::Name(name.into()),
        TopicKeys::Ids => TopicKey::Id(id),
    };
    let asked_at = context.now.monotonic;
    let (session, topics) = match request.session_epoch {
        full @ (FULL_EPOCH | SESSIONLESS_EPOCH) => {
            close(node, SessionId(request.session_id));
            let begins = PlanSession::Begins { asked_at, topic_keys };
            let session = if full == FULL_EPOCH { begins } else { PlanSession::None };
            let image = node.metadata.image();
            let topics = request.topics.iter().map(|topic| {
                let key = key(topic.topic, topic.topic_id);
                let partitions = topic.partitions.iter();
                let partitions = partitions.map(|asked| locate(image, &key, asked)).collect();
                TopicPlan { key, partitions }
            });
            (session, topics.collect())
        }
        epoch => {
            let partitions = request.topics.iter().flat_map(|topic| {
                let key = key(topic.topic, topic.topic_id);
                topic.partitions.iter().map(move |asked| (key.clone(), asked))
            });
            let forgotten = request.forgotten_topics_data.iter().flat_map(|topic| {
                let key = key(topic.topic, topic.topic_id);
                topic.partitions.iter().map(move |index| (key.clone(), *index))
            });
            let update = Update {
                id: SessionId(request.session_id),
                epoch,
                topic_keys,
                partitions: partitions.collect(),
                forgotten: forgotten.collect(),
            };
            let session = go_on(node, asked_at, &update)?;
            (session, in_session(node.metadata.image(), node.fetch_sessions.partitions(update.id)))
        }
    };
    let max_bytes = usize::try_from(request.max_bytes).unwrap_or(0).min(node.settings.fetch_max_bytes);
    let min_bytes = usize::try_from(request.min_bytes).unwrap_or(0).min(max_bytes);
    let isolation_level = super::super::isolation_level(request.isolation_level);
    Ok(FetchPlan { max_bytes, min_bytes, isolation_level, session, topics })
}

fn go_on(node: &mut Node, now: Instant, update: &Update<'_>) -> Result<PlanSession, ErrorCode> {
    let updated = node.fetch_sessions.update(now, update);
    let session = match updated? {
        Updated::Continues => PlanSession::Continues { id: update.id, epoch: update.epoch },
        Updated::Closed => PlanSession::None,
    };
    // Whoever still waits in this session was overtaken, and hears so at once.
    super::answer_overtaken(node, update.id);
    Ok(session)
}

fn close(node: &mut Node, id: SessionId) {
    node.fetch_sessions.remove(id);
    super::answer_overtaken(node, id);
}

/// Neighbours of one topic are answered together.
fn in_session<'a>(
    image: &MetadataImage,
    partitions: impl Iterator<Item = &'a SessionPartition>,
) -> Vec<TopicPlan> {
    let mut topics: Vec<TopicPlan> = Vec::new();
    for partition in partitions {
        let located = locate(image, &partition.topic, &partition.asked);
        match topics.last_mut() {
            Some(topic) if topic.key == partition.topic => topic.partitions.push(located),
            _ => topics.push(TopicPlan { key: partition.topic.clone(), partitions: vec![located] }),
        }
    }
    topics
}

fn locate(image: &MetadataImage, topic: &TopicKey, asked: &FetchPartition) -> PartitionPlan {
    let topic = match topic {
        TopicKey::Name(name) => image.topic(name).ok_or(ErrorCode::UnknownTopicOrPartition),
        TopicKey::Id(id) => image.topic_by_id(*id).ok_or(ErrorCode::UnknownTopicId),
    };
    let found = topic.and_then(|topic| {
        topics::partition(topic, asked.partition).ok_or(ErrorCode::UnknownTopicOrPartition)
    });
    PartitionPlan { asked: asked.clone(), found }
}
