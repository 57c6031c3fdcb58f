//! Which records of transactions a reader wants.

use std::collections::{BTreeMap, BTreeSet};

use milepost_batch::{BatchView, ControlType};
use milepost_model::{Offset, ProducerId, TransactionEnd};
use milepost_wire::messages::fetch::AbortedTransaction;

use crate::offsets::Moment;

/// Which records of transactions a reader wants (`isolation.level`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// All, whatever becomes of them; so does a Kafka consumer by default.
    #[default]
    ReadUncommitted,
    /// Those that were committed. Reading waits at the first transaction that is still open.
    ReadCommitted,
}

impl Isolation {
    /// Where reading ends.
    #[must_use]
    pub fn end(self) -> Moment {
        match self {
            Self::ReadUncommitted => Moment::Latest,
            Self::ReadCommitted => Moment::LatestStable,
        }
    }

    pub(crate) fn on_the_wire(self) -> i8 {
        match self {
            Self::ReadUncommitted => 0,
            Self::ReadCommitted => 1,
        }
    }
}

/// The base offsets of those batches that belong to aborted transactions. `aborted` is what the broker says with the batches: of
/// each producer the transactions that lie in their range, the first of which may have begun before.
pub(crate) fn aborted_batches<'a>(
    batches: impl Iterator<Item = BatchView<'a>>,
    aborted: &[AbortedTransaction],
) -> BTreeSet<Offset> {
    let mut waiting: BTreeMap<i64, Vec<ProducerId>> = BTreeMap::new();
    for one in aborted {
        waiting.entry(one.first_offset).or_default().push(ProducerId(one.producer_id));
    }
    let mut open: BTreeSet<ProducerId> = BTreeSet::new();
    let mut dropped = BTreeSet::new();
    for batch in batches {
        let later = waiting.split_off(&batch.next_offset().0);
        open.extend(std::mem::replace(&mut waiting, later).into_values().flatten());
        let Some(producer) = batch.producer().filter(|_| batch.is_transactional()) else { continue };
        if batch.is_control() {
            // A marker ends the transaction; the producer's next one is listed by itself if it was aborted too.
            if let Ok(Some(ControlType::Marker(marker))) = batch.control_type()
                && marker.end == TransactionEnd::Abort
            {
                open.remove(&producer.id);
            }
        } else if open.contains(&producer.id) {
            dropped.insert(batch.base_offset());
        }
    }
    dropped
}

#[cfg(test)]
mod tests {
    use milepost_batch::{BatchBuilder, BatchOptions, Marker, build_marker};
    use milepost_model::{ProducerEpoch, ProducerIdentity, Timestamp};

    use super::*;

    fn producer(id: i64) -> ProducerIdentity {
        ProducerIdentity { id: ProducerId(id), epoch: ProducerEpoch(0) }
    }

    fn batch(at: i64, producer: Option<ProducerIdentity>, records: usize) -> Vec<u8> {
        let mut builder = BatchBuilder::new(BatchOptions::coordinator(producer));
        for _ in 0..records {
            builder.append(Timestamp(at), None, Some(b"v"), &[]).unwrap();
        }
        builder.build(Offset(at))
    }

    fn end(at: i64, id: i64, end: TransactionEnd) -> Vec<u8> {
        build_marker(producer(id), Marker { end, coordinator_epoch: 0 }, Timestamp(at), Offset(at))
    }

    fn dropped(batches: &[Vec<u8>], aborted: &[(i64, i64)]) -> Vec<i64> {
        let aborted: Vec<AbortedTransaction> = aborted
            .iter()
            .map(|(producer_id, first_offset)| AbortedTransaction {
                producer_id: *producer_id,
                first_offset: *first_offset,
            })
            .collect();
        let batches = batches.iter().map(|bytes| BatchView::parse(bytes).unwrap().0);
        aborted_batches(batches, &aborted).into_iter().map(|offset| offset.0).collect()
    }

    #[test]
    fn only_what_was_aborted_is_dropped() {
        let log = [
            batch(0, Some(producer(1)), 2),
            batch(2, Some(producer(2)), 1),
            batch(3, None, 1),
            end(4, 1, TransactionEnd::Abort),
            batch(5, Some(producer(1)), 1),
            end(6, 2, TransactionEnd::Commit),
            end(7, 1, TransactionEnd::Commit),
        ];
        assert_eq!(dropped(&log, &[(1, 0)]), [0]);
        assert_eq!(dropped(&log, &[]), Vec::<i64>::new());
        // What began before the batches that were asked for.
        assert_eq!(dropped(&log[1..], &[(2, -7)]), [2]);
        // Two of one producer, one after the other.
        let twice = [&log[..5], &[end(6, 1, TransactionEnd::Abort), batch(7, Some(producer(1)), 1)]].concat();
        assert_eq!(dropped(&twice, &[(1, 0), (1, 5)]), [0, 5]);
        // Begun within a batch's range, at its second record.
        assert_eq!(dropped(&log, &[(1, 1)]), [0]);
    }
}
