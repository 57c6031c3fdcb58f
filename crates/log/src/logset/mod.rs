//! [`LogSet`]: all partitions over one journal. The only thing that changes a log, and what its callers hold.
//!
//! It is driven: appends gather, [`LogSet::begin_round`] hands them to the journal and lets the segments be written
//! behind it, [`LogSet::poll`] moves the high watermarks when the round is durable. A checkpoint begins between two
//! rounds. No clock, no thread, no waiting in here.
//!
//! It must never show anything above a high watermark, and never delete a file that something durable still names.

mod checkpoint;
mod cleaning;
mod document;
mod entries;
mod recovery;
mod removal;
mod retention;
mod round;
mod sealed;
mod write_behind;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use milepost_batch::Marker;
use milepost_model::{Instant, LeaderEpoch, Now, Offset, ProducerIdentity, Timestamp, TopicPartition};
use milepost_storage::{Device, Journal, RoundNumber, SegmentStore, Space, Waker};

use crate::append::{AppendContext, Appended};
use crate::error::{AppendError, ReadError};
use crate::partition::{Effect, PartitionLog, Run};
use crate::segment::SegmentId;
use crate::settings::{
    AppendOrigin, FirstBatch, IsolationLevel, LogKind, LogSettings, MAX_RUN_BYTES, MarkerEpoch,
    PRODUCER_EXPIRY_CHECK_MS, PartitionConfig,
};
use crate::transactions::AbortedTransaction;

pub use recovery::RecoveryReport;
pub(crate) use write_behind::Unwritten;

use checkpoint::Checkpointing;
use cleaning::Cleaning;
use entries::JournalEntry;
use removal::Removal;
use round::InFlight;
use write_behind::WriteBehind;

/// The seed of the partition table; its order never leaves this room.
const TABLE_SEED: u64 = 0x6d69_6c65_706f_7374;

/// What happened since the last poll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Partitions whose high watermark or log start moved or whose creation became durable, in order.
    pub advanced: Vec<TopicPartition>,
    /// Why nothing will be durable any more until the next start, if so.
    pub poisoned: Option<String>,
}

/// All partitions over one journal.
pub struct LogSet {
    journal: Box<dyn Journal>,
    store: Box<dyn SegmentStore>,
    settings: LogSettings,
    epoch: LeaderEpoch,
    slots: Vec<Option<PartitionLog>>,
    free_slots: Vec<usize>,
    index: HashMap<TopicPartition, usize, FixedState>,
    /// Folders that exist or may still exist.
    directories: BTreeSet<Arc<str>>,
    /// Partitions with something pending, internal ones and users'.
    lanes: [VecDeque<usize>; 2],
    /// The last round had no room for any of the users' runs.
    users_waited: bool,
    pending_bytes: u64,
    in_flight: Option<InFlight>,
    /// The last round known to be durable.
    durable_round: RoundNumber,
    space: Space,
    poisoned: Option<String>,
    checkpointing: Checkpointing,
    removals: Vec<Removal>,
    /// Sealed segments with open files, oldest first.
    open_sealed: VecDeque<(TopicPartition, SegmentId)>,
    next_expiry_check: Instant,
    next_retention_check: Instant,
    cleaning: Cleaning,
    write_behind: WriteBehind,
}

impl LogSet {
    /// The epoch of this start, which every batch appended since carries: one higher at each start.
    #[must_use]
    pub fn leader_epoch(&self) -> LeaderEpoch {
        self.epoch
    }

    /// Sets who is told, from any thread, that polling again is worth while.
    pub fn set_waker(&mut self, waker: Waker) {
        self.journal.set_waker(waker.clone());
        self.store.set_waker(waker);
    }

    /// Every partition, in order.
    pub fn partitions(&self) -> impl Iterator<Item = TopicPartition> + use<> {
        let mut all: Vec<_> = self.index.keys().copied().collect();
        all.sort_unstable();
        all.into_iter()
    }

    /// One partition's log.
    #[must_use]
    pub fn log(&self, id: TopicPartition) -> Option<&PartitionLog> {
        self.slots[*self.index.get(&id)?].as_ref()
    }

    /// Creates an empty partition; it may be appended to at once, and is durable with a following round
    /// ([`PartitionLog::is_durable`]). An existing one is only configured. If the folder is taken (a deleted topic of
    /// the same name may not be gone yet), one that is named by the topic's identity is used instead. An identity is
    /// never used again after its deletion.
    ///
    /// # Errors
    /// [`AppendError::DiskFull`], [`AppendError::Poisoned`].
    pub fn create_partition(
        &mut self,
        id: TopicPartition,
        directory: &str,
        kind: LogKind,
        config: PartitionConfig,
    ) -> Result<(), AppendError> {
        self.check_writable()?;
        if self.index.contains_key(&id) {
            self.configure(id, kind, config);
            return Ok(());
        }
        let directory = self.unused_directory(id, directory);
        self.directories.insert(directory.clone());
        let mut partition = PartitionLog::new(id, directory.clone(), kind, config);
        partition.epochs.assign(self.epoch, Offset::ZERO);
        let slot = self.insert(partition);
        self.queue_change(slot, JournalEntry::CreatePartition { kind, directory }, Effect::Created);
        Ok(())
    }

