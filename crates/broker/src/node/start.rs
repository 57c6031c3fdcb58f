//! Starting a node: recovery, the metadata, the topics' logs, the coordinators.

use std::sync::Arc;

use milepost_coordinator::{Coordinators, Settings as RuntimeSettings};
use milepost_groups::Groups;
use milepost_log::metadata::{
    FirstRecords, LoadError, METADATA_PARTITION, MetadataLog, ProposeError, Topic, new_offsets_topic,
};
use milepost_log::{LogSet, LogSettings, OpenError, RecoveryReport};
use milepost_model::Now;
use milepost_storage::Engine;

use super::cluster_topics::{KnownTopics, cluster_topics};
use super::{CommitTimes, Connections, GroupWaits, Node, Phase, TopicWaits, TransactionWork};
use crate::config::{BrokerSettings, Endpoint, Source, broker_setting};
use crate::fetch_sessions::FetchSessions;
use crate::producer_ids::ProducerIds;
use crate::purgatory::{DeletionWaits, FetchWaits, MarkerWaits, ProduceWaits};
use crate::random::{self, Random};
use crate::topics::{self, OFFSETS_TOPIC, TRANSACTIONS_TOPIC};

/// Why a node could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The logs cannot be recovered.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The metadata log cannot be read.
    #[error(transparent)]
    Metadata(#[from] LoadError),
    /// The first records cannot be written.
    #[error("the data folder cannot be written: {0}")]
    Write(#[from] ProposeError),
    /// The number of coordinators would change.
    #[error(
        "{setting} is {asked}, but this data folder has {present}: the number decides which coordinator \
         a group or a transactional id has and never changes in a folder"
    )]
    Partitions {
        /// The setting.
        setting: &'static str,
        /// As configured.
        asked: i32,
        /// As it is.
        present: i32,
    },
}

impl Node {
    /// Recovers what the engine holds and gets ready to serve. Shards may still load when this returns; nothing is
    /// admitted before the first metadata is durable ([`Node::accepts_more`]).
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(
        engine: Engine,
        settings: BrokerSettings,
        mut log_settings: LogSettings,
        endpoint: Endpoint,
        mut random: Box<dyn Random>,
        now: Now,
    ) -> Result<(Self, RecoveryReport), StartError> {
        let mut hash_key = [0; 16];
        random.fill(&mut hash_key);
        log_settings.hash_key = u128::from_le_bytes(hash_key);
        let (mut logs, report) = LogSet::open(engine, log_settings, now)?;
        let mut metadata = MetadataLog::load(&mut logs)?;
        metadata.remove_orphans(&mut logs);
        let offsets = offsets_topic(&metadata, &settings, random.as_mut())?;
        let group_settings = settings.groups.clone();
        let metadata_end = logs.log(METADATA_PARTITION).map_or(0, |log| log.high_watermark().0);
        let topics = Arc::new(cluster_topics(metadata_end, metadata.image(), &settings.values));
        let runtime = RuntimeSettings {
            commit_timeout_ms: settings.offsets_commit_timeout_ms,
            codec: settings.offsets_codec,
            ..RuntimeSettings::default()
        };
        let mut seed = [0; 8];
        random.fill(&mut seed);
        let hash_seed = u64::from_le_bytes(seed);
        let mut coordinators = Coordinators::new(offsets.id, offsets.partition_count, runtime, move |_| {
            Groups::new(group_settings.clone(), hash_seed).with_topics(&topics)
        });
        // What a crash kept from being removed with its topic is removed once the shards are loaded.
        coordinators.on_topics_deleted(&mut logs, now, &metadata.take_deleted_before().into());
        let fetch_sessions = FetchSessions::new(settings.fetch_sessions_max);
        let mut node = Self {
            settings,
            endpoint,
            logs,
            metadata,
            coordinators,
            transactions: TransactionWork::default(),
            connections: Connections::default(),
            produces: ProduceWaits::default(),
            deletions: DeletionWaits::default(),
            markers: MarkerWaits::default(),
            fetches: FetchWaits::default(),
            fetch_sessions,
            cluster_topics: KnownTopics::default(),
            groups: GroupWaits::default(),
            commit_times: CommitTimes::default(),
            logged_skips: 0,
            topics: TopicWaits::default(),
            producer_ids: ProducerIds::default(),
            random,
            unopened: std::collections::BTreeSet::new(),
            next_poll: now.monotonic,
            phase: Phase::Running,
            stopping: super::Stopping::Draining,
        };
        let known: Vec<_> = node.metadata.image().topics().cloned().collect();
        for topic in &known {
            topics::open_partitions(&mut node, topic);
            if topic.name == TRANSACTIONS_TOPIC {
                check_count("transaction.state.log.num.partitions", topic, &node.settings)?;
                node.open_transaction_coordinators(topic);
            }
        }
        node.write_first_records(&offsets, now)?;
        Ok((node, report))
    }

    /// In a new folder: the cluster's id and the topic of committed offsets.
    fn write_first_records(&mut self, offsets: &Arc<Topic>, now: Now) -> Result<(), StartError> {
        let new_id = || random::uuid(self.random.as_mut());
        if self.metadata.propose_first_records(&mut self.logs, offsets, new_id, now)?
            == FirstRecords::Proposed
        {
            topics::open_partitions(self, offsets);
        }
        Ok(())
    }
}

/// The topic of committed offsets, as it is or as it will be.
fn offsets_topic(
    metadata: &MetadataLog,
    settings: &BrokerSettings,
    random: &mut dyn Random,
) -> Result<Arc<Topic>, StartError> {
    if let Some(present) = metadata.image().topic(OFFSETS_TOPIC) {
        check_count("offsets.topic.num.partitions", present, settings)?;
        return Ok(present.clone());
    }
    let asked = settings.offsets_partitions;
    let segment_bytes = settings.values.get(broker_setting("offsets.topic.segment.bytes")).0;
    Ok(Arc::new(new_offsets_topic(random::uuid(random), asked, segment_bytes)))
}

/// That the number of a topic's partitions is the one asked for, if one was asked for.
fn check_count(setting: &'static str, topic: &Topic, settings: &BrokerSettings) -> Result<(), StartError> {
    let (asked, source) = settings.values.get(broker_setting(setting));
    let asked = asked.trim().parse().expect("the value was checked against its kind");
    let present = topic.partition_count;
    if source == Source::Default || asked == present {
        return Ok(());
    }
    Err(StartError::Partitions { setting, asked, present })
}
