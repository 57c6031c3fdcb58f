//! Which records of the log count: those of a transaction when its marker comes, and not at all when it was aborted.

use std::collections::BTreeMap;

use milepost_batch::{BatchError, BatchView, ControlType};
use milepost_model::{Offset, PartitionIndex, ProducerId, Timestamp, TransactionEnd};
use milepost_records::offsets::Record;

/// Where a record lies, and when it was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) log: PartitionIndex,
    pub(crate) offset: Offset,
    pub(crate) time: Timestamp,
}

/// What open transactions have written, as whoever reads the log keeps it.
#[derive(Debug)]
pub(crate) struct Open<T> {
    by_producer: BTreeMap<(PartitionIndex, ProducerId), Vec<T>>,
}

impl<T> Default for Open<T> {
    fn default() -> Self {
        Self { by_producer: BTreeMap::new() }
    }
}

impl<T> Open<T> {
    /// Reads a batch: `read` makes of each record what is to be kept of it, if anything, and `settle` gets that when it counts.
    /// A record that is none of ours in this version is `None`.
    ///
    /// # Errors
    /// When the batch cannot be opened, or a record in it is malformed.
    pub(crate) fn take(
        &mut self,
        log: PartitionIndex,
        batch: &BatchView<'_>,
        mut read: impl FnMut(Place, Option<Record<'_>>) -> Option<T>,
        mut settle: impl FnMut(T),
    ) -> Result<(), BatchError> {
        if batch.is_control() {
            if let (Some(ControlType::Marker(marker)), Some(producer)) =
                (batch.control_type()?, batch.producer())
            {
                let written = self.by_producer.remove(&(log, producer.id)).unwrap_or_default();
                if marker.end == TransactionEnd::Commit {
                    written.into_iter().for_each(settle);
                }
            }
            return Ok(());
        }
        let records = batch.records()?;
        for record in &records {
            let record = record?;
            let place = Place { log, offset: record.offset, time: record.timestamp };
            let Some(kept) = read(place, Record::decode(record.key, record.value).ok()) else { continue };
            match batch.producer().filter(|_| batch.is_transactional()) {
                Some(producer) => self.by_producer.entry((log, producer.id)).or_default().push(kept),
                None => settle(kept),
            }
        }
        Ok(())
    }

    /// How much waits for the end of a transaction.
    pub(crate) fn len(&self) -> usize {
        self.by_producer.values().map(Vec::len).sum()
    }
}
