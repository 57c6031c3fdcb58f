//! The shape of a pure coordinator: requests become records and replies, and only records change what must last.
//!
//! The runtime in `coordinator` drives a [`Shard`]; the broker, the embedded library, recovery and the simulator all
//! use that one runtime. A shard never sees a clock, a socket, a disk or a random number: they come in as arguments.

use crate::{Instant, Now, Offset, ProducerIdentity, TopicId};

/// The runtime's name for one unanswered request. The runtime keeps every open ticket and answers each exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What a reply waits for. An answer never leaves before what it rests on is durable (the parking rule).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependsOn {
    /// On nothing that was ever written.
    Nothing,
    /// On the record at this position, which is the last one written about the group or key it speaks of.
    Position(Offset),
    /// On everything written so far (listings).
    ShardEnd,
}

/// Whether the records of one outcome must land together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomicity {
    /// All in one batch, or none.
    OneBatch,
    /// May be split over several batches (expiry, the clean-up after a deleted topic).
    MaySplit,
}

/// The effect of a shard that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEffect {}

/// How often the things happened that a shard counts. `()` counts nothing.
pub trait Counts: Default {
    /// Whether nothing happened.
    fn is_empty(&self) -> bool;

    /// Takes in what another count says happened as well.
    fn add(&mut self, more: Self);
}

impl Counts for () {
    fn is_empty(&self) -> bool {
        true
    }

    fn add(&mut self, (): Self) {}
}

/// What a handler decided.
#[must_use = "records must be appended, replies sent and effects carried out"]
#[derive(Debug)]
pub struct Outcome<R, P, E = NoEffect, C = ()> {
    /// To be appended, in this order, and replayed. When there are any, every reply below waits for the last of them.
    pub records: Vec<R>,
    /// How the records may be cut into batches.
    pub atomicity: Atomicity,
    /// Who writes the records. Those of a producer's transaction are a batch of their own.
    pub origin: Origin,
    /// Answers to this request or to earlier ones that were waiting.
    pub replies: Vec<(Ticket, P)>,
    /// What is to be done outside of the shard. It is asked for no sooner than a reply could leave: once all of the
    /// records are durable, or what the replies rest on is. What came of it is told by a request.
    pub effects: Vec<E>,
    /// What this amounts to in numbers. It counts no sooner than a reply could leave, and never if the records are not
    /// written.
    pub counts: C,
    /// What the replies and effects rest on when there are no records.
    pub depends_on: DependsOn,
}

impl<R, P, E, C: Default> Outcome<R, P, E, C> {
    /// Nothing to write and nothing to say (yet).
    pub fn nothing() -> Self {
        Self {
            records: Vec::new(),
            atomicity: Atomicity::OneBatch,
            origin: Origin::Plain,
            replies: Vec::new(),
            effects: Vec::new(),
            counts: C::default(),
            depends_on: DependsOn::Nothing,
        }
    }

    /// One answer that writes nothing.
    pub fn reply(ticket: Ticket, reply: P, depends_on: DependsOn) -> Self {
        Self { replies: vec![(ticket, reply)], depends_on, ..Self::nothing() }
    }
}

/// Who wrote a record: a plain coordinator write, or one inside a producer's transaction (then it is pending until
/// the transaction's marker).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Takes effect at once.
    Plain,
    /// Pending until [`Shard::replay_marker`] for this producer.
    Transactional(ProducerIdentity),
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransactionEnd {
    /// Its records take effect.
    Commit,
    /// Its records are dropped.
    Abort,
}

/// A record whose bytes cannot be what its type says. The load stops there: guessing could lose a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrupt(pub String);

/// A topic that was deleted, so that what was stored about it can go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedTopic {
    /// Its name.
    pub name: String,
    /// Its identity.
    pub id: TopicId,
    /// What becomes of that which was stored under the name alone.
    pub without_id: WithoutId,
}

