//! The rooms below, driven by whoever leads: logs, metadata and the shards of groups, one turn at a time.
//!
//! A turn takes in what the disk completed, hands new calls to their shards, flushes, begins the round and gives the
//! answers out. It must never answer before what the answer rests on is durable (the shards' runtime sees to that),
//! and it lets no time pass for groups: nothing expires here.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use milepost_coordinator::{Answer, Coordinators, ShardRuntime, ShardStatus};
use milepost_groups::{FetchedPartition, FetchedTopic, Groups, Reply, partition_for};
use milepost_log::metadata::MetadataLog;
use milepost_log::{LogSet, Space};
use milepost_model::{Now, Ticket};

use crate::call::{Ask, Call, Given, Slot};
use crate::compaction::{CLEAN_STEP_BYTES, Compacting};
use crate::shared::locked;
use crate::{CommittedPartition, Error};

/// How long the leader sleeps at most before it looks at the disk again: a full one heals without telling.
const LOOK_AGAIN_MS: u64 = 50;
/// About how much of a shard's log is loaded at once.
const LOAD_STEP_BYTES: usize = 1 << 20;
/// How many such steps one turn takes: a load that waits for room on a full disk must not keep callers waiting.
const LOAD_STEPS_PER_TURN_MAX: usize = 1024;

/// Tells the leader that the disk has news; any thread may.
#[derive(Default)]
pub(crate) struct Signal {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    pub(crate) fn set(&self) {
        *locked(&self.is_set) = true;
        self.changed.notify_all();
    }

    fn wait(&self) {
        let is_set = locked(&self.is_set);
        let pause = Duration::from_millis(LOOK_AGAIN_MS);
        let waited = self.changed.wait_timeout_while(is_set, pause, |is_set| !*is_set);
        *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}

/// Everything behind a store.
pub(crate) struct Engine {
    pub(crate) logs: LogSet,
    pub(crate) metadata: MetadataLog,
    pub(crate) coordinators: Coordinators<Groups>,
    pub(crate) clock: Box<dyn Fn() -> Now + Send>,
    pub(crate) signal: Arc<Signal>,
    pub(crate) timeout_ms: u64,
    /// The calls that were handed to their shards and are not answered, oldest first.
    pub(crate) open: BTreeMap<Ticket, Call>,
    pub(crate) next_ticket: u64,
    pub(crate) compacting: Vec<Compacting>,
    /// The cleaner would get further at once.
    pub(crate) cleans_on: bool,
    pub(crate) closing: Option<Call>,
    pub(crate) is_stopped: bool,
}

impl Engine {
    /// Whether it was closed.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Who waits for a call that was taken in.
    pub(crate) fn open_slots(&self) -> impl Iterator<Item = &Arc<Slot>> {
        let compacting = self.compacting.iter().map(|compacting| &compacting.call);
        self.open.values().chain(compacting).chain(&self.closing).map(|call| &call.slot)
    }

    /// Takes calls in and lets everything happen that can happen now.
    pub(crate) fn turn(&mut self, calls: Vec<Call>) {
        let now = (self.clock)();
        self.complete(now);
        for _ in 0..LOAD_STEPS_PER_TURN_MAX {
            if !self.coordinators.has_load_work() || self.logs.poisoned().is_some() {
                break;
            }
            self.coordinators.load_step(&mut self.logs, now, LOAD_STEP_BYTES);
        }
        for call in calls {
            self.take_in(now, call);
        }
        self.coordinators.flush(&mut self.logs, now);
        self.give_answers();
        if !self.logs.is_flushing() {
            // An engine that works inline has the round durable when this returns.
            self.logs.begin_round(now);
            self.complete((self.clock)());
        }
        self.clean(now);
        self.give_up_late(now);
        self.stop_if_closing();
    }

    /// Waits for the disk, unless another turn would get further at once.
    pub(crate) fn wait_for_disk(&self) {
        let can_begin = self.logs.has_work() && !self.logs.is_flushing() && self.logs.space() != Space::Full;
        if !can_begin && !self.coordinators.has_load_work() && !self.cleans_on {
            self.signal.wait();
        }
    }

    /// Answers every open call with this error.
    pub(crate) fn fail_all(&mut self, error: &Error) {
        for call in std::mem::take(&mut self.open).into_values() {
            call.slot.complete(Err(error.clone()));
        }
        for compacting in std::mem::take(&mut self.compacting) {
            compacting.call.slot.complete(Err(error.clone()));
        }
        if let Some(closing) = self.closing.take() {
            self.is_stopped = true;
            closing.slot.complete(Err(error.clone()));
        }
    }

    fn take_in(&mut self, now: Now, mut call: Call) {
        if let Some(reason) = self.logs.poisoned() {
            let error = Error::Poisoned(reason.to_owned());
            self.is_stopped |= matches!(call.ask, Ask::Close);
            return call.slot.complete(Err(error));
        }
        let ticket = Ticket(self.next_ticket);
        let Some((group, request)) = call.ask.to_request() else {
            match call.ask {
                Ask::Compact => self.begin_compacting(call, now),
                _ => self.closing = Some(call),
            }
            return;
        };
        let count = self.coordinators.partition_count().unsigned_abs();
        self.next_ticket += 1;
        self.coordinators.submit(&mut self.logs, now, partition_for(group, count), ticket, request);
        call.since = now.monotonic;
        self.open.insert(ticket, call);
    }

