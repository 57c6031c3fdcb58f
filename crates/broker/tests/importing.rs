//! Moving the folder of a Kafka broker in: what comes out is what went in, and what cannot be taken is refused by name.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};

use milepost_batch::{BatchBuilder, BatchOptions, BatchView, Marker, build_marker, stamp};
use milepost_broker::config::Loader;
use milepost_broker::import::{Import, ImportError, Imported, Mode, Scope, Unclean, import};
use milepost_broker::server::{SystemClock, SystemRandom};
use milepost_groups::partition_for;
use milepost_log::metadata::{MetadataLog, OFFSETS_TOPIC};
use milepost_log::{FirstBatch, IsolationLevel, LogSet, LogSettings};
use milepost_model::{
    LeaderEpoch, Offset, PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp, TopicId,
    TopicPartition, TransactionEnd,
};
use milepost_records::offsets::{OffsetCommitKey, OffsetCommitValue, Record};
use milepost_storage::{FlushMode, LocalEngine, LocalSettings};
use tempfile::TempDir;

const ORDERS: TopicId = TopicId(*b"topic id: orders");
const OFFSETS: TopicId = TopicId(*b"topic id:offsets");

/// A folder as a broker leaves it when it stops.
struct Source {
    folder: TempDir,
}

impl Source {
    /// With four partitions of committed offsets, all empty.
    fn new() -> Self {
        let source = Self { folder: tempfile::tempdir().unwrap() };
        source.put("meta.properties", b"#\nversion=1\ncluster.id=an-old-cluster\nnode.id=1\n");
        source.put(".kafka_cleanshutdown", b"{\"version\":0,\"brokerEpoch\":5}");
        for index in 0..4 {
            source.partition(OFFSETS_TOPIC, index, OFFSETS);
        }
        source
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path().join(name), bytes).unwrap();
    }

    fn partition(&self, topic: &str, index: i32, id: TopicId) {
        let folder = self.path().join(format!("{topic}-{index}"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("partition.metadata"), format!("version: 0\ntopic_id: {id}")).unwrap();
        fs::write(folder.join("00000000000000000000.log"), b"").unwrap();
    }

    fn segment(&self, topic: &str, index: i32, base: i64, batches: &[Vec<u8>]) -> PathBuf {
        let path = self.path().join(format!("{topic}-{index}/{base:020}.log"));
        fs::write(&path, batches.concat()).unwrap();
        path
    }

    /// Puts batches into the partition of a group.
    fn group_log(&self, group: &str, batches: &[Vec<u8>]) -> PathBuf {
        self.segment(OFFSETS_TOPIC, partition_for(group, 4).0, 0, batches)
    }

    fn order(&self, to: &Path) -> Import {
        Import {
            from: self.path().to_owned(),
            to: to.to_owned(),
            scope: Scope::Everything,
            unclean: Unclean::Refuse,
            mode: Mode::Write,
        }
    }

    fn import(&self, to: &Path) -> Result<Imported, ImportError> {
        run(&self.order(to))
    }
}

fn run(order: &Import) -> Result<Imported, ImportError> {
    let settings = Loader::default().finish().unwrap();
    let clock = SystemClock::default();
    import(order, &settings, &|| clock.now(), &mut SystemRandom, &mut |_| {})
}

/// A batch as a broker stored it.
fn batch(base: i64, epoch: i32, options: BatchOptions, records: &[(&[u8], Option<&[u8]>)]) -> Vec<u8> {
    let mut builder = BatchBuilder::new(options);
    for (key, value) in records {
        builder.append(Timestamp(1_700_000_000_000), Some(key), *value, &[]).unwrap();
    }
    let mut bytes = builder.build(Offset(base));
    stamp(&mut bytes, Offset(base), LeaderEpoch(epoch));
    bytes
}

fn producer(id: i64) -> ProducerIdentity {
    ProducerIdentity { id: ProducerId(id), epoch: ProducerEpoch(0) }
}

/// Key and value of a committed offset, its value of version 4.
fn commit(group: &str, topic: &str, offset: i64) -> (Vec<u8>, Vec<u8>) {
    let key = OffsetCommitKey { group, topic, partition: PartitionIndex(0) };
    let value = OffsetCommitValue {
        offset: Offset(offset),
        leader_epoch: Some(LeaderEpoch(7)),
        metadata: "",
        commit_timestamp: Timestamp(1_700_000_000_000),
        expire_timestamp: None,
        topic_id: Some(ORDERS),
    };
    let mut bytes = (Vec::new(), Vec::new());
    key.encode(&mut bytes.0).unwrap();
    value.encode(&mut bytes.1).unwrap();
    assert!(matches!(Record::decode(Some(&bytes.0), Some(&bytes.1)), Ok(Record::OffsetCommit { .. })));
    bytes
}

