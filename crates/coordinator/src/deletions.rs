//! Topics that were deleted, until the shard has written down what follows from it.
//!
//! A shard is told once it is loaded. It is told again when its answer could not be written (a full disk) or was lost with
//! its state: offsets of a topic that is gone must not come back.

use std::collections::VecDeque;
use std::sync::Arc;

use milepost_model::{DeletedTopic, Offset};

/// Topics of one telling, shared by all shards.
pub(crate) type Topics = Arc<[DeletedTopic]>;

#[derive(Default)]
pub(crate) struct Deletions {
    untold: VecDeque<Topics>,
    /// What the shard was told of, and the last record that it wrote about it, which is not durable yet.
    told: VecDeque<(Offset, Topics)>,
}

impl Deletions {
    pub(crate) fn add(&mut self, topics: Topics) {
        self.untold.push_back(topics);
    }

    pub(crate) fn has_untold(&self) -> bool {
        !self.untold.is_empty()
    }

    /// What to tell next. It comes back by [`Deletions::told`] or [`Deletions::put_back`].
    pub(crate) fn take_untold(&mut self) -> Option<Topics> {
        self.untold.pop_front()
    }

    /// The shard was told and wrote up to `until`; `None`: it had nothing to write.
    pub(crate) fn told(&mut self, topics: Topics, until: Option<Offset>) {
        if let Some(until) = until {
            self.told.push_back((until, topics));
        }
    }

    /// What the shard wanted to write was refused.
    pub(crate) fn put_back(&mut self, topics: Topics) {
        self.untold.push_front(topics);
    }

    /// Forgets what is written for good.
    pub(crate) fn on_durable(&mut self, high_watermark: Offset) {
        while self.told.pop_front_if(|(until, _)| *until < high_watermark).is_some() {}
    }

    /// The shard is loaded anew: what it wrote may be lost.
    pub(crate) fn tell_again(&mut self) {
        while let Some((_, topics)) = self.told.pop_back() {
            self.untold.push_front(topics);
        }
    }

    /// Nobody will be told any more.
    pub(crate) fn clear(&mut self) {
        self.untold.clear();
        self.told.clear();
    }
}
