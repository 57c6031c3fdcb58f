//! What the node counts, at one moment: for metrics to read. Names are those of Kafka's metrics where Kafka has one.

use milepost_coordinator::PartitionStates;
use milepost_groups::{GroupCensus, GroupCounts};
use milepost_model::Latencies;
use milepost_transactions::TransactionCounts;

use crate::node::Node;

/// What was counted since the start, and what there is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// `num-partitions` by state: the coordinators.
    pub partitions: PartitionStates,
    /// Why coordinators are not served: the folder, the offset, and what is wrong there.
    pub failures: Vec<String>,
    /// `partition-load-time`: how long coordinators took to load.
    pub partition_load_time: Latencies,
    /// How long commits took, from their admission until their answer was sent (ours).
    pub commit_latency: Latencies,
    /// What happened in groups.
    pub group_counts: GroupCounts,
    /// What happened in transactions.
    pub transaction_counts: TransactionCounts,
    /// Which groups there are, by protocol and state, and how many offsets.
    pub census: GroupCensus,
}

impl Node {
    /// What was counted. Looks at every group.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut census = GroupCensus::default();
        for groups in self.coordinators.shards().filter_map(|shard| shard.shard()) {
            census.add(&groups.census());
        }
        Counters {
            partitions: self.coordinators.partition_states(),
            failures: self.coordinators.failures().map(|(_, failure)| failure.to_string()).collect(),
            partition_load_time: self.coordinators.load_time().clone(),
            commit_latency: self.commit_times.taken().clone(),
            group_counts: *self.coordinators.counts(),
            transaction_counts: self.transactions.counts(),
            census,
        }
    }
}
