//! Compaction: what is live stays, the fence stays, and the space comes back.

use milepost::{Error, OffsetStore};
use milepost_storage::SimulatedFileSystem;

use crate::support::{commit, committed, open};

fn used_bytes(system: &SimulatedFileSystem) -> usize {
    let files = system.files();
    files.iter().filter(|(path, _)| path.contains("__consumer_offsets")).map(|(_, bytes)| bytes.len()).sum()
}

fn commit_many(store: &OffsetStore, group: &str, count: i64) {
    let generation = store.generation(group).unwrap().unwrap();
    for offset in 1..=count {
        commit(store, group, generation, offset).unwrap();
    }
}

#[test]
fn of_every_partition_the_last_commit_stays_and_the_space_comes_back() {
    let system = SimulatedFileSystem::new(1);
    let store = open(&system);
    for group in ["a", "b"] {
        store.rebalance(group).unwrap();
        commit_many(&store, group, 300);
    }
    store.delete("b").unwrap();
    let done = store.compact().unwrap();
    assert!(done.bytes_before > 30_000 && done.bytes_after < 1_000, "{done:?}");
    assert_eq!((committed(&store, "a", 0), committed(&store, "b", 0)), (Some(300), None));
    commit_many(&store, "a", 301);
    assert_eq!(committed(&store, "a", 0), Some(301));
    store.close().unwrap();
    assert!(used_bytes(&system) < 50_000, "{} bytes are on the disk", used_bytes(&system));
    let store = open(&system);
    assert_eq!((committed(&store, "a", 0), committed(&store, "b", 0)), (Some(301), None));
}

#[test]
fn a_zombie_is_refused_after_compaction() {
    let system = SimulatedFileSystem::new(2);
    let store = open(&system);
    let zombie = store.rebalance("g").unwrap();
    commit_many(&store, "g", 50);
    let current = store.rebalance("g").unwrap();
    store.delete("g").unwrap();
    let stale = Err(Error::StaleGeneration { current });
    store.compact().unwrap();
    assert_eq!(commit(&store, "g", zombie, 9), stale);
    drop(store);
    // Also when all that is left of the group is what compaction wrote.
    let store = open(&system);
    assert_eq!(commit(&store, "g", zombie, 9), stale);
    store.compact().unwrap();
    store.close().unwrap();
    let store = open(&system);
    assert_eq!(commit(&store, "g", zombie, 9), stale);
    assert_eq!(store.rebalance("g").unwrap(), current.next());
}

#[test]
fn commits_go_on_while_somebody_compacts() {
    let system = SimulatedFileSystem::new(3);
    let store = open(&system);
    for group in ["a", "b", "c"] {
        store.rebalance(group).unwrap();
    }
    std::thread::scope(|scope| {
        for group in ["a", "b", "c"] {
            let store = store.clone();
            scope.spawn(move || commit_many(&store, group, 200));
        }
        for _ in 0..5 {
            store.compact().unwrap();
        }
    });
    store.compact().unwrap();
    drop(store);
    system.crash(4);
    let store = open(&system);
    for group in ["a", "b", "c"] {
        assert_eq!(committed(&store, group, 0), Some(200));
    }
}

#[test]
fn a_loss_of_power_during_a_compaction_loses_nothing() {
    for operations in 0..60 {
        let system = SimulatedFileSystem::new(operations);
        let store = open(&system);
        store.rebalance("g").unwrap();
        commit_many(&store, "g", 40);
        system.power_off_after(operations);
        let compacted = store.compact();
        let is_off = system.is_off();
        assert!(is_off || compacted.is_ok(), "{compacted:?}");
        drop(store);
        system.crash(operations);
        let store = open(&system);
        assert_eq!(committed(&store, "g", 0), Some(40), "power off after {operations} operations");
    }
}
