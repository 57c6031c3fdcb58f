//! What the partitions must hold.
//!
//! Every record carries the number of its batch, its place in it and how many there are, so that a reader can tell a
//! half batch, a batch twice, and bytes that nobody sent.

use std::collections::{BTreeMap, BTreeSet};

use milepost_batch::BatchView;

use crate::check::{Checked, Violation, promise};

/// A partition of one life of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PartitionKey {
    pub(crate) topic: usize,
    pub(crate) index: i32,
}

/// A batch as some client sent it, the same when it is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BatchId(pub(crate) u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It may be in the log.
    Sent,
    /// It was refused, or a recovery showed that it was lost: it must never appear.
    Never,
    /// It is in the log at this offset.
    Placed(i64),
}

#[derive(Debug)]
struct SentBatch {
    partition: PartitionKey,
    values: Vec<Vec<u8>>,
    is_numbered: bool,
    standing: Standing,
}

#[derive(Debug, Default)]
struct KnownLog {
    /// What is known to be at which base offset.
    batches: BTreeMap<i64, BatchId>,
    /// The epochs of batches that were ever read, by base offset.
    epochs: BTreeMap<i64, i32>,
    /// The base offsets that were read since the last [`Logs::begin_whole_read`].
    read: BTreeSet<i64>,
    /// No high watermark below this may ever be seen again.
    end: i64,
    log_start: i64,
}

/// All partitions.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    sent: BTreeMap<BatchId, SentBatch>,
    known: BTreeMap<PartitionKey, KnownLog>,
    next_batch: u64,
    acknowledged: u64,
}

impl Logs {
    /// How many batches were acknowledged or read.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// A new batch of records with fillers of these lengths.
    pub(crate) fn new_batch(
        &mut self,
        partition: PartitionKey,
        is_numbered: bool,
        fillers: &[usize],
    ) -> BatchId {
        let id = BatchId(self.next_batch);
        self.next_batch += 1;
        let count = u32::try_from(fillers.len()).expect("a few records");
        let value = |(index, filler): (u32, &usize)| {
            let mut value = id.0.to_be_bytes().to_vec();
            value.extend_from_slice(&index.to_be_bytes());
            value.extend_from_slice(&count.to_be_bytes());
            value.extend((0..*filler).map(|at| (id.0 as usize + at * 7 + index as usize) as u8));
            value
        };
        let values = (0..).zip(fillers).map(value).collect();
        self.sent.insert(id, SentBatch { partition, values, is_numbered, standing: Standing::Sent });
        id
    }

    pub(crate) fn values(&self, batch: BatchId) -> &[Vec<u8>] {
        &self.sent[&batch].values
    }

    pub(crate) fn known_end(&self, partition: PartitionKey) -> i64 {
        self.known.get(&partition).map_or(0, |log| log.end)
    }

    /// The broker said that it did not take the batch.
    pub(crate) fn refused(&mut self, batch: BatchId) {
        let sent = self.sent.get_mut(&batch).expect("it was sent");
        // A numbered batch may have landed by an earlier try.
        if !sent.is_numbered && sent.standing == Standing::Sent {
            sent.standing = Standing::Never;
        }
    }

    /// The broker acknowledged the batch at this offset.
    pub(crate) fn acknowledged_at(&mut self, batch: BatchId, base_offset: i64) -> Checked {
        let partition = self.sent[&batch].partition;
        self.place(partition, batch, base_offset)
    }

    fn place(&mut self, partition: PartitionKey, batch: BatchId, base_offset: i64) -> Checked {
        let sent = self.sent.get_mut(&batch).expect("it was sent");
        let count = sent.values.len() as i64;
        match sent.standing {
            Standing::Placed(at) => {
                promise!(at == base_offset, "{batch:?} is in {partition:?} at {at} and at {base_offset}");
                return Ok(());
            }
            Standing::Never => {
                promise!(false, "{batch:?} was refused or lost, and is in {partition:?} at {base_offset}");
            }
            Standing::Sent => {}
        }
        let log = self.known.entry(partition).or_default();
        if let Some((base, other)) = log.batches.range(..base_offset + count).next_back() {
            let end = base + self.sent[other].values.len() as i64;
            promise!(
                end <= base_offset,
                "{batch:?} is in {partition:?} at {base_offset}, where {other:?} reaches from {base} to {end}"
            );
        }
        log.batches.insert(base_offset, batch);
        log.end = log.end.max(base_offset + count);
        self.sent.get_mut(&batch).expect("it was sent").standing = Standing::Placed(base_offset);
        self.acknowledged += 1;
        Ok(())
    }

