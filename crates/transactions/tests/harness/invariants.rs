//! What must be true of every run, found from its records, answers and markers alone.

use std::collections::{BTreeMap, BTreeSet};

use milepost_model::{ProducerIdentity, TransactionEnd};
use milepost_transactions::{
    Record, Reply, Transaction, TransactionPartition, TransactionState, WriteMarkers,
};

use super::Asker;

/// A marker in a partition.
type Marker = (TransactionPartition, ProducerIdentity, TransactionEnd);

#[derive(Default)]
pub(crate) struct Invariants {
    ids: BTreeMap<String, Seen>,
}

/// What was seen of one transactional id.
#[derive(Default)]
struct Seen {
    /// The last record, while it is not a tombstone.
    present: Option<Transaction>,
    /// The markers written since the last prepared state.
    markers: BTreeSet<Marker>,
    /// Every producer that somebody was told to be.
    told: BTreeSet<ProducerIdentity>,
    /// Those of them that somebody else has replaced since.
    fenced: BTreeSet<ProducerIdentity>,
}

impl Invariants {
    pub(crate) fn note_record(&mut self, record: &Record) {
        let seen = self.ids.entry(record.transactional_id.to_string()).or_default();
        let next = record.transaction.as_deref();
        if let (Some(before), Some(next)) = (&seen.present, next) {
            assert!(before.producer <= next.producer, "{:?} after {:?}", next.producer, before.producer);
            assert!(before.last_update <= next.last_update, "time went back");
        }
        let state = next.map(|next| next.state);
        if let Some(before) = &seen.present {
            assert!(may_follow(before.state, state), "{state:?} after {:?}", before.state);
        }
        if let Some(TransactionState::Complete(end)) = state
            && let Some(prepared) = &seen.present
        {
            for partition in prepared.partitions.iter() {
                let marker = (partition.clone(), prepared.producer, end);
                assert!(seen.markers.contains(&marker), "complete, and no marker in {partition:?}");
            }
        }
        if let Some(TransactionState::Prepare(_)) = state {
            seen.markers.clear();
        }
        seen.present = next.cloned();
    }

    pub(crate) fn note_markers(&mut self, markers: &WriteMarkers) {
        let seen = self.ids.entry(markers.transactional_id.to_string()).or_default();
        // Markers of an earlier transaction that come late count for nothing.
        if seen.present.as_ref().is_some_and(|present| present.last_update == markers.prepared_at) {
            let marker =
                |partition: &TransactionPartition| (partition.clone(), markers.producer, markers.end);
            seen.markers.extend(markers.partitions.iter().map(marker));
        }
    }

    /// Somebody is told to be a producer, or gets something accepted as one.
    pub(crate) fn note_reply(&mut self, asker: Asker<'_>, reply: &Reply) {
        let Some(id) = asker.transactional_id else { return };
        let seen = self.ids.entry(id.to_owned()).or_default();
        let (is_accepted, told) = match reply {
            Reply::InitProducerId(result) | Reply::EndTransaction(result) => (result.is_ok(), result.ok()),
            Reply::AddPartitions(result) => (result.is_ok(), None),
            Reply::VerifyPartitions(result) => (result.is_ok(), None),
            Reply::Describe(_) | Reply::List(_) | Reply::Noted => return,
        };
        if let (true, Some(producer)) = (is_accepted, asker.producer) {
            assert!(!seen.fenced.contains(&producer), "{producer:?} was fenced, and is answered {reply:?}");
        }
        if let Some(told) = told {
            seen.told.insert(told);
            if asker.producer.is_none() {
                let others = seen.told.iter().filter(|other| **other != told);
                seen.fenced.extend(others);
                assert!(!seen.fenced.contains(&told), "{told:?} was somebody else before");
            }
        }
    }

    /// The markers of every prepared transaction have been asked for.
    pub(crate) fn check_asked(&self, asked: &[WriteMarkers]) {
        for (id, seen) in &self.ids {
            let Some(present) = &seen.present else { continue };
            let TransactionState::Prepare(end) = present.state else { continue };
            let is_it = |markers: &&WriteMarkers| {
                *markers.transactional_id == **id
                    && (markers.producer, markers.end) == (present.producer, end)
                    && markers.partitions == present.partitions
                    && markers.prepared_at == present.last_update
            };
            assert!(asked.iter().any(|markers| is_it(&markers)), "nobody was asked for the markers of {id}");
        }
    }
}

/// Whether one state may follow another; `None` is a tombstone.
fn may_follow(before: TransactionState, next: Option<TransactionState>) -> bool {
    use TransactionState::*;
    match (before, next) {
        (Empty | Complete(_), Some(Empty | Ongoing | Prepare(TransactionEnd::Abort)) | None) => true,
        (Ongoing, Some(Ongoing | Prepare(_))) => true,
        (Prepare(decided), Some(Complete(end))) => decided == end,
        _ => false,
    }
}
