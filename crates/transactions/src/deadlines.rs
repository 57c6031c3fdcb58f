//! What time brings: transactions that take too long are aborted, and transactional ids that nobody uses expire.
//!
//! Each has a sweep of its own that is due at its interval and goes through its ids in bounded steps. A sweep is skipped
//! when the wall clock moved against the monotonic one by more than an interval: a wrong clock must not cost anybody a
//! transaction.

use std::sync::Arc;

use milepost_model::{Instant, Now, Ticket, TransactionEnd};

use crate::hard::{Hard, HardTransaction};
use crate::request::AbortTimedOut;
use crate::settings::{MAX_SWEEP_IDS, MAX_SWEEP_RECORDS};
use crate::soft::{Soft, Sweep};
use crate::transition::{Epoch, prepare};
use crate::turn::Turn;
use crate::{Effect, Reply, Transaction, TransactionError, TransactionSettings, TransactionState};

/// Decides when the first sweeps are due.
pub(crate) fn schedule(soft: &mut Soft, settings: &TransactionSettings, now: Now) {
    schedule_sweep(&mut soft.timeouts, settings.abort_timed_out_interval_ms, now);
    schedule_sweep(&mut soft.expiry, settings.remove_expired_interval_ms, now);
}

fn schedule_sweep(sweep: &mut Sweep, interval_ms: u64, now: Now) {
    sweep.due = Some((now.monotonic.plus_ms(interval_ms), now));
}

/// When a sweep has something to do next.
pub(crate) fn next_deadline(soft: &Soft) -> Option<Instant> {
    let sweeps = [&soft.timeouts, &soft.expiry];
    if sweeps.iter().any(|sweep| !sweep.remaining.is_empty()) {
        return Some(Instant::default());
    }
    sweeps.into_iter().filter_map(|sweep| sweep.due.map(|(due, _)| due)).min()
}

/// Goes on with the sweeps, or begins those that are due. Which ids one of them changes the other does not look at: no
/// id is both.
pub(crate) fn sweep(turn: &mut Turn<'_>) {
    let (now, settings, hard) = (turn.now, turn.settings, turn.hard);
    let timeouts =
        begin_if_due(&mut turn.soft.timeouts, settings.abort_timed_out_interval_ms, now, || hard.ongoing());
    let expiry = begin_if_due(&mut turn.soft.expiry, settings.remove_expired_interval_ms, now, || {
        hard.transactional_ids()
    });
    turn.counts.skipped_sweeps += timeouts + expiry;
    step(turn, |soft| &mut soft.timeouts, abort_if_timed_out);
    step(turn, |soft| &mut soft.expiry, remove_if_expired);
}

/// Begins a sweep, unless it is not due or the clock cannot be trusted. Says how many were skipped.
fn begin_if_due(sweep: &mut Sweep, interval_ms: u64, now: Now, ids: impl FnOnce() -> Vec<Arc<str>>) -> u64 {
    let Some((_, since)) = sweep.due.filter(|(due, _)| *due <= now.monotonic) else { return 0 };
    let is_trusted = now.clock_drift_ms(since) <= u128::from(interval_ms);
    if is_trusted && sweep.remaining.is_empty() {
        sweep.remaining = ids();
        sweep.remaining.reverse();
    }
    schedule_sweep(sweep, interval_ms, now);
    u64::from(!is_trusted)
}

/// Looks at some ids. The rest has its turn at the next call, which is wanted at once.
fn step(
    turn: &mut Turn<'_>,
    sweep: impl Fn(&mut Soft) -> &mut Sweep,
    look: impl Fn(&mut Turn<'_>, &HardTransaction),
) {
    for _ in 0..MAX_SWEEP_IDS {
        if turn.records.len() >= MAX_SWEEP_RECORDS {
            return;
        }
        let Some(id) = sweep(turn.soft).remaining.pop() else { return };
        let hard: &Hard = turn.hard;
        if let Some(hard) = hard.transaction(&id) {
            look(turn, hard);
        }
    }
}

fn is_timed_out(transaction: &Transaction, now: Now) -> bool {
    let has_timeout = transaction.timeout_ms != Transaction::NO_TIMEOUT_MS;
    let is_over = |start: milepost_model::Timestamp| start.plus_ms(transaction.timeout_ms.into()) < now.wall;
    has_timeout && transaction.state == TransactionState::Ongoing && transaction.start.is_some_and(is_over)
}

fn abort_if_timed_out(turn: &mut Turn<'_>, hard: &HardTransaction) {
    if !is_timed_out(hard.transaction(), turn.now) {
        return;
    }
    let version = turn.settings.transaction_version;
    let aborted = prepare(turn, hard, TransactionEnd::Abort, version, Epoch::Fence, None);
    match aborted {
        Ok(_) => turn.counts.timed_out += 1,
        Err(TransactionError::ProducerIdRequired) => turn.effects.push(Effect::TakeProducerId {
            transactional_id: Arc::clone(hard.id()),
            producer: hard.transaction().producer,
        }),
        Err(_) => {}
    }
}

/// Aborts a transaction that timed out and whose producer has no epoch left, if that is still so.
pub(crate) fn abort_timed_out(turn: &mut Turn<'_>, ticket: Ticket, request: &AbortTimedOut<'_>) {
    let hard = turn.hard.transaction(request.transactional_id);
    if let Some(hard) = hard
        && hard.transaction().producer == request.producer
        && is_timed_out(hard.transaction(), turn.now)
    {
        let version = turn.settings.transaction_version;
        let fresh_producer_id = Some(request.fresh_producer_id);
        let aborted = prepare(turn, hard, TransactionEnd::Abort, version, Epoch::Fence, fresh_producer_id);
        debug_assert!(aborted.is_ok(), "the only thing that was missing is a producer id");
        turn.counts.timed_out += u64::from(aborted.is_ok());
    }
    turn.answer(hard, ticket, Reply::Noted);
}

fn remove_if_expired(turn: &mut Turn<'_>, hard: &HardTransaction) {
    let transaction = hard.transaction();
    let is_idle = matches!(transaction.state, TransactionState::Empty | TransactionState::Complete(_));
    let idle_ms = turn.now.wall.0.saturating_sub(transaction.last_update.0);
    if is_idle && idle_ms >= turn.settings.expiration_ms {
        turn.soft.forget(hard.id());
        turn.remove(hard.id());
        turn.counts.expired_ids += 1;
    }
}
