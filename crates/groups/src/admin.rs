//! What administrators ask about groups: ListGroups, DescribeGroups, DeleteGroups.

use std::collections::BTreeSet;
use std::sync::Arc;

use milepost_model::{DependsOn, Ticket};

use crate::consumer::{ConsumerGroup, ConsumerRecord};
use crate::hard::{Hard, HardGroup};
use crate::offsets::offset_tombstones;
use crate::request::{DeleteGroups, DescribeGroup, ListGroups};
use crate::soft::Soft;
use crate::turn::Turn;
use crate::view::GroupView;
use crate::{
    DescribedGroup, DescribedMember, GroupCensus, GroupError, GroupRecord, GroupState, GroupType,
    ListedGroup, Record, Reply,
};

/// Which groups there are, and how many offsets.
pub(crate) fn census(hard: &Hard, soft: &Soft) -> GroupCensus {
    let mut census = GroupCensus { offsets: hard.offset_count() as u64, ..GroupCensus::default() };
    for group in hard.groups() {
        let kind = match group.consumer() {
            Some(consumer) => (GroupType::Consumer, consumer.state()),
            None => (GroupType::Classic, GroupView::new(Some(group), soft.group(group.id())).state()),
        };
        *census.groups.entry(kind).or_default() += 1;
    }
    census
}

/// Handles ListGroups. It speaks of everything, so it waits for everything.
pub(crate) fn list_groups(turn: &mut Turn<'_>, ticket: Ticket, request: &ListGroups) {
    let is_wanted = |group: &ListedGroup| {
        request.states.as_ref().is_none_or(|states| states.contains(&group.state))
            && request.types.as_ref().is_none_or(|types| types.contains(&group.group_type))
    };
    let listed = turn.hard.group_ids().into_iter().map(|group_id| {
        let hard = turn.hard.group(&group_id);
        if let Some(consumer) = hard.and_then(HardGroup::consumer) {
            return ListedGroup {
                protocol_type: Some("consumer".into()),
                state: consumer.state(),
                group_type: GroupType::Consumer,
                group_id,
            };
        }
        let view = GroupView::new(hard, turn.soft.group(&group_id));
        ListedGroup {
            protocol_type: view.protocol_type().cloned(),
            state: view.state(),
            group_type: GroupType::Classic,
            group_id,
        }
    });
    let listed = listed.filter(is_wanted).collect();
    turn.answer_from(DependsOn::ShardEnd, ticket, Reply::ListGroups(listed));
}

/// Handles DescribeGroups for one group.
pub(crate) fn describe_group(turn: &mut Turn<'_>, ticket: Ticket, request: &DescribeGroup<'_>) {
    let hard = turn.hard.group(request.group_id);
    let classic = hard.filter(|group| group.consumer().is_none());
    let described = classic.ok_or(GroupError::GroupIdNotFound).map(|group| describe(turn, group));
    turn.answer(hard, ticket, Reply::DescribeGroup(described));
}

fn describe(turn: &Turn<'_>, group: &HardGroup) -> DescribedGroup {
    let view = GroupView::new(Some(group), turn.soft.group(group.id()));
    let is_stable = view.state() == GroupState::Stable;
    let member = |member: &crate::Member| DescribedMember {
        member_id: Arc::clone(&member.member_id),
        group_instance_id: member.group_instance_id.clone(),
        client_id: Arc::clone(&member.client_id),
        client_host: Arc::clone(&member.client_host),
        metadata: is_stable.then(|| Arc::clone(&member.subscription)),
        assignment: Arc::clone(&member.assignment),
    };
    DescribedGroup {
        group_id: Arc::clone(group.id()),
        state: view.state(),
        protocol_type: view.protocol_type().cloned(),
        protocol: view.protocol().filter(|_| is_stable).cloned(),
        members: view.members().into_iter().map(member).collect(),
    }
}

/// Handles DeleteGroups: the groups without members go, with all their offsets, in one batch. An open transaction does
/// not keep a group.
pub(crate) fn delete_groups(turn: &mut Turn<'_>, ticket: Ticket, request: &DeleteGroups<'_>) {
    let mut results = Vec::with_capacity(request.group_ids.len());
    let mut deleted = BTreeSet::new();
    for group_id in &request.group_ids {
        let Some(group) = turn.hard.group(group_id) else {
            results.push(Err(GroupError::GroupIdNotFound));
            continue;
        };
        if state_of(turn, group) != GroupState::Empty {
            results.push(Err(GroupError::NonEmptyGroup));
            continue;
        }
        results.push(Ok(()));
        if deleted.insert(*group_id) {
            record_deletion(turn, group);
        }
    }
    // What makes a group missing or unfit may have been written at any place, so the answer waits for all.
    turn.answer_from(DependsOn::ShardEnd, ticket, Reply::DeleteGroups(results));
}

/// The state of a group of either kind.
pub(crate) fn state_of(turn: &Turn<'_>, group: &HardGroup) -> GroupState {
    match group.consumer() {
        Some(consumer) => consumer.state(),
        None => GroupView::new(Some(group), turn.soft.group(group.id())).state(),
    }
}

/// Records that the group is gone, offsets and all.
pub(crate) fn record_deletion(turn: &mut Turn<'_>, group: &HardGroup) {
    turn.records.extend(offset_tombstones(turn.hard, group));
    turn.records.extend(group_tombstones(group));
}

/// The records that end a group. Kafka writes that of a classic group for simple groups too, which have none of their own.
pub(crate) fn group_tombstones(group: &HardGroup) -> Vec<Record> {
    let consumer = group.consumer().map(ConsumerGroup::tombstones).unwrap_or_default();
    let record = |change| Record::Consumer(ConsumerRecord { group: Arc::clone(group.id()), change });
    let mut tombstones: Vec<Record> = consumer.into_iter().map(record).collect();
    if tombstones.is_empty() || group.classic().is_some() {
        tombstones.push(Record::Group(GroupRecord { group: Arc::clone(group.id()), classic: None }));
    }
    tombstones
}
