//! A client's end of a connection: what was asked, in order, and what came back.

use std::collections::VecDeque;

use milepost_broker::node::ConnectionId;

use crate::check::{Checked, promise};
use crate::oracle::{BatchId, EntryId, OffsetKey, PartitionKey};

/// The most requests that a simulated client has in flight.
pub(crate) const IN_FLIGHT: usize = 5;

/// What an answer will have to be held against.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Metadata,
    CreateTopic { topic: usize },
    DeleteTopic { topic: usize, was_growing: bool },
    GrowTopic { topic: usize, partitions: i32 },
    ProducerId { producer: usize },
    Produce { producer: Option<usize>, partition: PartitionKey, batch: BatchId },
    Fetch { partition: PartitionKey, from: i64, floor: i64 },
    ListOffsets { partition: PartitionKey, floor: i64 },
    Commit { entries: Vec<EntryId>, by: Committer },
    OffsetFetch { keys: Vec<(OffsetKey, Option<usize>)> },
    OffsetDelete { deletions: Vec<Deletion> },
    DeleteGroup { deletions: Vec<Deletion> },
    Join { member: usize, floor: Option<i32> },
    Sync { member: usize, generation: i32 },
    Heartbeat { member: usize, must_be: MustBe },
    Leave { member: usize },
}

/// What a heartbeat must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MustBe {
    Alive,
    Anything,
}

/// A committed offset that is to go, and the floor of its history when that was asked.
pub(crate) type Deletion = (EntryId, Option<usize>);

/// Who committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Committer {
    /// Someone outside group management.
    Outsider,
    /// A member in a generation; `fenced` when a later one was recorded before this was sent.
    Member { member: usize, generation: i32, fenced: bool },
}

/// A request without its answer.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) correlation_id: i32,
    pub(crate) version: i16,
    pub(crate) asked: Asked,
}

/// A client and its connection, if it has one.
#[derive(Debug, Default)]
pub(crate) struct Client {
    pub(crate) connection: Option<ConnectionId>,
    next_correlation_id: i32,
    pending: VecDeque<Pending>,
    input: Vec<u8>,
}

impl Client {
    /// A new connection. What was asked on the former one will never be answered.
    pub(crate) fn connected(&mut self, connection: ConnectionId) {
        self.connection = Some(connection);
        self.input.clear();
    }

    /// The server is gone.
    pub(crate) fn disconnected(&mut self) {
        self.connection = None;
        self.input.clear();
        self.pending.clear();
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.pending.len()
    }

    pub(crate) fn pending(&self) -> impl Iterator<Item = &Pending> {
        self.pending.iter()
    }

    /// Notes a request that is about to be sent, and gives its correlation id.
    pub(crate) fn asks(&mut self, version: i16, asked: Asked) -> i32 {
        self.next_correlation_id += 1;
        let correlation_id = self.next_correlation_id;
        self.pending.push_back(Pending { correlation_id, version, asked });
        correlation_id
    }

    pub(crate) fn received(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// The next whole answer and what it answers: answers come in the order of the requests, each once.
    pub(crate) fn next_answer(&mut self) -> Checked<Option<(Pending, Vec<u8>)>> {
        let Some(size) = self.input.first_chunk::<4>() else { return Ok(None) };
        let size = usize::try_from(i32::from_be_bytes(*size)).unwrap_or(usize::MAX);
        if self.input.len() < size.saturating_add(4) {
            return Ok(None);
        }
        let frame = self.input[4..4 + size].to_vec();
        self.input.drain(..4 + size);
        let Some(pending) = self.pending.pop_front() else {
            return Err(crate::check::Violation::new("an answer that nobody asked for".to_owned()));
        };
        let correlation_id = frame.first_chunk().map(|bytes| i32::from_be_bytes(*bytes));
        promise!(
            correlation_id == Some(pending.correlation_id),
            "the answer to {pending:?} has correlation id {correlation_id:?}"
        );
        Ok(Some((pending, frame)))
    }
}