    /// An answer said where the log begins and ends for readers. `floor` is the end that was known when it was asked.
    pub(crate) fn seen_ends(
        &mut self,
        partition: PartitionKey,
        log_start: i64,
        end: i64,
        floor: i64,
    ) -> Checked {
        promise!(end >= floor, "{partition:?} ends at {end}, below {floor}, which was acknowledged or seen");
        let log = self.known.entry(partition).or_default();
        promise!(log_start == log.log_start, "{partition:?} begins at {log_start}, not at {}", log.log_start);
        log.end = log.end.max(end);
        Ok(())
    }

    /// A reader got these bytes for `from`. Gives the offset to go on with.
    pub(crate) fn seen_bytes(
        &mut self,
        partition: PartitionKey,
        from: i64,
        mut bytes: &[u8],
        epoch: i32,
    ) -> Checked<i64> {
        let mut next = from;
        let mut is_first = true;
        while !bytes.is_empty() {
            let (view, rest) = BatchView::parse(bytes).map_err(|error| {
                Violation::new(format!("{partition:?}: no whole batch at {next}: {error}"))
            })?;
            bytes = rest;
            let base = view.base_offset().0;
            let begins_well = if is_first { base <= next } else { base == next };
            promise!(begins_well, "{partition:?}: a batch at {base} where {next} was to come");
            promise!(view.next_offset().0 > next, "{partition:?}: a batch that ends before {next}");
            promise!(view.crc_matches(), "{partition:?}: the checksum at {base} is wrong");
            self.seen_batch(partition, &view, epoch)?;
            next = view.next_offset().0;
            is_first = false;
        }
        Ok(next)
    }

    fn seen_batch(&mut self, partition: PartitionKey, view: &BatchView<'_>, epoch: i32) -> Checked {
        let base = view.base_offset().0;
        let broken = |why: String| Violation::new(format!("{partition:?} at {base}: {why}"));
        let records = view.records().map_err(|error| broken(error.to_string()))?;
        let mut values = Vec::new();
        for record in &records {
            let record = record.map_err(|error| broken(error.to_string()))?;
            values.push(record.value.unwrap_or_default().to_vec());
        }
        let number = values
            .first()
            .and_then(|value| value.first_chunk())
            .map(|bytes| BatchId(u64::from_be_bytes(*bytes)));
        let number = number.ok_or_else(|| broken("records that nobody sent".to_owned()))?;
        let sent = self.sent.get(&number).ok_or_else(|| broken(format!("{number:?} was never sent")))?;
        promise!(
            sent.partition == partition,
            "{partition:?} at {base}: {number:?} was sent to {:?}",
            sent.partition
        );
        promise!(
            sent.values == values,
            "{partition:?} at {base}: {number:?} has other records than were sent"
        );
        self.place(partition, number, base)?;
        self.known.entry(partition).or_default().read.insert(base);
        self.seen_epoch(partition, base, view.leader_epoch().0, epoch)
    }

    /// Leader epochs rise along a log, stay as they are, and are at most the node's.
    fn seen_epoch(&mut self, partition: PartitionKey, base: i64, epoch: i32, current: i32) -> Checked {
        promise!(epoch <= current, "{partition:?} at {base}: leader epoch {epoch}, the node's is {current}");
        let epochs = &mut self.known.entry(partition).or_default().epochs;
        let before = epochs.range(..base).next_back().map_or(0, |(_, epoch)| *epoch);
        let after = epochs.range(base + 1..).next().map_or(i32::MAX, |(_, epoch)| *epoch);
        promise!(
            (before..=after).contains(&epoch),
            "{partition:?} at {base}: leader epoch {epoch} between {before} and {after}"
        );
        let known = *epochs.entry(base).or_insert(epoch);
        promise!(known == epoch, "{partition:?} at {base}: leader epoch {epoch}, which was {known}");
        Ok(())
    }

    /// The partition is about to be read from its start to its end.
    pub(crate) fn begin_whole_read(&mut self, partition: PartitionKey) {
        self.known.entry(partition).or_default().read.clear();
    }

    /// The whole partition was read after a start, up to `end`: everything acknowledged was there, and what was only
    /// sent and is not there is lost for good, unless its producer sends it again.
    pub(crate) fn end_whole_read(&mut self, partition: PartitionKey, end: i64) -> Checked {
        let log = self.known.entry(partition).or_default();
        let mut next = log.log_start;
        for (base, batch) in &log.batches {
            promise!(*base == next, "{partition:?}: nothing from {next} to {base}");
            promise!(log.read.contains(base), "{partition:?}: {batch:?} at {base} was not read");
            next = base + self.sent[batch].values.len() as i64;
        }
        promise!(next == end, "{partition:?}: batches up to {next}, and the end is {end}");
        for sent in self.sent.values_mut().filter(|sent| sent.partition == partition && !sent.is_numbered) {
            if sent.standing == Standing::Sent {
                sent.standing = Standing::Never;
            }
        }
        Ok(())
    }
}
