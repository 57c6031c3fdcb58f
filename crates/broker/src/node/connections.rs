//! Connections as the node sees them: requests admitted in order, answers released in the same order.
//!
//! Knows nothing of sockets: bytes to send gather in a connection's output, and the driver takes them from there.

use std::collections::VecDeque;

use hashbrown::HashMap;
use milepost_wire::{ApiKey, Response, encode_response};

/// The most unanswered requests of one connection. Over it the socket is not read.
pub const IN_FLIGHT_REQUESTS_MAX: usize = 128;
/// The most bytes of unanswered requests of one connection, so that what their answers repeat is bounded too. Over it
/// the socket is not read; a single larger request is admitted.
pub const IN_FLIGHT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The most unsent answer bytes of one connection. Over it the socket is not read.
pub const OUTPUT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// One connection, for as long as the process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// What is needed to answer a request later: whose it is, its place in line, and how to write the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestKey {
    pub(crate) connection: ConnectionId,
    pub(crate) sequence: u64,
    pub(crate) api: ApiKey,
    pub(crate) version: i16,
    pub(crate) correlation_id: i32,
}

#[derive(Debug)]
enum Slot {
    /// Unanswered; the bytes of the request.
    Waiting(usize),
    /// Answered behind one that is not.
    Ready(Vec<u8>),
}

#[derive(Debug)]
struct Connection {
    host: String,
    /// The sequence number of the first slot.
    first: u64,
    slots: VecDeque<Slot>,
    /// Bytes of the requests that are unanswered.
    asked_bytes: usize,
    /// Bytes of the answers that wait in line.
    ready_bytes: usize,
    output: Vec<u8>,
    close: bool,
    /// A request waits for something that those behind it must not overtake.
    is_held: bool,
}

impl Connection {
    fn unsent_bytes(&self) -> usize {
        self.output.len() + self.ready_bytes
    }
}

/// All open connections.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    open: HashMap<ConnectionId, Connection, foldhash::fast::FixedState>,
    next: u64,
    with_output: Vec<ConnectionId>,
}

impl Connections {
    pub(crate) fn connect(&mut self, host: String) -> ConnectionId {
        self.next += 1;
        let id = ConnectionId(self.next);
        let connection = Connection {
            host,
            first: 0,
            slots: VecDeque::new(),
            asked_bytes: 0,
            ready_bytes: 0,
            output: Vec::new(),
            close: false,
            is_held: false,
        };
        self.open.insert(id, connection);
        id
    }