fn offsets_batch(base: i64, group: &str, offset: i64) -> Vec<u8> {
    let (key, value) = commit(group, "orders", offset);
    batch(base, 3, BatchOptions::coordinator(None), &[(&key, Some(&value))])
}

fn opened(folder: &Path) -> (LogSet, MetadataLog) {
    let local = LocalSettings { flush: FlushMode::Inline, ..LocalSettings::default() };
    let engine = LocalEngine::open_folder(folder, local).unwrap().engine;
    let (mut logs, report) =
        LogSet::open(engine, LogSettings::default(), SystemClock::default().now()).unwrap();
    assert_eq!((report.rounds_replayed, report.offline.len()), (0, 0), "the import stopped cleanly");
    let metadata = MetadataLog::load(&mut logs).unwrap();
    (logs, metadata)
}

fn read_all(logs: &mut LogSet, topic: TopicId, partition: i32) -> Vec<u8> {
    let id = TopicPartition { topic, partition: PartitionIndex(partition) };
    let mut next = logs.log(id).unwrap().log_start_offset();
    let mut all = Vec::new();
    while next < logs.log(id).unwrap().high_watermark() {
        let bytes =
            logs.read(id, next, 1 << 20, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted).unwrap();
        let mut rest = &bytes[..];
        while let Ok((batch, after)) = BatchView::parse(rest) {
            next = batch.next_offset();
            rest = after;
        }
        all.extend(bytes);
    }
    all
}

#[test]
fn batches_keep_their_bytes_offsets_and_epochs() {
    let source = Source::new();
    // Compacted: a gap before the first batch, and one between two.
    let committed = [offsets_batch(40, "g", 17), offsets_batch(60, "g", 18)];
    source.group_log("g", &committed);
    source.partition("orders", 0, ORDERS);
    source.partition("orders", 1, ORDERS);
    let numbered =
        BatchOptions { producer: Some(producer(4000)), base_sequence: Some(0), ..BatchOptions::default() };
    let first = [batch(100, 2, BatchOptions::default(), &[(b"k", Some(b"v")), (b"k", None)])];
    let second = [batch(102, 6, numbered, &[(b"k", Some(b"w"))])];
    fs::remove_file(source.path().join("orders-0/00000000000000000000.log")).unwrap();
    source.segment("orders", 0, 100, &first);
    source.segment("orders", 0, 102, &second);
    // All its records were deleted; it still ends where it ended.
    fs::rename(
        source.path().join("orders-1/00000000000000000000.log"),
        source.path().join("orders-1/00000000000000005000.log"),
    )
    .unwrap();
    source.put("log-start-offset-checkpoint", b"0\n1\norders 0 101\n");
    let target = tempfile::tempdir().unwrap();
    let to = target.path().join("data");

    let imported = source.import(&to).unwrap();
    assert_eq!((imported.groups, imported.committed_offsets), (1, 1));
    assert_eq!(imported.topics, [("orders".to_owned(), 2)]);
    assert_eq!(imported.missing_topics, Vec::<String>::new());

    let (mut logs, metadata) = opened(&to);
    let image = metadata.image();
    assert_eq!(image.cluster_id(), Some("an-old-cluster"));
    assert!(image.next_producer_id() > ProducerId(5000), "no producer of before is met again");
    let topic = image.topic("orders").unwrap();
    assert_eq!((topic.id, topic.partition_count), (ORDERS, 2));
    assert_eq!(topic.configs["retention.ms"], "-1");
    let offsets = image.topic(OFFSETS_TOPIC).unwrap();
    assert_eq!((offsets.id, offsets.partition_count, offsets.is_internal), (OFFSETS, 4, true));
    assert!(logs.leader_epoch() > LeaderEpoch(7), "a committed offset has seen epoch 7");
    assert_eq!(read_all(&mut logs, OFFSETS, partition_for("g", 4).0), committed.concat());
    let id = |partition| TopicPartition { topic: ORDERS, partition: PartitionIndex(partition) };
    assert_eq!(read_all(&mut logs, ORDERS, 0), [&first[..], &second].concat().concat());
    let log = logs.log(id(0)).unwrap();
    assert_eq!((log.log_start_offset(), log.high_watermark()), (Offset(101), Offset(103)));
    assert_eq!(log.epoch_at(Offset(101)), Some(LeaderEpoch(2)));
    assert_eq!(log.epoch_at(Offset(102)), Some(LeaderEpoch(6)));
    let empty = logs.log(id(1)).unwrap();
    assert_eq!((empty.log_start_offset(), empty.high_watermark()), (Offset(5000), Offset(5000)));
}

