//! Full disks that heal, the reserve, and failures that are never trusted again.

use std::io;

use super::*;
use crate::conformance::{commit, entry, name, wait_checkpoint};
use crate::{CheckpointState, JournalState, Operation, Space, StoreError};

/// A full device is found before a round fails: enough for the first file, a spare, the reserve and a little.
const CAPACITY_BYTES: u64 = 106 << 10;

fn poisoned(engine: &mut Engine) -> String {
    match engine.journal.poll() {
        JournalState::Poisoned(reason) => reason,
        other => panic!("the journal is {other:?}"),
    }
}

#[test]
fn a_full_device_is_said_early_and_heals_without_a_restart() {
    let system = SimulatedFileSystem::new(1);
    system.set_capacity(Some(CAPACITY_BYTES));
    let mut engine = open(&system).unwrap();
    let mut rounds = 0;
    while engine.journal.space() == Space::Ready {
        commit(&mut *engine.journal, vec![entry(1, 1, &[1; 1000])]);
        rounds += 1;
        assert!(rounds < 200, "the device never gets full");
    }
    // Rounds that give room back still fit.
    commit(&mut *engine.journal, vec![entry(1, 2, &[2; 1000])]);
    let file = engine.segments.create(&name("t-0", "0.log")).unwrap();
    let refused = engine.segments.write(file, 0, &vec![1; 80 << 10]);
    assert!(matches!(refused, Err(StoreError::Full)), "{refused:?}");
    let writes = system.count(Operation::Write);
    assert!((0..1000).all(|_| engine.journal.space() == Space::Full));
    assert_eq!(system.count(Operation::Write), writes, "asking does not fill the device up");
    system.set_capacity(Some(2 * CAPACITY_BYTES));
    let healed = (0..200).position(|_| engine.journal.space() == Space::Ready);
    assert!(healed.is_some(), "it does not heal");
    for _ in 0..20 {
        commit(&mut *engine.journal, vec![entry(1, 1, &[1; 1000])]);
    }
    drop(engine);
    assert_eq!(open(&system).unwrap().replay.rounds.len(), rounds + 21);
}

#[test]
fn a_device_filled_by_others_is_full_although_a_spare_file_is_there() {
    let system = SimulatedFileSystem::new(1);
    let mut engine = open(&system).unwrap();
    assert_eq!(engine.journal.space(), Space::Ready);
    assert!(system.files().keys().any(|path| path.ends_with(".spare")));
    let used: u64 = system.files().values().map(|bytes| bytes.len() as u64).sum();
    system.set_capacity(Some(used + LocalSettings::small().reserve_bytes - 1));
    assert_eq!(engine.journal.space(), Space::Full, "the segments of a round would not fit");
    system.set_capacity(Some(used + LocalSettings::small().reserve_bytes));
    assert_eq!(engine.journal.space(), Space::Ready);
}

#[test]
fn a_spare_file_leaves_room_for_the_segments_of_a_round() {
    let system = SimulatedFileSystem::new(1);
    let mut engine = open(&system).unwrap();
    let used = || system.files().values().map(|bytes| bytes.len() as u64).sum::<u64>();
    let LocalSettings { journal_file_bytes, reserve_bytes, .. } = LocalSettings::small();
    // The next spare would fit, and take the room that the segments need.
    let capacity_bytes = used() + journal_file_bytes + reserve_bytes - 1;
    system.set_capacity(Some(capacity_bytes));
    let mut rounds = 0;
    while engine.journal.space() == Space::Ready {
        commit(&mut *engine.journal, vec![entry(1, 1, &[1; 1000])]);
        rounds += 1;
        assert!(rounds < 200, "the device never gets full");
    }
    assert!(used() + reserve_bytes <= capacity_bytes, "{} of {capacity_bytes} bytes are taken", used());
}

