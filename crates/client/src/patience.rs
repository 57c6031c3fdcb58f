//! What is known of brokers that do not answer, so that a command with many questions waits for them once and not once a
//! question.
//!
//! An operation that asks many brokers waits for all of them until its deadline. When some have not answered by then, those
//! that follow within [`REMEMBERED`] wait for nobody any more: what can be had at once is had, and what cannot has its error.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::ClientError;

/// How long it counts that somebody was waited for in vain. After that a whole operation is spent on it again, for those who
/// go on for hours and want to know when the broker is back.
const REMEMBERED: Duration = Duration::from_secs(60);
/// How long what may pass is waited for meanwhile: enough for a group whose coordinator has just moved.
const SHORT: Duration = Duration::from_secs(1);

/// Whom it is still worth waiting for.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// When an operation waited to its end in vain.
    gave_up: Option<Instant>,
    /// Brokers that did not answer when they were last asked, and how that showed. At most one for each broker.
    silent: BTreeMap<Address, ClientError>,
}

impl Patience {
    /// Until when an operation may wait for what may pass.
    pub(crate) fn until(&self, deadline: Deadline) -> Deadline {
        if self.is_lost() { deadline.or_after(SHORT) } else { deadline }
    }

    /// Why it is no use to ask this broker now, if it is none.
    pub(crate) fn refuses(&self, address: &Address) -> Option<ClientError> {
        self.silent.get(address).filter(|_| self.is_lost()).cloned()
    }

    /// What came of asking a broker.
    pub(crate) fn note(&mut self, address: &Address, outcome: &Result<(), ClientError>) {
        match outcome {
            Err(error) if error.is_connection() => {
                self.silent.insert(address.clone(), error.clone());
            }
            _ => drop(self.silent.remove(address)),
        }
    }

    /// An operation has waited to its deadline and goes without some answers.
    pub(crate) fn give_up(&mut self) {
        // What follows at once adds nothing to it: the time counts from the one that waited.
        if !self.is_lost() {
            self.gave_up = Some(Instant::now());
        }
    }

    fn is_lost(&self) -> bool {
        self.gave_up.is_some_and(|at| at.elapsed() < REMEMBERED)
    }
}
