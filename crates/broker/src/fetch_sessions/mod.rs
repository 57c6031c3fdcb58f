//! Incremental fetch sessions (KIP-227): what each consumer fetches is remembered, so that a request names only what
//! changed, and an answer only what is new.
//!
//! Pure: no clock, no randomness, no log. A session belongs to whoever knows its number and outlives connections. It is
//! a convenience that may be taken away at any time: a client whose session is gone is told so and begins a new one.
//! So there are bounds: of sessions, of partitions in one, and of partitions in all. Called by the handler of Fetch.

mod session;

use std::collections::{BTreeMap, BTreeSet};

use milepost_model::Instant;
use milepost_wire::ErrorCode;
use milepost_wire::messages::fetch::FetchPartition;

use session::Session;
pub(crate) use session::{Seen, SessionPartition, TopicKey, TopicKeys};

#[cfg(test)]
mod tests;

/// The most partitions of one session. Who fetches more is answered in full, every time.
const SESSION_PARTITIONS_MAX: usize = 10_000;
/// The most partitions of all sessions together: about a hundred bytes each.
const ALL_PARTITIONS_MAX: usize = 1_000_000;
/// How long a session must have been idle, or must have lived, before it may make room for another; Kafka's figure.
const EVICTION_MS: u64 = 120_000;
/// The epoch that the first incremental request of a session has.
const FIRST_EPOCH: i32 = 1;

/// Names one session; above 0 on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionId(pub(crate) i32);

/// The epoch after this one; the one after the last is the first again.
pub(crate) fn next_epoch(epoch: i32) -> i32 {
    epoch.checked_add(1).unwrap_or(FIRST_EPOCH)
}

/// What an incremental request brings.
#[derive(Debug)]
pub(crate) struct Update<'a> {
    pub(crate) id: SessionId,
    pub(crate) epoch: i32,
    pub(crate) topic_keys: TopicKeys,
    /// Partitions that come in, or are fetched from elsewhere now.
    pub(crate) partitions: Vec<(TopicKey, &'a FetchPartition)>,
    pub(crate) forgotten: Vec<(TopicKey, i32)>,
}

/// What became of an incremental request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Updated {
    /// The session goes on; its answer is due in this epoch.
    Continues,
    /// Nothing was left in it, and it is closed.
    Closed,
}

/// All sessions.
#[derive(Debug)]
pub(crate) struct FetchSessions {
    slots_max: usize,
    sessions: BTreeMap<SessionId, Session>,
    by_use: BTreeSet<(Instant, SessionId)>,
    /// Partitions of all of them.
    partitions: usize,
}

impl FetchSessions {
    /// None yet, and never more than `slots_max`.
    pub(crate) fn new(slots_max: usize) -> Self {
        Self { slots_max, sessions: BTreeMap::new(), by_use: BTreeSet::new(), partitions: 0 }
    }

    /// Begins a session with what its first answer says, if there is room. `numbers` gives numbers at random until one
    /// is free.
    pub(crate) fn create(
        &mut self,
        now: Instant,
        topic_keys: TopicKeys,
        partitions: Vec<(SessionPartition, Seen)>,
        mut numbers: impl FnMut() -> i32,
    ) -> Option<SessionId> {
        let size = partitions.len();
        if size > SESSION_PARTITIONS_MAX || !self.make_room(now, size) {
            return None;
        }
        let id = loop {
            let id = SessionId(numbers() & i32::MAX);
            if id.0 != 0 && !self.sessions.contains_key(&id) {
                break id;
            }
        };
        let session = Session::new(now, topic_keys, partitions);
        self.partitions += session.len();
        self.by_use.insert((now, id));
        self.sessions.insert(id, session);
        Some(id)
    }

    /// Takes in an incremental request: checks whose turn it is, and changes what is fetched.
    ///
    /// # Errors
    /// FETCH_SESSION_ID_NOT_FOUND, FETCH_SESSION_TOPIC_ID_ERROR, INVALID_FETCH_SESSION_EPOCH.
    pub(crate) fn update(&mut self, now: Instant, update: &Update<'_>) -> Result<Updated, ErrorCode> {
        let session = self.sessions.get_mut(&update.id).ok_or(ErrorCode::FetchSessionIdNotFound)?;
        if session.topic_keys() != update.topic_keys {
            return Err(ErrorCode::FetchSessionTopicIdError);
        }
        if session.epoch != update.epoch {
            return Err(ErrorCode::InvalidFetchSessionEpoch);
        }
        self.by_use.remove(&(session.last_used, update.id));
        session.last_used = now;
        session.epoch = next_epoch(update.epoch);
        let before = session.len();
        session.change(&update.partitions, &update.forgotten);
        let after = session.len();
        self.by_use.insert((now, update.id));
        self.partitions = self.partitions - before + after;
        if after == 0 {
            self.remove(update.id);
            return Ok(Updated::Closed);
        }
        if after > SESSION_PARTITIONS_MAX || self.partitions > ALL_PARTITIONS_MAX {
            self.remove(update.id);
            return Err(ErrorCode::FetchSessionIdNotFound);
        }
        Ok(Updated::Continues)
    }

    /// What a session fetches, in the order in which it is read.
    pub(crate) fn partitions(&self, id: SessionId) -> impl Iterator<Item = &SessionPartition> {
        self.sessions.get(&id).into_iter().flat_map(Session::partitions)
    }

    /// Takes in what was found for every partition, in the order of [`FetchSessions::partitions`], and says which of
    /// them the answer must name. `epoch` is that of the request.
    ///
    /// # Errors
    /// INVALID_FETCH_SESSION_EPOCH when a later request came meanwhile, or the session is gone.
    pub(crate) fn answer(
        &mut self,
        id: SessionId,
        epoch: i32,
        seen: &[Seen],
    ) -> Result<Vec<bool>, ErrorCode> {
        match self.sessions.get_mut(&id) {
            Some(session) if session.epoch == next_epoch(epoch) => Ok(session.answer(seen)),
            _ => Err(ErrorCode::InvalidFetchSessionEpoch),
        }
    }

    /// Closes a session, if it is there.
    pub(crate) fn remove(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.remove(&id) {
            self.by_use.remove(&(session.last_used, id));
            self.partitions -= session.len();
        }
    }

    /// Whether a session of this size may come. One that was idle for long makes room, and else the smallest of those
    /// that have lived for long, if it is smaller.
    fn make_room(&mut self, now: Instant, size: usize) -> bool {
        if self.sessions.len() >= self.slots_max {
            let Some(id) = self.evictable(now, size) else { return false };
            self.remove(id);
        }
        // Without any slots there is still none.
        self.sessions.len() < self.slots_max && self.partitions + size <= ALL_PARTITIONS_MAX
    }

    fn evictable(&self, now: Instant, size: usize) -> Option<SessionId> {
        let (last_used, oldest) = self.by_use.first()?;
        if last_used.plus_ms(EVICTION_MS) < now {
            return Some(*oldest);
        }
        let lived = self.sessions.iter().filter(|(_, session)| session.created.plus_ms(EVICTION_MS) < now);
        let (smallest, id) = lived.map(|(id, session)| (session.len(), *id)).min()?;
        (smallest < size).then_some(id)
    }
}