#[test]
fn a_second_import_into_the_folder_is_refused_and_the_source_is_left_alone() {
    let source = Source::new();
    let log = source.group_log("g", &[offsets_batch(0, "g", 17)]);
    let before = fs::read(&log).unwrap();
    let target = tempfile::tempdir().unwrap();
    source.import(target.path()).unwrap();
    assert!(matches!(source.import(target.path()), Err(ImportError::NotEmpty(_))));
    let error = run(&Import { from: target.path().to_owned(), ..source.order(target.path()) }).unwrap_err();
    assert!(matches!(error, ImportError::Ours(_)), "{error}");
    assert_eq!(fs::read(&log).unwrap(), before);
    assert_eq!(fs::read_dir(source.path()).unwrap().count(), 6, "nothing was added");
}

#[test]
fn a_dry_run_writes_nothing() {
    let source = Source::new();
    source.group_log("g", &[offsets_batch(0, "g", 17)]);
    let target = tempfile::tempdir().unwrap();
    let to = target.path().join("data");
    let imported = run(&Import { mode: Mode::CheckOnly, ..source.order(&to) }).unwrap();
    assert_eq!(imported.committed_offsets, 1);
    assert_eq!(imported.missing_topics, ["orders"]);
    assert!(!to.exists());
}

#[test]
fn what_is_refused_is_named() {
    let target = tempfile::tempdir().unwrap();
    let to = target.path().join("data");
    let said = |source: &Source| {
        let error = source.import(&to).unwrap_err().to_string();
        assert!(!to.exists(), "nothing was begun: {error}");
        error
    };

    let running = Source::new();
    fs::remove_file(running.path().join(".kafka_cleanshutdown")).unwrap();
    assert!(said(&running).contains("--accept-unclean"));

    let partial = Source::new();
    fs::remove_dir_all(partial.path().join("__consumer_offsets-2")).unwrap();
    assert!(said(&partial).contains("none for partition 2"));

    let partial = Source::new();
    let elsewhere = ["a", "b", "c", "d", "e"]
        .into_iter()
        .find(|group| partition_for(group, 8) != partition_for(group, 4));
    let group = elsewhere.unwrap();
    let there = partition_for(group, 8).0;
    for index in 4..=there {
        partial.partition(OFFSETS_TOPIC, index, OFFSETS);
    }
    partial.segment(OFFSETS_TOPIC, there, 0, &[offsets_batch(0, group, 1)]);
    if there != 7 {
        assert!(said(&partial).contains("are missing"), "the last of eight partitions is not there");
    }

    let damaged = Source::new();
    let mut bytes = offsets_batch(0, "g", 17);
    *bytes.last_mut().unwrap() ^= 1;
    let log = damaged.group_log("g", &[offsets_batch(0, "g", 16), bytes]);
    let size = offsets_batch(0, "g", 16).len();
    // Its offset is wrong too, but the checksum is looked at first.
    assert_eq!(
        said(&damaged),
        format!("{} is damaged at byte {size}: the checksum of the batch is wrong", log.display())
    );

    let newer = Source::new();
    let (key, mut value) = commit("g", "orders", 1);
    value[1] = 9;
    let log = newer.group_log("g", &[batch(12, 0, BatchOptions::coordinator(None), &[(&key, Some(&value))])]);
    let error = said(&newer);
    assert!(error.starts_with(&format!("{} at offset 12: ", log.display())), "{error}");

    let half_cleaned = Source::new();
    half_cleaned.put("__consumer_offsets-1/00000000000000000000.log.swap", b"");
    assert!(said(&half_cleaned).contains("interrupted"));

    let ids = Source::new();
    ids.partition("orders", 0, ORDERS);
    ids.partition("orders", 1, OFFSETS);
    assert!(said(&ids).contains("same topic id"));
}

/// Whatever byte of a segment is another one: it is taken as far as it is whole, or refused, and nothing breaks.
#[test]
fn no_byte_of_a_segment_breaks_the_reader() {
    let source = Source::new();
    let whole = [offsets_batch(0, "g", 16), offsets_batch(1, "g", 17)].concat();
    let order = source.order(Path::new("/nowhere"));
    let mut refused = 0;
    for at in 0..whole.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            source.group_log("g", &[bytes]);
            let checked = run(&Import { mode: Mode::CheckOnly, unclean: Unclean::Accept, ..order.clone() });
            refused += usize::from(checked.is_err());
        }
    }
    // The checksum covers all but the base offset, the length and the leader epoch.
    assert!(refused > 2 * whole.len(), "{refused} of {}", 3 * whole.len());
}

