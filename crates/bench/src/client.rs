//! A connection for what has to be arranged before the measurement: the client's own, one request at a time.

use std::time::Duration;

use milepost_client::{Address, Connection, Deadline, Options};
use milepost_wire::{ApiKey, Request, Response};

use crate::error::BenchError;

/// The name that the program gives itself.
pub(crate) const CLIENT_ID: &str = "bench";
/// The largest answer that is believed.
pub(crate) const FRAME_BYTES_MAX: usize = 100 * 1024 * 1024;
/// How long an answer may take. Kafka creates the topic of offsets meanwhile.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// One connection.
pub(crate) struct Client {
    connection: Connection,
}

impl Client {
    /// Connects and asks what the server speaks.
    pub(crate) fn connect(address: &str) -> Result<Self, BenchError> {
        let address: Address = address.parse()?;
        let options = Options { client_id: CLIENT_ID.to_owned(), ..Options::default() };
        let connection = Connection::open(&address, &options, Deadline::after(ANSWER_TIMEOUT))?;
        Ok(Self { connection })
    }

    /// The highest version of an API, up to `highest`, that both sides speak.
    pub(crate) fn version(&self, api: ApiKey, highest: i16) -> Result<i16, BenchError> {
        Ok(self.connection.version(api)?.min(highest))
    }

    /// Asks and waits for the answer.
    pub(crate) fn call<'client, 'request, R: Response<'client>>(
        &'client mut self,
        request: &impl Request<'request>,
        version: i16,
    ) -> Result<R, BenchError> {
        let answer = self.connection.call(request, version, Deadline::after(ANSWER_TIMEOUT))?;
        Ok(answer.decode()?)
    }
}
