//! Bugs planted on purpose: a simulation that does not notice them proves nothing.

use milepost_log::{LogSettings, RecoveryTrust};
use milepost_storage::{
    Bugs, Engine, Entry, Journal, JournalState, RoundNumber, SimulatedFileSystem, Space, Waker,
};

/// A bug that the simulation must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedBug {
    /// A round is called durable before its sync returned: it is written with the next one.
    AnswerBeforeSync,
    /// Syncing a file does nothing.
    NoSync,
    /// Syncing a folder does nothing.
    NoDirectorySync,
    /// Recovery believes what segment files hold above the last checkpoint.
    SegmentTrusted,
}

impl PlantedBug {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::AnswerBeforeSync, Self::NoSync, Self::NoDirectorySync, Self::SegmentTrusted];

    pub(crate) fn plant_in_system(self, system: &SimulatedFileSystem) {
        system.plant(Bugs {
            sync_does_nothing: self == Self::NoSync,
            directory_sync_does_nothing: self == Self::NoDirectorySync,
        });
    }

    pub(crate) fn plant_in_settings(self, settings: &mut LogSettings) {
        if self == Self::SegmentTrusted {
            settings.recovery_trust = RecoveryTrust::FileContents;
        }
    }

    pub(crate) fn plant_in_engine(self, engine: Engine) -> Engine {
        if self != Self::AnswerBeforeSync {
            return engine;
        }
        Engine { journal: Box::new(EarlyJournal::new(engine.journal)), ..engine }
    }
}

/// A journal that calls a round durable while it still holds it back.
struct EarlyJournal {
    inner: Box<dyn Journal>,
    held: Option<Vec<Entry>>,
    /// The last round it called durable.
    said: RoundNumber,
    /// The last round that the journal behind it has.
    written: RoundNumber,
}

impl EarlyJournal {
    fn new(mut inner: Box<dyn Journal>) -> Self {
        let written = match inner.poll() {
            JournalState::Idle(round) => round,
            _ => RoundNumber::default(),
        };
        Self { inner, held: None, said: written, written }
    }
}

impl Journal for EarlyJournal {
    fn epoch(&self) -> u32 {
        self.inner.epoch()
    }

    fn submit(&mut self, entries: Vec<Entry>) -> RoundNumber {
        if let Some(held) = self.held.replace(entries) {
            self.written = self.inner.submit(held);
        }
        self.said = self.said.next();
        self.said
    }

    fn poll(&mut self) -> JournalState {
        match self.inner.poll() {
            JournalState::Idle(_) => JournalState::Idle(self.said),
            other => other,
        }
    }

    fn space(&mut self) -> Space {
        self.inner.space()
    }

    fn trim(&mut self, below: RoundNumber) {
        self.inner.trim(below.min(self.written));
    }

    fn untrimmed_bytes(&self) -> u64 {
        self.inner.untrimmed_bytes()
    }

    fn set_waker(&mut self, waker: Waker) {
        self.inner.set_waker(waker);
    }
}
