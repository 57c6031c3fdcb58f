//! The soft state of a shard: deadlines, parked requests, ids given to members that have yet to come back, and the
//! rebalances being formed. All of it may be lost at any moment; members then simply rejoin.
//!
//! A group that has members and no soft state gets it back from its hard state the moment it is touched: every member
//! is given a full session timeout from then on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use milepost_model::{Instant, Now, Ticket};

use crate::consumer::ConsumerSoft;
use crate::hard::HardGroup;
use crate::rebalance::{Phase, Protocol, Rebalance, Waiting};
use crate::settings::RECORD_CHECK_MS;
use crate::{ClassicGroup, Member};

/// The soft state of all groups of a shard.
#[derive(Debug)]
pub(crate) struct Soft {
    groups: HashMap<Arc<str>, SoftGroup, FixedState>,
    /// When to look at which group. An entry may be early, never late: a heartbeat moves a deadline away without
    /// touching it.
    schedule: BTreeSet<(Instant, Arc<str>)>,
    /// Which group a parked request belongs to.
    parked: BTreeMap<Ticket, Arc<str>>,
    pub(crate) sweep: Sweep,
    pub(crate) consumers: ConsumerSoft,
}

/// When and how far expired offsets are looked for.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    /// When the next sweep is due, and both clocks when that was decided.
    pub(crate) due: Option<(Instant, Now)>,
    /// The groups the present sweep has yet to look at, last one first.
    pub(crate) remaining: Vec<Arc<str>>,
}

/// The soft state of one group.
#[derive(Debug)]
pub(crate) struct SoftGroup {
    pub(crate) id: Arc<str>,
    /// One for each present member, settled or rebalancing.
    pub(crate) sessions: BTreeMap<Arc<str>, Session>,
    /// Ids handed out with "member id required", and until when they may be used.
    pub(crate) pending_joins: BTreeMap<Arc<str>, Instant>,
    /// The rebalance being formed; `None` while the group is empty or stable.
    pub(crate) rebalance: Option<Rebalance>,
    /// Who has yet to fetch its assignment in this generation.
    pub(crate) unsynced: Option<Unsynced>,
    /// The group record that the soft state rests on, if one was decided lately.
    decided: Option<Decided>,
    /// The group's entry in the schedule.
    wake_at: Option<Instant>,
}

/// What is known about a member beyond the records.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// When the member counts as gone.
    pub(crate) deadline: Instant,
    /// Every protocol it supports, best first. After a load only the chosen one is known.
    pub(crate) protocols: Arc<[Protocol]>,
}

/// A group record that a handler decided on. It may turn out never to have been written (a full disk, a record too large
/// for the topic). The soft state that rests on it is then of no use, and is made anew from the hard state.
#[derive(Debug)]
struct Decided {
    /// What it says; `None`: that the group is no longer a classic one.
    classic: Option<Arc<ClassicGroup>>,
    /// When to look whether it was written, even if nobody asks about the group before.
    check_at: Instant,
}

/// Members that joined a generation and did not send SyncGroup yet. Whoever is still here at the deadline is removed
/// (KAFKA-12890).
#[derive(Debug)]
pub(crate) struct Unsynced {
    pub(crate) deadline: Instant,
    pub(crate) members: BTreeSet<Arc<str>>,
}

impl Soft {
    pub(crate) fn new(hash_seed: u64) -> Self {
        Self {
            groups: HashMap::with_hasher(FixedState::with_seed(hash_seed)),
            schedule: BTreeSet::new(),
            parked: BTreeMap::new(),
            sweep: Sweep::default(),
            consumers: ConsumerSoft::new(hash_seed),
        }
    }

    pub(crate) fn group(&self, group_id: &str) -> Option<&SoftGroup> {
        self.groups.get(group_id)
    }

    /// The session of a member, to be prolonged.
    pub(crate) fn session_mut(&mut self, group_id: &str, member_id: &str) -> Option<&mut Session> {
        self.groups.get_mut(group_id)?.sessions.get_mut(member_id)
    }

    /// Takes a group's soft state out, to be worked on and put back. What was lost, or rests on a record that was never
    /// written, is made anew from the hard state.
    pub(crate) fn take(&mut self, group_id: &str, hard: Option<&HardGroup>, now: Now) -> SoftGroup {
        let classic = hard.and_then(|hard| hard.classic());
        let restored = |id| SoftGroup::restored(id, classic.map(Arc::as_ref), now);
        let Some(mut group) = self.groups.remove(group_id) else {
            return restored(hard.map_or_else(|| group_id.into(), |hard| Arc::clone(hard.id())));
        };
        match &group.decided {
            Some(decided) if !decided.is_written(classic) => {
                SoftGroup { wake_at: group.wake_at, ..restored(group.id) }
            }
            Some(decided) if decided.check_at <= now.monotonic => {
                group.decided = None;
                group
            }
            Some(_) | None => group,
        }
    }

    /// Puts a group's soft state back, unless there is nothing in it, and notes when to look at it next.
    pub(crate) fn put_back(&mut self, mut group: SoftGroup) {
        if group.rebalance.as_ref().is_some_and(|rebalance| matches!(rebalance.phase, Phase::Settled)) {
            group.rebalance = None;
        }
        let next = group.next_deadline();
        if group.wake_at != next {
            if let Some(at) = group.wake_at {
                self.schedule.remove(&(at, Arc::clone(&group.id)));
            }
            if let Some(at) = next {
                self.schedule.insert((at, Arc::clone(&group.id)));
            }
            group.wake_at = next;
        }
        if !group.is_empty() {
            self.groups.insert(Arc::clone(&group.id), group);
        }
    }

