//! Batches of one partition, and the records in them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use milepost_batch::{BatchError, BatchView, Headers};
use milepost_model::{LeaderEpoch, Offset, Timestamp};
use milepost_wire::messages::fetch::AbortedTransaction;

use crate::error::ClientError;
use crate::groups::Committed;
use crate::isolation::aborted_batches;
use crate::topic_partition::TopicPartition;

/// One record, borrowed from what was fetched.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Where it lies.
    pub partition: &'a TopicPartition,
    /// Its offset there.
    pub offset: Offset,
    /// Its time. `None` where the producer gave none.
    pub timestamp: Option<Timestamp>,
    /// Its key. None and empty differ.
    pub key: Option<&'a [u8]>,
    /// Its value. None and empty differ.
    pub value: Option<&'a [u8]>,
    /// Its headers, in order.
    pub headers: Headers<'a>,
    /// The epoch of the leader that took it. `None` in batches that are older than epochs.
    pub leader_epoch: Option<LeaderEpoch>,
}

/// Whole batches of one partition, as they came, their checksums verified.
#[derive(Debug)]
pub struct Fetched {
    partition: TopicPartition,
    /// Records before this one are in the batches too, and were not asked for.
    from: Offset,
    next: Offset,
    /// The epoch of the last whole batch.
    last_epoch: Option<LeaderEpoch>,
    bytes: Vec<u8>,
    /// The base offsets of batches whose records are passed over.
    aborted: BTreeSet<Offset>,
}

impl Fetched {
    /// `None` when not even one batch is whole.
    pub(crate) fn new(
        partition: TopicPartition,
        from: Offset,
        mut bytes: Vec<u8>,
    ) -> Result<Option<Self>, ClientError> {
        let mut next = from;
        let mut last_epoch = None;
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match BatchView::parse(rest) {
                Ok((batch, _)) if !batch.crc_matches() => {
                    let offset = batch.base_offset().0;
                    return Err(ClientError::Damaged { partition: partition.to_string(), offset });
                }
                Ok((batch, behind)) => {
                    next = next.max(batch.next_offset());
                    last_epoch = epoch_of(&batch);
                    rest = behind;
                }
                // Brokers cut an answer at its bound, wherever that is.
                Err(BatchError::Truncated { .. }) => break,
                Err(source) => return Err(unreadable(&partition, next, source)),
            }
        }
        let whole = bytes.len() - rest.len();
        bytes.truncate(whole);
        Ok((next > from).then_some(Self {
            partition,
            from,
            next,
            last_epoch,
            bytes,
            aborted: BTreeSet::new(),
        }))
    }

    /// The same without the records of these transactions.
    pub(super) fn without(mut self, aborted: &[AbortedTransaction]) -> Self {
        if !aborted.is_empty() {
            self.aborted = aborted_batches(self.batches(), aborted);
        }
        self
    }

    /// The partition.
    #[must_use]
    pub fn partition(&self) -> &TopicPartition {
        &self.partition
    }

    /// Where reading goes on behind these batches.
    #[must_use]
    pub fn next_offset(&self) -> Offset {
        self.next
    }

    /// What a group commits that has dealt with all of it: the epoch is that of the last batch, a marker's too.
    #[must_use]
    pub fn next(&self) -> Committed {
        Committed { offset: self.next, leader_epoch: self.last_epoch, metadata: String::new() }
    }

    /// The batches, whole, markers too. Records before the one that was asked for may be in the first.
    pub fn batches(&self) -> impl Iterator<Item = BatchView<'_>> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let (batch, behind) = BatchView::parse(rest).ok()?;
            rest = behind;
            Some(batch)
        })
    }

    /// Hands out the records in order, until told to break off. Tells whether it was.
    ///
    /// # Errors
    /// When a batch cannot be opened or a record in it is malformed; and those of `take`.
    pub fn each<E: From<ClientError>>(
        &self,
        mut take: impl FnMut(&Record<'_>) -> Result<ControlFlow<()>, E>,
    ) -> Result<ControlFlow<()>, E> {
        let counts =
            |batch: &BatchView<'_>| !batch.is_control() && !self.aborted.contains(&batch.base_offset());
        for batch in self.batches().filter(counts) {
            let fail = |source| unreadable(&self.partition, batch.base_offset(), source);
            let records = batch.records().map_err(fail)?;
            for record in &records {
                let record = record.map_err(fail)?;
                if record.offset < self.from {
                    continue;
                }
                let record = Record {
                    partition: &self.partition,
                    offset: record.offset,
                    timestamp: (record.timestamp.0 >= 0).then_some(record.timestamp),
                    key: record.key,
                    value: record.value,
                    headers: record.headers,
                    leader_epoch: epoch_of(&batch),
                };
                if take(&record)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Record<'_> {
    /// What a group commits that has dealt with everything up to this record.
    #[must_use]
    pub fn next(&self) -> Committed {
        Committed { offset: self.offset.plus(1), leader_epoch: self.leader_epoch, metadata: String::new() }
    }
}

fn epoch_of(batch: &BatchView<'_>) -> Option<LeaderEpoch> {
    Some(batch.leader_epoch()).filter(|epoch| epoch.0 >= 0)
}

fn unreadable(partition: &TopicPartition, offset: Offset, source: BatchError) -> ClientError {
    ClientError::Records { partition: partition.to_string(), offset: offset.0, source }
}
