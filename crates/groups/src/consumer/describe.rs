//! ConsumerGroupDescribe: what there is to know about a consumer group.

use std::sync::Arc;

use milepost_model::Ticket;

use super::ConsumerGroup;
use super::record::{Assignment, ConsumerMember};
use crate::hard::HardGroup;
use crate::request::DescribeGroup;
use crate::turn::Turn;
use crate::{DescribedConsumer, DescribedConsumerGroup, GroupError, GroupSettings, Reply};

/// Handles ConsumerGroupDescribe for one group.
pub(crate) fn describe_consumer_group(turn: &mut Turn<'_>, ticket: Ticket, request: &DescribeGroup<'_>) {
    let hard = turn.hard.group(request.group_id);
    let described = match hard.and_then(HardGroup::consumer) {
        _ if request.group_id.is_empty() => Err(GroupError::InvalidGroupId),
        None => Err(GroupError::GroupIdNotFound),
        Some(group) => Ok(describe(group, turn.settings)),
    };
    turn.answer(hard, ticket, Reply::DescribeConsumerGroup(described));
}

fn describe(group: &ConsumerGroup, settings: &GroupSettings) -> DescribedConsumerGroup {
    let members = group.members().iter().map(|(id, member)| describe_member(group, id, member));
    DescribedConsumerGroup {
        state: group.state(),
        epoch: group.epoch(),
        target_epoch: group.target_epoch().epoch,
        assignor: group.preferred_assignor(settings),
        members: members.collect(),
    }
}

fn describe_member(
    group: &ConsumerGroup,
    member_id: &Arc<str>,
    member: &ConsumerMember,
) -> DescribedConsumer {
    let current = group.current(member_id);
    // What a member must still give up is nobody else's yet (KAFKA-20431).
    let owned = current.assigned.iter().chain(current.pending_revocation.iter());
    let assignment: Assignment = owned.map(|(topic, partition, _)| (topic, partition)).collect();
    DescribedConsumer {
        member_id: Arc::clone(member_id),
        member: member.clone(),
        epoch: current.epoch,
        assignment,
        target: group.target(member_id).map(|target| Assignment::clone(target)).unwrap_or_default(),
    }
}
