//! What happens when something became durable or its time came: high watermarks move, answers leave.

use milepost_log::metadata::MetadataChange;
use milepost_model::{DeletedTopic, Now, PartitionIndex, TopicPartition, WithoutId};
use milepost_storage::Space;
use milepost_wire::ErrorCode;

use super::{Node, TopicWait};
use crate::handlers::fetch::Patience;
use crate::handlers::{
    alter_configs, create_partitions, create_topics, delete_records, delete_topics, fetch,
    incremental_alter_configs, produce, write_txn_markers,
};
use crate::topics::{self, TRANSACTIONS_TOPIC};

impl Node {
    /// Takes in what the storage completed.
    pub(super) fn complete(&mut self, now: Now) {
        let progress = self.logs.poll(now);
        if let Some(reason) = progress.poisoned {
            self.fail(reason);
            return;
        }
        if progress.advanced.is_empty() {
            return;
        }
        self.apply_metadata(now);
        for partition in &progress.advanced {
            self.release_partition(now, *partition);
        }
        self.coordinators.on_durable(&self.logs, &progress.advanced);
        if let Some(transactions) = &mut self.transactions.coordinators {
            transactions.on_durable(&self.logs, &progress.advanced);
        }
        self.release_answers(now);
    }

    fn release_partition(&mut self, now: Now, partition: TopicPartition) {
        let Some(log) = self.logs.log(partition) else { return };
        let (start, end) = (log.log_start_offset(), log.high_watermark());
        for wait in self.produces.advance(partition, end) {
            produce::finish(self, &wait);
        }
        for wait in self.deletions.advance(partition, start) {
            delete_records::finish(self, &wait);
        }
        for wait in self.markers.advance(partition, end) {
            write_txn_markers::finish(self, &wait);
        }
        self.advance_markers(now, partition, end);
        for wait in self.fetches.watching(partition) {
            fetch::answer_or_park(self, wait, Patience::UntilDeadline);
        }
    }

    /// Applies the metadata that became durable, then answers those who waited for it.
    fn apply_metadata(&mut self, now: Now) {
        for change in self.metadata.on_durable(&self.logs) {
            match change {
                MetadataChange::TopicChanged { after, .. } => {
                    self.cluster_topics.changed();
                    topics::open_partitions(self, &after);
                }
                MetadataChange::TopicCreated(topic) => {
                    self.cluster_topics.topic_added();
                    topics::open_partitions(self, &topic);
                    if topic.name == TRANSACTIONS_TOPIC && self.transactions.coordinators.is_none() {
                        self.open_transaction_coordinators(&topic);
                    }
                }
                MetadataChange::TopicDeleted(topic) => self.drop_topic(now, &topic),
                MetadataChange::GroupConfigsChanged => self.cluster_topics.changed(),
                MetadataChange::ProducerIdsTaken { to, .. } => {
                    self.producer_ids.reserved(to);
                    self.give_producer_ids(now);
                }
                MetadataChange::ClusterIdChosen => {}
            }
        }
        let metadata = self.logs.log(milepost_log::metadata::METADATA_PARTITION);
        let Some(end) = metadata.map(milepost_log::PartitionLog::high_watermark) else { return };
        for (key, wait) in self.topics.take_below(end) {
            match wait {
                TopicWait::Create(created) => create_topics::finish(self, key, &created),
                TopicWait::Delete(deleted) => delete_topics::finish(self, key, &deleted),
                TopicWait::Partitions(grown) => create_partitions::finish(self, key, &grown),
                TopicWait::AlterConfigs(altered) => alter_configs::finish(self, key, &altered),
                TopicWait::IncrementalAlterConfigs(altered) => {
                    incremental_alter_configs::finish(self, key, &altered);
                }
            }
        }
    }

    /// The logs of a deleted topic go, and the offsets that groups committed for it.
    fn drop_topic(&mut self, now: Now, topic: &milepost_log::metadata::Topic) {
        self.cluster_topics.changed();
        self.unopened.remove(&topic.id);
        for partition in (0..topic.partition_count).map(PartitionIndex) {
            let id = TopicPartition { topic: topic.id, partition };
            self.logs.delete_partition(id);
            for wait in self.fetches.watching(id) {
                fetch::answer_or_park(self, wait, Patience::None);
            }
            for wait in self.produces.forget_partition(id) {
                produce::time_out(self, wait);
            }
            for wait in self.deletions.forget_partition(id) {
                delete_records::give_up(self, wait, ErrorCode::NotLeaderOrFollower);
            }
            for wait in self.markers.forget_partition(id) {
                write_txn_markers::give_up(self, wait, ErrorCode::UnknownTopicOrPartition);
            }
            self.forget_markers(now, id);
        }
        let deleted = DeletedTopic { name: topic.name.clone(), id: topic.id, without_id: WithoutId::Goes };
        self.coordinators.on_topics_deleted(&mut self.logs, now, &[deleted].into());
    }

    /// Tries again to make the logs of topics for which there was no room.
    pub(super) fn open_missing_logs(&mut self) {
        if self.logs.space() == Space::Full {
            return;
        }
        for id in std::mem::take(&mut self.unopened) {
            if let Some(topic) = self.metadata.image().topic_by_id(id).cloned() {
                topics::open_partitions(self, &topic);
            }
        }
    }

    /// Lets what ran out of time end.
    pub(super) fn expire(&mut self, now: Now) {
        for wait in self.produces.expired(now.monotonic) {
            produce::time_out(self, wait);
        }
        for wait in self.deletions.expired(now.monotonic) {
            delete_records::give_up(self, wait, ErrorCode::RequestTimedOut);
        }
        for wait in self.fetches.expired(now.monotonic) {
            fetch::answer_or_park(self, wait, Patience::None);
        }
        for wait in self.markers.expired(now.monotonic) {
            write_txn_markers::give_up(self, wait, ErrorCode::RequestTimedOut);
        }
        if self.coordinators.next_deadline().is_some_and(|deadline| deadline <= now.monotonic) {
            self.coordinators.on_deadline(&mut self.logs, now);
            self.log_skipped_sweeps();
        }
        if let Some(transactions) = &mut self.transactions.coordinators
            && transactions.next_deadline().is_some_and(|deadline| deadline <= now.monotonic)
        {
            transactions.on_deadline(&mut self.logs, now);
            self.transactions.log_skipped_sweeps();
        }
        self.retry_markers(now);
        self.give_up_held(now);
    }

    fn log_skipped_sweeps(&mut self) {
        let skipped = self.coordinators.counts().skipped_sweeps;
        if skipped > self.logged_skips {
            tracing::warn!(
                "the wall clock was set by more than offsets.retention.check.interval.ms: expired offsets are not \
                 looked for this time ({} coordinators)",
                skipped - self.logged_skips
            );
            self.logged_skips = skipped;
        }
    }

    /// Answers who still waits at a stop: fetches with what there is; produces wait only for a disk without room.
    pub(super) fn answer_waiting(&mut self, now: Now) {
        self.give_up_all_held(now);
        for wait in self.markers.take_all() {
            write_txn_markers::give_up(self, wait, ErrorCode::KafkaStorageError);
        }
        for wait in self.produces.take_all() {
            produce::give_up(self, wait, ErrorCode::KafkaStorageError);
        }
        for wait in self.deletions.take_all() {
            delete_records::give_up(self, wait, ErrorCode::KafkaStorageError);
        }
        for wait in self.fetches.take_all() {
            fetch::answer_or_park(self, wait, Patience::None);
        }
    }
}
