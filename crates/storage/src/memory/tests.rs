//! What only the memory engine does; the shared contract is tested by the conformance suite.

use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;

use super::*;
use crate::StreamId;

#[test]
fn it_conforms() {
    crate::conformance::check(|| {
        let disk = MemoryDisk::new();
        Box::new(move || MemoryEngine::open(&disk))
    });
}

fn entry(payload: &'static [u8]) -> Entry {
    Entry { stream: StreamId([7; 20]), tag: 1, payload: Bytes::from_static(payload) }
}

fn file(name: &str) -> FileName {
    FileName { directory: "topic-0".into(), name: name.into() }
}

#[test]
fn a_held_round_is_in_flight_until_it_is_completed_and_a_crash_drops_it() {
    let disk = MemoryDisk::new();
    let mut engine = MemoryEngine::open(&disk).unwrap();
    engine.journal.submit(vec![entry(b"kept")]);
    assert_eq!(engine.journal.poll(), JournalState::Idle(RoundNumber(1)));
    disk.set_pace(Pace::Held);
    let calls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&calls);
    engine.journal.set_waker(Arc::new(move || _ = counter.fetch_add(1, Ordering::SeqCst)));
    engine.journal.submit(vec![entry(b"held")]);
    assert_eq!(engine.journal.poll(), JournalState::InFlight);
    disk.complete();
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert_eq!(engine.journal.poll(), JournalState::Idle(RoundNumber(2)));
    engine.journal.submit(vec![entry(b"lost")]);
    disk.crash();
    assert_eq!(engine.journal.poll(), JournalState::Fenced);
    drop(engine);
    let engine = MemoryEngine::open(&disk).unwrap();
    assert_eq!(engine.replay.rounds.iter().map(|round| round.number.0).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(engine.journal.epoch(), 2);
}

#[test]
fn a_crash_takes_files_back_to_their_checkpoint_and_a_clean_restart_does_not() {
    let disk = MemoryDisk::new();
    let mut engine = MemoryEngine::open(&disk).unwrap();
    let id = engine.segments.create(&file("a")).unwrap();
    engine.segments.write(id, 0, b"one").unwrap();
    engine.segments.begin_checkpoint(&[id], b"document".to_vec());
    assert_eq!(engine.segments.poll_checkpoint(), CheckpointState::Done);
    engine.segments.write(id, 3, b"two").unwrap();
    engine.segments.create(&file("b")).unwrap();
    drop(engine);
    let mut engine = MemoryEngine::open(&disk).unwrap();
    assert_eq!(engine.segments.list().unwrap().len(), 2);
    assert!(engine.segments.open(&file("a"), 6).is_ok());
    drop(engine);
    disk.crash();
    let mut engine = MemoryEngine::open(&disk).unwrap();
    assert_eq!(engine.checkpoint.as_deref(), Some(&b"document"[..]));
    assert_eq!(engine.segments.list().unwrap(), [file("a")]);
    assert!(matches!(engine.segments.open(&file("a"), 4), Err(StoreError::Missing { .. })));
    assert!(engine.segments.open(&file("a"), 3).is_ok());
}

#[test]
fn a_poisoned_journal_stays_poisoned_until_it_is_opened_again() {
    let disk = MemoryDisk::new();
    let mut engine = MemoryEngine::open(&disk).unwrap();
    disk.set_pace(Pace::Held);
    engine.journal.submit(vec![entry(b"lost")]);
    disk.poison("the disk is broken");
    assert_eq!(engine.journal.poll(), JournalState::Poisoned("the disk is broken".into()));
    engine.journal.submit(vec![entry(b"lost too")]);
    disk.complete();
    assert_eq!(engine.journal.poll(), JournalState::Poisoned("the disk is broken".into()));
    assert!(matches!(MemoryEngine::open(&disk), Err(AcquireError::InUse { .. })));
    drop(engine);
    let mut engine = MemoryEngine::open(&disk).unwrap();
    assert!(engine.replay.rounds.is_empty());
    assert_eq!(engine.journal.poll(), JournalState::Idle(RoundNumber(0)));
}
