//! The node: the whole broker as one single-threaded object without I/O of its own.
//!
//! Frames go in through [`Node::admit`], strictly in the order of their connection; [`Node::step`] lets everything
//! that can happen now happen (completed rounds, released answers, deadlines, loading, the next round); answers come
//! out through [`Node::take_output`]. Time and randomness are passed in and the disk is behind the storage engine, so
//! the simulator runs this very object from one seed. The tokio shell in `server` drives it on real sockets.
//!
//! The node must never wait, never read a clock, and never answer before what the answer rests on is durable.

mod cluster_topics;
mod commit_times;
mod connections;
mod coordinator_waits;
mod group_waits;
mod id_takers;
mod markers;
mod release;
mod start;
mod topic_waits;
mod transactions;
mod verification;

use std::collections::BTreeSet;

use milepost_coordinator::Coordinators;
use milepost_groups::Groups;
use milepost_log::LogSet;
use milepost_log::metadata::MetadataLog;
use milepost_model::{Instant, Now, TopicId};
use milepost_storage::{Space, Waker};

use cluster_topics::KnownTopics;
pub(crate) use commit_times::CommitTimes;
pub use connections::{ConnectionId, IN_FLIGHT_BYTES_MAX, IN_FLIGHT_REQUESTS_MAX, OUTPUT_BYTES_MAX};
pub(crate) use connections::{Connections, RequestKey};
pub(crate) use group_waits::{GroupAnswer, GroupResult, GroupWaits};
pub(crate) use id_takers::IdTaker;
pub use start::StartError;
pub(crate) use topic_waits::{TopicWait, TopicWaits};
pub(crate) use transactions::{Shard, TransactionAnswer, TransactionResult, TransactionWork};
pub(crate) use verification::{ToVerify, Unverified, Verdicts, Verification};

use crate::config::{BrokerSettings, Endpoint};
use crate::fetch_sessions::FetchSessions;
use crate::handlers;
use crate::producer_ids::ProducerIds;
use crate::purgatory::{DeletionWaits, FetchWaits, MarkerWaits, ProduceWaits};
use crate::random::Random;

/// How many journal rounds one step may make before answers are sent.
const ROUNDS_PER_STEP_MAX: usize = 4;
/// About how much of a log one step cleans, so that requests do not wait for it.
const CLEAN_BYTES_PER_STEP: usize = 256 << 10;
/// How often a full disk is looked at, so that it heals soon.
const FULL_DISK_POLL_MS: u64 = 500;
/// How often the storage is looked at when nothing happens.
const IDLE_POLL_MS: u64 = 10_000;
/// How often the storage is looked at during a stop.
const STOP_POLL_MS: u64 = 10;
/// How long a stop waits for its checkpoint. Without one the next start replays the journal.
const STOP_CHECKPOINT_MS: u64 = 30_000;

/// How far a node is in its life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Serving.
    Running,
    /// Told to stop: nothing new is admitted, what waits is answered, a checkpoint is written.
    Stopping,
    /// Stopped cleanly.
    Stopped,
    /// Storage failed for good; the reason is for people.
    Failed(String),
}

/// How far a stop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopping {
    /// What was admitted is being made durable and answered.
    Draining,
    /// Everybody is answered; the last checkpoint is being written, and given up at this time.
    Checkpointing(Instant),
}

/// What became of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is in line, answered now or later.
    Admitted,
    /// The connection must be closed without an answer, as Kafka does; the reason is for the log.
    Close(String),
}

