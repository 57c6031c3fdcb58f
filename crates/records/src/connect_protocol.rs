//! The bytes that workers of Kafka Connect hand to each other through JoinGroup (where they are) and SyncGroup (which
//! connectors and tasks they run), of the protocols `default` (version 0), `compatible` (1) and `sessioned` (2).
//!
//! The format is that of Kafka's classes `ConnectProtocol` and `IncrementalCooperativeConnectProtocol`. It is only read, to
//! be shown; whatever bytes come, the worst that comes of them is a [`DecodeError`]. Called by `client`.

use crate::DecodeError;
use crate::bytes::{Format, Reader};

#[cfg(test)]
mod tests;

/// The protocol type of a group of workers.
pub const PROTOCOL_TYPE: &str = "connect";

/// The first version whose assignments also say what is taken away.
const REVOKED_FROM: i16 = 1;
/// The number that stands for the connector itself among the numbers of its tasks.
const CONNECTOR: i32 = -1;

/// What a worker says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerState<'a> {
    /// The version of the protocol.
    pub version: i16,
    /// Where its REST interface is.
    pub url: &'a str,
    /// How far it has read the topic of the connectors' settings.
    pub config_offset: i64,
}

/// What a worker is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerAssignment<'a> {
    /// The version of the protocol.
    pub version: i16,
    /// 0, or why there is no assignment: 1, the leader has not read as much of the settings as some worker has.
    pub error: i16,
    /// The member id of the worker that shares out.
    pub leader: &'a str,
    /// Where that one's REST interface is.
    pub leader_url: &'a str,
    /// The settings that this rests on.
    pub config_offset: i64,
    /// What it runs.
    pub assigned: Vec<ConnectorWork<'a>>,
    /// What it has to give up.
    pub revoked: Vec<ConnectorWork<'a>>,
    /// How long the leader waits for lost workers before it shares their work out; 0 if it does not.
    pub scheduled_delay_ms: i32,
}

/// What a worker runs of one connector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectorWork<'a> {
    /// The connector.
    pub connector: &'a str,
    /// Whether it runs the connector itself, which decides what its tasks are.
    pub runs_connector: bool,
    /// The tasks.
    pub tasks: Vec<i32>,
}

impl<'a> WorkerState<'a> {
    /// Reads what a worker said, in any version. Of one that is newer than is known here, what all have.
    ///
    /// # Errors
    /// What is malformed.
    pub fn decode(metadata: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(metadata);
        Ok(Self {
            version: reader.i16("the version")?,
            url: reader.string(Format::Plain, "url")?,
            config_offset: reader.i64("config-offset")?,
        })
    }
}

impl<'a> WorkerAssignment<'a> {
    /// Reads an assignment. Empty bytes are none: the worker has nothing to run yet.
    ///
    /// # Errors
    /// What is malformed.
    pub fn decode(assignment: &'a [u8]) -> Result<Option<Self>, DecodeError> {
        if assignment.is_empty() {
            return Ok(None);
        }
        let mut reader = Reader::new(assignment);
        let version = reader.i16("the version")?;
        let mut read = Self {
            version,
            error: reader.i16("error")?,
            leader: reader.string(Format::Plain, "leader")?,
            leader_url: reader.string(Format::Plain, "leader-url")?,
            config_offset: reader.i64("config-offset")?,
            assigned: ConnectorWork::read_all(&mut reader, "assignment")?,
            revoked: Vec::new(),
            scheduled_delay_ms: 0,
        };
        if version >= REVOKED_FROM {
            read.revoked = ConnectorWork::read_all(&mut reader, "revoked")?;
            read.scheduled_delay_ms = reader.i32("scheduled-delay")?;
        }
        Ok(Some(read))
    }
}

impl<'a> ConnectorWork<'a> {
    /// An array, whose null means the same as none.
    fn read_all(reader: &mut Reader<'a>, field: &'static str) -> Result<Vec<Self>, DecodeError> {
        let mut all = Vec::new();
        for _ in 0..reader.nullable_array_length(Format::Plain, field)?.unwrap_or(0) {
            let connector = reader.string(Format::Plain, "connector")?;
            let mut one = Self { connector, runs_connector: false, tasks: Vec::new() };
            for _ in 0..reader.array_length(Format::Plain, "tasks")? {
                match reader.i32("tasks")? {
                    CONNECTOR => one.runs_connector = true,
                    task => one.tasks.push(task),
                }
            }
            all.push(one);
        }
        Ok(all)
    }
}
