//! The engine: one thread, many connections, a fixed number of requests in flight on each.
//!
//! Every answer is followed at once by the next request on its connection, with one write for all that one read
//! answered. Answers come in the order of requests, as the protocol promises; anything else ends the run.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::ToSocketAddrs;
use std::time::{Duration, Instant};

use milepost_wire::{DecodeError, EncodeError};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use crate::client::FRAME_BYTES_MAX;
use crate::error::BenchError;
use crate::generator::{Shares, Stopwatch};
use crate::tally::{Outcome, Tally};

/// How much is read at once.
const READ_BYTES: usize = 64 * 1024;
/// How many ready sockets are taken at once.
const EVENTS: usize = 1024;

/// What is asked, and what the answers mean.
pub(crate) trait Workload {
    /// Appends the next request of a connection, as a whole frame.
    fn request(
        &mut self,
        connection: usize,
        correlation_id: i32,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError>;

    /// Reads an answer (without the frame's length).
    fn response(&mut self, frame: &[u8]) -> Result<(i32, Outcome), DecodeError>;
}

/// How the load runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Requests in flight on each connection.
    pub(crate) in_flight: usize,
    /// Not measured.
    pub(crate) warm_up: Duration,
    /// Measured.
    pub(crate) measured: Duration,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Measured {
    /// What was answered.
    pub(crate) tally: Tally,
    /// The measured time.
    pub(crate) time: Duration,
    /// The generator's own share.
    pub(crate) shares: Shares,
}

struct Connection {
    address: String,
    stream: TcpStream,
    /// What was read and is not a whole frame yet.
    input: Vec<u8>,
    /// What the socket did not take yet.
    output: Vec<u8>,
    /// The requests in flight, the oldest first: correlation id, and when it was handed to the socket.
    in_flight: VecDeque<(i32, Instant)>,
    next_correlation_id: i32,
}

/// Runs a load, one connection to each of the addresses.
pub(crate) fn run(
    addresses: &[String],
    plan: Plan,
    workload: &mut impl Workload,
) -> Result<Measured, BenchError> {
    let mut poll = Poll::new().map_err(BenchError::Poll)?;
    let mut connections = Vec::with_capacity(addresses.len());
    for (index, address) in addresses.iter().enumerate() {
        connections.push(Connection::open(&poll, index, address)?);
    }
    for (index, connection) in connections.iter_mut().enumerate() {
        connection.fill(index, plan.in_flight, workload)?;
    }
    let mut driver = Driver { plan, connections, buffer: vec![0; READ_BYTES], tally: Tally::default() };
    driver.drive(&mut poll, workload, plan.warm_up)?;
    driver.tally = Tally::default();
    let stopwatch = Stopwatch::start();
    let begin = Instant::now();
    driver.drive(&mut poll, workload, plan.measured)?;
    let (time, shares) = (begin.elapsed(), stopwatch.shares());
    if driver.tally.requests() == 0 && driver.tally.errors().is_empty() {
        return Err(BenchError::Silent);
    }
    Ok(Measured { tally: driver.tally, time, shares })
}

struct Driver {
    plan: Plan,
    connections: Vec<Connection>,
    buffer: Vec<u8>,
    tally: Tally,
}

impl Driver {
    fn drive(
        &mut self,
        poll: &mut Poll,
        workload: &mut impl Workload,
        time: Duration,
    ) -> Result<(), BenchError> {
        let mut events = Events::with_capacity(EVENTS);
        let end = Instant::now() + time;
        loop {
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Ok(());
            }
            match poll.poll(&mut events, Some(rest)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(BenchError::Poll(error)),
            }
            for event in &events {
                let index = event.token().0;
                let connection = &mut self.connections[index];
                if event.is_readable() || event.is_read_closed() {
                    connection.read(&mut self.buffer, workload, &mut self.tally)?;
                }
                connection.fill(index, self.plan.in_flight, workload)?;
            }
        }
    }
}

