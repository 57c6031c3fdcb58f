//! What well-known programs write beside a committed offset, read for people. Everything is a pure function of the text;
//! what is none of these formats, or only looks like one, is nothing: whoever shows it shows the text as it is.
//!
//! - [`done_map`]: Confluent's parallel consumer, and its fork, keep which records behind the offset are done already.
//! - [`streams`]: Kafka Streams keeps the time that a partition has come to.

pub mod done_map;
pub mod streams;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use milepost_client::groups::Committed;

use done_map::DoneMap;
use streams::StreamsMetadata;

/// What the text beside an offset says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitMetadata {
    /// The records behind the offset that are done, of a parallel consumer.
    Done(DoneMap),
    /// How far the time of a partition has come, of Kafka Streams.
    Streams(StreamsMetadata),
}

/// Reads it. `None`: nobody known wrote it.
#[must_use]
pub fn decode(committed: &Committed) -> Option<CommitMetadata> {
    if committed.metadata.is_empty() {
        return None;
    }
    let bytes = BASE64.decode(&committed.metadata).ok()?;
    let done = done_map::decode(committed.offset, &bytes).map(CommitMetadata::Done);
    done.or_else(|| streams::decode(&bytes).map(CommitMetadata::Streams))
}

#[cfg(test)]
mod tests;
