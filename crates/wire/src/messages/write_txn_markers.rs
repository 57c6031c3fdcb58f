//! WriteTxnMarkers (27): a coordinator tells the partitions of a transaction how it ended.

use crate::error_code::ErrorCode;

messages! {
    /// Markers to write.
    pub struct WriteTxnMarkersRequest<'a>: request of WriteTxnMarkers {
        markers: Vec<WritableTxnMarker<'a>> [1..],
    }

    /// The markers of one producer.
    pub struct WritableTxnMarker<'a> {
        producer_id: i64 [1..],
        producer_epoch: i16 [1..],
        /// False for an abort.
        transaction_result: bool [1..],
        topics: Vec<WritableTxnMarkerTopic<'a>> [1..],
        coordinator_epoch: i32 [1..],
        /// 2 when the epoch is one that no data was written with (KIP-890).
        transaction_version: i8 [2..; ignorable],
    }

    /// The partitions of one topic.
    pub struct WritableTxnMarkerTopic<'a> {
        name: &'a str [1..],
        partition_indexes: Vec<i32> [1..],
    }

    /// One result for each marker and partition.
    pub struct WriteTxnMarkersResponse<'a>: response of WriteTxnMarkers {
        markers: Vec<WritableTxnMarkerResult<'a>> [1..],
    }

    /// The results of one producer.
    pub struct WritableTxnMarkerResult<'a> {
        producer_id: i64 [1..],
        topics: Vec<WritableTxnMarkerTopicResult<'a>> [1..],
    }

    /// The results of one topic.
    pub struct WritableTxnMarkerTopicResult<'a> {
        name: &'a str [1..],
        partitions: Vec<WritableTxnMarkerPartitionResult> [1..],
    }

    /// The outcome for one partition.
    pub struct WritableTxnMarkerPartitionResult {
        partition_index: i32 [1..],
        error_code: ErrorCode [1..],
    }
}
