//! The world around a node: clients on connections in memory, a clock, and the next thing to happen.

mod committing;
mod members;
mod producing;
mod reading;
mod topics;

use std::collections::VecDeque;

use milepost_broker::node::{Admission, ConnectionId, Node};
use milepost_model::{Instant, Now, Timestamp};
use milepost_storage::SimulatedFileSystem;
use milepost_wire::{ErrorCode, Request, Response, decode_response, encode_request};

use crate::check::{Checked, Violation, promise};
use crate::client::{Asked, Client, IN_FLIGHT, Pending};
use crate::oracle::{OffsetKey, Oracle};
use crate::rng::Rng;
use crate::trace::Trace;

pub(crate) use committing::{GROUPS, Question};
pub(crate) use members::Member;
pub(crate) use producing::Producer;
pub(crate) use reading::Reading;
pub(crate) use topics::Listing;

/// The wall clock at the start of every run, in milliseconds since the Unix epoch.
const START_MS: i64 = 1_750_000_000_000;
/// How many of the last events a violation tells.
const STORY_LINES: usize = 300;

/// Groups that only outsiders commit in; the groups of members come after them.
pub(crate) const PLAIN_GROUPS: usize = 3;
/// Groups with members. The last one has a static member.
pub(crate) const MEMBER_GROUPS: usize = 2;
/// Numbered producers, and as many plain ones.
const PRODUCERS: usize = 2;
const COMMITTERS: usize = 2;
const MEMBERS_PER_GROUP: usize = 2;

/// How often something happened that a run must not miss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Batches that were sent again and then acknowledged.
    pub batches_again: u64,
    /// Commits of members that were accepted.
    pub member_commits: u64,
    /// Commits under a former generation that were refused.
    pub fenced_commits: u64,
    /// Members of a stable group that were found alive after a start.
    pub members_found: u64,
    /// Topics deleted.
    pub topics_deleted: u64,
    /// Batches that starts took from the journal.
    pub batches_refilled: u64,
    /// Starts that found a torn tail.
    pub torn_tails: u64,
    /// Batches that a storage in trouble refused.
    pub storage_refusals: u64,
}

impl Counts {
    fn all(&mut self) -> [&mut u64; 8] {
        [
            &mut self.batches_again,
            &mut self.member_commits,
            &mut self.fenced_commits,
            &mut self.members_found,
            &mut self.topics_deleted,
            &mut self.batches_refilled,
            &mut self.torn_tails,
            &mut self.storage_refusals,
        ]
    }

    /// Adds another run's.
    pub fn add(&mut self, other: &Self) {
        let mut other = *other;
        for (sum, more) in self.all().into_iter().zip(other.all()) {
            *sum += *more;
        }
    }

    /// Whether each of it happened.
    #[must_use]
    pub fn all_happened(&self) -> bool {
        let mut copy = *self;
        copy.all().into_iter().all(|count| *count > 0)
    }
}

/// Independent streams of randomness.
#[derive(Debug)]
pub(crate) struct Dice {
    /// What happens next.
    pub(crate) schedule: Rng,
    /// What requests hold.
    pub(crate) content: Rng,
    /// When and how the node dies.
    pub(crate) faults: Rng,
}

/// Everything outside the node, and the node.
pub(crate) struct World {
    pub(crate) dice: Dice,
    pub(crate) system: SimulatedFileSystem,
    pub(crate) node: Option<Node>,
    pub(crate) oracle: Oracle,
    pub(crate) trace: Trace,
    /// Whether storage may refuse now: the power is off, or a fault was injected.
    pub(crate) storage_may_fail: bool,
    pub(crate) reading: Reading,
    pub(crate) listed: Option<Listing>,
    /// How often members came or went, by group.
    disturbances: Vec<u64>,
    pub(crate) counts: Counts,
    /// Whether some records are larger than a journal file.
    pub(crate) has_large_records: bool,
    /// What the last OffsetFetch said.
    pub(crate) fetched_offsets: Vec<(OffsetKey, Option<i64>)>,
    monotonic_us: u64,
    wall_ms: i64,
    clients: Vec<Client>,
    producers: Vec<Producer>,
    members: Vec<Member>,
    story: VecDeque<String>,
}

/// The clients by what they do.
pub(crate) const VERIFIER: usize = 0;
const ADMIN: usize = 1;
const READER: usize = 2;
const FIRST_PLAIN_PRODUCER: usize = 3;
const FIRST_PRODUCER: usize = FIRST_PLAIN_PRODUCER + PRODUCERS;
const FIRST_COMMITTER: usize = FIRST_PRODUCER + PRODUCERS;
const FIRST_MEMBER: usize = FIRST_COMMITTER + COMMITTERS;
const CLIENTS: usize = FIRST_MEMBER + MEMBER_GROUPS * MEMBERS_PER_GROUP;