#[test]
fn trimming_makes_room_too() {
    let system = SimulatedFileSystem::new(1);
    system.set_capacity(Some(CAPACITY_BYTES));
    let mut engine = open(&system).unwrap();
    while engine.journal.space() == Space::Ready {
        commit(&mut *engine.journal, vec![entry(1, 1, &[1; 1000])]);
    }
    engine.segments.begin_checkpoint(&[], b"all is in the files".to_vec());
    wait_checkpoint(&mut *engine.segments);
    engine.journal.trim(RoundNumber(1000));
    assert!((0..200).any(|_| engine.journal.space() == Space::Ready));
    for _ in 0..200 {
        assert_eq!(engine.journal.space(), Space::Ready);
        let number = commit(&mut *engine.journal, vec![entry(1, 1, &[1; 1000])]);
        engine.journal.trim(number);
    }
}

#[test]
fn a_device_that_lies_about_its_room_is_tried_seldom() {
    let system = SimulatedFileSystem::new(1);
    let mut engine = open(&system).unwrap();
    while system.files().keys().any(|path| path.ends_with(".spare")) {
        commit(&mut *engine.journal, vec![entry(1, 1, &[1; 10_000])]);
    }
    let opened = system.count(Operation::Open);
    for _ in 0..1000 {
        system.clear_faults();
        system.fail(Operation::Write, ".tmp", 0, io::ErrorKind::StorageFull);
        assert_eq!(engine.journal.space(), Space::Full);
    }
    let tries = system.count(Operation::Open) - opened;
    assert!((2..=20).contains(&tries), "{tries} tries");
    system.clear_faults();
    assert!((0..100).any(|_| engine.journal.space() == Space::Ready));
}

#[test]
fn the_reserve_lets_a_checkpoint_through_and_comes_back() {
    let system = SimulatedFileSystem::new(1);
    let reserve = LocalSettings::small().reserve_bytes;
    let mut engine = open(&system).unwrap();
    assert_eq!(system.files()[".reserve"].len() as u64, reserve);
    let file = engine.segments.create(&name("t-0", "0.log")).unwrap();
    engine.segments.write(file, 0, b"content").unwrap();
    let used: u64 = system.files().values().map(|content| content.len() as u64).sum();
    system.set_capacity(Some(used + 100));
    engine.segments.begin_checkpoint(&[file], vec![1; 4000]);
    assert!(matches!(engine.segments.poll_checkpoint(), CheckpointState::Failed(_)));
    assert!(matches!(engine.journal.poll(), JournalState::Idle(_)), "a full device poisons nothing");
    engine.segments.release_reserve();
    assert!(!system.files().contains_key(".reserve"));
    engine.segments.begin_checkpoint(&[file], vec![2; 4000]);
    wait_checkpoint(&mut *engine.segments);
    (0..500).for_each(|_| _ = engine.journal.space());
    assert!(!system.files().contains_key(".reserve"), "there is no room for it yet");
    system.set_capacity(None);
    (0..500).for_each(|_| _ = engine.journal.space());
    assert_eq!(system.files()[".reserve"].len() as u64, reserve);
    drop(engine);
    system.crash(3);
    let mut engine = open(&system).unwrap();
    assert_eq!(engine.checkpoint, Some(vec![2; 4000]));
    assert!(engine.segments.open(&name("t-0", "0.log"), 7).is_ok());
}

#[test]
fn an_engine_starts_on_a_full_device() {
    let system = SimulatedFileSystem::new(1);
    let mut engine = open(&system).unwrap();
    commit(&mut *engine.journal, vec![entry(1, 1, b"kept")]);
    drop(engine);
    for path in system.files().into_keys().filter(|path| path.ends_with(".spare")) {
        FileSystem::remove(&system, &path).unwrap();
    }
    let used: u64 = system.files().values().map(|content| content.len() as u64).sum();
    system.set_capacity(Some(used + (9 << 10)));
    let mut engine = open(&system).unwrap();
    assert_eq!(engine.replay.rounds.len(), 1);
    assert_eq!(engine.journal.space(), Space::Full);
    commit(&mut *engine.journal, vec![entry(1, 1, b"a deletion")]);
    drop(engine);
    system.set_capacity(Some(used));
    let refused = open(&system).err().unwrap();
    assert!(matches!(&refused, AcquireError::Io { action, .. } if action.contains("journal")), "{refused}");
}

