//! A rebalance of a classic group: who takes part, which protocol is chosen, how far it is.
//!
//! It is soft: only the record that the leader's SyncGroup writes makes it last. Until then the group *is*, for those
//! who ask, what the rebalance says. A join also forms one from a settled group, to judge what it would change; if it
//! stays [`Phase::Settled`] it is thrown away.

use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_model::{Generation, Instant, Ticket};

use crate::request::JoinProtocol;
use crate::soft::Session;
use crate::{ClassicGroup, Member};

/// The sessions of a group's members, which hold the protocols they support.
pub(crate) type Sessions = BTreeMap<Arc<str>, Session>;

/// One protocol that a member supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Protocol {
    pub(crate) name: Arc<str>,
    pub(crate) metadata: Arc<[u8]>,
}

/// The membership of a group in motion.
#[derive(Debug)]
pub(crate) struct Rebalance {
    pub(crate) protocol_type: Option<Arc<str>>,
    /// The generation the group's members have to name now.
    pub(crate) generation: Generation,
    /// Whether [`Rebalance::generation`] was handed out by a join phase and no record holds it yet.
    pub(crate) is_unrecorded: bool,
    pub(crate) leader: Option<Arc<str>>,
    /// The chosen protocol, from the end of the join phase on.
    pub(crate) protocol: Option<Arc<str>>,
    pub(crate) members: BTreeMap<Arc<str>, Joiner>,
    pub(crate) phase: Phase,
    /// How many joins came so far: the number of the next one.
    arrivals: u64,
}

/// How far a rebalance is.
#[derive(Debug)]
pub(crate) enum Phase {
    /// Nothing is going on: the group is empty or stable.
    Settled,
    /// Members join ("PreparingRebalance").
    Joining(Joining),
    /// The leader assigns, members wait in SyncGroup ("CompletingRebalance").
    Syncing,
}

/// The join phase.
#[derive(Debug)]
pub(crate) struct Joining {
    /// When the phase ends for those who are there by then.
    pub(crate) deadline: Instant,
    /// Set while an empty group waits for further members, whoever is there already.
    pub(crate) initial: Option<InitialDelay>,
}

/// The wait of an empty group that got its first member.
#[derive(Debug)]
pub(crate) struct InitialDelay {
    /// The length of the present wait.
    pub(crate) delay_ms: u64,
    /// How much longer the group may be kept waiting afterwards.
    pub(crate) remaining_ms: u64,
    /// Whether somebody joined during the present wait, which earns another one.
    pub(crate) has_new_member: bool,
}

/// A member in a rebalance.
#[derive(Debug)]
pub(crate) struct Joiner {
    pub(crate) member: Member,
    /// Whether it has never completed a join phase.
    pub(crate) is_new: bool,
    pub(crate) waiting: Option<Waiting>,
    /// The number of its (last) join.
    arrival: u64,
}

/// A member that waits for an answer. Without a ticket it still counts, but nobody is there to be told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) ticket: Option<Ticket>,
    pub(crate) call: Call,
}

/// Which request waits, or is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Call {
    Join,
    Sync,
}

impl Rebalance {
    /// The settled membership as the records have it.
    pub(crate) fn settled(classic: Option<&ClassicGroup>) -> Self {
        let members = classic.into_iter().flat_map(|classic| classic.members.iter()).map(|member| {
            let joiner = Joiner { member: member.clone(), is_new: false, waiting: None, arrival: 0 };
            (Arc::clone(&member.member_id), joiner)
        });
        Self {
            protocol_type: classic.and_then(|classic| classic.protocol_type.clone()),
            generation: classic.map(|classic| classic.generation).unwrap_or_default(),
            is_unrecorded: false,
            leader: classic.and_then(|classic| classic.leader.clone()),
            protocol: classic.and_then(|classic| classic.protocol.clone()),
            members: members.collect(),
            phase: Phase::Settled,
            arrivals: 0,
        }
    }

    /// Adds a member that waits in JoinGroup.
    pub(crate) fn add(&mut self, member: Member, waiting: Waiting) {
        let arrival = self.next_arrival();
        let id = Arc::clone(&member.member_id);
        self.members.insert(id, Joiner { member, is_new: true, waiting: Some(waiting), arrival });
    }

    /// The number of a join that came just now.
    fn next_arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    /// Notes that a member of the group waits in JoinGroup. Returns who waited before in its name.
    pub(crate) fn note_join(&mut self, member_id: &str, waiting: Waiting) -> Option<Waiting> {
        let arrival = self.next_arrival();
        let joiner = self.members.get_mut(member_id)?;
        joiner.arrival = arrival;
        joiner.waiting.replace(waiting)
    }

    /// The member that uses a group instance id.
    pub(crate) fn static_member(&self, group_instance_id: &str) -> Option<&Joiner> {
        self.members.values().find(|joiner| {
            joiner.member.group_instance_id.as_deref().is_some_and(|instance| instance == group_instance_id)
        })
    }

