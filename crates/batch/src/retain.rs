//! Taking records out of a batch, for compaction.
//!
//! What remains keeps its offsets, timestamps, producer and sequence; the batch keeps the span of offsets it was made
//! with, so that the log has no hole and a producer's last sequence number stays known.

use milepost_model::Timestamp;

use crate::layout::{self, HEADER_BYTES, LENGTH_PREFIX_BYTES, NONE};
use crate::stamp::{put, renew_crc};
use crate::{
    BatchBuilder, BatchError, BatchOptions, BatchView, Header, MAX_DECOMPRESSED_BYTES, RecordView,
    TimestampType,
};

/// What is left of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Retained {
    /// Everything: its bytes stay as they are.
    Unchanged,
    /// These bytes. A batch of no records when none was kept; whether such a batch must stay in the log is the
    /// caller's question.
    Rewritten(Vec<u8>),
}

/// Keeps the records for which `keep` says so. `new_delete_horizon` is written when the batch has none yet (KIP-534).
///
/// # Errors
/// As [`BatchView::records`] and its iteration: nothing of a batch that cannot be read whole is thrown away.
/// [`BatchError::DecompressesTooLarge`] for records above [`MAX_DECOMPRESSED_BYTES`], compressed or not.
pub fn retain_records(
    batch: &BatchView<'_>,
    new_delete_horizon: Option<Timestamp>,
    mut keep: impl FnMut(&RecordView<'_>) -> bool,
) -> Result<Retained, BatchError> {
    let delete_horizon = batch.delete_horizon().or(new_delete_horizon);
    let mut builder = BatchBuilder::new(BatchOptions { codec: batch.codec()?, ..BatchOptions::default() });
    if let Some(delete_horizon) = delete_horizon {
        builder = builder.with_base_timestamp(delete_horizon);
    }
    let records = batch.records()?;
    if records.size_bytes() > MAX_DECOMPRESSED_BYTES {
        return Err(BatchError::DecompressesTooLarge { max_bytes: MAX_DECOMPRESSED_BYTES });
    }
    let mut headers = Vec::new();
    let mut removed_any = false;
    for record in &records {
        let record = record?;
        if !keep(&record) {
            removed_any = true;
            continue;
        }
        headers.clear();
        headers.extend(record.headers);
        append(&mut builder, batch, &record, &headers);
    }
    if !removed_any && delete_horizon == batch.delete_horizon() {
        return Ok(Retained::Unchanged);
    }
    Ok(Retained::Rewritten(finish(builder, batch, delete_horizon)))
}

fn append(
    builder: &mut BatchBuilder,
    batch: &BatchView<'_>,
    record: &RecordView<'_>,
    headers: &[Header<'_>],
) {
    let offset_delta = i32::try_from(record.offset.0.wrapping_sub(batch.base_offset().0))
        .expect("a record's offset was made of the base offset and a 32-bit delta");
    builder
        .append_at(offset_delta, record.timestamp, record.key, record.value, headers)
        .expect("what a batch may decompress to is an eighth of what a builder takes");
}

/// Gives the new batch everything of the old header that does not follow from the records.
fn finish(builder: BatchBuilder, old: &BatchView<'_>, delete_horizon: Option<Timestamp>) -> Vec<u8> {
    let max_timestamp = match old.timestamp_type() {
        TimestampType::CreateTime if !builder.is_empty() => builder.max_timestamp(),
        _ => old.max_timestamp(),
    };
    let mut attributes = old.attributes();
    if delete_horizon.is_some() {
        attributes |= layout::DELETE_HORIZON_BIT;
    }
    let record_count = builder.len() as i32;
    let mut batch = builder.build(old.base_offset());
    if batch.is_empty() {
        batch = empty();
        attributes &= !(layout::CODEC_MASK | layout::DELETE_HORIZON_BIT);
    }
    let same = layout::PRODUCER_ID.start..layout::BASE_SEQUENCE.end;
    put(&mut batch, same.clone(), &old.bytes()[same]);
    put(&mut batch, layout::BASE_OFFSET, &old.base_offset().0.to_be_bytes());
    put(&mut batch, layout::LEADER_EPOCH, &old.leader_epoch().0.to_be_bytes());
    put(&mut batch, layout::ATTRIBUTES, &attributes.to_be_bytes());
    put(&mut batch, layout::LAST_OFFSET_DELTA, &old.last_offset_delta().to_be_bytes());
    put(&mut batch, layout::MAX_TIMESTAMP, &max_timestamp.0.to_be_bytes());
    put(&mut batch, layout::RECORD_COUNT, &record_count.to_be_bytes());
    renew_crc(&mut batch);
    batch
}

/// A header without records.
fn empty() -> Vec<u8> {
    let mut batch = vec![0; HEADER_BYTES];
    put(&mut batch, layout::LENGTH, &((HEADER_BYTES - LENGTH_PREFIX_BYTES) as i32).to_be_bytes());
    batch[layout::MAGIC_AT] = layout::MAGIC as u8;
    put(&mut batch, layout::BASE_TIMESTAMP, &i64::from(NONE).to_be_bytes());
    batch
}
