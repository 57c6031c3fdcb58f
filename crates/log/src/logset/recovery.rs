//! Opening: every partition as the last checkpoint has it, cut to that, and refilled from the journal.
//!
//! First the rounds are applied in memory, in order, to what the checkpoint says; then each partition that is left is
//! rebuilt and what the journal holds for it is appended through the code that appends live batches. No file's content
//! is ever judged, and after a clean stop none is read.

mod images;
mod refill;

use std::collections::{BTreeSet, VecDeque};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use milepost_model::{Instant, LeaderEpoch, Now, TopicPartition};
use milepost_storage::{Engine, FileName, Journal, JournalState, RoundNumber, SegmentStore, TornTail};

use super::checkpoint::Checkpointing;
use super::cleaning::Cleaning;
use super::document::{Document, PartitionImage};
use super::write_behind::WriteBehind;
use super::{LogSet, TABLE_SEED};
use crate::error::OpenError;
use crate::segment::{FileKind, Segment};
use crate::settings::{LogSettings, PRODUCER_EXPIRY_CHECK_MS, RecoveryTrust};

use images::{Recovered, Refill, replay_rounds};
use refill::RefillError;

/// What recovery did, for the log and for tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Partitions that are there now.
    pub partitions: usize,
    /// Rounds of the journal above the last checkpoint.
    pub rounds_replayed: u64,
    /// Batches that were appended again from the journal.
    pub batches_refilled: u64,
    /// Bytes of them.
    pub bytes_refilled: u64,
    /// The end of the journal that was never acknowledged and was cut.
    pub torn_tail: Option<TornTail>,
    /// Partitions held offline, and why.
    pub offline: Vec<(TopicPartition, String)>,
    /// Segment files that nothing named and that were removed.
    pub files_removed: u64,
}

impl LogSet {
    /// Takes an engine over: recovers every partition and begins this start's epoch. When anything was replayed a
    /// checkpoint is begun, so that the next start need not do it again.
    ///
    /// Every partition has default settings until [`LogSet::configure`].
    ///
    /// # Errors
    /// [`OpenError`]; nothing was changed then but files that nothing names.
    pub fn open(
        engine: Engine,
        settings: LogSettings,
        now: Now,
    ) -> Result<(Self, RecoveryReport), OpenError> {
        let document = engine.checkpoint.as_deref().map(Document::decode).transpose()?.unwrap_or_default();
        let mut report = RecoveryReport { torn_tail: engine.replay.torn_tail.clone(), ..Default::default() };
        let covered = document.covered;
        let recovered = replay_rounds(document, engine.replay)?;
        report.rounds_replayed = recovered.rounds;
        let mut set = Self::empty(engine.journal, engine.segments, settings);
        set.checkpointing = Checkpointing::new(covered, set.journal.untrimmed_bytes());
        if let JournalState::Idle(durable) = set.journal.poll() {
            set.durable_round = durable.max(recovered.last_round);
        }
        let existing: BTreeSet<_> = set.store.list()?.into_iter().collect();
        set.remove_unnamed(&recovered, &existing, &mut report)?;
        for (id, recovered) in recovered.partitions {
            set.recover_partition(id, recovered, &existing, now, &mut report)?;
        }
        report.partitions = set.index.len();
        for slot in 0..set.slots.len() {
            set.queue_removal_below_log_start(slot);
        }
        set.next_expiry_check = now.monotonic.plus_ms(PRODUCER_EXPIRY_CHECK_MS);
        set.next_retention_check = now.monotonic.plus_ms(set.settings.retention_check_interval_ms);
        if report.rounds_replayed > 0 {
            set.begin_checkpoint();
        }
        Ok((set, report))
    }

