//! Requests that wait for the metadata log: their answer leaves when the records it rests on are durable.

use std::collections::VecDeque;

use milepost_model::Offset;

use super::RequestKey;
use crate::config_changes::Altered;
use crate::handlers::{create_partitions, create_topics, delete_topics};

/// What is answered once the metadata is durable.
#[derive(Debug)]
pub(crate) enum TopicWait {
    /// CreateTopics, with the results so far.
    Create(Vec<create_topics::Created>),
    /// DeleteTopics.
    Delete(Vec<delete_topics::Deleted>),
    /// CreatePartitions.
    Partitions(Vec<create_partitions::Grown>),
    /// AlterConfigs.
    AlterConfigs(Vec<Altered>),
    /// IncrementalAlterConfigs.
    IncrementalAlterConfigs(Vec<Altered>),
}

#[derive(Debug)]
struct Waiting {
    needs: Offset,
    key: RequestKey,
    wait: TopicWait,
}

/// All of them, in the order of the metadata log.
#[derive(Debug, Default)]
pub(crate) struct TopicWaits {
    waiting: VecDeque<Waiting>,
}

impl TopicWaits {
    /// Waits until the record at `needs` is durable.
    pub(crate) fn park(&mut self, needs: Offset, key: RequestKey, wait: TopicWait) {
        self.waiting.push_back(Waiting { needs, key, wait });
    }

    /// Takes what waits for records below `durable_end`.
    pub(crate) fn take_below(&mut self, durable_end: Offset) -> Vec<(RequestKey, TopicWait)> {
        let mut ready = Vec::new();
        while self.waiting.front().is_some_and(|waiting| waiting.needs < durable_end) {
            let waiting = self.waiting.pop_front().expect("the front was just looked at");
            ready.push((waiting.key, waiting.wait));
        }
        ready
    }
}
