//! Every topic name in use once, shared by all groups of a shard.

use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashSet;

/// How many names the table holds before it is first cleared of unused ones.
pub(super) const FIRST_SWEEP: usize = 1_024;

/// The table of shared names.
#[derive(Debug)]
pub(super) struct TopicNames {
    names: HashSet<Arc<str>, FixedState>,
    /// Names nobody uses any more are dropped when the table has grown to this size.
    next_sweep: usize,
}

impl TopicNames {
    pub(super) fn new(hash_state: FixedState) -> Self {
        Self { names: HashSet::with_hasher(hash_state), next_sweep: FIRST_SWEEP }
    }

    /// The shared copy of a name, if it is in use.
    pub(super) fn get(&self, topic: &str) -> Option<&Arc<str>> {
        self.names.get(topic)
    }

    /// The shared copy of a name, which becomes this one if there is none yet.
    pub(super) fn share(&mut self, topic: &Arc<str>) -> Arc<str> {
        if let Some(shared) = self.names.get(topic) {
            return Arc::clone(shared);
        }
        if self.names.len() >= self.next_sweep {
            self.names.retain(|name| Arc::strong_count(name) > 1);
            self.next_sweep = (2 * self.names.len()).max(FIRST_SWEEP);
        }
        self.names.insert(Arc::clone(topic));
        Arc::clone(topic)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}