    fn begin_compacting(&mut self, mut call: Call, now: Now) {
        call.since = now.monotonic;
        let ids = self.coordinators.shards().map(ShardRuntime::id).collect();
        self.compacting.push(Compacting::begin(call, &mut self.logs, ids, now));
    }

    /// Cleans a little, and answers who waits for it. A compaction that gets on is not late.
    fn clean(&mut self, now: Now) {
        if self.logs.space() == Space::Full {
            for compacting in std::mem::take(&mut self.compacting) {
                compacting.call.slot.complete(Err(Error::NoSpace));
            }
        }
        self.cleans_on = self.logs.clean(now, CLEAN_STEP_BYTES);
        let logs = &self.logs;
        let open = std::mem::take(&mut self.compacting).into_iter();
        self.compacting = open.filter_map(|compacting| compacting.answer_if_done(logs)).collect();
        if self.cleans_on {
            self.compacting.iter_mut().for_each(|compacting| compacting.call.since = now.monotonic);
        }
    }

    /// Takes in what the disk completed.
    fn complete(&mut self, now: Now) {
        let progress = self.logs.poll(now);
        if let Some(reason) = progress.poisoned {
            return self.fail_all(&Error::Poisoned(reason));
        }
        if !progress.advanced.is_empty() {
            // Topics change only where a server runs, so there is nothing to do but to know.
            let _changes = self.metadata.on_durable(&self.logs);
            self.coordinators.on_durable(&self.logs, &progress.advanced);
        }
        self.give_answers();
    }

    fn give_answers(&mut self) {
        let answers: Vec<_> = self.coordinators.drain_answers().collect();
        for (ticket, answer) in answers {
            let Some(call) = self.open.remove(&ticket) else { continue };
            let answer = match answer {
                Answer::Reply(reply) => given(reply),
                Answer::Refused(refusal) => Err(self.damage(&call).unwrap_or_else(|| refusal.into())),
            };
            call.slot.complete(answer);
        }
    }

    /// What is wrong with the log of the call's group, if its shard failed.
    fn damage(&self, call: &Call) -> Option<Error> {
        let (group, _) = call.ask.to_request()?;
        let count = self.coordinators.partition_count().unsigned_abs();
        match self.coordinators.status(partition_for(group, count))? {
            ShardStatus::Failed(failure) => Some(Error::Damaged(failure.to_string())),
            _ => None,
        }
    }

    /// Gives up on calls that waited too long for the disk.
    fn give_up_late(&mut self, now: Now) {
        let timeout_ms = self.timeout_ms;
        let is_late =
            |compacting: &mut Compacting| compacting.call.since.plus_ms(timeout_ms) <= now.monotonic;
        for late in self.compacting.extract_if(.., is_late) {
            late.call.slot.complete(Err(Error::TimedOut));
        }
        while let Some(oldest) = self.open.first_entry() {
            if oldest.get().since.plus_ms(self.timeout_ms) > now.monotonic {
                return;
            }
            let (ticket, call) = oldest.remove_entry();
            self.coordinators.forget(ticket);
            call.slot.complete(Err(Error::TimedOut));
        }
    }

    /// When all calls before a close are answered: the last checkpoint, and the end.
    fn stop_if_closing(&mut self) {
        if !self.open.is_empty() || !self.compacting.is_empty() {
            return;
        }
        let Some(closing) = self.closing.take() else { return };
        let result = self.stop();
        self.is_stopped = true;
        closing.slot.complete(result.map(|()| Given::Closed));
    }

    fn stop(&mut self) -> Result<(), Error> {
        let mut now = (self.clock)();
        let give_up_at = now.monotonic.plus_ms(self.timeout_ms);
        self.coordinators.close();
        self.logs.begin_clean_stop(now);
        loop {
            if let Some(reason) = self.logs.poll(now).poisoned {
                return Err(Error::Poisoned(reason));
            }
            self.logs.begin_round(now);
            if self.logs.is_cleanly_stopped() {
                return Ok(());
            }
            if give_up_at <= now.monotonic {
                tracing::warn!("closed without a last checkpoint; the next start replays the journal");
                return Ok(());
            }
            self.signal.wait();
            now = (self.clock)();
        }
    }
}

/// What a shard's reply says to the caller.
fn given(reply: Reply) -> Result<Given, Error> {
    match reply {
        Reply::Embedded(result) => Ok(Given::Generation(result?)),
        Reply::OffsetFetch(mut results) => match results.pop() {
            Some(Ok(committed)) => Ok(Given::Committed(committed)),
            Some(Err(reason)) => Err(Error::Offset { index: 0, reason }),
            None => Ok(Given::Committed(None)),
        },
        Reply::OffsetFetchAll(topics) => {
            let listed: Result<Vec<_>, _> = topics.iter().flat_map(listed).collect();
            Ok(Given::All(listed?))
        }
        // The shard answers what it was asked; anything else is not an answer.
        _ => Err(Error::Undecided),
    }
}

fn listed(topic: &FetchedTopic) -> impl Iterator<Item = Result<CommittedPartition, Error>> {
    topic.partitions.iter().enumerate().map(|(index, FetchedPartition { partition, offset })| match offset {
        Ok(committed) => Ok(CommittedPartition {
            topic: Arc::clone(&topic.topic),
            partition: *partition,
            committed: committed.clone(),
        }),
        Err(reason) => Err(Error::Offset { index, reason: *reason }),
    })
}