    fn empty(mut journal: Box<dyn Journal>, store: Box<dyn SegmentStore>, settings: LogSettings) -> Self {
        let epoch = LeaderEpoch(i32::try_from(journal.epoch()).unwrap_or(i32::MAX));
        let space = journal.space();
        Self {
            journal,
            store,
            settings,
            epoch,
            slots: Vec::new(),
            free_slots: Vec::new(),
            index: HashMap::with_hasher(FixedState::with_seed(TABLE_SEED)),
            directories: BTreeSet::new(),
            lanes: [VecDeque::new(), VecDeque::new()],
            users_waited: false,
            pending_bytes: 0,
            in_flight: None,
            durable_round: RoundNumber::default(),
            space,
            poisoned: None,
            checkpointing: Checkpointing::default(),
            removals: Vec::new(),
            open_sealed: VecDeque::new(),
            next_expiry_check: Instant::default(),
            next_retention_check: Instant::default(),
            cleaning: Cleaning::default(),
            write_behind: WriteBehind::default(),
        }
    }

    /// Removes files that neither the checkpoint nor the journal names.
    fn remove_unnamed(
        &mut self,
        recovered: &Recovered,
        existing: &BTreeSet<FileName>,
        report: &mut RecoveryReport,
    ) -> Result<(), OpenError> {
        if self.settings.recovery_trust == RecoveryTrust::FileContents {
            return Ok(());
        }
        let images = || recovered.partitions.values().map(|(image, _)| image);
        let named: BTreeSet<_> = images().flat_map(named_files).collect();
        let directories: BTreeSet<_> = images().map(|image| &image.directory).collect();
        let mut emptied = BTreeSet::new();
        for file in existing.difference(&named) {
            self.store.remove(file)?;
            report.files_removed += 1;
            if !directories.contains(&file.directory) {
                emptied.insert(&file.directory);
            }
        }
        for directory in emptied {
            self.store.remove_directory(directory)?;
        }
        Ok(())
    }

    fn recover_partition(
        &mut self,
        id: TopicPartition,
        (image, refill): (PartitionImage, Vec<Refill>),
        existing: &BTreeSet<FileName>,
        now: Now,
        report: &mut RecoveryReport,
    ) -> Result<(), OpenError> {
        let mut partition = images::rebuild(id, &image, now.wall);
        let refilled = match missing_file(&image, existing) {
            Some(reason) => Err(RefillError::Unusable(reason)),
            None => self.refill(&mut partition, refill, now.wall),
        };
        match refilled {
            Ok(refilled) => {
                report.batches_refilled += refilled.batches;
                report.bytes_refilled += refilled.bytes;
            }
            Err(RefillError::Store(error)) => return Err(error.into()),
            Err(RefillError::Unusable(reason)) => {
                // What is known for sure is what the checkpoint says; the next one must say the same.
                partition.segments.iter_mut().for_each(|segment| segment.close(self.store.as_mut()));
                partition = images::rebuild(id, &image, now.wall);
                partition.offline.get_or_insert(reason);
            }
        }
        if let Some(reason) = &partition.offline {
            tracing::error!(partition = %id, %reason, "a partition is offline");
            report.offline.push((id, reason.clone()));
        }
        partition.epochs.cut_front(partition.log_start);
        partition.epochs.assign(self.epoch, partition.log_end);
        self.directories.insert(partition.directory.clone());
        self.insert(partition);
        self.note_open_sealed(id);
        Ok(())
    }
}

/// A file that the checkpoint names and that is not there. Lengths are checked when a file is opened.
fn missing_file(image: &PartitionImage, existing: &BTreeSet<FileName>) -> Option<String> {
    named_files(image).find(|file| !existing.contains(file)).map(|file| format!("{file} is missing"))
}

/// The files that a checkpoint names for a partition.
fn named_files(image: &PartitionImage) -> impl Iterator<Item = FileName> {
    image.segments.iter().flat_map(|(segment, extent)| {
        let present = FileKind::ALL.into_iter().filter(|kind| Segment::bytes_of(extent, *kind) > 0);
        present.map(|kind| segment.file_name(&image.directory, kind))
    })
}
