//! Heartbeat of a member that speaks the classic protocol: whether it has to join again.

use milepost_records::offsets::consumer_group::MemberState;

use super::{Present, present};
use crate::GroupError;
use crate::consumer::{ConsumerGroup, target};
use crate::hard::HardGroup;
use crate::request::Heartbeat;
use crate::turn::Turn;

/// Handles Heartbeat for a consumer group.
pub(crate) fn heartbeat_in_consumer_group(
    turn: &mut Turn<'_>,
    hard: &HardGroup,
    group: &ConsumerGroup,
    request: &Heartbeat<'_>,
) -> Result<(), GroupError> {
    turn.soft.consumers.note_topics(&request.topics);
    let member = present(group, request.member_id, request.group_instance_id, request.generation)?;
    member.keep_session(turn, hard);
    // Where nobody speaks the consumer protocol any more, no heartbeat makes the target that waited for its time: a join has to.
    let target_waits = target::is_due(hard.id(), group, &request.topics, turn.settings, turn.now);
    if target_waits || must_join(group, &member) { Err(member.call_back(turn, hard)) } else { Ok(()) }
}

/// Whether there is a new target, something to give up, or something to be had.
fn must_join(group: &ConsumerGroup, member: &Present<'_>) -> bool {
    member.current.epoch < group.target_epoch().epoch
        || match member.current.state {
            MemberState::UnrevokedPartitions => true,
            MemberState::UnreleasedPartitions => !waits_for_others(group, member),
            MemberState::Stable | MemberState::Unknown(_) => false,
        }
}

/// Whether another member still holds something that this one shall have.
fn waits_for_others(group: &ConsumerGroup, member: &Present<'_>) -> bool {
    let held = group.held_by_others(member.id);
    let target = group.target(member.id).into_iter().flat_map(|target| target.iter());
    target
        .filter(|(topic, partition)| member.current.assigned.epoch(*topic, *partition).is_none())
        .any(|partition| held.contains(&partition))
}