/// The whole broker.
pub struct Node {
    pub(crate) settings: BrokerSettings,
    /// What clients are told to connect to.
    pub(crate) endpoint: Endpoint,
    pub(crate) logs: LogSet,
    pub(crate) metadata: MetadataLog,
    pub(crate) coordinators: Coordinators<Groups>,
    pub(crate) transactions: TransactionWork,
    pub(crate) connections: Connections,
    pub(crate) produces: ProduceWaits,
    pub(crate) deletions: DeletionWaits,
    pub(crate) markers: MarkerWaits,
    pub(crate) fetches: FetchWaits,
    pub(crate) fetch_sessions: FetchSessions,
    pub(crate) groups: GroupWaits,
    pub(crate) commit_times: CommitTimes,
    /// How many skipped looks for expired offsets were logged.
    logged_skips: u64,
    /// What the coordinators of consumer groups are told about topics.
    cluster_topics: KnownTopics,
    pub(crate) topics: TopicWaits,
    pub(crate) producer_ids: ProducerIds,
    pub(crate) random: Box<dyn Random>,
    /// Topics some of whose logs could not be made yet.
    pub(crate) unopened: BTreeSet<TopicId>,
    /// When the storage wants to be looked at even if nobody asks for anything.
    next_poll: Instant,
    phase: Phase,
    stopping: Stopping,
}

impl Node {
    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &BrokerSettings {
        &self.settings
    }