    /// Attaches kind and settings to a partition, at the start and when a topic's configuration changes. Unknown
    /// partitions are ignored.
    pub fn configure(&mut self, id: TopicPartition, kind: LogKind, config: PartitionConfig) {
        if let Some(partition) = self.partition_mut(id) {
            // A partition that waits in its old lane may finish there.
            partition.kind = kind;
            partition.config = config;
        }
    }

    /// Deletes a partition. It is gone for readers and writers at once; its files go when the deletion is durable.
    /// Works on a full disk and on an offline partition. Unknown partitions are ignored.
    pub fn delete_partition(&mut self, id: TopicPartition) {
        self.give_up_pass_over(id);
        let Some(slot) = self.index.remove(&id) else { return };
        let partition = self.slots[slot].as_mut().expect("the table names only used slots");
        partition.deleting = true;
        self.pending_bytes -= partition.pending.iter().map(Run::size_bytes).sum::<u64>();
        partition.pending.clear();
        self.queue_change(slot, JournalEntry::DeletePartition, Effect::Deleted);
    }

    /// Raises the log start (DeleteRecords). Takes effect when it is durable; never moves back, and never above the
    /// high watermark. Whole segments below it are removed then.
    ///
    /// # Errors
    /// [`ReadError::UnknownPartition`], [`ReadError::OutOfRange`] above the high watermark.
    pub fn advance_log_start(&mut self, id: TopicPartition, offset: Offset) -> Result<(), ReadError> {
        let slot = *self.index.get(&id).ok_or(ReadError::UnknownPartition)?;
        let partition = self.slots[slot].as_ref().expect("the table names only used slots");
        if offset > partition.high_watermark {
            return Err(ReadError::OutOfRange {
                offset,
                log_start_offset: partition.log_start,
                log_end_offset: partition.high_watermark,
            });
        }
        if offset > partition.log_start {
            self.queue_change(slot, JournalEntry::LogStart(offset), Effect::LogStart(offset));
        }
        Ok(())
    }

    /// Appends one batch: checks it, gives it offsets and this start's epoch, and lets it wait for the next round. It
    /// is acknowledged when the high watermark is above [`Appended::last_offset`]; that holds for a duplicate too.
    ///
    /// A transactional batch begins a transaction of its producer if none is open. Whether the producer may do so is not
    /// asked here: see [`PartitionLog::ongoing_transaction`].
    ///
    /// # Errors
    /// [`AppendError`]; nothing of the batch was kept.
    pub fn append(
        &mut self,
        id: TopicPartition,
        batch: &[u8],
        origin: AppendOrigin,
        now: Now,
    ) -> Result<Appended, AppendError> {
        let context = self.append_context(now);
        let slot = self.appendable(id)?;
        if origin == AppendOrigin::Client && self.pending_bytes > self.settings.max_pending_bytes {
            return Err(AppendError::Overloaded);
        }
        let partition = self.slots[slot].as_mut().expect("the table names only used slots");
        let recoded = match origin {
            AppendOrigin::Client => partition.recode(batch, now.wall)?,
            AppendOrigin::Coordinator | AppendOrigin::OtherBroker => None,
        };
        let batch = recoded.as_deref().unwrap_or(batch);
        let appended = partition.append(batch, origin, context)?;
        if !appended.duplicate {
            self.pending_bytes += batch.len() as u64;
            self.enter_lane(slot);
        }
        Ok(appended)
    }

    /// Appends the marker that ends the open transaction of `producer` on a partition, and is acknowledged like a
    /// batch. Where nothing is open it is written all the same, and only makes its epochs known: a marker that comes
    /// twice is harmless. On a full disk it is refused like any batch.
    ///
    /// # Errors
    /// [`AppendError::StaleProducerEpoch`] by `rule`, [`AppendError::StaleCoordinatorEpoch`], and those of the log's
    /// state; nothing was written.
    pub fn append_marker(
        &mut self,
        id: TopicPartition,
        producer: ProducerIdentity,
        marker: Marker,
        rule: MarkerEpoch,
        now: Now,
    ) -> Result<Appended, AppendError> {
        let context = self.append_context(now);
        let slot = self.appendable(id)?;
        let partition = self.slots[slot].as_mut().expect("the table names only used slots");
        let (appended, size_bytes) = partition.append_marker(producer, marker, rule, context)?;
        self.pending_bytes += size_bytes as u64;
        self.enter_lane(slot);
        Ok(appended)
    }

