//! The journal's contract: one writer, many streams, one durable wait a round.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

/// The number of a round, counted from 1 over the whole life of the journal, without gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoundNumber(pub u64);

impl RoundNumber {
    /// The round after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// The opaque name of a stream of entries (a partition's log, for those who know).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub [u8; 20]);

/// One entry of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The stream it belongs to; a damaged round names its streams.
    pub stream: StreamId,
    /// What kind of entry it is; the meaning is the caller's.
    pub tag: u8,
    /// Its bytes, shared and not copied.
    pub payload: Bytes,
}

/// What a journal says when asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalState {
    /// Nothing is in flight; every round up to and including this one is durable (0: none yet).
    Idle(RoundNumber),
    /// The submitted round is being written.
    InFlight,
    /// A write or sync failed. Nothing will ever be durable again through this journal; the process must stop
    /// writing, say so and recover at its next start. The reason is for people.
    Poisoned(String),
    /// Another owner took the journal over.
    Fenced,
}

/// Whether ordinary rounds may be submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The next journal file is prepared, and the segments of a round have room.
    Ready,
    /// One of the two is not so. Only rounds that give space back (deletion, checkpoint records) may be submitted;
    /// asking again tries again, at a bounded rate, so this heals without a restart.
    Full,
}

/// Called from any thread when [`Journal::poll`] or [`crate::SegmentStore::poll_checkpoint`] has news.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// The journal: the unit of ownership. One writer, many streams, moved whole.
pub trait Journal: Send {
    /// The epoch of this start, made durable before the journal was handed over. One higher at every start.
    fn epoch(&self) -> u32;

    /// Hands over the next round; it gets the number after the last one. At most one round is in flight.
    ///
    /// The entries are kept together: after a crash a round is there whole or not at all. An engine may do the work
    /// before it returns, or hand it to a thread; [`Journal::poll`] tells.
    ///
    /// # Panics
    /// When a round is still in flight.
    fn submit(&mut self, entries: Vec<Entry>) -> RoundNumber;

    /// What became of the submitted round.
    fn poll(&mut self) -> JournalState;

    /// Whether ordinary rounds may be submitted.
    fn space(&mut self) -> Space;

    /// Rounds below this one are no longer needed (a finished checkpoint covers them). Storage may be reused.
    fn trim(&mut self, below: RoundNumber);

    /// Bytes of journal written since the last trim point, which bound the time of a recovery.
    fn untrimmed_bytes(&self) -> u64;

    /// Sets who is told of completions.
    fn set_waker(&mut self, waker: Waker);
}

/// A round as it was found at start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveredRound {
    /// Its number.
    pub number: RoundNumber,
    /// The epoch of the start that wrote it.
    pub epoch: u32,
    /// Its entries.
    pub entries: Vec<RecoveredEntry>,
}

/// An entry of a recovered round.
pub type RecoveredEntry = Entry;

/// A round below the durable line whose payload is damaged but whose header still names its streams. Acknowledged
/// data is lost there: those streams must be held offline from this round on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRound {
    /// Its number.
    pub number: RoundNumber,
    /// The streams that had entries in it.
    pub streams: Vec<StreamId>,
    /// Where it lies, for people: file and position.
    pub place: String,
}

/// Bytes after the last good round that were never acknowledged; they were cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// Where it begins, for people: file and position.
    pub place: String,
    /// How many bytes of it were not zero.
    pub bytes: u64,
}

/// What the journal holds since it was last trimmed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// The first round that the journal still accounts for: every durable round from here on is in `rounds` or in
    /// `damaged`. The one after the last round ever when there is none. Whoever holds a checkpoint that needs earlier
    /// rounds has lost journal files.
    pub begins_at: RoundNumber,
    /// Good rounds, in order.
    pub rounds: Vec<RecoveredRound>,
    /// Rounds that are damaged below the durable line, in order.
    pub damaged: Vec<DamagedRound>,
    /// An unacknowledged end that was cut.
    pub torn_tail: Option<TornTail>,
}

/// Why an engine could not be opened.
#[derive(Debug)]
pub enum AcquireError {
    /// Another process has the folder open.
    InUse {
        /// The lock file.
        path: String,
    },
    /// The folder was written by another version of the format.
    Version {
        /// What was found, for people.
        found: String,
        /// What this program reads.
        expected: String,
    },
    /// Acknowledged data is damaged and nothing says whose it is. The reason says whether `--accept-loss` helps.
    Corrupt {
        /// File and position.
        place: String,
        /// What is wrong there.
        reason: String,
    },
    /// The operating system refused something.
    Io {
        /// What was tried, with the path.
        action: String,
        /// The system's words.
        source: std::io::Error,
    },
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { path } => {
                write!(f, "the data folder is in use by another process (it holds {path})")
            }
            Self::Version { found, expected } => {
                write!(f, "the data folder has format {found}; this program reads {expected}")
            }
            Self::Corrupt { place, reason } => write!(f, "acknowledged data is damaged at {place}: {reason}"),
            Self::Io { action, source } => write!(f, "cannot {action}: {source}"),
        }
    }
}

impl std::error::Error for AcquireError {}
