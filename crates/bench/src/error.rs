//! Why a measurement could not be made.

use std::io;
use std::path::PathBuf;

use milepost_wire::{DecodeError, EncodeError, ErrorCode};

/// In words for people; each ends the program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// No connection.
    #[error("cannot connect to {address}: {source}")]
    Connect {
        /// HOST:PORT.
        address: String,
        /// The system's words.
        source: io::Error,
    },
    /// A connection broke.
    #[error("the connection to {address} broke: {source}")]
    Broken {
        /// HOST:PORT.
        address: String,
        /// The system's words.
        source: io::Error,
    },
    /// What is arranged beforehand does not come about.
    #[error(transparent)]
    Client(#[from] milepost_client::ClientError),
    /// The server refused something without which there is nothing to measure.
    #[error("{what}: the server answered {}", code.name())]
    Refused {
        /// What was asked.
        what: String,
        /// Its answer.
        code: ErrorCode,
    },
    /// An answer that is not one.
    #[error("the server's answer cannot be read: {0}")]
    Decode(#[from] DecodeError),
    /// An answer to another request than the oldest in flight.
    #[error("an answer has correlation id {found}, the oldest request in flight {expected}")]
    OutOfOrder {
        /// What the answer says.
        found: i32,
        /// What was sent.
        expected: i32,
    },
    /// A request that the protocol has no form for.
    #[error("the request cannot be written: {0}")]
    Encode(#[from] EncodeError),
    /// A frame of an impossible size.
    #[error("the server announced a frame of {0} bytes")]
    FrameSize(i32),
    /// More servers than connections to share among them.
    #[error("the groups are spread over {servers} servers: --connections must be at least that")]
    TooFewConnections {
        /// How many servers.
        servers: usize,
    },
    /// Nothing was answered while it was measured.
    #[error("not one request was answered within the measured time")]
    Silent,
    /// The poller.
    #[error("cannot wait for sockets: {0}")]
    Poll(io::Error),
    /// The disk.
    #[error("cannot measure the disk in {}: {source}", folder.display())]
    Disk {
        /// Where.
        folder: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// Standard output.
    #[error("cannot print: {0}")]
    Print(io::Error),
}
