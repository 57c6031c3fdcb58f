//! One connection: requests go out one behind the other, answers come back in the same order.
//!
//! Reading and writing are in one thread. That cannot lock up, because no further request is written while more than
//! [`UNANSWERED_BYTES_MAX`] bytes of earlier ones are unanswered, and that much fits between the two ends of a socket
//! however slowly the broker reads. After an error the connection is of no use; [`Cluster`](crate::Cluster) opens
//! another.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};

use milepost_wire::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use milepost_wire::{ApiKey, ErrorCode, Request, Response, decode_response, encode_request};

use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::options::Options;
use crate::sasl;
use crate::stop::Stop;
use crate::transport::{Transport, disliked, is_pause};
use crate::versions::Versions;

/// The largest answer that is believed. Kafka's own clients take up to 50 MiB of records, and a first batch whole.
const FRAME_BYTES_MAX: usize = 256 << 20;
/// The most requests on the way at once.
const UNANSWERED_MAX: usize = 64;
/// The most bytes of requests on the way, beyond which the next one waits.
const UNANSWERED_BYTES_MAX: usize = 16 << 10;
/// How much the buffer grows at a time: an announced length alone must not cost memory.
const READ_STEP_BYTES: usize = 256 << 10;
/// A buffer that grew beyond this for one answer is given back after it.
const BUFFER_KEPT_BYTES: usize = 1 << 20;
const LENGTH_BYTES: usize = 4;

/// A request that is on the way.
#[derive(Clone, Copy, Debug)]
struct Unanswered {
    correlation_id: i32,
    api: ApiKey,
    version: i16,
    bytes: usize,
}

/// One answer, still as bytes.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    frame: &'a [u8],
    api: ApiKey,
    version: i16,
}

impl<'a> Answer<'a> {
    /// Reads it.
    ///
    /// # Errors
    /// When the bytes are not such an answer.
    pub fn decode<R: Response<'a>>(self) -> Result<R, ClientError> {
        debug_assert_eq!(R::API, self.api, "an answer is read as what was asked");
        let (_, response) = decode_response(self.frame, self.version)
            .map_err(|source| ClientError::Decode { api: self.api, source })?;
        Ok(response)
    }
}

/// A connection to one broker.
#[derive(Debug)]
pub struct Connection {
    address: Address,
    transport: Transport,
    versions: Versions,
    client_id: String,
    stop: Stop,
    next_correlation_id: i32,
    /// Oldest first.
    unanswered: VecDeque<Unanswered>,
    output: Vec<u8>,
    /// What was read and not handed out; the first `handed_out` bytes were.
    input: Vec<u8>,
    handed_out: usize,
    usable: bool,
}

impl Connection {
    /// Connects, with TLS if told so, asks what the broker speaks, and says who is asking if told so.
    ///
    /// # Errors
    /// When one of that fails or takes longer than `options.connect_timeout` or the deadline.
    pub fn open(address: &Address, options: &Options, deadline: Deadline) -> Result<Self, ClientError> {
        let deadline = deadline.or_after(options.connect_timeout);
        let transport = Transport::connect(address, options, deadline)?;
        let mut connection = Self {
            address: address.clone(),
            transport,
            versions: Versions::default(),
            client_id: options.client_id.clone(),
            stop: options.stop.clone(),
            next_correlation_id: 0,
            unanswered: VecDeque::new(),
            output: Vec::new(),
            input: Vec::new(),
            handed_out: 0,
            usable: true,
        };
        // Version 0, which every broker answers.
        let answer: ApiVersionsResponse<'_> =
            connection.call(&ApiVersionsRequest::default(), 0, deadline)?.decode()?;
        if answer.error_code != ErrorCode::None {
            return Err(ClientError::refused(format!("{address}"), answer.error_code, None));
        }
        let versions = Versions::of(&answer.api_keys);
        connection.versions = versions;
        if let Some(login) = &options.security.login {
            sasl::authenticate(&mut connection, login, deadline)?;
        }
        Ok(connection)
    }

