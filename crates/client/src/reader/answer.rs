//! What a Fetch answer says, partition by partition.

use std::sync::Arc;

use milepost_model::PartitionIndex;
use milepost_wire::ErrorCode;
use milepost_wire::messages::fetch::{AbortedTransaction, FetchResponse};

use crate::connection::Answer;
use crate::error::ClientError;
use crate::topic_partition::TopicPartition;

/// What came of one partition.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Batches, the last perhaps cut off.
    Records {
        /// The partition.
        partition: TopicPartition,
        /// Never empty.
        bytes: Vec<u8>,
        /// Transactions in their range that were aborted, for a reader of committed data.
        aborted: Vec<AbortedTransaction>,
    },
    /// No batches, for this reason.
    Refused {
        /// The partition.
        partition: TopicPartition,
        /// Why.
        code: ErrorCode,
    },
}

/// Reads an answer. Partitions without news are left out.
pub(crate) fn read(answer: Answer<'_>) -> Result<Vec<Verdict>, ClientError> {
    let answer: FetchResponse<'_> = answer.decode()?;
    if answer.error_code != ErrorCode::None {
        return Err(ClientError::refused("Fetch", answer.error_code, None));
    }
    let mut verdicts = Vec::new();
    for topic in &answer.responses {
        let name: Arc<str> = topic.topic.into();
        for one in &topic.partitions {
            let partition = TopicPartition::new(Arc::clone(&name), PartitionIndex(one.partition_index));
            match (one.error_code, one.records.unwrap_or_default()) {
                (ErrorCode::None, []) => {}
                (ErrorCode::None, bytes) => {
                    let aborted = one.aborted_transactions.clone().unwrap_or_default();
                    verdicts.push(Verdict::Records { partition, bytes: bytes.to_vec(), aborted });
                }
                (code, _) => verdicts.push(Verdict::Refused { partition, code }),
            }
        }
    }
    Ok(verdicts)
}
