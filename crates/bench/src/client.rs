//! A blocking connection, one request at a time: for what has to be arranged before the measurement.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use milepost_wire::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use milepost_wire::{ApiKey, ErrorCode, Request, Response, decode_response, encode_request};

use crate::error::BenchError;

/// The name that the program gives itself.
pub(crate) const CLIENT_ID: &str = "bench";
/// The largest answer that is believed.
pub(crate) const FRAME_BYTES_MAX: usize = 100 * 1024 * 1024;
/// How long an answer may take. Kafka creates the topic of offsets meanwhile.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// One connection.
pub(crate) struct Client {
    address: String,
    stream: TcpStream,
    next_correlation_id: i32,
    /// The lowest and highest version of each API, by its number.
    versions: BTreeMap<i16, (i16, i16)>,
    frame: Vec<u8>,
}

impl Client {
    /// Connects and asks what the server speaks.
    pub(crate) fn connect(address: &str) -> Result<Self, BenchError> {
        let connect = |source| BenchError::Connect { address: address.to_owned(), source };
        let stream = TcpStream::connect(address).map_err(connect)?;
        stream.set_nodelay(true).map_err(connect)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT)).map_err(connect)?;
        let mut client = Self {
            address: address.to_owned(),
            stream,
            next_correlation_id: 0,
            versions: BTreeMap::new(),
            frame: Vec::new(),
        };
        // Version 0, which every server answers.
        let answer: ApiVersionsResponse<'_> = client.call(&ApiVersionsRequest::default(), 0)?;
        if answer.error_code != ErrorCode::None {
            return Err(BenchError::Refused { what: "ApiVersions".to_owned(), code: answer.error_code });
        }
        let versions =
            answer.api_keys.iter().map(|api| (api.api_key, (api.min_version, api.max_version))).collect();
        client.versions = versions;
        Ok(client)
    }

    /// The highest version of an API, up to `highest`, that both sides speak.
    pub(crate) fn version(&self, api: ApiKey, highest: i16) -> Result<i16, BenchError> {
        let ours = api.range();
        let none = BenchError::NoVersion { api };
        let Some(&(min, max)) = self.versions.get(&api.code()) else { return Err(none) };
        let version = max.min(ours.max).min(highest);
        if version < min.max(ours.min_served) { Err(none) } else { Ok(version) }
    }

    /// Asks and waits for the answer.
    pub(crate) fn call<'client, 'request, R: Response<'client>>(
        &'client mut self,
        request: &impl Request<'request>,
        version: i16,
    ) -> Result<R, BenchError> {
        self.next_correlation_id += 1;
        let mut bytes = Vec::new();
        encode_request(&mut bytes, request, version, self.next_correlation_id, Some(CLIENT_ID))?;
        self.exchange(&bytes)?;
        let (found, response) = decode_response(&self.frame, version)?;
        if found != self.next_correlation_id {
            return Err(BenchError::OutOfOrder { found, expected: self.next_correlation_id });
        }
        Ok(response)
    }

    fn exchange(&mut self, request: &[u8]) -> Result<(), BenchError> {
        let broken = |source| BenchError::Broken { address: self.address.clone(), source };
        self.stream.write_all(request).map_err(broken)?;
        let mut size = [0; 4];
        self.stream.read_exact(&mut size).map_err(broken)?;
        let announced = i32::from_be_bytes(size);
        let size = usize::try_from(announced).ok().filter(|size| *size <= FRAME_BYTES_MAX);
        self.frame.resize(size.ok_or(BenchError::FrameSize(announced))?, 0);
        self.stream.read_exact(&mut self.frame).map_err(broken)
    }
}