    /// How many members wait in JoinGroup.
    pub(crate) fn waiting_in_join(&self) -> usize {
        self.members.values().filter(|joiner| joiner.is_waiting_in(Call::Join)).count()
    }

    pub(crate) fn leads(&self, member_id: &str) -> bool {
        self.leader.as_deref() == Some(member_id)
    }

    /// The longest rebalance timeout of a member.
    pub(crate) fn rebalance_ms(&self) -> u64 {
        self.members.values().map(|joiner| joiner.member.rebalance_ms()).max().unwrap_or(0)
    }

    /// Keeps the leader if it joined, else takes whoever joined first. False when nobody waits in JoinGroup.
    pub(crate) fn elect_leader(&mut self) -> bool {
        let waits = |joiner: &&Joiner| joiner.is_waiting_in(Call::Join);
        let leader = self.leader.as_deref().and_then(|leader| self.members.get(leader));
        if leader.is_some_and(|leader| waits(&leader)) {
            return true;
        }
        let first = self.members.values().filter(waits).min_by_key(|joiner| joiner.arrival);
        let Some(first) = first else { return false };
        self.leader = Some(Arc::clone(&first.member.member_id));
        true
    }

    /// Whether a member with these protocols fits: its type is the group's, and one of its protocols is supported by
    /// everybody. The first member fits if it has any.
    pub(crate) fn supports(
        &self,
        sessions: &Sessions,
        protocol_type: &str,
        protocols: &[JoinProtocol<'_>],
    ) -> bool {
        if protocol_type.is_empty() {
            return false;
        }
        if self.members.is_empty() {
            return !protocols.is_empty();
        }
        self.protocol_type.as_deref() == Some(protocol_type)
            && protocols.iter().any(|protocol| self.is_common(sessions, protocol.name))
    }

    /// Whether every member supports a protocol.
    fn is_common(&self, sessions: &Sessions, protocol: &str) -> bool {
        self.members.keys().all(|member_id| metadata_for(sessions, member_id, protocol).is_some())
    }

    /// The protocol vote: each member votes for the first of its protocols that all support, and the most votes win.
    /// Among equals the one that the leader lists first wins (Kafka leaves that to chance).
    pub(crate) fn vote(&self, sessions: &Sessions) -> Option<Arc<str>> {
        let leader = self.leader.as_ref().filter(|leader| self.members.contains_key(*leader));
        let ballot = sessions.get(leader.or_else(|| self.members.keys().next())?)?;
        let candidates: Vec<&Arc<str>> = ballot
            .protocols
            .iter()
            .map(|protocol| &protocol.name)
            .filter(|name| self.is_common(sessions, name))
            .collect();
        let mut votes = vec![0_usize; candidates.len()];
        for session in self.members.keys().filter_map(|member_id| sessions.get(member_id)) {
            let mut preferences = session.protocols.iter();
            let choice =
                preferences.find_map(|protocol| candidates.iter().position(|name| **name == protocol.name));
            if let Some(choice) = choice {
                votes[choice] += 1;
            }
        }
        let most = votes.iter().max()?;
        let winner = votes.iter().position(|count| count == most)?;
        Some(Arc::clone(candidates[winner]))
    }

    /// The group as a record shall say it: this membership, its chosen protocol, and each member's assignment.
    pub(crate) fn to_classic(&self, state_timestamp: Option<milepost_model::Timestamp>) -> ClassicGroup {
        ClassicGroup {
            protocol_type: self.protocol_type.clone(),
            generation: self.generation,
            protocol: self.protocol.clone(),
            leader: self.leader.clone(),
            state_timestamp,
            members: self.members.values().map(|joiner| joiner.member.clone()).collect::<Vec<_>>().into(),
        }
    }
}

impl Joiner {
    pub(crate) fn is_waiting_in(&self, call: Call) -> bool {
        self.waiting.is_some_and(|waiting| waiting.call == call)
    }
}

impl Waiting {
    pub(crate) fn join(ticket: Ticket) -> Self {
        Self { ticket: Some(ticket), call: Call::Join }
    }

    pub(crate) fn sync(ticket: Ticket) -> Self {
        Self { ticket: Some(ticket), call: Call::Sync }
    }
}

/// A member's bytes for a protocol, if it supports it.
pub(crate) fn metadata_for<'a>(
    sessions: &'a Sessions,
    member_id: &str,
    protocol: &str,
) -> Option<&'a Arc<[u8]>> {
    let session = sessions.get(member_id)?;
    session.protocols.iter().find(|candidate| *candidate.name == *protocol).map(|found| &found.metadata)
}

/// Whether a member supports exactly these protocols, in this order and with these bytes.
pub(crate) fn has_same_protocols(
    sessions: &Sessions,
    member_id: &str,
    protocols: &[JoinProtocol<'_>],
) -> bool {
    sessions.get(member_id).is_some_and(|session| {
        session.protocols.len() == protocols.len()
            && session
                .protocols
                .iter()
                .zip(protocols)
                .all(|(known, asked)| *known.name == *asked.name && *known.metadata == *asked.metadata)
    })
}
