//! One call from the moment it is made to its answer: what is asked, who waits, and the future that waits.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use milepost_groups::{
    CommittedOffset, EmbeddedRequest, OffsetFetch, PartitionToFetch, PartitionsToFetch, Request, Stability,
};
use milepost_model::{Generation, Instant, PartitionIndex};

use crate::shared::{Shared, locked};
use crate::{CommittedPartition, Compaction, Error, NextOffset};

/// Why calls end that nobody answered.
pub(crate) const LOST: &str = "a caller panicked while it flushed";

/// What is asked.
#[derive(Debug)]
pub(crate) enum Ask {
    Rebalance { group: String },
    Generation { group: String },
    Commit { group: String, generation: Generation, offsets: Vec<NextOffset> },
    Committed { group: String, topic: String, partition: PartitionIndex },
    CommittedAll { group: String },
    Delete { group: String },
    Forget { group: String },
    Compact,
    Close,
}

/// What is answered.
#[derive(Debug)]
pub(crate) enum Given {
    Generation(Option<Generation>),
    Committed(Option<CommittedOffset>),
    All(Vec<CommittedPartition>),
    Compacted(Compaction),
    Closed,
}

/// A call on its way. Wherever it is dropped, who waits for it is answered.
pub(crate) struct Call {
    pub(crate) ask: Ask,
    pub(crate) slot: Arc<Slot>,
    /// When it was handed to the engine.
    pub(crate) since: Instant,
}

impl Call {
    pub(crate) fn new(ask: Ask, slot: Arc<Slot>) -> Self {
        Self { ask, slot, since: Instant::default() }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.slot.complete(Err(Error::Poisoned(LOST.to_owned())));
    }
}

impl Ask {
    /// The group it is about and the request to its shard; `None` for what is no shard's business.
    pub(crate) fn to_request(&self) -> Option<(&str, Request<'_>)> {
        let stability = Stability::CommittedNow;
        Some(match self {
            Self::Rebalance { group } => {
                (group, Request::Embedded(EmbeddedRequest::Rebalance { group_id: group }))
            }
            Self::Generation { group } => {
                (group, Request::Embedded(EmbeddedRequest::Generation { group_id: group }))
            }
            Self::Commit { group, generation, offsets } => {
                let offsets = offsets.iter().map(NextOffset::to_request).collect();
                let commit = EmbeddedRequest::Commit { group_id: group, generation: *generation, offsets };
                (group, Request::Embedded(commit))
            }
            Self::Committed { group, topic, partition } => {
                let asked = PartitionToFetch { topic, topic_id: None, partition: *partition };
                let partitions = PartitionsToFetch::Named(vec![asked]);
                (
                    group,
                    Request::OffsetFetch(OffsetFetch {
                        group_id: group,
                        partitions,
                        stability,
                        member_id: None,
                        member_epoch: None,
                    }),
                )
            }
            Self::CommittedAll { group } => {
                let partitions = PartitionsToFetch::All;
                (
                    group,
                    Request::OffsetFetch(OffsetFetch {
                        group_id: group,
                        partitions,
                        stability,
                        member_id: None,
                        member_epoch: None,
                    }),
                )
            }
            Self::Delete { group } => {
                (group, Request::Embedded(EmbeddedRequest::DeleteOffsets { group_id: group }))
            }
            Self::Forget { group } => (group, Request::Embedded(EmbeddedRequest::Forget { group_id: group })),
            Self::Compact | Self::Close => return None,
        })
    }
}

/// Where the answer to a call is put, and who waits for it there.
pub(crate) struct Slot {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    answer: Option<Result<Given, Error>>,
    is_answered: bool,
    /// It is this caller's turn to lead.
    is_heir: bool,
    waiter: Waiter,
}

/// Who waits.
enum Waiter {
    /// A thread, which stays until it is answered.
    Thread,
    /// A task, which may be dropped at any moment.
    Task(Option<Waker>),
}