    fn append_context(&self, now: Now) -> AppendContext {
        let max_run_bytes = MAX_RUN_BYTES.min(self.settings.max_round_bytes);
        AppendContext { epoch: self.epoch, now, max_run_bytes }
    }

    /// The slot of a partition that takes batches.
    fn appendable(&self, id: TopicPartition) -> Result<usize, AppendError> {
        let slot = *self.index.get(&id).ok_or(AppendError::UnknownPartition)?;
        self.check_writable()?;
        let partition = self.slots[slot].as_ref().expect("the table names only used slots");
        match &partition.offline {
            Some(reason) => Err(AppendError::Offline { reason: reason.clone() }),
            None => Ok(slot),
        }
    }

    /// Whole batches from the one that holds `from` on, below the high watermark or the last stable offset, at most
    /// `max_bytes` of them and never across a segment. Empty from there up to the log end.
    ///
    /// # Errors
    /// [`ReadError::OutOfRange`] below the log start or above the log end, and the others of [`ReadError`].
    pub fn read(
        &mut self,
        id: TopicPartition,
        from: Offset,
        max_bytes: usize,
        first: FirstBatch,
        isolation: IsolationLevel,
    ) -> Result<Vec<u8>, ReadError> {
        let (partition, store) = match self.readable(id) {
            // What reached its file before the disk was full can be read all the same.
            Err(error) if error.may_pass() => self.present(id)?,
            readable => readable?,
        };
        let result = partition.read(store, from, max_bytes, first, isolation);
        self.after_read(id, result)
    }