    pub(crate) fn disconnect(&mut self, id: ConnectionId) {
        self.open.remove(&id);
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn host(&self, id: ConnectionId) -> Option<&str> {
        self.open.get(&id).map(|connection| connection.host.as_str())
    }

    /// Whether the driver should read more from this connection.
    pub(crate) fn accepts_more(&self, id: ConnectionId) -> bool {
        self.open.get(&id).is_some_and(|connection| {
            !connection.close
                && !connection.is_held
                && connection.slots.len() < IN_FLIGHT_REQUESTS_MAX
                && connection.asked_bytes < IN_FLIGHT_BYTES_MAX
                && connection.unsent_bytes() < OUTPUT_BYTES_MAX
        })
    }

    /// How many bytes an answer should have at most, so that a client that does not take its answers cannot make us
    /// hold many large ones. The first one has no bound.
    pub(crate) fn answer_room(&self, id: ConnectionId) -> usize {
        match self.open.get(&id).map(Connection::unsent_bytes) {
            None | Some(0) => usize::MAX,
            Some(unsent) => OUTPUT_BYTES_MAX.saturating_sub(unsent),
        }
    }

    /// Whether requests of this connection are unanswered.
    pub(crate) fn owes_answers(&self, id: ConnectionId) -> bool {
        self.open.get(&id).is_some_and(|connection| !connection.slots.is_empty())
    }

    /// Gives a request of so many bytes its place in line.
    pub(crate) fn admit(&mut self, id: ConnectionId, request_bytes: usize) -> Option<u64> {
        let connection = self.open.get_mut(&id)?;
        connection.slots.push_back(Slot::Waiting(request_bytes));
        connection.asked_bytes += request_bytes;
        Some(connection.first + connection.slots.len() as u64 - 1)
    }

    /// Answers a request. `encode` appends the whole frame; it runs only if the connection is still there. Answers
    /// behind an unanswered request wait for it.
    pub(crate) fn answer(&mut self, key: RequestKey, encode: impl FnOnce(&mut Vec<u8>)) {
        let Some(connection) = self.open.get_mut(&key.connection) else { return };
        if key.sequence == connection.first {
            encode(&mut connection.output);
            if let Some(Slot::Waiting(asked)) = connection.slots.pop_front() {
                connection.asked_bytes -= asked;
            }
            connection.first += 1;
            Self::release(connection);
            self.with_output.push(key.connection);
        } else {
            let mut bytes = Vec::new();
            encode(&mut bytes);
            let index =
                usize::try_from(key.sequence - connection.first).expect("a slot's index fits the queue");
            connection.ready_bytes += bytes.len();
            if let Slot::Waiting(asked) = std::mem::replace(&mut connection.slots[index], Slot::Ready(bytes))
            {
                connection.asked_bytes -= asked;
            }
        }
    }

    /// Writes a response into its place in line.
    pub(crate) fn respond<'a, R: Response<'a>>(&mut self, key: RequestKey, response: &R) {
        let mut failed = None;
        self.answer(key, |out| {
            failed = encode_response(out, response, key.version, key.correlation_id).err();
        });
        if let Some(error) = failed {
            // Something in the answer has no form on the wire (a text of more than 32,767 bytes, say).
            tracing::error!("the answer to {:?} v{} cannot be written: {error}", key.api, key.version);
            self.close(key.connection);
        }
    }

    /// Takes a request out of line that gets no answer (Produce with acks 0).
    pub(crate) fn answer_nothing(&mut self, key: RequestKey) {
        self.answer(key, |_| {});
    }

    fn release(connection: &mut Connection) {
        while let Some(Slot::Ready(bytes)) = connection.slots.front() {
            connection.output.extend_from_slice(bytes);
            connection.ready_bytes -= bytes.len();
            connection.slots.pop_front();
            connection.first += 1;
        }
    }

    /// Takes nothing further from a connection until [`Connections::resume`].
    pub(crate) fn hold(&mut self, id: ConnectionId) {
        if let Some(connection) = self.open.get_mut(&id) {
            connection.is_held = true;
        }
    }

    /// Takes requests of the connection again. The driver hears of it as of output.
    pub(crate) fn resume(&mut self, id: ConnectionId) {
        if let Some(connection) = self.open.get_mut(&id) {
            connection.is_held = false;
            self.with_output.push(id);
        }
    }

    /// Marks a connection to be closed once its output is sent.
    pub(crate) fn close(&mut self, id: ConnectionId) {
        if let Some(connection) = self.open.get_mut(&id) {
            connection.close = true;
            self.with_output.push(id);
        }
    }

    pub(crate) fn is_closing(&self, id: ConnectionId) -> bool {
        self.open.get(&id).is_none_or(|connection| connection.close)
    }

    /// The connections that got output or were marked for closing since the last call; may repeat.
    pub(crate) fn take_with_output(&mut self) -> Vec<ConnectionId> {
        std::mem::take(&mut self.with_output)
    }

    /// Moves a connection's output to the end of `into`.
    pub(crate) fn take_output(&mut self, id: ConnectionId, into: &mut Vec<u8>) {
        if let Some(connection) = self.open.get_mut(&id) {
            if into.is_empty() {
                std::mem::swap(into, &mut connection.output);
            } else {
                into.append(&mut connection.output);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(connection: ConnectionId, sequence: u64) -> RequestKey {
        RequestKey { connection, sequence, api: ApiKey::Heartbeat, version: 0, correlation_id: 0 }
    }

    #[test]
    fn answers_leave_in_request_order() {
        let mut connections = Connections::default();
        let id = connections.connect("/127.0.0.1".to_owned());
        let places: Vec<u64> = (0..3).map(|_| connections.admit(id, 1).unwrap()).collect();
        connections.answer(key(id, places[2]), |out| out.push(b'c'));
        connections.answer(key(id, places[1]), |out| out.push(b'b'));
        let mut sent = Vec::new();
        connections.take_output(id, &mut sent);
        assert!(sent.is_empty(), "the first request is unanswered");
        connections.answer(key(id, places[0]), |out| out.push(b'a'));
        connections.take_output(id, &mut sent);
        assert_eq!(sent, b"abc");
        assert!(!connections.owes_answers(id));
    }

    #[test]
    fn a_request_without_answer_does_not_hold_up_the_next() {
        let mut connections = Connections::default();
        let id = connections.connect(String::new());
        let (first, second) = (connections.admit(id, 1).unwrap(), connections.admit(id, 1).unwrap());
        connections.answer(key(id, second), |out| out.push(b'b'));
        connections.answer_nothing(key(id, first));
        let mut sent = Vec::new();
        connections.take_output(id, &mut sent);
        assert_eq!(sent, b"b");
    }

    #[test]
    fn a_full_line_stops_reading() {
        let mut connections = Connections::default();
        let id = connections.connect(String::new());
        for _ in 0..IN_FLIGHT_REQUESTS_MAX {
            assert!(connections.accepts_more(id));
            connections.admit(id, 1);
        }
        assert!(!connections.accepts_more(id));
    }

    #[test]
    fn requests_that_are_large_together_stop_reading() {
        let mut connections = Connections::default();
        let id = connections.connect(String::new());
        let first = connections.admit(id, IN_FLIGHT_BYTES_MAX - 1).unwrap();
        assert!(connections.accepts_more(id));
        connections.admit(id, 1);
        assert!(!connections.accepts_more(id));
        connections.answer_nothing(key(id, first));
        assert!(connections.accepts_more(id));
    }

    #[test]
    fn answers_that_wait_in_line_leave_less_room_for_the_next() {
        let mut connections = Connections::default();
        let id = connections.connect(String::new());
        let (first, second) = (connections.admit(id, 1).unwrap(), connections.admit(id, 1).unwrap());
        assert_eq!(connections.answer_room(id), usize::MAX);
        connections.answer(key(id, second), |out| out.resize(OUTPUT_BYTES_MAX, 0));
        assert_eq!(connections.answer_room(id), 0);
        assert!(!connections.accepts_more(id), "the answer is not sent, though it is not output yet");
        connections.answer_nothing(key(id, first));
        connections.take_output(id, &mut Vec::new());
        assert_eq!(connections.answer_room(id), usize::MAX);
    }
}
