//! Generations: who was replaced stays out, whatever happens to the store.

use milepost::{
    CommittedOffset, Error, Generation, GroupError, LeaderEpoch, NextOffset, Offset, OpenError,
    PartitionIndex,
};
use milepost_storage::SimulatedFileSystem;

use crate::support::{at, commit, committed, open, try_open};

#[test]
fn what_is_committed_is_read_back() {
    let store = open(&SimulatedFileSystem::new(1));
    let generation = store.rebalance("g").unwrap();
    assert_eq!(generation, Generation(1));
    let offsets = [
        at(0, 5).with_leader_epoch(LeaderEpoch(3)).with_metadata("half way"),
        at(7, 0),
        NextOffset::new("payments", PartitionIndex(0), Offset(i64::MAX)),
    ];
    store.commit("g", generation, offsets).unwrap();
    let read = store.committed("g", "orders", PartitionIndex(0)).unwrap().unwrap();
    assert_eq!(
        (read.offset(), read.leader_epoch(), read.metadata()),
        (Offset(5), Some(LeaderEpoch(3)), "half way")
    );
    assert_eq!(read.topic_id(), None);
    let all = store.committed_all("g").unwrap();
    let all: Vec<_> =
        all.iter().map(|one| (&*one.topic, one.partition.0, one.committed.offset().0)).collect();
    assert_eq!(all, [("orders", 0, 5), ("orders", 7, 0), ("payments", 0, i64::MAX)]);
    assert_eq!(store.committed("g", "orders", PartitionIndex(1)).unwrap(), None::<CommittedOffset>);
    assert_eq!(store.committed_all("another").unwrap(), []);
}

#[test]
fn a_commit_names_exactly_the_present_generation() {
    let store = open(&SimulatedFileSystem::new(2));
    let none = Err(Error::UnknownGeneration { current: None });
    assert_eq!(commit(&store, "g", Generation(0), 1), none);
    assert_eq!(commit(&store, "g", Generation(1), 1), none);
    let first = store.rebalance("g").unwrap();
    let second = store.rebalance("g").unwrap();
    assert_eq!(second, first.next());
    assert_eq!(commit(&store, "g", first, 1), Err(Error::StaleGeneration { current: second }));
    let unknown = Err(Error::UnknownGeneration { current: Some(second) });
    assert_eq!(commit(&store, "g", second.next(), 1), unknown);
    assert_eq!(committed(&store, "g", 0), None);
    assert_eq!(store.generation("g"), Ok(Some(second)));
    commit(&store, "g", second, 2).unwrap();
    assert_eq!(committed(&store, "g", 0), Some(2));
}

#[test]
fn a_zombie_is_refused_after_a_restart_a_loss_of_power_and_a_clean_stop() {
    let system = SimulatedFileSystem::new(3);
    let store = open(&system);
    let zombie = store.rebalance("g").unwrap();
    let current = store.rebalance("g").unwrap();
    commit(&store, "g", current, 10).unwrap();
    let stale = Err(Error::StaleGeneration { current });
    drop(store);

    let store = open(&system);
    assert_eq!(commit(&store, "g", zombie, 9), stale);
    drop(store);
    system.crash(77);

    let store = open(&system);
    assert_eq!(commit(&store, "g", zombie, 9), stale);
    store.close().unwrap();

    let store = open(&system);
    assert_eq!(store.recovery().rounds_replayed, 0, "after a clean stop nothing is replayed");
    assert_eq!(commit(&store, "g", zombie, 9), stale);
    commit(&store, "g", current, 11).unwrap();
    assert_eq!(committed(&store, "g", 0), Some(11));
}

#[test]
fn deleting_keeps_the_fence_and_forgetting_resets_it() {
    let system = SimulatedFileSystem::new(4);
    let store = open(&system);
    let zombie = store.rebalance("g").unwrap();
    let current = store.rebalance("g").unwrap();
    store.commit("g", current, [at(0, 1), at(1, 2)]).unwrap();
    store.delete("g").unwrap();
    assert_eq!(store.committed_all("g").unwrap(), []);
    assert_eq!(commit(&store, "g", zombie, 9), Err(Error::StaleGeneration { current }));
    drop(store);

    let store = open(&system);
    assert_eq!(store.committed_all("g").unwrap(), []);
    assert_eq!(commit(&store, "g", zombie, 9), Err(Error::StaleGeneration { current }));
    commit(&store, "g", current, 3).unwrap();
    store.forget_group("g").unwrap();
    assert_eq!(store.generation("g"), Ok(None));
    assert_eq!(committed(&store, "g", 0), None);
    assert_eq!(commit(&store, "g", current, 9), Err(Error::UnknownGeneration { current: None }));
    // The fence is reset: the first generation comes again, and lets the zombie of old in.
    assert_eq!(store.rebalance("g"), Ok(zombie));
    commit(&store, "g", zombie, 9).unwrap();
}

#[test]
fn a_commit_is_stored_whole_or_not_at_all() {
    let store = open(&SimulatedFileSystem::new(5));
    let generation = store.rebalance("g").unwrap();
    let long = at(1, 2).with_metadata("x".repeat(4097));
    let refused = Error::Offset { index: 1, reason: GroupError::OffsetMetadataTooLarge };
    assert_eq!(store.commit("g", generation, [at(0, 1), long]), Err(refused));
    let negative = Err(Error::Negative { index: 1 });
    assert_eq!(store.commit("g", generation, [at(0, 1), at(1, -1)]), negative);
    assert_eq!(store.commit("g", generation, [at(0, 1), at(-1, 1)]), negative);
    // Larger than a batch may be.
    let many = (0..300).map(|partition| at(partition, 1).with_metadata("x".repeat(4096)));
    assert_eq!(store.commit("g", generation, many), Err(Error::TooLarge));
    assert_eq!(store.committed_all("g").unwrap(), []);
    assert_eq!(store.rebalance(""), Err(Error::InvalidGroup));
    assert_eq!(store.rebalance(&"g".repeat(40_000)), Err(Error::InvalidGroup));
    store.commit("g", generation, []).unwrap();
}

#[test]
fn a_folder_has_one_owner_until_it_is_closed() {
    let system = SimulatedFileSystem::new(6);
    let store = open(&system);
    let clone = store.clone();
    let in_use = try_open(std::sync::Arc::new(system.clone()));
    assert!(matches!(in_use, Err(OpenError::Acquire(milepost::AcquireError::InUse { .. }))));
    let generation = store.rebalance("g").unwrap();
    store.close().unwrap();
    assert_eq!(clone.rebalance("g"), Err(Error::Closed));
    assert_eq!(clone.close(), Err(Error::Closed));
    let again = open(&system);
    assert_eq!(again.generation("g"), Ok(Some(generation)));
}