    /// The aborted transactions that reach into the offsets from `from` to before `to`, which must not lie above the
    /// last stable offset, ordered by their first offsets. A reader of committed records that got the batches between
    /// the two skips with it what was aborted.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn aborted_transactions(
        &mut self,
        id: TopicPartition,
        from: Offset,
        to: Offset,
    ) -> Result<Vec<AbortedTransaction>, ReadError> {
        let (partition, store) = self.present(id)?;
        let result = partition.aborted_between(store, from, to).map_err(ReadError::from);
        let entries = self.after_read(id, result)?;
        let mut aborted: Vec<_> = entries
            .into_iter()
            .map(|entry| AbortedTransaction {
                producer_id: entry.producer_id,
                first_offset: entry.first_offset,
            })
            .collect();
        // Kafka's clients take this order for granted.
        aborted.sort_by_key(|transaction| transaction.first_offset);
        Ok(aborted)
    }

    /// The first record at or above the log start, in offset order, whose timestamp is at least `timestamp`: its
    /// offset, timestamp and leader epoch.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn offset_for_timestamp(
        &mut self,
        id: TopicPartition,
        timestamp: Timestamp,
    ) -> Result<Option<(Offset, Timestamp, LeaderEpoch)>, ReadError> {
        let (partition, store) = self.readable(id)?;
        let result = partition.offset_for_timestamp(store, timestamp);
        self.after_read(id, result)
    }

    /// The first record that has the largest timestamp of the log (KIP-734): its offset, timestamp and leader epoch.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn offset_of_max_timestamp(
        &mut self,
        id: TopicPartition,
    ) -> Result<Option<(Offset, Timestamp, LeaderEpoch)>, ReadError> {
        let (partition, store) = self.readable(id)?;
        let result = partition.offset_of_max_timestamp(store);
        self.after_read(id, result)
    }

    /// See [`PartitionLog::end_offset_for_epoch`].
    ///
    /// # Errors
    /// [`ReadError::UnknownPartition`], [`ReadError::Offline`].
    pub fn end_offset_for_epoch(
        &mut self,
        id: TopicPartition,
        epoch: LeaderEpoch,
    ) -> Result<Option<(LeaderEpoch, Offset)>, ReadError> {
        let (partition, _) = self.present(id)?;
        Ok(partition.end_offset_for_epoch(epoch))
    }

    /// Whether anything waits for [`LogSet::begin_round`].
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.lanes.iter().any(|lane| !lane.is_empty())
    }

    /// Whether a round is in flight.
    #[must_use]
    pub fn is_flushing(&self) -> bool {
        self.in_flight.is_some()
    }

    /// Whether there is room for appends, as of the last poll or round. A full disk heals only while it is polled.
    #[must_use]
    pub fn space(&self) -> Space {
        self.space
    }

    /// Where the files lie, and the room on their device now.
    #[must_use]
    pub fn device(&self) -> Device {
        self.store.device()
    }

    /// Why nothing will be durable any more, if so.
    #[must_use]
    pub fn poisoned(&self) -> Option<&str> {
        self.poisoned.as_deref()
    }

    /// Asks what became of the round and the checkpoint, moves high watermarks, and begins what is due between two
    /// rounds: a checkpoint, the removal of files. Never blocks on the disk longer than an `unlink`.
    pub fn poll(&mut self, now: Now) -> Progress {
        let mut advanced = Vec::new();
        self.poll_round(&mut advanced);
        self.poll_checkpoint(now);
        if self.in_flight.is_none() && self.poisoned.is_none() {
            self.look_at_space();
            self.remove_files();
            self.expire_producers(now);
            self.retain(now);
            self.write_if_due(now);
            self.checkpoint_if_due(now);
        }
        advanced.sort_unstable();
        advanced.dedup();
        Progress { advanced, poisoned: self.poisoned.clone() }
    }

    /// Asks whether there is room, and says so when that changed.
    fn look_at_space(&mut self) {
        let before = std::mem::replace(&mut self.space, self.journal.space());
        match (before, self.space) {
            (Space::Ready, Space::Full) => {
                tracing::warn!("the disk is full: what is written is refused until there is room");
            }
            (Space::Full, Space::Ready) => tracing::info!("the disk has room again"),
            _ => {}
        }
    }

    fn check_writable(&self) -> Result<(), AppendError> {
        if let Some(reason) = &self.poisoned {
            return Err(AppendError::Poisoned { reason: reason.clone() });
        }
        match self.space {
            Space::Ready => Ok(()),
            Space::Full => Err(AppendError::DiskFull),
        }
    }

    fn partition_mut(&mut self, id: TopicPartition) -> Option<&mut PartitionLog> {
        self.slots[*self.index.get(&id)?].as_mut()
    }

    fn readable(
        &mut self,
        id: TopicPartition,
    ) -> Result<(&mut PartitionLog, &mut dyn SegmentStore), ReadError> {
        let slot = *self.index.get(&id).ok_or(ReadError::UnknownPartition)?;
        self.write_partition(slot)?;
        self.present(id)
    }

    /// The partition with what was written to its files so far.
    fn present(
        &mut self,
        id: TopicPartition,
    ) -> Result<(&mut PartitionLog, &mut dyn SegmentStore), ReadError> {
        let slot = *self.index.get(&id).ok_or(ReadError::UnknownPartition)?;
        let partition = self.slots[slot].as_mut().expect("the table names only used slots");
        match &partition.offline {
            Some(reason) => Err(ReadError::Offline { reason: reason.clone() }),
            None => Ok((partition, self.store.as_mut())),
        }
    }

    fn insert(&mut self, partition: PartitionLog) -> usize {
        let id = partition.id;
        let slot = match self.free_slots.pop() {
            Some(slot) => {
                self.slots[slot] = Some(partition);
                slot
            }
            None => {
                self.slots.push(Some(partition));
                self.slots.len() - 1
            }
        };
        self.index.insert(id, slot);
        slot
    }

    fn queue_change(&mut self, slot: usize, entry: JournalEntry, effect: Effect) {
        let partition = self.slots[slot].as_mut().expect("only used slots are changed");
        let entry = entry.into_entry(partition.id);
        self.pending_bytes += entry.payload.len() as u64;
        partition.pending.push_back(Run::Change { entry, effect });
        self.enter_lane(slot);
    }

    fn enter_lane(&mut self, slot: usize) {
        let partition = self.slots[slot].as_mut().expect("only used slots enter a lane");
        if !std::mem::replace(&mut partition.in_lane, true) {
            self.lanes[partition.kind as usize].push_back(slot);
        }
    }

    fn unused_directory(&self, id: TopicPartition, wanted: &str) -> Arc<str> {
        if !self.directories.contains(wanted) {
            return wanted.into();
        }
        // Long enough for any identity, and within the 255 bytes that file systems allow.
        const KEPT_BYTES: usize = 200;
        let mut end = wanted.len().min(KEPT_BYTES);
        while !wanted.is_char_boundary(end) {
            end -= 1;
        }
        format!("{}.{id}", &wanted[..end]).into()
    }

    fn expire_producers(&mut self, now: Now) {
        if now.monotonic < self.next_expiry_check {
            return;
        }
        self.next_expiry_check = now.monotonic.plus_ms(PRODUCER_EXPIRY_CHECK_MS);
        let expiration_ms = self.settings.producer_id_expiration_ms;
        for partition in self.slots.iter_mut().flatten() {
            partition.producers.expire(now.wall, expiration_ms, partition.high_watermark);
        }
    }
}
