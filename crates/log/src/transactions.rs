//! Which transactions of a partition readers of committed records must not pass, and those that were aborted.
//!
//! A transaction begins with its first batch and ends with its marker; both count at once for the batches that follow.
//! For readers the end counts only once the marker is durable: a crash could take it back. So the last stable offset
//! rests on the open transactions and on those whose marker is on its way.

use std::collections::BTreeMap;

use milepost_model::{Offset, ProducerId};

use crate::index::IndexEntry;

/// A transaction that was aborted, as a reader of committed records needs it: from `first_offset` on the producer's
/// transactional records are to be skipped, up to its next marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbortedTransaction {
    /// Whose transaction it was.
    pub producer_id: ProducerId,
    /// Where it began.
    pub first_offset: Offset,
}

/// What the abort index of a segment (Kafka's `.txnindex`) says of a transaction whose marker is in the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AbortEntry {
    pub(crate) producer_id: ProducerId,
    pub(crate) first_offset: Offset,
    /// The marker.
    pub(crate) last_offset: Offset,
    /// The first offset of the earliest other transaction that was open then, or the offset after the marker. Whoever
    /// reads no further need not look at later entries.
    pub(crate) last_stable_offset: Offset,
}

impl IndexEntry for AbortEntry {
    const WIDTH: usize = 34;

    fn encode(self, out: &mut Vec<u8>) {
        /// The only version of an entry that Kafka knows.
        const VERSION: i16 = 0;
        out.extend_from_slice(&VERSION.to_be_bytes());
        let numbers =
            [self.producer_id.0, self.first_offset.0, self.last_offset.0, self.last_stable_offset.0];
        numbers.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
    }

    fn decode(bytes: &[u8]) -> Self {
        let long = |at: usize| i64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        Self {
            producer_id: ProducerId(long(2)),
            first_offset: Offset(long(10)),
            last_offset: Offset(long(18)),
            last_stable_offset: Offset(long(26)),
        }
    }
}

/// The transactions that keep the last stable offset back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unstable {
    /// By their first offsets, which no two share.
    open: BTreeMap<Offset, ProducerId>,
    /// First offset and marker of those whose marker may not be durable.
    ended: BTreeMap<Offset, Offset>,
}

impl Unstable {
    pub(crate) fn begin(&mut self, producer: ProducerId, first_offset: Offset) {
        self.open.insert(first_offset, producer);
    }

    /// Ends a transaction. Gives the entry that belongs into the abort index if it was aborted.
    pub(crate) fn end(&mut self, producer: ProducerId, first_offset: Offset, marker: Offset) -> AbortEntry {
        self.open.remove(&first_offset);
        self.ended.insert(first_offset, marker);
        AbortEntry {
            producer_id: producer,
            first_offset,
            last_offset: marker,
            last_stable_offset: self.open.keys().next().copied().unwrap_or(marker.plus(1)),
        }
    }

    /// Where the earliest transaction began that is open, or whose marker is not below `durable_end`.
    pub(crate) fn first(&self, durable_end: Offset) -> Option<Offset> {
        let open = self.open.keys().next();
        let ended = self
            .ended
            .iter()
            .find(|(_, marker)| **marker >= durable_end)
            .map(|(first_offset, _)| first_offset);
        open.into_iter().chain(ended).min().copied()
    }

    /// Forgets transactions whose markers are durable.
    pub(crate) fn forget_below(&mut self, durable_end: Offset) {
        self.ended.retain(|_, marker| *marker >= durable_end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_the_bytes_of_kafka_and_comes_back() {
        let entry = AbortEntry {
            producer_id: ProducerId(258),
            first_offset: Offset(3),
            last_offset: Offset(7),
            last_stable_offset: Offset(8),
        };
        let mut bytes = Vec::new();
        entry.encode(&mut bytes);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "00000000000000000102000000000000000300000000000000070000000000000008");
        assert_eq!(bytes.len(), AbortEntry::WIDTH);
        assert_eq!(AbortEntry::decode(&bytes), entry);
    }

    #[test]
    fn the_earliest_open_or_not_durably_ended_transaction_is_the_first_unstable_one() {
        let mut unstable = Unstable::default();
        assert_eq!(unstable.first(Offset(100)), None);
        unstable.begin(ProducerId(1), Offset(10));
        unstable.begin(ProducerId(2), Offset(12));
        assert_eq!(unstable.first(Offset(20)), Some(Offset(10)));
        let entry = unstable.end(ProducerId(1), Offset(10), Offset(20));
        assert_eq!(entry.last_stable_offset, Offset(12));
        assert_eq!(unstable.first(Offset(20)), Some(Offset(10)), "the marker is not durable");
        assert_eq!(unstable.first(Offset(21)), Some(Offset(12)));
        let entry = unstable.end(ProducerId(2), Offset(12), Offset(21));
        assert_eq!(entry.last_stable_offset, Offset(22));
        unstable.forget_below(Offset(21));
        assert_eq!(unstable.first(Offset(21)), Some(Offset(12)));
        unstable.forget_below(Offset(22));
        assert_eq!(unstable, Unstable::default());
    }
}
