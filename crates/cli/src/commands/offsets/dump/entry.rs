//! One thing in the log of `__consumer_offsets`: a record, the end of a transaction, or something that cannot be read.

use clap::ValueEnum;
use milepost_batch::{BatchView, ControlType};
use milepost_model::{Offset, PartitionIndex, ProducerIdentity, Timestamp, TransactionEnd};
use milepost_records::DecodeError;
use milepost_records::offsets::Record;
use milepost_records::offsets::described::DescribedRecord;

use crate::failure::Failure;

/// What it is and where it lies.
pub(super) struct Entry<'a> {
    /// The partition of the log; none where files do not say it.
    pub(super) log: Option<PartitionIndex>,
    /// Its offset; none for damage that has none.
    pub(super) offset: Option<Offset>,
    pub(super) timestamp: Option<Timestamp>,
    /// Whose transaction it belongs to.
    pub(super) producer: Option<ProducerIdentity>,
    pub(super) what: What<'a>,
}

/// What it is.
pub(super) enum What<'a> {
    /// A record, as its bytes say, and the bytes.
    Record { record: Result<Record<'a>, DecodeError>, key: Option<&'a [u8]>, value: Option<&'a [u8]> },
    /// A record that nothing here acts on, and that is known all the same.
    Described { record: DescribedRecord<'a>, key: &'a [u8], value: Option<&'a [u8]> },
    /// The end of a transaction.
    Marker { end: TransactionEnd, coordinator_epoch: i32 },
    /// A control record that means nothing here.
    Control(i16),
    /// No batch, or a batch that cannot be opened.
    Damaged(String),
}

/// Which kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Only {
    /// Committed offsets.
    Offsets,
    /// Groups and their members.
    Groups,
}

/// Which entries are shown.
pub(super) struct Filter {
    pub(super) groups: Vec<String>,
    pub(super) topics: Vec<String>,
    pub(super) only: Option<Only>,
}

impl<'a> What<'a> {
    fn of(key: Option<&'a [u8]>, value: Option<&'a [u8]>) -> Self {
        let record = match (Record::decode(key, value), key) {
            (Ok(Record::Unknown { record_type }), Some(key)) => match DescribedRecord::decode(key, value) {
                Ok(Some(record)) => return Self::Described { record, key, value },
                Ok(None) => Ok(Record::Unknown { record_type }),
                Err(error) => Err(error),
            },
            (record, _) => record,
        };
        Self::Record { record, key, value }
    }
}

impl<'a> Entry<'a> {
    pub(super) fn damaged(log: Option<PartitionIndex>, offset: Option<Offset>, reason: &str) -> Self {
        Self { log, offset, timestamp: None, producer: None, what: What::Damaged(reason.to_owned()) }
    }

    /// The group, and the topic, that it is about; none where that is not known.
    fn about(&self) -> Option<(&'a str, Option<&'a str>)> {
        match &self.what {
            What::Record { record: Ok(record), .. } => match record {
                Record::OffsetCommit { key, .. } => Some((key.group, Some(key.topic))),
                Record::GroupMetadata { key, .. } => Some((key.group, None)),
                Record::ConsumerGroup { key, .. } => Some((key.group, None)),
                Record::Unknown { .. } => None,
            },
            What::Described { record, .. } => Some((record.group, None)),
            What::Record { .. } | What::Marker { .. } | What::Control(_) | What::Damaged(_) => None,
        }
    }
}

/// Hands out what is in a batch, in order.
pub(super) fn each(
    log: Option<PartitionIndex>,
    from: Offset,
    batch: &BatchView<'_>,
    take: &mut dyn FnMut(&Entry<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let base = batch.base_offset();
    let producer = batch.producer().filter(|_| batch.is_transactional());
    if batch.is_control() {
        let what = match batch.control_type() {
            Ok(Some(ControlType::Marker(marker))) => {
                What::Marker { end: marker.end, coordinator_epoch: marker.coordinator_epoch }
            }
            Ok(Some(ControlType::Other(number))) => What::Control(number),
            // Compaction left the batch without its record.
            Ok(None) => return Ok(()),
            Err(error) => What::Damaged(error.to_string()),
        };
        let timestamp = Some(batch.base_timestamp());
        return take(&Entry { log, offset: Some(base), timestamp, producer, what });
    }
    let records = match batch.records() {
        Ok(records) => records,
        Err(error) => return take(&Entry::damaged(log, Some(base), &error.to_string())),
    };
    for record in &records {
        let record = match record {
            Ok(record) if record.offset < from => continue,
            Ok(record) => record,
            Err(error) => return take(&Entry::damaged(log, Some(base), &error.to_string())),
        };
        let (key, value) = (record.key, record.value);
        take(&Entry {
            log,
            offset: Some(record.offset),
            timestamp: Some(record.timestamp).filter(|timestamp| timestamp.0 >= 0),
            producer,
            what: What::of(key, value),
        })?;
    }
    Ok(())
}

impl Filter {
    /// Whether it is shown. Of what cannot be read it is not known what it is about.
    pub(super) fn takes(&self, entry: &Entry<'_>) -> bool {
        let is_open = self.groups.is_empty() && self.topics.is_empty() && self.only.is_none();
        let Some((group, topic)) = entry.about() else { return is_open };
        let is_kind = match self.only {
            None => true,
            Some(Only::Offsets) => topic.is_some(),
            Some(Only::Groups) => topic.is_none(),
        };
        let is_group = self.groups.is_empty() || self.groups.iter().any(|one| one == group);
        let is_topic =
            self.topics.is_empty() || topic.is_some_and(|topic| self.topics.iter().any(|one| one == topic));
        is_kind && is_group && is_topic
    }
}