/// What becomes of that which was stored under a deleted topic's name and without an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutId {
    /// It was stored for the deleted topic.
    Goes,
    /// There is a new topic of that name, for which it may have been stored.
    Stays,
}

/// The bytes of one record of an internal topic, `value: None` is a tombstone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// The record's key.
    pub key: Vec<u8>,
    /// The record's value; `None` deletes the key.
    pub value: Option<Vec<u8>>,
}

impl Encoded {
    /// Bytes of room it holds, used or not.
    #[must_use]
    pub fn room_bytes(&self) -> usize {
        self.key.capacity() + self.value.as_ref().map_or(0, Vec::capacity)
    }

    /// The key, emptied, for new bytes.
    pub fn new_key(&mut self) -> &mut Vec<u8> {
        self.key.clear();
        &mut self.key
    }

    /// The value, emptied, for new bytes.
    pub fn new_value(&mut self) -> &mut Vec<u8> {
        let value = self.value.get_or_insert_default();
        value.clear();
        value
    }
}

/// A pure coordinator state machine.
///
/// *Hard* state is what the records say, and [`Shard::replay`] is its only writer. *Soft* state (deadlines, parked
/// joins, the rebalance being formed) may be changed by handlers and may be lost at any moment without harm.
pub trait Shard {
    /// A request, borrowing its names from the connection's buffer.
    type Request<'a>;
    /// An answer.
    type Reply;
    /// A decoded record of the shard's log. Cheap to clone.
    type Record: Clone;
    /// Something to be done outside of the shard ([`NoEffect`] for a shard that is sufficient unto itself). It may be
    /// lost with the shard, which asks again when it is loaded; and it may be asked for twice, which must be harmless.
    type Effect;
    /// What it counts.
    type Counts: Counts;

    /// Decodes a record of the log. `Ok(None)`: a type this version does not know; it is skipped and survives.
    ///
    /// # Errors
    /// [`Corrupt`] when the bytes are not what their type says; loading stops and the shard is not served.
    fn decode(&self, key: Option<&[u8]>, value: Option<&[u8]>) -> Result<Option<Self::Record>, Corrupt>;

    /// The bytes of a record, exactly as [`Shard::decode`] reads them. What `into` held before is gone; its room is used
    /// again.
    fn encode(&self, record: &Self::Record, into: &mut Encoded);

    /// Decides. May change soft state only.
    fn handle(
        &mut self,
        now: Now,
        ticket: Ticket,
        request: Self::Request<'_>,
    ) -> Outcome<Self::Record, Self::Reply, Self::Effect, Self::Counts>;

    /// The only writer of hard state. Called for each record, live right after the decision and again at every load.
    fn replay(&mut self, position: Offset, origin: Origin, record: Self::Record);

    /// A transaction's marker reached this partition.
    fn replay_marker(&mut self, position: Offset, producer: ProducerIdentity, end: TransactionEnd);

    /// Topics were deleted, now or before the shard was loaded; it may be told more than once.
    fn on_topics_deleted(
        &mut self,
        now: Now,
        topics: &[DeletedTopic],
    ) -> Outcome<Self::Record, Self::Reply, Self::Effect, Self::Counts>;

    /// When [`Shard::on_deadline`] wants to be called next. Spurious calls are harmless.
    fn next_deadline(&self) -> Option<Instant>;

    /// Time passed: sessions end, rebalances complete, offsets expire. The same road as a request.
    fn on_deadline(&mut self, now: Now) -> Outcome<Self::Record, Self::Reply, Self::Effect, Self::Counts>;

    /// The log was replayed to its end, all of which is durable: re-arm sessions, ask for effects again.
    fn on_loaded(&mut self, now: Now) -> Outcome<Self::Record, Self::Reply, Self::Effect, Self::Counts>;

    /// The ticket was answered by the runtime (a timeout, a closed connection): forget it, without answering it.
    fn forget(&mut self, ticket: Ticket);
}
