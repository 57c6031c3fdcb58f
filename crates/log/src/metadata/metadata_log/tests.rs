use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_batch::{BatchBuilder, BatchOptions};
use milepost_model::{Now, Offset, ProducerId, TopicId};
use milepost_storage::{MemoryDisk, MemoryEngine, Pace, Space};

use super::{LoadError, METADATA_PARTITION, MetadataLog, ProposeError};
use crate::metadata::{InvalidRecord, MetadataChange, MetadataRecord, Topic};
use crate::{AppendError, AppendOrigin, LogSet, LogSettings};

const NOW: Now = Now { monotonic: milepost_model::Instant(0), wall: milepost_model::Timestamp(1000) };

fn open(disk: &MemoryDisk) -> LogSet {
    let engine = MemoryEngine::open(disk).unwrap();
    LogSet::open(engine, LogSettings::default(), NOW).unwrap().0
}

fn round(logs: &mut LogSet) {
    logs.begin_round(NOW);
    logs.poll(NOW);
}

fn topic(id: u8, name: &str) -> Arc<Topic> {
    Arc::new(Topic {
        id: TopicId([id; 16]),
        name: name.to_owned(),
        partition_count: 1,
        replication_factor: 1,
        is_internal: false,
        configs: BTreeMap::new(),
    })
}

fn create(id: u8, name: &str) -> MetadataRecord {
    MetadataRecord::Topic(topic(id, name))
}

#[test]
fn nothing_is_seen_before_it_is_durable() {
    let disk = MemoryDisk::new();
    let mut logs = open(&disk);
    let mut metadata = MetadataLog::load(&mut logs).unwrap();
    round(&mut logs);
    disk.set_pace(Pace::Held);

    let offset = metadata.propose(&mut logs, vec![create(1, "a"), create(2, "b")], NOW).unwrap();
    assert_eq!(offset, Offset(1));
    round(&mut logs);
    assert_eq!(metadata.on_durable(&logs), []);
    assert!(metadata.image().topic("a").is_none());
    assert!(metadata.is_pending("a") && metadata.is_pending("b") && !metadata.is_pending("c"));

    disk.complete();
    logs.poll(NOW);
    let expected = [topic(1, "a"), topic(2, "b")].map(MetadataChange::TopicCreated);
    assert_eq!(metadata.on_durable(&logs), expected);
    assert_eq!(metadata.image().topic("a"), Some(&topic(1, "a")));
    assert!(!metadata.is_pending("a") && !metadata.has_pending());
    assert_eq!(metadata.on_durable(&logs), []);
}

#[test]
fn a_restart_replays_what_was_durable_and_nothing_else() {
    let disk = MemoryDisk::new();
    let mut logs = open(&disk);
    let mut metadata = MetadataLog::load(&mut logs).unwrap();
    metadata.propose(&mut logs, vec![create(1, "a"), create(2, "b")], NOW).unwrap();
    let rest = vec![
        MetadataRecord::TopicDeletion(TopicId([1; 16])),
        MetadataRecord::ClusterId("ours".to_owned()),
        MetadataRecord::ProducerIdBlock { next_producer_id: ProducerId(1000) },
    ];
    metadata.propose(&mut logs, rest, NOW).unwrap();
    round(&mut logs);
    metadata.on_durable(&logs);
    let image = metadata.image().clone();
    assert_eq!(image.topics().collect::<Vec<_>>(), [&topic(2, "b")]);

    disk.set_pace(Pace::Held);
    metadata.propose(&mut logs, vec![create(3, "c")], NOW).unwrap();
    round(&mut logs);
    disk.crash();
    drop(logs);
    disk.set_pace(Pace::default());
    let mut logs = open(&disk);
    assert_eq!(MetadataLog::load(&mut logs).unwrap().image(), &image);
}

#[test]
fn a_refused_proposal_leaves_no_trace() {
    let disk = MemoryDisk::new();
    let mut logs = open(&disk);
    let mut metadata = MetadataLog::load(&mut logs).unwrap();
    metadata.propose(&mut logs, vec![create(1, "a")], NOW).unwrap();

    let refused = metadata.propose(&mut logs, vec![create(2, "b"), create(3, "a")], NOW);
    assert!(matches!(refused, Err(ProposeError::Invalid(InvalidRecord::NameTaken(name))) if name == "a"));
    assert!(metadata.is_pending("a") && !metadata.is_pending("b"));

    disk.set_space(Space::Full);
    logs.poll(NOW);
    let refused = metadata.propose(&mut logs, vec![create(2, "b")], NOW);
    assert!(matches!(refused, Err(ProposeError::Append(AppendError::DiskFull))), "{refused:?}");
    assert!(!metadata.is_pending("b"));

    disk.set_space(Space::Ready);
    logs.poll(NOW);
    metadata.propose(&mut logs, vec![create(2, "b")], NOW).unwrap();
    round(&mut logs);
    assert_eq!(metadata.on_durable(&logs).len(), 2);
}

#[test]
fn a_record_of_a_newer_version_stops_the_start() {
    let disk = MemoryDisk::new();
    let mut logs = open(&disk);
    let mut metadata = MetadataLog::load(&mut logs).unwrap();
    metadata.propose(&mut logs, vec![create(1, "a")], NOW).unwrap();
    let mut batch = BatchBuilder::new(BatchOptions::coordinator(None));
    batch.append(NOW.wall, Some(&[0, 99]), None, &[]).unwrap();
    let batch = batch.build(Offset(1));
    logs.append(METADATA_PARTITION, &batch, AppendOrigin::Coordinator, NOW).unwrap();
    round(&mut logs);
    drop(logs);
    let mut logs = open(&disk);
    let error = MetadataLog::load(&mut logs).unwrap_err();
    let LoadError::Invalid { offset: Offset(1), source: InvalidRecord::UnknownType(99) } = error else {
        panic!("{error}");
    };
}