impl World {
    pub(crate) fn new(seed: u64, system: SimulatedFileSystem) -> Self {
        let dice = Dice {
            schedule: Rng::new(seed, "schedule"),
            content: Rng::new(seed, "content"),
            faults: Rng::new(seed, "faults"),
        };
        let member = |at: usize| {
            let group = PLAIN_GROUPS + at / MEMBERS_PER_GROUP;
            let is_static = group == PLAIN_GROUPS + MEMBER_GROUPS - 1 && at.is_multiple_of(MEMBERS_PER_GROUP);
            Member::new(FIRST_MEMBER + at, group, is_static)
        };
        Self {
            dice,
            system,
            node: None,
            oracle: Oracle::default(),
            trace: Trace::new(),
            storage_may_fail: false,
            reading: Reading::default(),
            listed: None,
            fetched_offsets: Vec::new(),
            disturbances: vec![0; GROUPS],
            counts: Counts::default(),
            has_large_records: true,
            monotonic_us: 0,
            wall_ms: START_MS,
            clients: (0..CLIENTS).map(|_| Client::default()).collect(),
            producers: (0..PRODUCERS).map(|at| Producer::new(FIRST_PRODUCER + at)).collect(),
            members: (0..MEMBER_GROUPS * MEMBERS_PER_GROUP).map(member).collect(),
            story: VecDeque::new(),
        }
    }

    pub(crate) fn now(&self) -> Now {
        Now { monotonic: Instant(self.monotonic_us), wall: Timestamp(self.wall_ms) }
    }

    pub(crate) fn pass_ms(&mut self, ms: u64) {
        self.monotonic_us += ms * 1000;
        self.wall_ms += i64::try_from(ms).expect("a short time");
    }

    /// The machine started anew: its monotonic clock begins again.
    pub(crate) fn restart_clock(&mut self) {
        self.monotonic_us = 0;
        let away_ms = 1 + self.dice.faults.below(2000);
        self.wall_ms += i64::try_from(away_ms).expect("a short time");
    }

