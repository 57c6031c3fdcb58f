//! What a pass knows of the transactions it goes through: which batches belong to an aborted one, and whether a marker
//! still has anything to say.
//!
//! A pass goes through the log from its first segment on, so a marker whose data it did not meet has none left. One
//! transaction may reach over many segments and groups, so a pass keeps this from its beginning to its end.

use std::collections::{BTreeMap, BTreeSet};

use milepost_batch::{BatchError, BatchView, ControlType, Marker};
use milepost_model::{Offset, ProducerId, TransactionEnd};

use crate::transactions::AbortEntry;

/// What a batch is to its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Records of no transaction, or of one that was committed.
    Records,
    /// Records of a transaction that was aborted: nobody may see them.
    AbortedRecords,
    /// A marker, and whether the pass met data of its transaction.
    Marker(DataMet),
    /// A control batch that is no marker.
    OtherControl,
}

/// Whether data of a transaction was met before its marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataMet {
    Some,
    None,
}

/// The transactions of one pass.
#[derive(Debug, Default)]
pub(super) struct PassedTransactions {
    /// The aborted ones whose markers are still to come, by producer and first offset, and whether data of them was met.
    /// What is in here reaches into one source, so the abort indexes of a few segments bound it.
    aborted: BTreeMap<(ProducerId, Offset), (AbortEntry, DataMet)>,
    /// Producers of whom data that was not aborted was met since their last marker.
    committed: BTreeSet<ProducerId>,
}

impl PassedTransactions {
    /// Takes in the aborted transactions of what comes next. One that reaches over several sources comes several times.
    pub(super) fn learn(&mut self, entries: Vec<AbortEntry>) {
        for entry in entries {
            // What was met of it already counts on.
            self.aborted.entry((entry.producer_id, entry.first_offset)).or_insert((entry, DataMet::None));
        }
    }

    /// Goes past a batch. Also gives the abort entry of a marker that has one.
    pub(super) fn pass(&mut self, batch: &BatchView<'_>) -> Result<(Role, Option<AbortEntry>), BatchError> {
        let Some(producer) = batch.producer() else {
            let role = if batch.is_control() { Role::OtherControl } else { Role::Records };
            return Ok((role, None));
        };
        if batch.is_control() {
            return Ok(match batch.control_type()? {
                Some(ControlType::Marker(marker)) => self.pass_marker(producer.id, batch, marker),
                Some(ControlType::Other(_)) => (Role::OtherControl, None),
                // It lost its record in an earlier pass.
                None => (Role::Marker(DataMet::None), None),
            });
        }
        if !batch.is_transactional() {
            return Ok((Role::Records, None));
        }
        match self.aborted_at(producer.id, batch.base_offset(), batch.last_offset()) {
            Some(met) => {
                *met = DataMet::Some;
                Ok((Role::AbortedRecords, None))
            }
            None => {
                self.committed.insert(producer.id);
                Ok((Role::Records, None))
            }
        }
    }

    fn pass_marker(
        &mut self,
        producer: ProducerId,
        batch: &BatchView<'_>,
        marker: Marker,
    ) -> (Role, Option<AbortEntry>) {
        let was_met = self.committed.remove(&producer);
        if marker.end == TransactionEnd::Commit {
            return (Role::Marker(if was_met { DataMet::Some } else { DataMet::None }), None);
        }
        let ended =
            self.last_begun(producer, batch.last_offset()).map(|(first, (entry, met))| (first, *entry, *met));
        match ended {
            Some((first_offset, entry, met)) if entry.last_offset == batch.last_offset() => {
                self.aborted.remove(&(producer, first_offset));
                (Role::Marker(met), Some(entry))
            }
            _ => (Role::Marker(DataMet::None), None),
        }
    }

    /// Whether data of the aborted transaction was met to which a producer's batch belongs, if it belongs to one.
    fn aborted_at(&mut self, producer: ProducerId, base: Offset, last: Offset) -> Option<&mut DataMet> {
        let (first_offset, (entry, met)) = self.last_begun(producer, last)?;
        (first_offset <= base && entry.last_offset > last).then_some(met)
    }

    /// The last aborted transaction of a producer that began at or below an offset.
    fn last_begun(
        &mut self,
        producer: ProducerId,
        offset: Offset,
    ) -> Option<(Offset, &mut (AbortEntry, DataMet))> {
        let begun = self.aborted.range_mut((producer, Offset::ZERO)..=(producer, offset)).next_back()?;
        Some((begun.0.1, begun.1))
    }
}
