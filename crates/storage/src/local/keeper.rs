//! The housekeeping beside the rounds: checkpoints, files made ahead, files retired, the reserve. On a thread of its
//! own, or in the caller's call where there are no threads.
//!
//! It must never hold the journal up: what it does can wait, and the writer helps itself where it must.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::checkpoint::{self, CheckpointJob};
use super::core::{Core, LiveFile, locked};
use crate::Space;
use crate::file_system::Concurrency;

/// What is to be done; of every kind at most one, and files to retire are bounded by the files there are.
#[derive(Default)]
struct Work {
    retire: VecDeque<LiveFile>,
    prepare_spare: bool,
    make_reserve: bool,
    checkpoint: Option<CheckpointJob>,
    stop: bool,
}

enum Task {
    Retire(LiveFile),
    PrepareSpare,
    MakeReserve,
    Checkpoint(CheckpointJob),
    Stop,
}

impl Work {
    fn next(&mut self) -> Option<Task> {
        if self.stop {
            return Some(Task::Stop);
        }
        if let Some(file) = self.retire.pop_front() {
            return Some(Task::Retire(file));
        }
        if std::mem::take(&mut self.prepare_spare) {
            return Some(Task::PrepareSpare);
        }
        if std::mem::take(&mut self.make_reserve) {
            return Some(Task::MakeReserve);
        }
        self.checkpoint.take().map(Task::Checkpoint)
    }
}

#[derive(Default)]
struct Board {
    work: Mutex<Work>,
    changed: Condvar,
}

/// Gets housekeeping done. Dropping it ends the thread after its current task.
pub(super) struct Keeper {
    core: Arc<Core>,
    board: Arc<Board>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    pub(super) fn start(core: Arc<Core>) -> io::Result<Self> {
        let board = Arc::new(Board::default());
        let thread = match core.system.concurrency() {
            Concurrency::Inline => None,
            Concurrency::Threads => {
                let (core, board) = (Arc::clone(&core), Arc::clone(&board));
                let builder = std::thread::Builder::new().name("milepost-storage".into());
                Some(builder.spawn(move || work_until_stopped(&core, &board))?)
            }
        };
        Ok(Self { core, board, thread })
    }

    /// Has ready what a fresh start lacks.
    pub(super) fn make_ready(&self) {
        if let super::space::SpaceAhead::Prepare(meanwhile) = self.core.space_ahead() {
            self.prepare_spare(meanwhile);
        }
        if self.core.wants_reserve() {
            self.make_reserve();
        }
    }

    fn ask(&self, ask: impl FnOnce(&mut Work)) {
        ask(&mut locked(&self.board.work));
        if self.thread.is_some() {
            self.board.changed.notify_one();
            return;
        }
        loop {
            let task = locked(&self.board.work).next();
            match task {
                None | Some(Task::Stop) => return,
                Some(task) => perform(&self.core, task),
            }
        }
    }

    /// Has a spare file made; answers `meanwhile` when that takes its time.
    pub(super) fn prepare_spare(&self, meanwhile: Space) -> Space {
        self.ask(|work| work.prepare_spare = true);
        if self.thread.is_some() {
            return meanwhile;
        }
        if locked(&self.core.spares).ready.is_empty() { Space::Full } else { Space::Ready }
    }

    pub(super) fn make_reserve(&self) {
        self.ask(|work| work.make_reserve = true);
    }

    pub(super) fn retire(&self, files: Vec<LiveFile>) {
        self.ask(|work| work.retire.extend(files));
    }

    pub(super) fn checkpoint(&self, job: CheckpointJob) {
        self.ask(|work| work.checkpoint = Some(job));
    }
}

/// Nothing is changed after a failure: retiring a file when its elder could not be would leave a hole.
fn perform(core: &Core, task: Task) {
    let poisoned = core.poisoned().is_some();
    match task {
        // A checkpoint answers for itself.
        Task::Retire(_) | Task::PrepareSpare | Task::MakeReserve if poisoned => {}
        Task::Retire(file) => core.retire(&[file]),
        Task::PrepareSpare => core.prepare_spare(),
        Task::MakeReserve => core.make_reserve(),
        Task::Checkpoint(job) => checkpoint::perform(core, job),
        Task::Stop => {}
    }
}

fn work_until_stopped(core: &Core, board: &Board) {
    loop {
        let mut work = locked(&board.work);
        let task = loop {
            if let Some(task) = work.next() {
                break task;
            }
            work = board.changed.wait(work).unwrap_or_else(PoisonError::into_inner);
        };
        drop(work);
        if matches!(task, Task::Stop) {
            return;
        }
        perform(core, task);
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        locked(&self.board.work).stop = true;
        self.board.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported by the panic hook; there is nobody left to tell.
            let _ended = thread.join();
        }
    }
}
