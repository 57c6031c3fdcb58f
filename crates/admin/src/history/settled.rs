//! Which records of the log count: those of a transaction when its marker comes, and not at all when it was aborted.

use std::collections::BTreeMap;

use milepost_batch::{BatchError, BatchView, ControlType};
use milepost_model::{Offset, PartitionIndex, ProducerId, Timestamp, TransactionEnd};
use milepost_records::offsets::Record;

/// How many records of open transactions are held, as many as a reader holds of settled ones. Those beyond are counted and left
/// out.
const HELD_MAX: usize = 1_000_000;

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
    /// How many more are held.
    room: usize,
    left_out: usize,
}

impl<T> Default for Open<T> {
    fn default() -> Self {
        Self { by_producer: BTreeMap::new(), room: HELD_MAX, left_out: 0 }
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
                self.room += written.len();
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
                Some(_) if self.room == 0 => self.left_out += 1,
                Some(producer) => {
                    self.room -= 1;
                    self.by_producer.entry((log, producer.id)).or_default().push(kept);
                }
                None => settle(kept),
            }
        }
        Ok(())
    }

    /// How much waits for the end of a transaction.
    pub(crate) fn len(&self) -> usize {
        self.by_producer.values().map(Vec::len).sum()
    }

    /// How many records there was no room for. If their transactions were committed they are missing.
    pub(crate) fn left_out(&self) -> usize {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use milepost_batch::BatchView;

    use super::*;
    use crate::history::tests::{LOG, PRODUCER, batch, marker};

    #[test]
    fn what_there_is_no_room_for_is_counted_and_the_room_comes_back() {
        let mut open = Open { room: 1, ..Open::default() };
        let mut settled = Vec::new();
        let mut take = |open: &mut Open<i64>, bytes: &[u8]| {
            let batch = BatchView::parse(bytes).unwrap().0;
            open.take(LOG, &batch, |place, _| Some(place.offset.0), |at| settled.push(at)).unwrap();
        };
        take(&mut open, &batch(10, Some(PRODUCER), &[("g", 0, Some(1)), ("g", 1, Some(1))]));
        assert_eq!((open.len(), open.left_out()), (1, 1));
        take(&mut open, &marker(12, TransactionEnd::Commit));
        take(&mut open, &batch(13, Some(PRODUCER), &[("g", 0, Some(2))]));
        take(&mut open, &marker(14, TransactionEnd::Commit));
        assert_eq!((open.len(), open.left_out()), (0, 1));
        assert_eq!(settled, [10, 13]);
    }
}