    pub(crate) fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.story.len() == STORY_LINES {
            self.story.pop_front();
        }
        self.story.push_back(line());
    }

    /// Adds the story to what was found.
    pub(crate) fn explain(&self, mut violation: Violation) -> Violation {
        violation.story = self.story.iter().cloned().collect();
        violation
    }

    fn node(&mut self) -> &mut Node {
        self.node.as_mut().expect("the node runs while clients act")
    }

    /// Whether the power is still on.
    pub(crate) fn has_power(&self) -> bool {
        !self.system.is_off()
    }

    /// Every client connects.
    pub(crate) fn connect_all(&mut self) {
        for client in 0..self.clients.len() {
            let connection = self.node().connect(format!("/10.0.0.{client}"));
            self.clients[client].connected(connection);
        }
    }

    /// The server is gone. What was not answered has an unknown outcome.
    pub(crate) fn disconnect_all(&mut self) {
        self.node = None;
        self.look_at_sessions();
        for client in 0..self.clients.len() {
            self.clients[client].disconnected();
            self.member_disconnected(client);
            self.producer_disconnected(client);
        }
    }

    /// Some client's connection breaks, and it comes back. The node still does what it was asked.
    fn hang_up(&mut self) {
        let client = READER + self.dice.content.index(CLIENTS - READER);
        let former = self.connection(client);
        self.tell(|| format!("client {client} hangs up"));
        self.node().disconnect(former);
        self.clients[client].disconnected();
        self.member_disconnected(client);
        self.producer_disconnected(client);
        let connection = self.node().connect(format!("/10.0.0.{client}"));
        self.clients[client].connected(connection);
    }

    pub(crate) fn in_flight(&self, client: usize) -> usize {
        self.clients[client].in_flight()
    }

    /// Everything that is not answered.
    pub(crate) fn unanswered(&self) -> Vec<&Pending> {
        self.clients.iter().flat_map(Client::pending).collect()
    }

    /// Whether anything is unanswered that waits for nothing but the disk.
    pub(crate) fn waits_for_storage(&self) -> bool {
        self.clients[..FIRST_MEMBER].iter().any(|client| client.in_flight() > 0)
    }

    fn connection(&self, client: usize) -> ConnectionId {
        self.clients[client].connection.expect("clients are connected while the node runs")
    }

    /// Whether this client may send another request now.
    pub(crate) fn may_send(&mut self, client: usize) -> bool {
        let connection = self.connection(client);
        self.clients[client].in_flight() < IN_FLIGHT && self.node().accepts_more(connection)
    }

    /// Sends a request. Call [`World::may_send`] first.
    pub(crate) fn send<'a, R: Request<'a>>(
        &mut self,
        client: usize,
        version: i16,
        request: &R,
        asked: Asked,
    ) -> Checked {
        self.member_sends(client);
        let now = self.now();
        let name = format!("client-{client}");
        self.tell(|| format!("at {} µs {name} asks {asked:?}", now.monotonic.0));
        let correlation_id = self.clients[client].asks(version, asked);
        let mut frame = Vec::new();
        encode_request(&mut frame, request, version, correlation_id, Some(&name))
            .map_err(|error| Violation::new(format!("the request cannot be written: {error}")))?;
        self.trace.bytes(&frame);
        let connection = self.connection(client);
        let admission = self.node().admit(now, connection, &frame[4..]);
        promise!(admission == Admission::Admitted, "{name} is cut off: {admission:?}");
        Ok(())
    }

    /// Lets the node work, and takes note of what it asked of the file system. Returns whether it would go on at once.
    pub(crate) fn step(&mut self) -> bool {
        let now = self.now();
        let goes_on = self.node().step(now);
        self.trace.operations(&self.system);
        goes_on
    }

    /// Takes what the node has to say, and lets the clients read it.
    pub(crate) fn collect(&mut self) -> Checked {
        let ready = self.node().take_with_output();
        for connection in ready {
            let Some(client) = self.clients.iter().position(|client| client.connection == Some(connection))
            else {
                continue;
            };
            promise!(!self.node().is_closing(connection), "the connection of client {client} is closed");
            let mut output = Vec::new();
            self.node().take_output(connection, &mut output);
            self.trace.bytes(&output);
            self.clients[client].received(&output);
            while let Some((pending, frame)) = self.clients[client].next_answer()? {
                self.answered(&pending, &frame)?;
            }
        }
        Ok(())
    }

    fn answered(&mut self, pending: &Pending, frame: &[u8]) -> Checked {
        match &pending.asked {
            Asked::Metadata => self.metadata_answered(&read(pending, frame)?),
            Asked::CreateTopic { topic } => self.topic_created(*topic, &read(pending, frame)?),
            Asked::DeleteTopic { topic, was_growing } => {
                self.topic_deleted(*topic, *was_growing, &read(pending, frame)?)
            }
            Asked::GrowTopic { topic, partitions } => {
                self.topic_grown(*topic, *partitions, &read(pending, frame)?)
            }
            Asked::ProducerId { producer } => self.producer_id_given(*producer, &read(pending, frame)?),
            Asked::Produce { producer, partition, batch } => {
                self.produced(*producer, *partition, *batch, &read(pending, frame)?)
            }
            Asked::Fetch { partition, from, floor } => {
                self.fetched(*partition, *from, *floor, &read(pending, frame)?)
            }
            Asked::ListOffsets { partition, floor } => {
                self.end_listed(*partition, *floor, &read(pending, frame)?)
            }
            Asked::Commit { entries, by } => self.committed(entries, *by, &read(pending, frame)?),
            Asked::OffsetFetch { keys } => self.offsets_fetched(keys, &read(pending, frame)?),
            Asked::OffsetDelete { deletions } => self.offsets_deleted(deletions, &read(pending, frame)?),
            Asked::DeleteGroup { deletions } => self.group_deleted(deletions, &read(pending, frame)?),
            Asked::Join { member, floor } => self.joined(*member, *floor, &read(pending, frame)?),
            Asked::Sync { member, generation } => self.synced(*member, *generation, &read(pending, frame)?),
            Asked::Heartbeat { member, must_be } => {
                self.heartbeat_answered(*member, *must_be, &read(pending, frame)?)
            }
            Asked::Leave { member } => self.left(*member, &read(pending, frame)?),
        }
    }

    /// One thing that a client does, if it can.
    pub(crate) fn act(&mut self) -> Checked {
        match self.dice.schedule.below(21) {
            20 if self.dice.schedule.chance(6) => {
                self.hang_up();
                Ok(())
            }
            0 => self.change_topics(),
            1..=4 => self.produce_numbered(),
            5..=6 => self.produce_plain(),
            7..=8 => self.fetch_somewhere(),
            9 => self.list_end(),
            10..=12 => self.commit_from_outside(),
            13 => self.fetch_offsets(),
            14 => self.delete_offsets(),
            _ => self.act_as_member(),
        }
    }

    /// Errors that a storage in trouble may cause, and nothing else may.
    fn may_fail_with(&self, code: ErrorCode) -> bool {
        code == ErrorCode::KafkaStorageError && self.storage_may_fail
    }

    /// A topic that was created on a full disk has its logs later.
    fn may_lack_log(&self, code: ErrorCode) -> bool {
        code == ErrorCode::NotLeaderOrFollower && self.storage_may_fail
    }

    /// What coordinators answer while they load, are too slow or lost their log.
    fn is_coordinator_trouble(code: ErrorCode) -> bool {
        matches!(
            code,
            ErrorCode::CoordinatorLoadInProgress
                | ErrorCode::NotCoordinator
                | ErrorCode::CoordinatorNotAvailable
        )
    }
}

/// Reads the body of an answer.
fn read<'a, R: Response<'a>>(pending: &Pending, frame: &'a [u8]) -> Checked<R> {
    let decoded = decode_response(frame, pending.version);
    let (_, response) =
        decoded.map_err(|error| Violation::new(format!("the answer to {pending:?}: {error}")))?;
    Ok(response)
}

/// The name of a group.
pub(crate) fn group_name(group: usize) -> String {
    format!("group-{group}")
}
