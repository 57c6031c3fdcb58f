//! A flag that ends waiting: set once, from a signal handler or another thread, and seen by everything that waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the caller still wants an answer. Clones are one and the same flag.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A flag that somebody else sets, such as a signal handler.
    #[must_use]
    pub fn watching(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// Ends all waiting, now and from here on.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