    /// Who is at the other end.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The highest version of an API that both sides speak.
    ///
    /// # Errors
    /// [`ClientError::NoVersion`] when there is none.
    pub fn version(&self, api: ApiKey) -> Result<i16, ClientError> {
        self.versions.common(api, &self.address)
    }

    /// Whether the broker serves an API at all, in whatever versions.
    #[must_use]
    pub fn has(&self, api: ApiKey) -> bool {
        self.versions.has(api)
    }

    /// Whether it can still be used: nothing went wrong, and nothing that nobody waits for is on the way.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.usable
    }

    /// How many requests are on the way.
    #[must_use]
    pub fn unanswered(&self) -> usize {
        self.unanswered.len()
    }

    /// Sends a request and waits for its answer. Nothing else may be on the way.
    ///
    /// # Errors
    /// When it cannot be sent, or the answer does not come in time or is none.
    pub fn call<'r>(
        &mut self,
        request: &impl Request<'r>,
        version: i16,
        deadline: Deadline,
    ) -> Result<Answer<'_>, ClientError> {
        self.send(request, version, deadline)?;
        self.receive(deadline)
    }

    /// Sends requests one behind the other, and hands their answers to `read` in the same order. Nothing else may be
    /// on the way.
    ///
    /// # Errors
    /// The first of its own or of `read`; the connection is then of no use.
    pub fn pipeline<'r, Q: Request<'r>>(
        &mut self,
        requests: impl IntoIterator<Item = Q>,
        version: i16,
        deadline: Deadline,
        mut read: impl FnMut(Answer<'_>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        for request in requests {
            while !self.takes_more() {
                self.receive_for(&mut read, deadline)?;
            }
            self.send(&request, version, deadline)?;
        }
        while !self.unanswered.is_empty() {
            self.receive_for(&mut read, deadline)?;
        }
        Ok(())
    }

    fn receive_for(
        &mut self,
        read: &mut impl FnMut(Answer<'_>) -> Result<(), ClientError>,
        deadline: Deadline,
    ) -> Result<(), ClientError> {
        let outcome = self.receive(deadline).and_then(read);
        // Answers to what was sent after it will come, and nobody waits for them.
        self.usable &= outcome.is_ok();
        outcome
    }

    fn takes_more(&self) -> bool {
        let bytes: usize = self.unanswered.iter().map(|one| one.bytes).sum();
        self.unanswered.len() < UNANSWERED_MAX && bytes <= UNANSWERED_BYTES_MAX
    }

    /// Sends a request; [`Connection::receive`] gives its answer, after those of the requests before it.
    ///
    /// # Errors
    /// When it cannot be sent.
    pub fn send<'r, Q: Request<'r>>(
        &mut self,
        request: &Q,
        version: i16,
        deadline: Deadline,
    ) -> Result<(), ClientError> {
        let correlation_id = self.next_correlation_id;
        self.next_correlation_id = correlation_id.wrapping_add(1);
        self.output.clear();
        encode_request(&mut self.output, request, version, correlation_id, Some(&self.client_id))
            .map_err(|source| ClientError::Encode { api: Q::API, source })?;
        self.unanswered.push_back(Unanswered {
            correlation_id,
            api: Q::API,
            version,
            bytes: self.output.len(),
        });
        let sent = self.write_output(deadline);
        self.usable &= sent.is_ok();
        self.output.shrink_to(BUFFER_KEPT_BYTES);
        sent
    }

    fn write_output(&mut self, deadline: Deadline) -> Result<(), ClientError> {
        let mut sent = 0;
        while sent < self.output.len() {
            match self.transport.write(&self.output[sent..]) {
                Ok(0) => return Err(self.broken(ErrorKind::WriteZero.into())),
                Ok(count) => sent += count,
                Err(error) if is_pause(&error) => self.go_on(deadline)?,
                Err(error) => return Err(self.broken(error)),
            }
        }
        Ok(())
    }

    /// The answer to the oldest request that is on the way.
    ///
    /// # Errors
    /// When it does not come in time, or is none.
    pub fn receive(&mut self, deadline: Deadline) -> Result<Answer<'_>, ClientError> {
        match self.await_frame(deadline) {
            Ok(()) => self.hand_out(),
            Err(error) => {
                self.usable = false;
                Err(error)
            }
        }
    }

    /// As [`Connection::receive`], but an answer that is not there by the deadline is no error: `None`, and it can be
    /// asked for again.
    ///
    /// # Errors
    /// When the connection broke or the answer is none.
    pub fn receive_if_there(&mut self, deadline: Deadline) -> Result<Option<Answer<'_>>, ClientError> {
        match self.await_frame(deadline) {
            Ok(()) => self.hand_out().map(Some),
            Err(ClientError::TimedOut { .. }) => Ok(None),
            Err(error) => {
                self.usable = false;
                Err(error)
            }
        }
    }

    /// Reads until the next frame is whole.
    fn await_frame(&mut self, deadline: Deadline) -> Result<(), ClientError> {
        self.input.drain(..std::mem::take(&mut self.handed_out));
        if self.input.is_empty() {
            self.input.shrink_to(BUFFER_KEPT_BYTES);
        }
        loop {
            let missing = match self.frame_bytes()? {
                None => LENGTH_BYTES - self.input.len(),
                Some(whole) if self.input.len() >= whole => return Ok(()),
                Some(whole) => whole - self.input.len(),
            };
            self.read_some(missing, deadline)?;
        }
    }

    /// Bytes of the first frame with its length, if that much is known.
    fn frame_bytes(&self) -> Result<Option<usize>, ClientError> {
        let Some(length) = self.input.first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let announced = i32::from_be_bytes(*length);
        match usize::try_from(announced) {
            Ok(bytes) if (LENGTH_BYTES..=FRAME_BYTES_MAX).contains(&bytes) => Ok(Some(LENGTH_BYTES + bytes)),
            _ => Err(ClientError::FrameSize { address: self.address.clone(), announced }),
        }
    }

    fn read_some(&mut self, missing: usize, deadline: Deadline) -> Result<(), ClientError> {
        let left = deadline.left().unwrap_or_default();
        self.transport.read_for(left).map_err(|error| self.broken(error))?;
        let filled = self.input.len();
        self.input.resize(filled + missing.min(READ_STEP_BYTES), 0);
        let read = self.transport.read(&mut self.input[filled..]);
        self.input.truncate(filled + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => Err(self.broken(ErrorKind::UnexpectedEof.into())),
            Ok(count) if count >= missing => Ok(()),
            Ok(_) => self.go_on(deadline),
            Err(error) if is_pause(&error) => self.go_on(deadline),
            Err(error) => Err(self.broken(error)),
        }
    }

    /// Whether it is worth waiting on.
    fn go_on(&self, deadline: Deadline) -> Result<(), ClientError> {
        if self.stop.is_set() {
            return Err(ClientError::Stopped);
        }
        if deadline.left().is_none() {
            return Err(ClientError::TimedOut { address: self.address.clone(), after: deadline.whole() });
        }
        Ok(())
    }

    /// The frame that was read; [`Connection::await_frame`] has seen that it is whole.
    fn hand_out(&mut self) -> Result<Answer<'_>, ClientError> {
        let end = self.frame_bytes()?.unwrap_or(LENGTH_BYTES);
        let frame = &self.input[LENGTH_BYTES..end];
        let found = frame.first_chunk::<4>().map_or(-1, |bytes| i32::from_be_bytes(*bytes));
        let due = self.unanswered.pop_front();
        match due {
            Some(one) if one.correlation_id == found => {
                self.handed_out = end;
                Ok(Answer { frame, api: one.api, version: one.version })
            }
            _ => {
                self.usable = false;
                let expected = due.map_or(-1, |one| one.correlation_id);
                Err(ClientError::OutOfOrder { address: self.address.clone(), found, expected })
            }
        }
    }

    fn broken(&self, source: io::Error) -> ClientError {
        disliked(&self.address, &source)
            .unwrap_or_else(|| ClientError::Broken { address: self.address.clone(), source: source.into() })
    }
}
