//! Control batches: the markers that end a transaction on a partition.
//!
//! A control batch holds one record. Its key says what it is (version, type); the value of a marker carries the epoch
//! of the transaction coordinator (version, epoch). Higher versions are read as version 0 with bytes to ignore.

use milepost_model::{Offset, ProducerIdentity, Timestamp, TransactionEnd};

use crate::{BatchBuilder, BatchError, BatchOptions, BatchView, Malformed};

const VERSION: i16 = 0;
const ABORT: i16 = 0;
const COMMIT: i16 = 1;

/// What a control batch says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlType {
    /// A transaction of the batch's producer ended here.
    Marker(Marker),
    /// Something for others (leader change, snapshot header and footer, KRaft versions and voters), or of a later
    /// release. Takes an offset and is otherwise ignored.
    Other(i16),
}

/// The end of a producer's transaction on one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// How it ended.
    pub end: TransactionEnd,
    /// The epoch of the transaction coordinator that decided it.
    pub coordinator_epoch: i32,
}

impl BatchView<'_> {
    /// What the batch says if it is a control batch that still has its record.
    ///
    /// # Errors
    /// As [`BatchView::records`] and its iteration; [`Malformed::Control`] for a key or value that is too short.
    pub fn control_type(&self) -> Result<Option<ControlType>, BatchError> {
        if !self.is_control() {
            return Ok(None);
        }
        let records = self.records()?;
        let Some(record) = records.iter().next().transpose()? else { return Ok(None) };
        read_control(record.key, record.value)
            .map(Some)
            .ok_or(BatchError::Record { index: 0, reason: Malformed::Control })
    }
}

fn read_control(key: Option<&[u8]>, value: Option<&[u8]>) -> Option<ControlType> {
    let (_, key) = split_version(key?)?;
    let (control_type, _) = key.split_first_chunk::<2>()?;
    let end = match i16::from_be_bytes(*control_type) {
        ABORT => TransactionEnd::Abort,
        COMMIT => TransactionEnd::Commit,
        other => return Some(ControlType::Other(other)),
    };
    let (_, value) = split_version(value?)?;
    let (coordinator_epoch, _) = value.split_first_chunk::<4>()?;
    Some(ControlType::Marker(Marker { end, coordinator_epoch: i32::from_be_bytes(*coordinator_epoch) }))
}

/// The version in front, which must not be negative, and the rest.
fn split_version(bytes: &[u8]) -> Option<(i16, &[u8])> {
    let (version, rest) = bytes.split_first_chunk::<2>()?;
    Some((i16::from_be_bytes(*version), rest)).filter(|(version, _)| *version >= VERSION)
}

/// The control batch that ends a transaction of `producer`.
#[must_use]
pub fn build_marker(
    producer: ProducerIdentity,
    marker: Marker,
    timestamp: Timestamp,
    base_offset: Offset,
) -> Vec<u8> {
    let control_type = match marker.end {
        TransactionEnd::Abort => ABORT,
        TransactionEnd::Commit => COMMIT,
    };
    let key = [VERSION.to_be_bytes(), control_type.to_be_bytes()].concat();
    let value = [&VERSION.to_be_bytes()[..], &marker.coordinator_epoch.to_be_bytes()].concat();
    let options = BatchOptions { producer: Some(producer), transactional: true, ..BatchOptions::default() };
    let mut builder = BatchBuilder::control(options);
    builder.append(timestamp, Some(&key), Some(&value), &[]).expect("one record of a few bytes fits");
    builder.build(base_offset)
}
