//! Type 6: of which group epoch the target assignment is, and when it was made.

use milepost_model::Timestamp;

use super::group_metadata::put_tagged_i64;
use crate::DecodeError;
use crate::bytes::{Reader, Tag, put_i32};

const TIMESTAMP_TAG: u32 = 0;

/// The target assignment as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumerGroupTargetAssignmentMetadataValue {
    /// The group epoch it was made for.
    pub assignment_epoch: i32,
    /// When it was made; `None` (stored as 0): unknown, or there is none.
    pub assignment_timestamp: Option<Timestamp>,
}

impl ConsumerGroupTargetAssignmentMetadataValue {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let assignment_epoch = reader.i32("assignmentEpoch")?;
        let mut assignment_timestamp = None;
        reader.tagged_fields(|tag, field| {
            if tag != TIMESTAMP_TAG {
                return Ok(Tag::Unknown);
            }
            assignment_timestamp =
                Some(field.i64("assignmentTimestamp")?).filter(|time| *time != 0).map(Timestamp);
            Ok(Tag::Known)
        })?;
        Ok(Self { assignment_epoch, assignment_timestamp })
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_i32(out, self.assignment_epoch);
        put_tagged_i64(out, TIMESTAMP_TAG, self.assignment_timestamp.map_or(0, |time| time.0));
    }
}
