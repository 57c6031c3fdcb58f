//! The topics, and what is set for single groups, as the coordinators of consumer groups see them: made when somebody asks,
//! and again after a change.

use std::sync::Arc;

use milepost_groups::ClusterTopics;
use milepost_log::PartitionLog;
use milepost_log::metadata::{METADATA_PARTITION, MetadataImage};

use super::Node;
use crate::config::{GroupSettings, Values};

/// The topics as they were made last, and whether they still are so.
#[derive(Default)]
pub(super) struct KnownTopics {
    made: Option<Arc<ClusterTopics>>,
    /// The state that had the newest topic first; `None`: the next that is made. After a start nobody knows.
    newest_topic_at: Option<i64>,
}

impl KnownTopics {
    /// A topic was added.
    pub(super) fn topic_added(&mut self) {
        *self = Self::default();
    }

    /// Anything else changed.
    pub(super) fn changed(&mut self) {
        self.made = None;
    }
}

impl Node {
    /// All topics, and the settings of groups. The version is a position in the metadata log, so it also grows over restarts.
    pub(crate) fn cluster_topics(&mut self) -> Arc<ClusterTopics> {
        if let Some(known) = &self.cluster_topics.made {
            return Arc::clone(known);
        }
        let version = self.logs.log(METADATA_PARTITION).map(PartitionLog::high_watermark);
        let version = version.map_or(0, |version| version.0);
        let newest_topic_at = *self.cluster_topics.newest_topic_at.get_or_insert(version);
        let topics = cluster_topics(version, self.metadata.image(), &self.settings.values);
        let made = Arc::new(topics.with_newest_topic_at(newest_topic_at));
        self.cluster_topics.made = Some(Arc::clone(&made));
        made
    }
}

/// What an image of the metadata says about topics and groups.
pub(super) fn cluster_topics(version: i64, image: &MetadataImage, values: &Values) -> ClusterTopics {
    let topics =
        image.topics().map(|topic| (Arc::from(topic.name.as_str()), topic.id, topic.partition_count));
    let group_configs = image
        .group_configs()
        .map(|set| (Arc::from(set.group.as_str()), GroupSettings::new(&set.configs, values).config()));
    ClusterTopics::new(version, topics).with_group_configs(group_configs)
}
