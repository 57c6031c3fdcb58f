//! The driver: lets every ready connection hand in its frames, takes one step of the node, sends what is ready.

use std::rc::Rc;

use super::{ServeError, Shared};
use crate::node::Phase;

/// How long a stop may wait for clients to take their last answers.
const STOP_FLUSH_MS: u64 = 2_000;

/// Runs until the node has stopped.
pub(super) async fn drive(shared: &Rc<Shared>) -> Result<(), ServeError> {
    let mut was_open = false;
    loop {
        // One pass of the scheduler: connections that have bytes hand in their frames, so that one disk wait serves
        // them all.
        tokio::task::yield_now().await;
        if shared.panicked.get() {
            return Err(ServeError::Panicked);
        }
        let more = shared.node.borrow_mut().step(shared.clock.now());
        send_ready(shared);
        shared.node.borrow_mut().note_sent(|| shared.clock.now());
        if !was_open && shared.node.borrow().is_open() {
            // Whoever connected before the first metadata was durable waits since then.
            was_open = true;
            shared.wires.borrow().values().for_each(|wire| wire.wake_reader());
        }
        let phase = shared.node.borrow().phase();
        match phase {
            Phase::Failed(reason) => return Err(ServeError::Poisoned(reason)),
            Phase::Stopped => {
                flush_all(shared).await;
                return Ok(());
            }
            Phase::Running | Phase::Stopping => {}
        }
        if !more {
            wait(shared).await;
        }
    }
}

async fn wait(shared: &Rc<Shared>) {
    let deadline = shared.node.borrow().next_deadline();
    match deadline {
        None => shared.work.notified().await,
        Some(at) => {
            tokio::select! {
                () = shared.work.notified() => {}
                () = tokio::time::sleep_until(shared.clock.tokio_instant(at)) => {}
            }
        }
    }
}

/// One write per connection that has something to say.
fn send_ready(shared: &Rc<Shared>) {
    let ready = shared.node.borrow_mut().take_with_output();
    if ready.is_empty() {
        return;
    }
    let wires = shared.wires.borrow();
    for id in ready {
        if let Some(wire) = wires.get(&id) {
            wire.send(&mut shared.node.borrow_mut());
        }
    }
}

async fn flush_all(shared: &Rc<Shared>) {
    let wires: Vec<_> = shared.wires.borrow().values().cloned().collect();
    let flushed = async {
        for wire in wires {
            wire.flushed().await;
        }
    };
    if tokio::time::timeout(std::time::Duration::from_millis(STOP_FLUSH_MS), flushed).await.is_err() {
        tracing::warn!("a client did not take its last answers within {STOP_FLUSH_MS} ms");
    }
}
