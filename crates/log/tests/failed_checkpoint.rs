//! A checkpoint that fails leaves everything as it was, and is tried again with the same files.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use milepost_log::{CHECKPOINT_RETRY_MS, LogSet, LogSettings, PartitionConfig};
use milepost_storage::{
    CheckpointState, Device, FileId, FileName, MemoryDisk, MemoryEngine, SegmentStore, StoreError, Waker,
};
use support::*;

/// A store whose checkpoints fail as long as the switch says so, without syncing anything.
struct Failing {
    store: Box<dyn SegmentStore>,
    fails: Arc<AtomicBool>,
    failed: bool,
}

impl SegmentStore for Failing {
    fn create(&mut self, name: &FileName) -> Result<FileId, StoreError> {
        self.store.create(name)
    }

    fn open(&mut self, name: &FileName, length_bytes: u64) -> Result<FileId, StoreError> {
        self.store.open(name, length_bytes)
    }

    fn write(&mut self, file: FileId, at: u64, bytes: &[u8]) -> Result<(), StoreError> {
        self.store.write(file, at, bytes)
    }

    fn read(&self, file: FileId, at: u64, into: &mut [u8]) -> Result<usize, StoreError> {
        self.store.read(file, at, into)
    }

    fn close(&mut self, file: FileId) {
        self.store.close(file);
    }

    fn remove(&mut self, name: &FileName) -> Result<(), StoreError> {
        self.store.remove(name)
    }

    fn remove_directory(&mut self, directory: &str) -> Result<(), StoreError> {
        self.store.remove_directory(directory)
    }

    fn list(&self) -> Result<Vec<FileName>, StoreError> {
        self.store.list()
    }

    fn begin_checkpoint(&mut self, files: &[FileId], document: Vec<u8>) {
        self.failed = self.fails.load(Ordering::Relaxed);
        if !self.failed {
            self.store.begin_checkpoint(files, document);
        }
    }

    fn poll_checkpoint(&mut self) -> CheckpointState {
        if std::mem::take(&mut self.failed) {
            return CheckpointState::Failed("no room for the document".into());
        }
        self.store.poll_checkpoint()
    }

    fn release_reserve(&mut self) {
        self.store.release_reserve();
    }

    fn device(&self) -> Device {
        self.store.device()
    }

    fn set_waker(&mut self, waker: Waker) {
        self.store.set_waker(waker);
    }
}

#[test]
fn a_failed_checkpoint_is_tried_again_later_and_loses_nothing() {
    let disk = MemoryDisk::new();
    let mut engine = MemoryEngine::open(&disk).expect("opens");
    let fails = Arc::new(AtomicBool::new(true));
    engine.segments = Box::new(Failing { store: engine.segments, fails: fails.clone(), failed: false });
    let (mut set, _) = LogSet::open(engine, LogSettings::default(), now(0)).expect("opens");
    let id = partition(1);
    set.create_partition(id, "topic1-0", milepost_log::LogKind::User, PartitionConfig::default())
        .expect("creates");
    append(&mut set, id, &batch(&[b"a"])).expect("appends");
    set.begin_round(now(1));
    set.request_checkpoint();
    set.poll(now(1));
    assert!(set.is_checkpointing());
    assert_eq!(set.poll(now(2)).poisoned, None);
    assert!(!set.is_checkpointing(), "not at once again");

    fails.store(false, Ordering::Relaxed);
    let later = now(2 + i64::try_from(CHECKPOINT_RETRY_MS).expect("small"));
    set.poll(later);
    set.poll(later);
    disk.crash();
    drop(set);
    let (mut set, report) = open(&disk);
    assert_eq!(report.rounds_replayed, 0, "the second try was finished");
    assert_eq!(read_all(&mut set, id), [(0, b"a".to_vec())]);
}