    /// When the first group wants to be looked at.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        self.schedule.first().map(|(at, _)| *at)
    }

    /// The next group whose time has come, off the schedule.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<Arc<str>> {
        if self.next_wake()? > now {
            return None;
        }
        let (_, group_id) = self.schedule.pop_first()?;
        if let Some(group) = self.groups.get_mut(&group_id) {
            group.wake_at = None;
        }
        Some(group_id)
    }

    pub(crate) fn park(&mut self, ticket: Ticket, group_id: &Arc<str>) {
        self.parked.insert(ticket, Arc::clone(group_id));
    }

    pub(crate) fn unpark(&mut self, ticket: Ticket) {
        self.parked.remove(&ticket);
    }

    /// Forgets a ticket that the runtime has answered. The member goes on counting as joined (or as synced): its
    /// session says whether it is there.
    pub(crate) fn forget(&mut self, ticket: Ticket) {
        let Some(group_id) = self.parked.remove(&ticket) else { return };
        let rebalance = self.groups.get_mut(&group_id).and_then(|group| group.rebalance.as_mut());
        for joiner in rebalance.into_iter().flat_map(|rebalance| rebalance.members.values_mut()) {
            if let Some(waiting) = &mut joiner.waiting
                && waiting.ticket == Some(ticket)
            {
                waiting.ticket = None;
            }
        }
    }
}

impl SoftGroup {
    fn restored(id: Arc<str>, classic: Option<&ClassicGroup>, now: Now) -> Self {
        let sessions = classic.into_iter().flat_map(|classic| {
            classic.members.iter().map(|member| {
                (Arc::clone(&member.member_id), Session::restored(member, classic.protocol.as_ref(), now))
            })
        });
        Self {
            id,
            sessions: sessions.collect(),
            pending_joins: BTreeMap::new(),
            rebalance: None,
            unsynced: None,
            decided: None,
            wake_at: None,
        }
    }

    fn is_empty(&self) -> bool {
        self.sessions.is_empty()
            && self.pending_joins.is_empty()
            && self.rebalance.is_none()
            && self.unsynced.is_none()
            && self.decided.is_none()
    }

    /// Who is waiting for what in the rebalance, if the member is.
    fn waiting(&self, member_id: &str) -> Option<Waiting> {
        self.rebalance.as_ref()?.members.get(member_id)?.waiting
    }

    /// Whether silence of the member is not held against it: it waits for us, and is known from before. A new member
    /// that waits has a (long) deadline instead.
    fn is_excused(&self, member_id: &str) -> bool {
        let is_new = |rebalance: &Rebalance| rebalance.members.get(member_id).is_some_and(|j| j.is_new);
        self.waiting(member_id).is_some() && !self.rebalance.as_ref().is_some_and(is_new)
    }

    /// The members whose session has ended.
    pub(crate) fn expired_members(&self, now: Instant) -> Vec<Arc<str>> {
        let is_expired = |id: &Arc<str>, session: &Session| session.deadline <= now && !self.is_excused(id);
        let expired = self.sessions.iter().filter(|(id, session)| is_expired(id, session));
        expired.map(|(id, _)| Arc::clone(id)).collect()
    }

    fn next_deadline(&self) -> Option<Instant> {
        let sessions = self.sessions.iter().filter(|(id, _)| !self.is_excused(id)).map(|(_, s)| s.deadline);
        let phase = self.rebalance.as_ref().and_then(|rebalance| match &rebalance.phase {
            Phase::Joining(joining) => Some(joining.deadline),
            Phase::Settled | Phase::Syncing => None,
        });
        let unsynced = self.unsynced.as_ref().map(|unsynced| unsynced.deadline);
        let check = self.decided.as_ref().map(|decided| decided.check_at);
        sessions.chain(self.pending_joins.values().copied()).chain(phase).chain(unsynced).chain(check).min()
    }

    /// From now on the soft state rests on this record.
    pub(crate) fn note_decided(&mut self, classic: &Arc<ClassicGroup>, now: Now) {
        let check_at = now.monotonic.plus_ms(RECORD_CHECK_MS);
        self.decided = Some(Decided { classic: Some(Arc::clone(classic)), check_at });
    }

    /// From now on nothing is left of the classic group, if the record that says so is written.
    pub(crate) fn note_ended(&mut self, now: Now) {
        self.decided = Some(Decided { classic: None, check_at: now.monotonic.plus_ms(RECORD_CHECK_MS) });
    }

    /// A member fetched its assignment.
    pub(crate) fn note_synced(&mut self, member_id: &str) {
        if let Some(unsynced) = &mut self.unsynced {
            unsynced.members.remove(member_id);
            if unsynced.members.is_empty() {
                self.unsynced = None;
            }
        }
    }

    /// A member's silence is counted from now on.
    pub(crate) fn restart_session(&mut self, member: &Member, now: Now) {
        if let Some(session) = self.sessions.get_mut(&member.member_id) {
            session.deadline = now.monotonic.plus_ms(member.session_ms());
        }
    }
}

impl Decided {
    fn is_written(&self, recorded: Option<&Arc<ClassicGroup>>) -> bool {
        match (recorded, &self.classic) {
            (Some(recorded), Some(decided)) => Arc::ptr_eq(recorded, decided) || recorded == decided,
            (None, None) => true,
            _ => false,
        }
    }
}

impl Session {
    fn restored(member: &Member, protocol: Option<&Arc<str>>, now: Now) -> Self {
        let protocols = protocol
            .map(|name| Protocol { name: Arc::clone(name), metadata: Arc::clone(&member.subscription) });
        Self {
            deadline: now.monotonic.plus_ms(member.session_ms()),
            protocols: protocols.into_iter().collect(),
        }
    }
}