#[test]
fn a_failed_sync_or_write_poisons_everything_for_good() {
    for operation in [Operation::Sync, Operation::Write] {
        let system = SimulatedFileSystem::new(1);
        let mut engine = open(&system).unwrap();
        commit(&mut *engine.journal, vec![entry(1, 1, b"kept")]);
        system.fail(operation, ".journal", 0, io::ErrorKind::Other);
        engine.journal.submit(vec![entry(1, 1, b"lost")]);
        let reason = poisoned(&mut engine);
        assert!(reason.contains("00001.journal"), "{reason}");
        let operations = system.operations();
        engine.journal.submit(vec![entry(1, 1, b"lost too")]);
        assert_eq!(poisoned(&mut engine), reason);
        assert!(engine.segments.create(&name("t-0", "0.log")).is_err());
        engine.segments.begin_checkpoint(&[], b"never".to_vec());
        assert_eq!(engine.segments.poll_checkpoint(), CheckpointState::Failed(reason));
        engine.journal.trim(RoundNumber(2));
        assert_eq!(system.operations(), operations, "nothing was tried again");
        drop(engine);
        system.crash(0);
        assert_eq!(open(&system).unwrap().checkpoint, None);
    }
}

#[test]
fn a_checkpoint_that_fails_to_sync_poisons_and_the_old_document_stands() {
    for path in ["t-0/0.log", "checkpoint.tmp"] {
        let system = SimulatedFileSystem::new(1);
        let mut engine = open(&system).unwrap();
        engine.segments.begin_checkpoint(&[], b"old".to_vec());
        wait_checkpoint(&mut *engine.segments);
        let file = engine.segments.create(&name("t-0", "0.log")).unwrap();
        system.fail(Operation::Sync, path, 0, io::ErrorKind::Other);
        engine.segments.begin_checkpoint(&[file], b"new".to_vec());
        let CheckpointState::Failed(reason) = engine.segments.poll_checkpoint() else {
            panic!("it did not fail")
        };
        assert!(reason.contains(path), "{reason}");
        assert_eq!(poisoned(&mut engine), reason);
        drop(engine);
        assert_eq!(open(&system).unwrap().checkpoint.as_deref(), Some(&b"old"[..]));
    }
}

#[test]
fn a_round_costs_one_write_and_one_sync() {
    let system = SimulatedFileSystem::new(1);
    let mut engine = open(&system).unwrap();
    let before = (system.count(Operation::Write), system.count(Operation::Sync), system.operations());
    for _ in 0..10 {
        commit(&mut *engine.journal, (0..5).map(|tag| entry(tag, tag, &[tag; 50])).collect());
    }
    let after = (system.count(Operation::Write), system.count(Operation::Sync), system.operations());
    assert_eq!(after, (before.0 + 10, before.1 + 10, before.2 + 20));
}

#[test]
fn a_folder_that_may_not_be_written_is_refused_with_its_name() {
    for (operation, path) in
        [(Operation::Open, ".lock"), (Operation::Open, "milepost.format"), (Operation::Name, "journal")]
    {
        let system = SimulatedFileSystem::new(1);
        system.fail(operation, path, 0, io::ErrorKind::ReadOnlyFilesystem);
        let refused = open(&system).err().unwrap();
        assert!(matches!(&refused, AcquireError::Io { action, .. } if action.contains(path)), "{refused}");
        assert!(open(&system).is_ok(), "nothing half made is in the way");
    }
}
