//! Compaction on demand: all logs of committed offsets cleaned up to their present end, while the leader goes on
//! serving.

use milepost_log::{LogSet, PartitionLog};
use milepost_model::{Now, TopicPartition};

use crate::Error;
use crate::call::{Call, Given};

/// How much of a log one turn cleans: calls that wait meanwhile wait that much longer.
pub(crate) const CLEAN_STEP_BYTES: usize = 256 << 10;

/// What a compaction did to the logs of committed offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// Bytes of all of them when it was asked for.
    pub bytes_before: u64,
    /// Bytes when it was done. What was committed meanwhile is among them.
    pub bytes_after: u64,
}

/// A compaction that somebody waits for.
pub(crate) struct Compacting {
    pub(crate) call: Call,
    logs: Vec<TopicPartition>,
    bytes_before: u64,
}

impl Compacting {
    /// Asks for every one of these logs to be cleaned.
    pub(crate) fn begin(call: Call, logs: &mut LogSet, ids: Vec<TopicPartition>, now: Now) -> Self {
        let bytes_before = size_bytes(logs, &ids);
        ids.iter().for_each(|id| logs.request_cleaning(*id, now));
        Self { call, logs: ids, bytes_before }
    }

    /// Answers if it is done; gives it back if it is not.
    pub(crate) fn answer_if_done(self, logs: &LogSet) -> Option<Self> {
        if self.partitions(logs).any(PartitionLog::is_cleaning_wanted) {
            return Some(self);
        }
        let uncleanable = self.partitions(logs).find_map(PartitionLog::uncleanable);
        let answer = match uncleanable {
            Some(reason) => Err(Error::Damaged(reason.to_owned())),
            None => {
                let (bytes_before, bytes_after) = (self.bytes_before, size_bytes(logs, &self.logs));
                Ok(Given::Compacted(Compaction { bytes_before, bytes_after }))
            }
        };
        self.call.slot.complete(answer);
        None
    }

    fn partitions<'a>(&self, logs: &'a LogSet) -> impl Iterator<Item = &'a PartitionLog> {
        self.logs.iter().filter_map(|id| logs.log(*id))
    }
}

fn size_bytes(logs: &LogSet, ids: &[TopicPartition]) -> u64 {
    ids.iter().filter_map(|id| logs.log(*id)).map(PartitionLog::size_bytes).sum()
}
