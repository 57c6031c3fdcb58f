//! What a classic group gives to a consumer group, and takes over from one.

use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_model::Generation;

use super::phases::{self, Began};
use crate::hard::HardGroup;
use crate::rebalance::{Protocol, Rebalance, Sessions};
use crate::soft::Session;
use crate::turn::Turn;
use crate::view::{CONSUMER, GroupView};
use crate::{ClassicGroup, GroupError, Member};

/// A classic group as a consumer group takes it over.
pub(crate) struct HandedOver {
    /// Whether its members understand the consumer protocol.
    pub(crate) is_of_consumers: bool,
    /// The generation members name now.
    pub(crate) generation: Generation,
    /// The protocol that was chosen, if one was yet.
    pub(crate) protocol: Option<Arc<str>>,
    /// The members, by id.
    pub(crate) members: Vec<HandedOverMember>,
}

/// A member as a consumer group takes it over.
pub(crate) struct HandedOverMember {
    pub(crate) member: Member,
    /// Its bytes for every protocol it supports.
    pub(crate) protocols: Vec<(Arc<str>, Arc<[u8]>)>,
}

/// What there is to be handed over. Nothing happens to the group.
pub(crate) fn hand_over(turn: &mut Turn<'_>, hard: &HardGroup) -> HandedOver {
    let group = turn.soft.take(hard.id(), Some(hard), turn.now);
    let view = GroupView::new(Some(hard), Some(&group));
    let with_protocols = |member: &Member| {
        let session = group.sessions.get(&member.member_id);
        let known = session.into_iter().flat_map(|session| session.protocols.iter());
        let protocols =
            known.map(|protocol| (Arc::clone(&protocol.name), Arc::clone(&protocol.metadata))).collect();
        HandedOverMember { member: member.clone(), protocols }
    };
    let handed_over = HandedOver {
        is_of_consumers: view.is_of_consumers(),
        generation: view.generation(),
        protocol: view.protocol().cloned(),
        members: view.members().into_iter().map(with_protocols).collect(),
    };
    turn.soft.put_back(group);
    handed_over
}

/// The group was handed over: whoever waits in it joins again, in the consumer group.
pub(crate) fn end_handed_over(turn: &mut Turn<'_>, hard: &HardGroup) {
    let mut group = turn.soft.take(hard.id(), Some(hard), turn.now);
    let members = group.rebalance.take().map(|rebalance| rebalance.members).unwrap_or_default();
    for (member_id, joiner) in members {
        if let Some(waiting) = joiner.waiting {
            phases::refuse(turn, Some(hard), waiting, GroupError::RebalanceInProgress, &member_id);
        }
    }
    group.sessions.clear();
    group.pending_joins.clear();
    group.unsynced = None;
    group.note_ended(turn.now);
    turn.soft.put_back(group);
}

/// A member of a consumer group that speaks the classic protocol.
pub(crate) struct Adopted {
    /// The member, without what depends on the protocol.
    pub(crate) member: Member,
    /// The protocols it supports.
    pub(crate) protocols: Vec<AdoptedProtocol>,
}

/// A protocol of such a member.
pub(crate) struct AdoptedProtocol {
    pub(crate) name: Arc<str>,
    /// The member's bytes for it.
    pub(crate) metadata: Arc<[u8]>,
    /// What the member is assigned, in bytes fit for it.
    pub(crate) assignment: Arc<[u8]>,
}

/// Whether a group rebalances at once after it became a classic one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterAdoption {
    /// Somebody left what others shall have.
    Rebalance,
    /// Everybody has what it shall have.
    Stay,
}

/// Makes a classic group of members that were a consumer group's, and records it.
pub(crate) fn adopt(
    turn: &mut Turn<'_>,
    hard: &HardGroup,
    generation: Generation,
    adopted: &[Adopted],
    then: AfterAdoption,
) {
    let mut group = turn.soft.take(hard.id(), Some(hard), turn.now);
    group.sessions = adopted.iter().map(|adopted| session(turn, adopted)).collect();
    let classic = classic_group(turn, generation, adopted, &group.sessions);
    turn.record_group(&mut group, classic.clone());
    if then == AfterAdoption::Rebalance {
        group.rebalance = Some(Rebalance::settled(Some(&classic)));
        phases::begin(turn, Some(hard), &mut group, Began::WithMembers);
    }
    turn.soft.put_back(group);
}

fn session(turn: &Turn<'_>, adopted: &Adopted) -> (Arc<str>, Session) {
    let protocols = adopted
        .protocols
        .iter()
        .map(|known| Protocol { name: Arc::clone(&known.name), metadata: Arc::clone(&known.metadata) });
    let deadline = turn.now.monotonic.plus_ms(adopted.member.session_ms());
    let session = Session { deadline, protocols: protocols.collect() };
    (Arc::clone(&adopted.member.member_id), session)
}

/// The group as its record says it: the first member leads, and the protocol is voted for.
fn classic_group(
    turn: &Turn<'_>,
    generation: Generation,
    adopted: &[Adopted],
    sessions: &Sessions,
) -> ClassicGroup {
    let members: Vec<Member> = adopted.iter().map(|adopted| adopted.member.clone()).collect();
    let mut classic = ClassicGroup {
        protocol_type: Some(CONSUMER.into()),
        generation,
        protocol: None,
        leader: members.iter().map(|member| Arc::clone(&member.member_id)).min(),
        state_timestamp: Some(turn.now.wall),
        members: members.into(),
    };
    classic.protocol = Rebalance::settled(Some(&classic)).vote(sessions);
    let by_protocol: BTreeMap<&Arc<str>, &Adopted> =
        adopted.iter().map(|adopted| (&adopted.member.member_id, adopted)).collect();
    let chosen = classic.protocol.as_deref();
    let with_bytes = |member: &Member| {
        let protocols = by_protocol.get(&member.member_id).map(|adopted| &adopted.protocols);
        let known = protocols.into_iter().flatten().find(|known| Some(&*known.name) == chosen);
        Member {
            subscription: known.map(|known| Arc::clone(&known.metadata)).unwrap_or_default(),
            assignment: known.map(|known| Arc::clone(&known.assignment)).unwrap_or_default(),
            ..member.clone()
        }
    };
    classic.members = classic.members.iter().map(with_bytes).collect::<Vec<_>>().into();
    classic
}
