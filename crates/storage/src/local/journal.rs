//! The journal as its owner sees it: hands rounds to the writer, on this thread or on another.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::core::{Core, locked};
use super::flush::FlushedBy;
use super::keeper::Keeper;
use super::space::SpaceAhead;
use super::writer::Writer;
use crate::{Entry, Journal, JournalState, RoundNumber, Space, Waker};

/// At most one round is in flight.
const QUEUED_ROUNDS: usize = 1;

enum Flusher {
    Caller(Box<Writer>),
    Thread { rounds: Option<SyncSender<Vec<Entry>>>, thread: Option<JoinHandle<()>> },
}

/// The local journal.
pub(super) struct LocalJournal {
    core: Arc<Core>,
    keeper: Arc<Keeper>,
    flusher: Flusher,
    epoch: u32,
}

impl LocalJournal {
    pub(super) fn start(
        core: Arc<Core>,
        keeper: Arc<Keeper>,
        writer: Writer,
        flushed_by: FlushedBy,
    ) -> io::Result<Self> {
        let epoch = writer.epoch();
        let flusher = match flushed_by {
            FlushedBy::Caller => Flusher::Caller(Box::new(writer)),
            FlushedBy::Thread => {
                let (sender, receiver) = sync_channel(QUEUED_ROUNDS);
                let shared = Arc::clone(&core);
                let thread = std::thread::Builder::new()
                    .name("milepost-journal".into())
                    .spawn(move || write_rounds(&shared, writer, &receiver))?;
                Flusher::Thread { rounds: Some(sender), thread: Some(thread) }
            }
        };
        Ok(Self { core, keeper, flusher, epoch })
    }
}

fn write_rounds(core: &Core, mut writer: Writer, rounds: &Receiver<Vec<Entry>>) {
    while let Ok(entries) = rounds.recv() {
        write_round(core, &mut writer, &entries);
        drop(entries);
        core.wake_journal();
    }
}

fn write_round(core: &Core, writer: &mut Writer, entries: &[Entry]) {
    if core.poisoned().is_none()
        && let Err(reason) = writer.write_round(entries)
    {
        core.poison(reason);
    }
    locked(&core.progress).in_flight = false;
}

impl Journal for LocalJournal {
    fn epoch(&self) -> u32 {
        self.epoch
    }

    fn submit(&mut self, entries: Vec<Entry>) -> RoundNumber {
        let number = {
            let mut progress = locked(&self.core.progress);
            assert!(!progress.in_flight, "at most one round is in flight");
            progress.in_flight = true;
            progress.acknowledged.next()
        };
        match &mut self.flusher {
            Flusher::Caller(writer) => write_round(&self.core, writer, &entries),
            Flusher::Thread { rounds, .. } => {
                let sent = rounds.as_ref().map(|rounds| rounds.send(entries));
                if !matches!(sent, Some(Ok(()))) {
                    self.core.poison("the journal's thread has ended".into());
                    locked(&self.core.progress).in_flight = false;
                }
            }
        }
        number
    }

    fn poll(&mut self) -> JournalState {
        // The poison is read last: a round that failed is no longer in flight, and must not look acknowledged.
        let (in_flight, acknowledged) = {
            let progress = locked(&self.core.progress);
            (progress.in_flight, progress.acknowledged)
        };
        match self.core.poisoned() {
            Some(reason) => JournalState::Poisoned(reason),
            None if in_flight => JournalState::InFlight,
            None => JournalState::Idle(acknowledged),
        }
    }

    fn space(&mut self) -> Space {
        match self.core.space_ahead() {
            SpaceAhead::Known(Space::Ready) => {
                if self.core.wants_reserve() {
                    self.keeper.make_reserve();
                }
                Space::Ready
            }
            SpaceAhead::Known(Space::Full) => Space::Full,
            SpaceAhead::Prepare(meanwhile) => self.keeper.prepare_spare(meanwhile),
        }
    }

    fn trim(&mut self, below: RoundNumber) {
        let dead = locked(&self.core.progress).trim(below.0);
        if !dead.is_empty() {
            self.keeper.retire(dead);
        }
    }

    fn untrimmed_bytes(&self) -> u64 {
        locked(&self.core.progress).untrimmed_bytes()
    }

    fn set_waker(&mut self, waker: Waker) {
        *locked(&self.core.journal_waker) = Some(waker);
    }
}

impl Drop for LocalJournal {
    fn drop(&mut self) {
        *locked(&self.core.journal_waker) = None;
        if let Flusher::Thread { rounds, thread } = &mut self.flusher {
            drop(rounds.take());
            if let Some(thread) = thread.take() {
                // A panic of the thread was reported by the panic hook; there is nobody left to tell.
                let _ended = thread.join();
            }
        }
        *locked(&self.core.unsynced) = None;
    }
}
