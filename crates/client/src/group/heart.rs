//! Heartbeats, in a thread and over connections of their own: whatever the member is busy with, the group hears of it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use milepost_model::Generation;
use milepost_wire::messages::heartbeat::{HeartbeatRequest, HeartbeatResponse};
use milepost_wire::{ApiKey, ErrorCode};

use super::GroupOptions;
use crate::cluster::{Cluster, Target};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::stop::Stop;

/// What the coordinator last said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pulse {
    /// The generation holds, as far as is known.
    Steady,
    /// The group is forming another one.
    Rebalance,
    /// The group has gone on without this member.
    Lost(ErrorCode),
}

#[derive(Debug)]
struct State {
    /// The place to speak for, if there is one now.
    place: Option<(Generation, String)>,
    pulse: Pulse,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    stop: Stop,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing can panic while it is held; were it so, the state would still be whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handle to the thread. Dropping it ends the thread soon after.
#[derive(Debug)]
pub(super) struct Heart {
    shared: Arc<Shared>,
}

impl Heart {
    /// Starts the thread; it says nothing until there is a place to speak for.
    ///
    /// # Errors
    /// When no second connection to the cluster can be made.
    pub(super) fn start(cluster: &Cluster, options: &GroupOptions) -> Result<Self, ClientError> {
        let stop = Stop::default();
        let cluster = cluster.another(stop.clone())?;
        let state = Mutex::new(State { place: None, pulse: Pulse::Steady });
        let shared = Arc::new(Shared { state, changed: Condvar::new(), stop });
        let (of_thread, group) = (Arc::clone(&shared), options.group.clone());
        let interval = options.heartbeat_interval;
        std::thread::spawn(move || beat(&of_thread, cluster, &group, interval));
        Ok(Self { shared })
    }

    /// Speaks for this place from now on, or for none.
    pub(super) fn speak_for(&self, place: Option<(Generation, String)>) {
        let mut state = self.shared.lock();
        state.place = place;
        state.pulse = Pulse::Steady;
        self.shared.changed.notify_all();
    }

    /// What the coordinator last said of that place.
    pub(super) fn pulse(&self) -> Pulse {
        self.shared.lock().pulse
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.shared.stop.set();
        self.shared.changed.notify_all();
    }
}

fn beat(shared: &Shared, mut cluster: Cluster, group: &str, interval: Duration) {
    let mut state = shared.lock();
    while !shared.stop.is_set() {
        let Some(place) = state.place.clone() else {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        drop(state);
        let deadline = Deadline::after(cluster.options().timeout);
        let said = cluster.with(Target::Coordinator(group), deadline, |connection| {
            heartbeat(connection, group, &place, deadline)
        });
        state = shared.lock();
        // An error is no verdict: the next heartbeat, or a commit, will bring one.
        if let Ok(pulse) = said
            && state.place.as_ref() == Some(&place)
        {
            state.pulse = pulse;
        }
        let waited = shared.changed.wait_timeout_while(state, interval, |state| {
            !shared.stop.is_set() && state.place.as_ref() == Some(&place)
        });
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

fn heartbeat(
    connection: &mut Connection,
    group: &str,
    (generation, member_id): &(Generation, String),
    deadline: Deadline,
) -> Result<Pulse, ClientError> {
    let version = connection.version(ApiKey::Heartbeat)?;
    let request = HeartbeatRequest {
        group_id: group,
        generation_id: generation.0,
        member_id,
        ..HeartbeatRequest::default()
    };
    let answer: HeartbeatResponse = connection.call(&request, version, deadline)?.decode()?;
    match answer.error_code {
        ErrorCode::None => Ok(Pulse::Steady),
        ErrorCode::RebalanceInProgress => Ok(Pulse::Rebalance),
        code if ClientError::refused("", code, None).is_transient() => {
            Err(ClientError::refused(format!("group {group}"), code, None))
        }
        code => Ok(Pulse::Lost(code)),
    }
}
