//! Incremental fetch sessions (KIP-227): what each consumer fetches is remembered, so that a request names only what
//! changed, and an answer only what is new.
//!
//! Pure: no clock, no randomness, no log. A session belongs to whoever knows its number and outlives connections. It is
//! a convenience that may be taken away at any time: a client whose session is gone is told so and begins a new one.
//! So there are bounds: of sessions, of the bytes of one, and of the bytes of all. Called by the handler of Fetch.

mod session;

use std::collections::{BTreeMap, BTreeSet};

use milepost_model::Instant;
use milepost_wire::ErrorCode;
use milepost_wire::messages::fetch::FetchPartition;

use session::Session;
pub(crate) use session::{Seen, SessionPartition, TopicKey, TopicKeys};

#[cfg(test)]
mod tests;

/// The most that one session takes, which is some 18,000 partitions. Who fetches more is answered in full, every time.
const SESSION_BYTES_MAX: usize = 4 << 20;
/// The most that all sessions take together.
const ALL_BYTES_MAX: usize = 64 << 20;
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
    /// About what all of them take.
    size_bytes: usize,
}

impl FetchSessions {
    /// None yet, and never more than `slots_max`.
    pub(crate) fn new(slots_max: usize) -> Self {
        Self { slots_max, sessions: BTreeMap::new(), by_use: BTreeSet::new(), size_bytes: 0 }
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
        let session = Session::new(now, topic_keys, partitions);
        if session.size_bytes() > SESSION_BYTES_MAX || !self.make_room(now, &session) {
            return None;
        }
        let id = loop {
            let id = SessionId(numbers() & i32::MAX);
            if id.0 != 0 && !self.sessions.contains_key(&id) {
                break id;
            }
        };
        self.size_bytes += session.size_bytes();
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
        let before = session.size_bytes();
        session.change(&update.partitions, &update.forgotten);
        let (is_empty, after) = (session.len() == 0, session.size_bytes());
        self.by_use.insert((now, update.id));
        self.size_bytes = self.size_bytes - before + after;
        if is_empty {
            self.remove(update.id);
            return Ok(Updated::Closed);
        }
        if after > SESSION_BYTES_MAX || self.size_bytes > ALL_BYTES_MAX {
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
            self.size_bytes -= session.size_bytes();
        }
    }

    /// Whether this session may come. One that was idle for long makes room, and else the smallest of those
    /// that have lived for long, if it is smaller.
    fn make_room(&mut self, now: Instant, session: &Session) -> bool {
        if self.sessions.len() >= self.slots_max {
            let Some(id) = self.evictable(now, session.len()) else { return false };
            self.remove(id);
        }
        // Without any slots there is still none.
        self.sessions.len() < self.slots_max && self.size_bytes + session.size_bytes() <= ALL_BYTES_MAX
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