#[test]
fn a_torn_end_is_taken_only_when_told_to() {
    let source = Source::new();
    let whole = offsets_batch(0, "g", 17);
    let log = source.group_log("g", &[whole.clone(), offsets_batch(1, "g", 18)[..30].to_vec()]);
    let target = tempfile::tempdir().unwrap();
    let error = source.import(target.path()).unwrap_err().to_string();
    assert!(error.contains("not whole"), "{error}");
    let order = Import { unclean: Unclean::Accept, ..source.order(target.path()) };
    let imported = run(&order).unwrap();
    assert_eq!(imported.torn_ends.len(), 1);
    assert_eq!((&imported.torn_ends[0].path, imported.torn_ends[0].position), (&log, whole.len() as u64));
    let (mut logs, _) = opened(target.path());
    assert_eq!(read_all(&mut logs, OFFSETS, partition_for("g", 4).0), whole);
}

/// Everything that Kafka loads without a word is loaded: tombstones for what is gone, types that nobody knows, half a
/// transaction, and a marker whose records were compacted away.
#[test]
fn what_kafka_tolerates_is_taken() {
    let source = Source::new();
    let (key, value) = commit("g", "orders", 17);
    let (other_key, other_value) = commit("g", "clicks", 3);
    let transactional = |id| BatchOptions::coordinator(Some(producer(id)));
    let marker = Marker { end: TransactionEnd::Commit, coordinator_epoch: 0 };
    let mut lone_marker = build_marker(producer(9), marker, Timestamp(0), Offset(3));
    stamp(&mut lone_marker, Offset(3), LeaderEpoch(0));
    let unknown = [0, 99, 1, 2, 3];
    let batches = [
        batch(0, 0, BatchOptions::coordinator(None), &[(&key, None), (&[0, 2, 0, 1, b'g'], None)]),
        batch(2, 0, BatchOptions::coordinator(None), &[(&unknown, Some(b"?"))]),
        lone_marker,
        batch(4, 0, BatchOptions::coordinator(None), &[(&key, Some(&value))]),
        batch(5, 0, transactional(8), &[(&other_key, Some(&other_value))]),
    ];
    source.group_log("g", &batches);
    let target = tempfile::tempdir().unwrap();
    let imported = source.import(target.path()).unwrap();
    assert_eq!((imported.groups, imported.committed_offsets, imported.open_transactions), (1, 1, 1));
    let (mut logs, _) = opened(target.path());
    assert_eq!(read_all(&mut logs, OFFSETS, partition_for("g", 4).0), batches.concat());
}

#[test]
fn an_import_goes_on_where_it_was_interrupted() {
    let source = Source::new();
    // More than one round of the journal takes.
    let (key, value) = commit("g", "orders", 1);
    let unknown = [&[0, 99][..], &[b'x'; 30_000]].concat();
    let records = [(&key[..], Some(&value[..])), (&unknown[..], Some(&b"?"[..]))];
    let batches: Vec<_> =
        (0..300).map(|base| batch(base * 2, 0, BatchOptions::coordinator(None), &records)).collect();
    source.group_log("g", &batches);
    // Damage that only the second pass meets, behind what it has written by then: the file changes in between.
    let target = tempfile::tempdir().unwrap();
    let settings = Loader::default().finish().unwrap();
    let clock = SystemClock::default();
    let index = partition_for("g", 4).0;
    let path = source.path().join(format!("{OFFSETS_TOPIC}-{index}/00000000000000000000.log"));
    let mut broken = batches.concat();
    *broken.last_mut().unwrap() ^= 1;
    let mut is_checked = false;
    let error = import(
        &source.order(target.path()),
        &settings,
        &|| clock.now(),
        &mut SystemRandom,
        &mut |progress| {
            if progress.partitions == progress.of && !std::mem::replace(&mut is_checked, true) {
                fs::write(&path, &broken).unwrap();
            }
        },
    )
    .unwrap_err();
    assert!(matches!(error, ImportError::Damaged { .. }), "{error}");
    {
        let local = LocalSettings { flush: FlushMode::Inline, ..LocalSettings::default() };
        let engine = LocalEngine::open_folder(target.path(), local).unwrap().engine;
        let (logs, _) = LogSet::open(engine, LogSettings::default(), clock.now()).unwrap();
        let id = TopicPartition { topic: OFFSETS, partition: PartitionIndex(index) };
        let begun = logs.log(id).unwrap().log_end_offset();
        assert!(begun > Offset::ZERO && begun < Offset(600), "part of it was written: {begun}");
    }

    fs::write(&path, batches.concat()).unwrap();
    source.import(target.path()).unwrap();
    let (mut logs, _) = opened(target.path());
    assert_eq!(read_all(&mut logs, OFFSETS, index), batches.concat());
}
