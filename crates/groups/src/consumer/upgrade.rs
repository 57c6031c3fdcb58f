//! A classic group becomes a consumer group, because a member joined that speaks the consumer protocol. Its members keep
//! what they have, and are told to join again in their own protocol.

use std::collections::BTreeSet;
use std::sync::Arc;

use milepost_model::{PartitionIndex, TopicId};
use milepost_records::consumer_protocol::{self, Subscription};
use milepost_records::offsets::consumer_group::MemberState;

use super::record::{
    Assignment, ClassicMember, ConsumerChange, ConsumerMember, CurrentAssignment, Epoch, GroupEpoch,
    OwnedPartitions, TargetEpoch,
};
use super::topics::ClusterTopics;
use super::{Draft, embedded_protocol};
use crate::classic::{self, HandedOver, HandedOverMember};
use crate::hard::HardGroup;
use crate::turn::Turn;
use crate::{GroupError, GroupRecord, Member, Record};

/// The group as a consumer group, if it may become one. Nothing has happened to the classic group yet.
pub(super) fn upgraded<'a>(
    turn: &mut Turn<'_>,
    hard: &HardGroup,
    topics: &ClusterTopics,
) -> Result<Draft<'a>, GroupError> {
    let handed_over = classic::hand_over(turn, hard);
    let is_allowed = turn.settings.consumer_migration_policy.allows_upgrade()
        && handed_over.is_of_consumers
        && handed_over.members.len() <= turn.settings.consumer_max_size;
    if !is_allowed {
        return Err(GroupError::GroupIdNotFound);
    }
    let members = converted(&handed_over, topics).ok_or(GroupError::GroupIdNotFound)?;
    Ok(draft(hard, &handed_over, members, topics))
}

/// A member with what it has.
type Converted = (Arc<str>, ConsumerMember, Assignment);

/// All members. `None`: their bytes cannot be read, or hold what only their own assignor understands.
fn converted(handed_over: &HandedOver, topics: &ClusterTopics) -> Option<Vec<Converted>> {
    // Nothing keeps a leader from giving a partition to two members. Here it is the first one's.
    let mut taken: BTreeSet<(TopicId, PartitionIndex)> = BTreeSet::new();
    let one = |HandedOverMember { member, protocols }: &HandedOverMember| {
        let chosen = handed_over.protocol.as_ref();
        let metadata = protocols.iter().find(|(name, _)| Some(name) == chosen).or(protocols.first());
        let subscription = Subscription::decode(&metadata?.1).ok()?;
        let assigned = consumer_protocol::Assignment::decode(&member.assignment).ok()?;
        if assigned.user_data.is_some_and(|data| !data.is_empty()) {
            return None;
        }
        let named = embedded_protocol::partitions(&assigned.partitions, topics);
        let assignment = named.iter().filter(|partition| taken.insert(*partition)).collect();
        let member_id = Arc::clone(&member.member_id);
        Some((member_id, consumer_member(member, &subscription, protocols), assignment))
    };
    handed_over.members.iter().map(one).collect()
}

fn consumer_member(
    member: &Member,
    subscription: &Subscription<'_>,
    protocols: &[(Arc<str>, Arc<[u8]>)],
) -> ConsumerMember {
    ConsumerMember {
        instance_id: member.group_instance_id.clone(),
        rack_id: subscription.rack_id.map(Arc::from),
        client_id: Arc::clone(&member.client_id),
        client_host: Arc::clone(&member.client_host),
        subscribed_topics: subscription.topics.iter().map(|topic| Arc::from(*topic)).collect(),
        subscribed_regex: None,
        rebalance_timeout_ms: Some(member.rebalance_timeout_ms),
        server_assignor: None,
        classic: Some(ClassicMember {
            session_timeout_ms: member.session_timeout_ms,
            protocols: protocols.to_vec(),
        }),
    }
}

/// The records in Kafka's order. The generation goes on as the epoch, so that it does not come back.
fn draft<'a>(
    hard: &HardGroup,
    handed_over: &HandedOver,
    members: Vec<Converted>,
    topics: &ClusterTopics,
) -> Draft<'a> {
    let tombstone = Record::Group(GroupRecord { group: Arc::clone(hard.id()), classic: None });
    let mut draft = Draft::new(Arc::clone(hard.id()), vec![tombstone]);
    let epoch = Epoch(handed_over.generation.0).max(Epoch::FIRST);
    for (member_id, member, _) in &members {
        let member = Some(Arc::new(member.clone()));
        draft.write(ConsumerChange::Member(Arc::clone(member_id), member));
    }
    let metadata_hash = draft.hash_of_topics(topics);
    draft.write(ConsumerChange::Group(Some(GroupEpoch { epoch, metadata_hash })));
    for (member_id, _, assignment) in &members {
        let target = Some(Arc::new(assignment.clone()));
        draft.write(ConsumerChange::Target(Arc::clone(member_id), target));
    }
    draft.write(ConsumerChange::TargetEpoch(Some(TargetEpoch { epoch, made_at: None })));
    for (member_id, _, assignment) in members {
        let mut assigned = OwnedPartitions::default();
        assignment.iter().for_each(|(topic, partition)| assigned.insert(topic, partition, epoch));
        let current = CurrentAssignment {
            epoch,
            previous_epoch: epoch,
            state: MemberState::Stable,
            assigned,
            pending_revocation: OwnedPartitions::default(),
        };
        draft.write(ConsumerChange::Current(member_id, Some(Arc::new(current))));
    }
    draft
}

/// The classic group ends with the records of the draft: whoever waits in it is told to join again, and is given a full
/// session for that.
pub(super) fn take_over(turn: &mut Turn<'_>, classic: &HardGroup, draft: &Draft<'_>) {
    classic::end_handed_over(turn, classic);
    let now = turn.now.monotonic;
    turn.soft.consumers.begin_group(draft.group_id());
    for (member_id, member) in draft.members() {
        if let Some(classic) = &member.classic {
            let deadline = now.plus_ms(classic.session_ms());
            turn.soft.consumers.keep_session(draft.group_id(), member_id, deadline);
        }
    }
}
