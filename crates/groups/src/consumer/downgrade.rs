//! A consumer group becomes a classic group, because its last member that speaks the consumer protocol is gone.

use std::sync::Arc;

use milepost_model::Generation;

use super::record::{ClassicMember, ConsumerMember, Epoch};
use super::topics::ClusterTopics;
use super::{ConsumerGroup, Draft, embedded_protocol};
use crate::classic::{self, Adopted, AdoptedProtocol, AfterAdoption};
use crate::consumer::ConsumerRecord;
use crate::hard::HardGroup;
use crate::turn::Turn;
use crate::{GroupSettings, Member, Record};

/// Whether the group becomes a classic one if these members leave.
pub(super) fn is_due(group: &ConsumerGroup, leaving: &[Arc<str>], settings: &GroupSettings) -> bool {
    let mut staying = group.members().iter().filter(|(id, _)| !leaving.contains(id)).peekable();
    if staying.peek().is_none() || !settings.consumer_migration_policy.allows_downgrade() {
        return false;
    }
    let (mut count, mut all_classic) = (0_usize, true);
    for (_, member) in staying {
        count += 1;
        all_classic &= member.classic.is_some();
    }
    all_classic && count <= settings.max_size
}

/// Whether the group becomes a classic one if a member that speaks the classic protocol takes the place of this one.
pub(super) fn is_due_by_replacement(
    group: &ConsumerGroup,
    replaced: &ConsumerMember,
    settings: &GroupSettings,
) -> bool {
    let others = group.members().values().filter(|member| member.classic.is_none()).count();
    replaced.classic.is_none()
        && others == 1
        && settings.consumer_migration_policy.allows_downgrade()
        && group.members().len() <= settings.max_size
}

/// Records the group as a classic one, without these members, in the generation of this epoch. The draft's own records go
/// first.
pub(super) fn downgrade(
    turn: &mut Turn<'_>,
    hard: &HardGroup,
    draft: Draft<'_>,
    leaving: &[Arc<str>],
    epoch: Epoch,
    topics: &ClusterTopics,
    then: AfterAdoption,
) {
    let staying = draft.members().iter().filter(|(id, _)| !leaving.contains(id));
    let members: Vec<_> = staying.filter_map(|(id, member)| adopted(&draft, id, member, topics)).collect();
    let tombstones = draft.tombstones();
    let group_id = Arc::clone(draft.group_id());
    turn.records.extend(draft.into_records());
    let record = |change| Record::Consumer(ConsumerRecord { group: Arc::clone(&group_id), change });
    turn.records.extend(tombstones.into_iter().map(record));
    classic::adopt(turn, hard, Generation(epoch.0), &members, then);
}

fn adopted(
    group: &ConsumerGroup,
    member_id: &Arc<str>,
    member: &ConsumerMember,
    topics: &ClusterTopics,
) -> Option<Adopted> {
    let classic: &ClassicMember = member.classic.as_ref()?;
    let target = group.target(member_id).cloned().unwrap_or_default();
    let assignment_as = |subscription: &[u8]| embedded_protocol::encode(&target, topics, subscription);
    let protocol = |(name, metadata): &(Arc<str>, Arc<[u8]>)| AdoptedProtocol {
        name: Arc::clone(name),
        metadata: Arc::clone(metadata),
        assignment: assignment_as(metadata),
    };
    let protocols = classic.protocols.iter().map(protocol).collect();
    let member = Member {
        member_id: Arc::clone(member_id),
        group_instance_id: member.instance_id.clone(),
        client_id: Arc::clone(&member.client_id),
        client_host: Arc::clone(&member.client_host),
        rebalance_timeout_ms: member.rebalance_timeout_ms.unwrap_or(classic.session_timeout_ms),
        session_timeout_ms: classic.session_timeout_ms,
        subscription: Arc::default(),
        assignment: Arc::default(),
    };
    Some(Adopted { member, protocols })
}
