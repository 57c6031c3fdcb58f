//! The topics as the coordinators of consumer groups see them: made when somebody asks, and again after a change.

use std::sync::Arc;

use milepost_groups::ClusterTopics;
use milepost_log::PartitionLog;
use milepost_log::metadata::METADATA_PARTITION;

use super::Node;

impl Node {
    /// All topics. The version is a position in the metadata log, so it also grows over restarts.
    pub(crate) fn cluster_topics(&mut self) -> Arc<ClusterTopics> {
        if let Some(known) = &self.cluster_topics {
            return Arc::clone(known);
        }
        let version = self.logs.log(METADATA_PARTITION).map(PartitionLog::high_watermark);
        let topics = self
            .metadata
            .image()
            .topics()
            .map(|topic| (Arc::from(topic.name.as_str()), topic.id, topic.partition_count));
        let made = Arc::new(ClusterTopics::new(version.map_or(0, |version| version.0), topics));
        self.cluster_topics = Some(Arc::clone(&made));
        made
    }
}
