//! What a shard of transactions wants done outside of it. What comes of it is told by a request.

use std::collections::BTreeSet;
use std::sync::Arc;

use milepost_model::{LeaderEpoch, ProducerIdentity, Timestamp, TransactionEnd};

use crate::{TransactionPartition, TransactionVersion};

/// One thing to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Markers are to be written. Once *all* of them are durable, [`crate::Request::MarkersWritten`] brings this back.
    /// Writing them twice is harmless.
    WriteMarkers(WriteMarkers),
    /// A transaction timed out whose producer has no epoch left. A producer id is to be taken and brought by
    /// [`crate::Request::AbortTimedOut`]. Asked again with every sweep until then.
    TakeProducerId {
        /// The transactional id.
        transactional_id: Arc<str>,
        /// Its present producer.
        producer: ProducerIdentity,
    },
}

/// The markers of one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteMarkers {
    /// The transactional id.
    pub transactional_id: Arc<str>,
    /// The producer that the markers name. The epoch may be one that no producer has ever had.
    pub producer: ProducerIdentity,
    /// The epoch of the coordinator, so that a marker of an older one can be refused.
    pub coordinator_epoch: LeaderEpoch,
    /// How the transaction ended.
    pub end: TransactionEnd,
    /// By which version. From 2 on the markers' epoch is above the one of the data.
    pub version: TransactionVersion,
    /// Where they belong. May be empty; a partition that is gone needs none, and counts as done.
    pub partitions: Arc<BTreeSet<TransactionPartition>>,
    /// Which of the producer's transactions it is: when its end was written down.
    pub prepared_at: Timestamp,
}
