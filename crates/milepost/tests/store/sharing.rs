//! Many callers share a flush.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use milepost::{CommitFuture, Error, OffsetStore};
use milepost_storage::{
    Concurrency, File, FileHandle, FileSystem, Listed, LockGuard, OpenMode, Operation, SimulatedFileSystem,
};

use crate::support::{at, commit, committed, open, try_open};

#[derive(Default)]
pub(crate) struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

pub(crate) fn poll(future: &mut CommitFuture, woken: &Arc<Woken>) -> Poll<Result<(), Error>> {
    let waker = Waker::from(Arc::clone(woken));
    Pin::new(future).poll(&mut Context::from_waker(&waker))
}

#[test]
fn futures_polled_together_share_one_flush() {
    let system = SimulatedFileSystem::new(1);
    let store = open(&system);
    let generation = store.rebalance("g").unwrap();
    let before = system.count(Operation::Sync);
    let woken = Arc::new(Woken::default());
    let mut futures: Vec<_> =
        (0..64).map(|number| store.commit_async("g", generation, [at(number, 7)])).collect();
    assert_eq!(system.count(Operation::Sync), before, "nothing happens before the first poll");
    assert!(futures.iter_mut().all(|future| poll(future, &woken).is_pending()));
    assert_eq!(woken.0.load(Ordering::SeqCst), 64, "each asks to be polled again");
    assert_eq!(poll(&mut futures[40], &woken), Poll::Ready(Ok(())));
    assert_eq!(system.count(Operation::Sync), before + 1);
    for (number, future) in futures.iter_mut().enumerate().filter(|(number, _)| *number != 40) {
        assert_eq!(poll(future, &woken), Poll::Ready(Ok(())), "{number}");
    }
    assert_eq!(system.count(Operation::Sync), before + 1);
    assert_eq!(store.committed_all("g").unwrap().len(), 64);
}

#[test]
fn a_future_is_refused_as_a_call_is_and_may_be_dropped() {
    let store = open(&SimulatedFileSystem::new(2));
    let zombie = store.rebalance("g").unwrap();
    let current = store.rebalance("g").unwrap();
    let woken = Arc::new(Woken::default());
    let mut future = store.commit_async("g", zombie, [at(0, 1)]);
    assert!(poll(&mut future, &woken).is_pending());
    assert_eq!(poll(&mut future, &woken), Poll::Ready(Err(Error::StaleGeneration { current })));
    let mut negative = store.commit_async("g", current, [at(0, -1)]);
    assert_eq!(poll(&mut negative, &woken), Poll::Ready(Err(Error::Negative { index: 0 })));
    let mut dropped = store.commit_async("g", current, [at(0, 1)]);
    assert!(poll(&mut dropped, &woken).is_pending());
    drop(dropped);
    // Nobody waits for a lead that the dropped one might have had.
    commit(&store, "g", current, 2).unwrap();
    assert_eq!(committed(&store, "g", 0), Some(2));
}

/// A disk whose sync takes its time, as a real one's does, so that callers meet.
struct SlowDisk(SimulatedFileSystem);

struct SlowFile(FileHandle);

const SYNC: Duration = Duration::from_millis(5);

impl File for SlowFile {
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        self.0.write_at(bytes, at)
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        self.0.read_at(into, at)
    }

    fn sync_data(&self) -> io::Result<()> {
        std::thread::sleep(SYNC);
        self.0.sync_data()
    }

    fn length(&self) -> io::Result<u64> {
        self.0.length()
    }

    fn set_length(&self, length_bytes: u64) -> io::Result<()> {
        self.0.set_length(length_bytes)
    }
}

impl FileSystem for SlowDisk {
    fn open(&self, path: &str, mode: OpenMode) -> io::Result<FileHandle> {
        Ok(Arc::new(SlowFile(self.0.open(path, mode)?)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.0.remove(path)
    }

    fn create_directory(&self, path: &str) -> io::Result<()> {
        self.0.create_directory(path)
    }

    fn remove_directory(&self, path: &str) -> io::Result<()> {
        self.0.remove_directory(path)
    }

    fn list(&self, path: &str) -> io::Result<Vec<Listed>> {
        self.0.list(path)
    }

    fn sync_directory(&self, path: &str) -> io::Result<()> {
        self.0.sync_directory(path)
    }

    fn lock(&self, path: &str) -> io::Result<Option<LockGuard>> {
        self.0.lock(path)
    }

    fn free_bytes(&self) -> io::Result<u64> {
        self.0.free_bytes()
    }

    fn total_bytes(&self) -> io::Result<u64> {
        self.0.total_bytes()
    }

    fn place(&self, path: &str) -> String {
        self.0.place(path)
    }

    fn concurrency(&self) -> Concurrency {
        self.0.concurrency()
    }
}

const THREADS: i32 = 16;
const COMMITS: i64 = 10;

fn commit_from_many_threads(store: &OffsetStore) {
    let generation = store.rebalance("g").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for offset in 1..=COMMITS {
                    store.commit("g", generation, [at(thread, offset)]).unwrap();
                    let read = store.committed("g", "orders", milepost::PartitionIndex(thread)).unwrap();
                    assert_eq!(read.unwrap().offset().0, offset, "a thread reads what it committed");
                }
            });
        }
    });
    assert!((0..THREADS).all(|thread| committed(store, "g", thread) == Some(COMMITS)));
}

#[test]
fn threads_that_commit_together_share_flushes() {
    let system = SimulatedFileSystem::new(3);
    let store = try_open(Arc::new(SlowDisk(system.clone()))).unwrap();
    let before = system.count(Operation::Sync);
    commit_from_many_threads(&store);
    let syncs = system.count(Operation::Sync) - before;
    let commits = u64::try_from(THREADS).unwrap() * u64::try_from(COMMITS).unwrap();
    assert!(syncs * 3 < commits, "{commits} commits took {syncs} syncs");
    assert!(syncs >= 10, "each of a thread's commits waits for a flush of its own: {syncs}");
}

#[test]
fn threads_on_a_real_disk_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = OffsetStore::open(folder.path()).unwrap();
    commit_from_many_threads(&store);
    store.close().unwrap();
    let store = OffsetStore::open(folder.path()).unwrap();
    assert_eq!(store.recovery().rounds_replayed, 0);
    assert_eq!(store.committed_all("g").unwrap().len(), 16);
}

#[test]
fn tasks_and_threads_may_be_mixed() {
    let system = SimulatedFileSystem::new(4);
    let store = try_open(Arc::new(SlowDisk(system))).unwrap();
    let generation = store.rebalance("g").unwrap();
    std::thread::scope(|scope| {
        let (store, threads) = (&store, 0..8);
        for thread in threads {
            scope.spawn(move || {
                for offset in 1..=COMMITS {
                    let offsets = [at(thread, offset)];
                    match thread % 2 {
                        0 => store.commit("g", generation, offsets),
                        _ => block_on(store.commit_async("g", generation, offsets)),
                    }
                    .unwrap();
                }
            });
        }
    });
    assert!((0..8).all(|thread| committed(&store, "g", thread) == Some(COMMITS)));
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// An executor for one future. It never polls without having been woken.
fn block_on(mut future: CommitFuture) -> Result<(), Error> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match Pin::new(&mut future).poll(&mut context) {
            Poll::Ready(result) => return result,
            Poll::Pending => std::thread::park(),
        }
    }
}
