//! Type 3: the group epoch, and of which state of its topics it is.

use crate::DecodeError;
use crate::bytes::{Reader, Tag, put_i32, put_i64, put_unsigned_varint};

const METADATA_HASH_TAG: u32 = 0;

/// A consumer group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumerGroupMetadataValue {
    /// The group epoch.
    pub epoch: i32,
    /// A hash of the subscribed topics' ids and partitions; 0 when there are none.
    pub metadata_hash: i64,
}

impl ConsumerGroupMetadataValue {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let epoch = reader.i32("epoch")?;
        let mut metadata_hash = 0;
        reader.tagged_fields(|tag, field| {
            if tag != METADATA_HASH_TAG {
                return Ok(Tag::Unknown);
            }
            metadata_hash = field.i64("metadataHash")?;
            Ok(Tag::Known)
        })?;
        Ok(Self { epoch, metadata_hash })
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_i32(out, self.epoch);
        put_tagged_i64(out, METADATA_HASH_TAG, self.metadata_hash);
    }
}

/// A tag section that holds one number, or nothing when it is 0.
pub(super) fn put_tagged_i64(out: &mut Vec<u8>, tag: u32, value: i64) {
    if value == 0 {
        put_unsigned_varint(out, 0);
        return;
    }
    put_unsigned_varint(out, 1);
    put_unsigned_varint(out, tag);
    put_unsigned_varint(out, 8);
    put_i64(out, value);
}