    /// How far the node is in its life.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase.clone()
    }

    /// Sets who is told, from any thread, that a step is worth while.
    pub fn set_waker(&mut self, waker: Waker) {
        self.logs.set_waker(waker);
    }

    /// A client connected from `host` (as Java prints it: `/10.0.0.5`).
    pub fn connect(&mut self, host: String) -> ConnectionId {
        self.connections.connect(host)
    }

    /// A client went. What it asked is still done; its answers are dropped.
    pub fn disconnect(&mut self, id: ConnectionId) {
        self.connections.disconnect(id);
        self.fetches.forget_connection(id);
    }

    /// Open connections.
    #[must_use]
    pub fn connection_count(&self) -> usize {
        self.connections.len()
    }

    /// Whether a frame of this connection would be admitted now.
    #[must_use]
    pub fn accepts_more(&self, id: ConnectionId) -> bool {
        self.is_open() && self.connections.accepts_more(id)
    }

    /// Whether requests are admitted at all: not before the first metadata is durable, and not during a stop.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Running && self.metadata.image().cluster_id().is_some()
    }

    /// Whether answers of this connection are still owed.
    #[must_use]
    pub fn owes_answers(&self, id: ConnectionId) -> bool {
        self.connections.owes_answers(id)
    }

    /// Whether the connection is to be closed once its output is sent.
    #[must_use]
    pub fn is_closing(&self, id: ConnectionId) -> bool {
        self.connections.is_closing(id)
    }

    /// Takes in one request frame (without its length).
    pub fn admit(&mut self, now: Now, id: ConnectionId, frame: &[u8]) -> Admission {
        match handlers::dispatch(self, now, id, frame) {
            Ok(()) => Admission::Admitted,
            Err(handlers::CloseConnection(reason)) => {
                self.connections.close(id);
                Admission::Close(reason)
            }
        }
    }

    /// Lets everything that can happen now happen. Returns whether another step would do more at once.
    pub fn step(&mut self, now: Now) -> bool {
        self.commit_times.note_sent(now.monotonic);
        self.complete(now);
        for _ in 0..ROUNDS_PER_STEP_MAX {
            if matches!(self.phase, Phase::Failed(_) | Phase::Stopped) {
                return false;
            }
            self.expire(now);
            self.open_missing_logs();
            let load_bytes = self.settings.offsets_load_buffer_bytes;
            self.coordinators.load_step(&mut self.logs, now, load_bytes);
            if let Some(transactions) = &mut self.transactions.coordinators {
                transactions.load_step(&mut self.logs, now, load_bytes);
            }
            self.release_answers(now);
            self.flush_coordinators(now);
            self.release_answers(now);
            if self.logs.is_flushing() {
                break;
            }
            self.logs.begin_round(now);
            if !self.logs.is_flushing() {
                break;
            }
            // An engine that works inline is done already; one with a thread says so later.
            self.complete(now);
        }
        let cleans_on = self.logs.clean(now, CLEAN_BYTES_PER_STEP);
        self.continue_stop(now);
        let pause_ms = match self.logs.space() {
            _ if self.phase == Phase::Stopping => STOP_POLL_MS,
            Space::Full => FULL_DISK_POLL_MS,
            Space::Ready => IDLE_POLL_MS,
        };
        self.next_poll = now.monotonic.plus_ms(pause_ms);
        cleans_on || self.has_load_work() || self.has_open_batches() || self.can_begin_round()
    }

    /// Whether something waits for a round and one could take it. On a full disk work stays where it is until the
    /// next poll finds room.
    fn can_begin_round(&self) -> bool {
        self.logs.has_work() && !self.logs.is_flushing() && self.logs.space() != Space::Full
    }

    /// Appends what coordinators have gathered.
    fn flush_coordinators(&mut self, now: Now) {
        self.coordinators.flush(&mut self.logs, now);
        if let Some(transactions) = &mut self.transactions.coordinators {
            transactions.flush(&mut self.logs, now);
        }
    }

    fn has_open_batches(&self) -> bool {
        self.coordinators.has_open_batches()
            || self.transactions.coordinators.as_ref().is_some_and(Coordinators::has_open_batches)
    }

    fn has_load_work(&self) -> bool {
        self.coordinators.has_load_work()
            || self.transactions.coordinators.as_ref().is_some_and(Coordinators::has_load_work)
    }

    /// When [`Node::step`] is needed next even if nothing comes in.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let waits = [
            Some(self.next_poll),
            self.logs.next_deadline(),
            self.coordinators.next_deadline(),
            self.transactions.next_deadline(),
            self.produces.next_deadline(),
            self.deletions.next_deadline(),
            self.markers.next_deadline(),
            self.fetches.next_deadline(),
        ];
        waits.into_iter().flatten().min()
    }

    /// The connections that have new output or are to be closed; may repeat.
    pub fn take_with_output(&mut self) -> Vec<ConnectionId> {
        self.connections.take_with_output()
    }

    /// Moves a connection's output to the end of `into`.
    pub fn take_output(&mut self, id: ConnectionId, into: &mut Vec<u8>) {
        self.connections.take_output(id, into);
    }

    /// The output taken since the last step is on its way; `clock` is read if somebody wants to know when. Who never says
    /// so has it counted as sent at the next step.
    pub fn note_sent(&mut self, clock: impl FnOnce() -> Now) {
        if self.commit_times.is_owed_a_time() {
            self.commit_times.note_sent(clock().monotonic);
        }
    }

    /// Begins a graceful stop: nothing new is admitted, everything that waits is answered, a checkpoint is written.
    pub fn begin_stop(&mut self) {
        if self.phase == Phase::Running {
            self.phase = Phase::Stopping;
        }
    }

    /// One stage of a stop after the other; each begins when the disk has nothing left of the one before.
    fn continue_stop(&mut self, now: Now) {
        let is_busy = self.has_open_batches() || self.can_begin_round() || self.logs.is_flushing();
        if self.phase != Phase::Stopping || is_busy {
            return;
        }
        match self.stopping {
            Stopping::Draining => {
                self.coordinators.close();
                if let Some(transactions) = &mut self.transactions.coordinators {
                    transactions.close();
                }
                self.release_answers(now);
                self.answer_waiting(now);
                self.stopping = Stopping::Checkpointing(now.monotonic.plus_ms(STOP_CHECKPOINT_MS));
                self.logs.begin_clean_stop(now);
            }
            Stopping::Checkpointing(_) if self.logs.is_cleanly_stopped() => self.phase = Phase::Stopped,
            // What still waits for room on a full disk was acknowledged to nobody.
            Stopping::Checkpointing(give_up_at) if self.logs.has_work() || give_up_at <= now.monotonic => {
                tracing::warn!("stopped without a last checkpoint; the next start replays the journal");
                self.phase = Phase::Stopped;
            }
            Stopping::Checkpointing(_) => {}
        }
    }

    fn fail(&mut self, reason: String) {
        tracing::error!("storage failed: {reason}");
        self.phase = Phase::Failed(reason);
    }
}
