//! Group commit among the callers: who leads, who follows, and how the lead goes from one to the next.
//!
//! Calls get in line. The caller that finds nobody leading leads: it hands everything that is in line to the engine,
//! which flushes once for all of it, and goes on until its own call is answered. While it does so others get in line;
//! then one of those whose call is still open leads. There is no thread for it: a caller whose call is answered leaves.
//!
//! What holds whenever nobody is inside a lock: if a call is open, somebody leads, or a thread that waits has been
//! appointed to, or every open call is a task's that was woken and has yet to be polled.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Error;
use crate::call::{Ask, Call, Given, LOST, Slot, Woken};
use crate::engine::Engine;

/// How many calls may stand in line at once. Threads are their own bound; this one is for tasks.
pub(crate) const CALLS_IN_LINE_MAX: usize = 65_536;

/// What all clones of a store share. Locks are taken in this order: engine, line, slot.
pub(crate) struct Shared {
    line: Mutex<Line>,
    /// `None` once the store is closed. Only the leader takes it.
    engine: Mutex<Option<Engine>>,
}

struct Line {
    calls: Vec<Call>,
    is_led: bool,
    /// Why no call is taken any more.
    ended: Option<Error>,
}

/// Locks, whoever panicked before: what a lock guards here is whole between any two statements that can panic.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn new(engine: Engine) -> Self {
        let line = Line { calls: Vec::new(), is_led: false, ended: None };
        Self { line: Mutex::new(line), engine: Mutex::new(Some(engine)) }
    }

    /// Asks, and blocks until it is answered.
    pub(crate) fn ask(&self, ask: Ask) -> Result<Given, Error> {
        let slot = Slot::of_thread();
        self.get_in_line(Call::new(ask, Arc::clone(&slot)))?;
        self.try_to_lead(&slot);
        loop {
            match slot.wait() {
                Woken::Answered(answer) => return answer,
                Woken::Heir => self.lead(&slot),
            }
        }
    }

    /// Puts a call into the line. After a [`Ask::Close`] nobody else gets in.
    pub(crate) fn get_in_line(&self, call: Call) -> Result<(), Error> {
        let mut line = locked(&self.line);
        if let Some(error) = &line.ended {
            return Err(error.clone());
        }
        if matches!(call.ask, Ask::Close) {
            line.ended = Some(Error::Closed);
        } else if line.calls.len() >= CALLS_IN_LINE_MAX {
            return Err(Error::Busy);
        }
        line.calls.push(call);
        Ok(())
    }

    /// Leads until `own` is answered, if nobody leads. Says whether it did.
    pub(crate) fn try_to_lead(&self, own: &Slot) -> bool {
        let is_led = std::mem::replace(&mut locked(&self.line).is_led, true);
        if !is_led {
            self.lead(own);
        }
        !is_led
    }

    /// Leads until `own` is answered. The caller has been made the leader.
    fn lead(&self, own: &Slot) {
        let panicked = FailAll(self);
        let mut guard = locked(&self.engine);
        if let Some(engine) = guard.as_mut() {
            loop {
                let calls = std::mem::take(&mut locked(&self.line).calls);
                engine.turn(calls);
                if own.is_answered() {
                    break;
                }
                engine.wait_for_disk();
            }
            self.hand_over(engine);
        } else {
            // Closed meanwhile; nothing that was in line then is open.
            locked(&self.line).is_led = false;
        }
        if guard.as_ref().is_some_and(Engine::is_stopped) {
            *guard = None;
        }
        drop(guard);
        std::mem::forget(panicked);
    }

    /// Gives the lead to somebody whose call is open: a thread if there is one, else to the first task that is polled.
    fn hand_over(&self, engine: &Engine) {
        let mut line = locked(&self.line);
        let open = || engine.open_slots().chain(line.calls.iter().map(|call| &call.slot));
        if open().any(|slot| slot.appoint()) {
            return;
        }
        let tasks: Vec<_> = open().map(Arc::clone).collect();
        line.is_led = false;
        drop(line);
        tasks.iter().for_each(|slot| slot.wake());
    }

    fn fail_all(&self) {
        let mut engine = locked(&self.engine);
        let mut line = locked(&self.line);
        line.ended = Some(Error::Poisoned(LOST.to_owned()));
        line.is_led = false;
        let calls = std::mem::take(&mut line.calls);
        drop(line);
        // Dropping a call answers it, those that the engine has too.
        drop(calls);
        *engine = None;
    }
}

/// Fails every call when the leader panics, so that nobody waits for ever for a lead that nobody has.
struct FailAll<'a>(&'a Shared);

impl Drop for FailAll<'_> {
    fn drop(&mut self) {
        self.0.fail_all();
    }
}
