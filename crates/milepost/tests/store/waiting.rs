//! Callers that wait for a disk that takes its time, for ever, or for a leader that is no more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use milepost::{DEFAULT_TIMEOUT_MS, Error, OffsetStore, Options, Surroundings};
use milepost_storage::{MemoryDisk, MemoryEngine, Pace};

use crate::sharing::{Woken, poll};
use crate::support::{at, commit, committed};

const TIMEOUT_MS: u64 = 300;

fn open(disk: &MemoryDisk, timeout_ms: u64, surroundings: Surroundings) -> OffsetStore {
    let options = Options { timeout_ms, ..Options::default() };
    OffsetStore::open_engine(MemoryEngine::open(disk).unwrap(), &options, surroundings).unwrap()
}

#[test]
fn the_disk_wakes_the_leader() {
    let disk = MemoryDisk::new();
    let store = open(&disk, DEFAULT_TIMEOUT_MS, Surroundings::system());
    let generation = store.rebalance("g").unwrap();
    disk.set_pace(Pace::Held);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let commits: Vec<_> = (0..4)
            .map(|thread| {
                scope.spawn({
                    let store = &store;
                    move || store.commit("g", generation, [at(thread, 1)])
                })
            })
            .collect();
        scope.spawn(|| {
            while !is_done.load(Ordering::SeqCst) {
                disk.complete();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let results: Vec<_> = commits.into_iter().map(|thread| thread.join().unwrap()).collect();
        is_done.store(true, Ordering::SeqCst);
        assert!(results.iter().all(Result::is_ok), "{results:?}");
    });
    disk.set_pace(Pace::AtOnce);
    assert_eq!(store.committed_all("g").unwrap().len(), 4);
}

#[test]
fn who_waits_too_long_is_told_and_the_commit_may_still_land() {
    let disk = MemoryDisk::new();
    let store = open(&disk, TIMEOUT_MS, Surroundings::system());
    let generation = store.rebalance("g").unwrap();
    disk.set_pace(Pace::Held);
    let begin = Instant::now();
    assert_eq!(commit(&store, "g", generation, 1), Err(Error::TimedOut));
    assert!(begin.elapsed() >= Duration::from_millis(TIMEOUT_MS));
    // A read must not show what a crash could take back, so it waits as well.
    let read = store.committed("g", "orders", milepost::PartitionIndex(0));
    assert_eq!(read, Err(Error::TimedOut));
    disk.complete();
    disk.set_pace(Pace::AtOnce);
    assert_eq!(committed(&store, "g", 0), Some(1));
    commit(&store, "g", generation, 2).unwrap();
    assert_eq!(committed(&store, "g", 0), Some(2));
}

#[test]
fn nobody_waits_for_a_leader_that_panicked() {
    let disk = MemoryDisk::new();
    let (panics, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (armed, count, system) = (Arc::clone(&panics), Arc::clone(&asked), Surroundings::system());
    let now = move || {
        count.fetch_add(1, Ordering::SeqCst);
        assert!(!armed.load(Ordering::SeqCst), "the clock is broken, as the test wants it");
        (system.now)()
    };
    let surroundings = Surroundings { now: Box::new(now), random: Box::new(|| [7; 16]) };
    let store = open(&disk, DEFAULT_TIMEOUT_MS, surroundings);
    let generation = store.rebalance("g").unwrap();
    disk.set_pace(Pace::Held);
    let woken = Arc::new(Woken::default());
    let mut taken_in = store.commit_async("g", generation, [at(0, 1)]);
    let mut in_line = store.commit_async("g", generation, [at(1, 1)]);
    assert!(poll(&mut taken_in, &woken).is_pending());
    std::thread::scope(|scope| {
        let before = asked.load(Ordering::SeqCst);
        // It leads, takes the first future's commit in with its own, and waits for the disk.
        let leader = scope.spawn(|| commit(&store, "g", generation, 2));
        while asked.load(Ordering::SeqCst) == before {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(poll(&mut in_line, &woken).is_pending());
        panics.store(true, Ordering::SeqCst);
        assert!(leader.join().is_err(), "the leader panics");
    });
    for mut future in [taken_in, in_line] {
        assert!(matches!(poll(&mut future, &woken), Poll::Ready(Err(Error::Poisoned(_)))));
    }
    assert!(matches!(store.rebalance("g"), Err(Error::Poisoned(_))));
    // The folder is free again.
    disk.set_pace(Pace::AtOnce);
    let again = open(&disk, DEFAULT_TIMEOUT_MS, Surroundings::system());
    assert_eq!(again.generation("g"), Ok(Some(generation)));
}
