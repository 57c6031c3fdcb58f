//! The named settings of the local engine.

/// When a round is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When the device has it.
    #[default]
    Sync,
    /// When the operating system has it: a crash of the process loses nothing, a loss of power may.
    Os,
}

/// Who writes and syncs a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlushMode {
    /// The caller of [`crate::Journal::submit`].
    Inline,
    /// A thread of the journal.
    Thread,
    /// Whichever suits the device, by the time a sync takes at start.
    #[default]
    Auto,
}

/// What to do about damaged acknowledged data that nothing names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossPolicy {
    /// Refuse to open.
    #[default]
    Refuse,
    /// Cut the journal there, and lose what follows.
    Accept,
}

/// How the local engine works. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalSettings {
    /// When a round is acknowledged.
    pub durability: Durability,
    /// Who writes and syncs a round. Inline where the file system allows no threads.
    pub flush: FlushMode,
    /// What to do about damaged acknowledged data that nothing names.
    pub loss: LossPolicy,
    /// The size of a journal file. A round that is bigger gets a file of its own.
    pub journal_file_bytes: u64,
    /// The size of a journal file made while the engine opens: small, so that a first start is quick.
    pub first_file_bytes: u64,
    /// The size of the reserve file.
    pub reserve_bytes: u64,
    /// How many segment files are held open at once, beside the few of the journal.
    pub open_files: usize,
    /// The least epoch of this start: what is moved in from elsewhere was written under epochs that must lie below.
    pub least_epoch: u32,
}

impl Default for LocalSettings {
    fn default() -> Self {
        Self {
            durability: Durability::Sync,
            flush: FlushMode::Auto,
            loss: LossPolicy::Refuse,
            journal_file_bytes: 16 << 20,
            first_file_bytes: 1 << 20,
            reserve_bytes: 8 << 20,
            open_files: 512,
            least_epoch: 0,
        }
    }
}

impl LocalSettings {
    /// Small files, for tests and simulations that should see many of them.
    #[must_use]
    pub fn small() -> Self {
        Self {
            flush: FlushMode::Inline,
            journal_file_bytes: 32 << 10,
            first_file_bytes: 16 << 10,
            reserve_bytes: 8 << 10,
            open_files: 4,
            ..Self::default()
        }
    }
}
