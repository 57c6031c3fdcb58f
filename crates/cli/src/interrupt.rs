//! Ctrl-C and SIGTERM: the first asks the command to end in order, the second ends it at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use milepost_client::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::exit_code;
use crate::failure::Failure;

/// A flag that those signals set from now on.
pub(crate) fn catch() -> Result<Stop, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the flag is still down when the first signal passes the shutdown.
        signal_hook::flag::register_conditional_shutdown(
            signal,
            i32::from(exit_code::STOPPED),
            Arc::clone(&flag),
        )
        .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
        .map_err(|error| Failure::Failed(format!("signals cannot be caught: {error}")))?;
    }
    Ok(Stop::watching(flag))
}