impl Connection {
    fn open(poll: &Poll, index: usize, address: &str) -> Result<Self, BenchError> {
        let fail = |source| BenchError::Connect { address: address.to_owned(), source };
        let resolved = address.to_socket_addrs().map_err(fail)?.next();
        let resolved = resolved.ok_or_else(|| fail(io::ErrorKind::AddrNotAvailable.into()))?;
        // Connected before it is made non-blocking, so that no connection starts late.
        let stream = std::net::TcpStream::connect(resolved).map_err(fail)?;
        stream.set_nodelay(true).map_err(fail)?;
        stream.set_nonblocking(true).map_err(fail)?;
        let mut stream = TcpStream::from_std(stream);
        let interest = Interest::READABLE | Interest::WRITABLE;
        poll.registry().register(&mut stream, Token(index), interest).map_err(fail)?;
        Ok(Self {
            address: address.to_owned(),
            stream,
            input: Vec::new(),
            output: Vec::new(),
            in_flight: VecDeque::new(),
            next_correlation_id: 0,
        })
    }

    /// Reads all there is and takes note of the answers.
    fn read(
        &mut self,
        buffer: &mut [u8],
        workload: &mut impl Workload,
        tally: &mut Tally,
    ) -> Result<(), BenchError> {
        loop {
            let count = match self.stream.read(buffer) {
                Ok(0) => return Err(self.broken(io::ErrorKind::UnexpectedEof.into())),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.broken(error)),
            };
            if self.input.is_empty() {
                let used = self.answers(&buffer[..count], workload, tally)?;
                self.input.extend_from_slice(&buffer[used..count]);
            } else {
                let mut input = std::mem::take(&mut self.input);
                input.extend_from_slice(&buffer[..count]);
                let used = self.answers(&input, workload, tally)?;
                input.drain(..used);
                self.input = input;
            }
            // A short read took everything; whatever arrives later is a new event.
            if count < buffer.len() {
                return Ok(());
            }
        }
    }

    /// Takes the whole frames at the front; says how many bytes they were.
    fn answers(
        &mut self,
        bytes: &[u8],
        workload: &mut impl Workload,
        tally: &mut Tally,
    ) -> Result<usize, BenchError> {
        let now = Instant::now();
        let mut used = 0;
        while let Some(size) = bytes[used..].first_chunk::<4>() {
            let announced = i32::from_be_bytes(*size);
            let size = usize::try_from(announced).ok().filter(|size| *size <= FRAME_BYTES_MAX);
            let size = size.ok_or(BenchError::FrameSize(announced))?;
            let Some(frame) = bytes.get(used + 4..used + 4 + size) else { break };
            let (found, outcome) = workload.response(frame)?;
            match self.in_flight.pop_front() {
                Some((expected, sent)) if expected == found => tally.note(now - sent, &outcome),
                oldest => {
                    let expected = oldest.map_or(-1, |(expected, _)| expected);
                    return Err(BenchError::OutOfOrder { found, expected });
                }
            }
            used += 4 + size;
        }
        Ok(used)
    }

    /// Brings the connection up to its number of requests in flight and sends as much as the socket takes.
    fn fill(
        &mut self,
        index: usize,
        in_flight: usize,
        workload: &mut impl Workload,
    ) -> Result<(), BenchError> {
        let now = Instant::now();
        // A request waits here no longer than its socket's buffer is full; it counts from when it could be sent.
        while self.in_flight.len() < in_flight && self.output.len() < READ_BYTES {
            self.next_correlation_id = self.next_correlation_id.wrapping_add(1) & i32::MAX;
            workload.request(index, self.next_correlation_id, &mut self.output)?;
            self.in_flight.push_back((self.next_correlation_id, now));
        }
        let mut sent = 0;
        while sent < self.output.len() {
            match self.stream.write(&self.output[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(error)),
            }
        }
        self.output.drain(..sent);
        Ok(())
    }

    fn broken(&self, source: io::Error) -> BenchError {
        BenchError::Broken { address: self.address.clone(), source }
    }
}
