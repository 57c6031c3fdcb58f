//! [`OffsetStore`]: what a program holds.

use std::path::Path;
use std::sync::Arc;

use milepost_groups::CommittedOffset;
use milepost_log::RecoveryReport;
use milepost_model::{Generation, PartitionIndex};
use milepost_storage::{FlushMode, LocalEngine, LocalSettings, LossPolicy};

use crate::call::{Ask, CommitFuture, Given};
use crate::shared::Shared;
use crate::{CommittedPartition, Compaction, Error, NextOffset, OpenError, Options, Surroundings, open};

/// The committed offsets of groups in one data folder. Clones share it.
///
/// The folder is released when the last clone is gone, or by [`OffsetStore::close`]. A program that just ends, or is
/// killed, loses nothing: the next start replays the journal.
#[derive(Clone)]
pub struct OffsetStore {
    shared: Arc<Shared>,
    recovery: Arc<RecoveryReport>,
}

impl OffsetStore {
    /// Opens a data folder, made if need be, and recovers it. What a crash left half written and nobody was told of is
    /// cut off; [`OffsetStore::recovery`] says so.
    ///
    /// # Errors
    /// [`OpenError`]; among others when somebody else has the folder open.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(folder, &Options::default())
    }

    /// The same with settings.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_with(folder: impl AsRef<Path>, options: &Options) -> Result<Self, OpenError> {
        let loss = if options.accept_loss { LossPolicy::Accept } else { LossPolicy::Refuse };
        // The caller that leads flushes itself.
        let flush = FlushMode::Inline;
        let settings =
            LocalSettings { durability: options.durability, flush, loss, ..LocalSettings::default() };
        let start = LocalEngine::open_folder(folder.as_ref(), settings)?;
        Self::open_engine(start.engine, options, Surroundings::system())
    }

    /// Opens what a storage engine holds: one in memory, say, or one on a simulated disk. The durability is then the
    /// engine's.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_engine(
        engine: milepost_storage::Engine,
        options: &Options,
        surroundings: Surroundings,
    ) -> Result<Self, OpenError> {
        let (engine, recovery) = open::open(engine, options, surroundings)?;
        Ok(Self { shared: Arc::new(Shared::new(engine)), recovery: Arc::new(recovery) })
    }

    /// What recovery did when the folder was opened, a torn tail that was cut included.
    #[must_use]
    pub fn recovery(&self) -> &RecoveryReport {
        &self.recovery
    }

    /// Takes the group over and returns its next generation, the first one being 1. It is durable when this returns; no
    /// commit of an earlier generation is accepted from then on. Members that a server wrote down are gone.
    ///
    /// # Errors
    /// [`Error`]. After [`Error::TimedOut`] and [`Error::Undecided`] the group may have been taken over all the same, by
    /// nobody: call again.
    pub fn rebalance(&self, group: &str) -> Result<Generation, Error> {
        match self.shared.ask(Ask::Rebalance { group: group.to_owned() })? {
            Given::Generation(Some(generation)) => Ok(generation),
            _ => Err(Error::Undecided),
        }
    }

    /// The group's generation; `None` for one that was never taken over, or was forgotten.
    ///
    /// # Errors
    /// [`Error`].
    pub fn generation(&self, group: &str) -> Result<Option<Generation>, Error> {
        match self.shared.ask(Ask::Generation { group: group.to_owned() })? {
            Given::Generation(generation) => Ok(generation),
            _ => Err(Error::Undecided),
        }
    }

    /// Commits offsets, all of them or none. They are durable when this returns.
    ///
    /// Blocks for a disk wait, which it shares with everybody who commits meanwhile.
    ///
    /// # Errors
    /// [`Error::StaleGeneration`] and [`Error::UnknownGeneration`] unless the generation is exactly the group's, and
    /// the others of [`Error`].
    pub fn commit(
        &self,
        group: &str,
        generation: Generation,
        offsets: impl IntoIterator<Item = NextOffset>,
    ) -> Result<(), Error> {
        self.shared.ask(commit(group, generation, offsets)?).map(|_| ())
    }

    /// The same as a future, for any executor. See [`CommitFuture`] for when it blocks.
    ///
    /// # Errors
    /// When polled, as [`OffsetStore::commit`].
    pub fn commit_async(
        &self,
        group: &str,
        generation: Generation,
        offsets: impl IntoIterator<Item = NextOffset>,
    ) -> CommitFuture {
        CommitFuture::new(Arc::clone(&self.shared), commit(group, generation, offsets))
    }

    /// What the group committed for a partition; `None`: never, or it was deleted.
    ///
    /// # Errors
    /// [`Error`].
    pub fn committed(
        &self,
        group: &str,
        topic: &str,
        partition: PartitionIndex,
    ) -> Result<Option<CommittedOffset>, Error> {
        let ask = Ask::Committed { group: group.to_owned(), topic: topic.to_owned(), partition };
        match self.shared.ask(ask)? {
            Given::Committed(committed) => Ok(committed),
            _ => Err(Error::Undecided),
        }
    }

    /// Everything the group committed, by topic and partition.
    ///
    /// # Errors
    /// [`Error`].
    pub fn committed_all(&self, group: &str) -> Result<Vec<CommittedPartition>, Error> {
        match self.shared.ask(Ask::CommittedAll { group: group.to_owned() })? {
            Given::All(all) => Ok(all),
            _ => Err(Error::Undecided),
        }
    }

    /// Deletes everything the group committed. Its generation stays, so a zombie is refused as before.
    ///
    /// # Errors
    /// [`Error`].
    pub fn delete(&self, group: &str) -> Result<(), Error> {
        self.shared.ask(Ask::Delete { group: group.to_owned() }).map(|_| ())
    }

    /// Deletes everything about the group, its generation included. **This resets the fence**: the next
    /// [`OffsetStore::rebalance`] returns generation 1 again, and a zombie that still holds a generation from before can
    /// commit once the group has reached that number again. Only for groups that nobody works for any more.
    ///
    /// # Errors
    /// [`Error`].
    pub fn forget_group(&self, group: &str) -> Result<(), Error> {
        self.shared.ask(Ask::Forget { group: group.to_owned() }).map(|_| ())
    }

    /// Compacts the logs of committed offsets: of each group and partition the last commit stays, and of what was deleted
    /// the tombstone, for a day. Commits go on meanwhile. The library also compacts by itself, while it is called, a log
    /// that has grown far beyond its live records; this is for whoever wants the space back at once.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a log holds something that cannot be read, which then stays as it is;
    /// [`Error::NoSpace`] on a full disk, because the new files stand beside the old ones for a moment; and the others of
    /// [`Error`]. Nothing is lost by a compaction that failed.
    pub fn compact(&self) -> Result<Compaction, Error> {
        match self.shared.ask(Ask::Compact)? {
            Given::Compacted(compaction) => Ok(compaction),
            _ => Err(Error::Undecided),
        }
    }

    /// Answers what waits, writes a checkpoint so that the next start replays nothing, and releases the folder, for all
    /// clones. Later calls get [`Error::Closed`].
    ///
    /// # Errors
    /// [`Error::Poisoned`] when the disk failed, [`Error::Closed`] when it was closed before.
    pub fn close(&self) -> Result<(), Error> {
        self.shared.ask(Ask::Close).map(|_| ())
    }
}

fn commit(
    group: &str,
    generation: Generation,
    offsets: impl IntoIterator<Item = NextOffset>,
) -> Result<Ask, Error> {
    let offsets: Vec<_> = offsets.into_iter().collect();
    match offsets.iter().position(NextOffset::is_negative) {
        Some(index) => Err(Error::Negative { index }),
        None => Ok(Ask::Commit { group: group.to_owned(), generation, offsets }),
    }
}