/// Why a waiting thread goes on.
pub(crate) enum Woken {
    /// It is answered.
    Answered(Result<Given, Error>),
    /// It is to lead.
    Heir,
}

impl Slot {
    pub(crate) fn of_thread() -> Arc<Self> {
        Self::new(Waiter::Thread)
    }

    pub(crate) fn of_task() -> Arc<Self> {
        Self::new(Waiter::Task(None))
    }

    fn new(waiter: Waiter) -> Arc<Self> {
        let state = State { answer: None, is_answered: false, is_heir: false, waiter };
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new() })
    }

    /// Puts the answer down and tells who waits. Only the first answer counts.
    pub(crate) fn complete(&self, answer: Result<Given, Error>) {
        let mut state = locked(&self.state);
        if state.is_answered {
            return;
        }
        state.answer = Some(answer);
        state.is_answered = true;
        drop(state);
        self.wake();
    }

    pub(crate) fn is_answered(&self) -> bool {
        locked(&self.state).is_answered
    }

    /// Wakes who waits.
    pub(crate) fn wake(&self) {
        let waker = match &mut locked(&self.state).waiter {
            Waiter::Thread => None,
            Waiter::Task(waker) => waker.take(),
        };
        self.changed.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Makes a waiting thread the next leader. A task is never appointed: it may be dropped before it hears of it.
    pub(crate) fn appoint(&self) -> bool {
        let mut state = locked(&self.state);
        if state.is_answered || !matches!(state.waiter, Waiter::Thread) {
            return false;
        }
        state.is_heir = true;
        drop(state);
        self.changed.notify_all();
        true
    }

    /// Blocks the thread until it is answered or appointed.
    pub(crate) fn wait(&self) -> Woken {
        let mut state = locked(&self.state);
        loop {
            if let Some(answer) = state.answer.take() {
                return Woken::Answered(answer);
            }
            if std::mem::take(&mut state.is_heir) {
                return Woken::Heir;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The answer, or else the waker is told when it is there.
    fn answer_or_register(&self, waker: &Waker) -> Option<Result<Given, Error>> {
        let mut state = locked(&self.state);
        if state.answer.is_none() {
            state.waiter = Waiter::Task(Some(waker.clone()));
        }
        state.answer.take()
    }
}

/// A commit as a [`Future`]; it is ready when the commit is durable.
///
/// Nothing happens before the first poll. The first poll only gets in line, so that futures polled together share one
/// flush; a later one that finds no flush running performs it and takes a disk wait. A future that is dropped after its
/// first poll leaves it open whether the commit is stored.
#[must_use = "a future does nothing unless polled"]
pub struct CommitFuture {
    shared: Arc<Shared>,
    stage: Stage,
}

enum Stage {
    New(Result<Ask, Error>),
    InLine(Arc<Slot>),
    Ended,
}

impl CommitFuture {
    pub(crate) fn new(shared: Arc<Shared>, ask: Result<Ask, Error>) -> Self {
        Self { shared, stage: Stage::New(ask) }
    }
}

impl Future for CommitFuture {
    type Output = Result<(), Error>;

    /// # Panics
    /// When it is polled after it was ready.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let slot = match std::mem::replace(&mut this.stage, Stage::Ended) {
            Stage::New(Err(error)) => return Poll::Ready(Err(error)),
            Stage::New(Ok(ask)) => {
                let slot = Slot::of_task();
                if let Err(error) = this.shared.get_in_line(Call::new(ask, Arc::clone(&slot))) {
                    return Poll::Ready(Err(error));
                }
                this.stage = Stage::InLine(slot);
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Stage::InLine(slot) => slot,
            Stage::Ended => panic!("the commit was polled after it was ready"),
        };
        let mut answer = slot.answer_or_register(context.waker());
        if answer.is_none() && this.shared.try_to_lead(&slot) {
            answer = slot.answer_or_register(context.waker());
        }
        match answer {
            Some(answer) => Poll::Ready(answer.map(|_| ())),
            None => {
                this.stage = Stage::InLine(slot);
                Poll::Pending
            }
        }
    }
}
