//! What every engine must do, as a suite of checks that an engine's tests call.
//!
//! It sees an engine only through the traits, and restarts it cleanly; what a loss of power may take is each engine's
//! own to test. A check that fails panics.

#![allow(clippy::unwrap_used, reason = "a check that fails panics, in whichever crate it is called")]

use std::time::Duration;

use bytes::Bytes;

use crate::{
    AcquireError, CheckpointState, Engine, Entry, FileName, Journal, JournalState, RoundNumber, SegmentStore,
    Space, StoreError, StreamId,
};

/// Opens one and the same storage, again and again.
pub type Opener = Box<dyn FnMut() -> Result<Engine, AcquireError>>;

/// How long a round or checkpoint may take before the suite gives up.
const PATIENCE: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_micros(100);

/// Runs every check, each on storage of its own that `fresh` makes.
///
/// # Panics
/// When the engine does not keep the contract.
pub fn check(mut fresh: impl FnMut() -> Opener) {
    new_storage_is_empty(fresh());
    rounds_come_back_whole_and_in_order(fresh());
    rounds_of_every_size_come_back(fresh());
    trimmed_rounds_go_and_numbers_go_on(fresh());
    many_rounds_with_trims_between(fresh());
    one_owner_at_a_time(fresh());
    files_are_written_read_and_cut(fresh());
    files_are_listed_and_removed(fresh());
    more_files_than_descriptors(fresh());
    names_stay_in_their_folder(fresh());
    checkpoints_replace_the_document(fresh());
}

fn open(opener: &mut Opener) -> Engine {
    opener().expect("the engine opens")
}

/// An entry of a stream of its own.
#[must_use]
pub fn entry(stream: u8, tag: u8, payload: &[u8]) -> Entry {
    Entry { stream: StreamId([stream; 20]), tag, payload: Bytes::copy_from_slice(payload) }
}

/// A segment's name.
#[must_use]
pub fn name(directory: &str, name: &str) -> FileName {
    FileName { directory: directory.into(), name: name.into() }
}

/// Waits until the journal is idle, and says up to where it is durable.
///
/// # Panics
/// When the journal is poisoned, fenced, or not idle in half a minute.
pub fn wait_idle(journal: &mut dyn Journal) -> RoundNumber {
    for _ in 0..PATIENCE.as_micros() / STEP.as_micros() {
        match journal.poll() {
            JournalState::Idle(durable) => return durable,
            JournalState::InFlight => std::thread::sleep(STEP),
            other => panic!("the journal is {other:?}"),
        }
    }
    panic!("the round does not become durable");
}

/// Submits a round and waits until it is durable.
///
/// # Panics
/// As [`wait_idle`], or when another round than the submitted one is the last durable one.
pub fn commit(journal: &mut dyn Journal, entries: Vec<Entry>) -> RoundNumber {
    let number = journal.submit(entries);
    assert_eq!(wait_idle(journal), number);
    number
}

/// Waits until the checkpoint is done.
///
/// # Panics
/// When it fails, or is not done in half a minute.
pub fn wait_checkpoint(segments: &mut dyn SegmentStore) {
    for _ in 0..PATIENCE.as_micros() / STEP.as_micros() {
        match segments.poll_checkpoint() {
            CheckpointState::Done => return assert_eq!(segments.poll_checkpoint(), CheckpointState::Idle),
            CheckpointState::Running => std::thread::sleep(STEP),
            other => panic!("the checkpoint is {other:?}"),
        }
    }
    panic!("the checkpoint does not finish");
}

fn new_storage_is_empty(mut opener: Opener) {
    let mut engine = open(&mut opener);
    assert_eq!(engine.journal.epoch(), 1);
    assert_eq!(engine.journal.poll(), JournalState::Idle(RoundNumber(0)));
    assert_eq!(engine.journal.space(), Space::Ready);
    assert_eq!(engine.journal.untrimmed_bytes(), 0);
    assert_eq!(engine.checkpoint, None);
    assert!(engine.replay.rounds.is_empty() && engine.replay.damaged.is_empty());
    assert_eq!((engine.replay.begins_at, engine.replay.torn_tail), (RoundNumber(1), None));
    assert_eq!(engine.segments.list().unwrap(), []);
    assert_eq!(engine.segments.poll_checkpoint(), CheckpointState::Idle);
}

fn rounds_come_back_whole_and_in_order(mut opener: Opener) {
    let mut written = Vec::new();
    for epoch in 1..=4 {
        let mut engine = open(&mut opener);
        assert_eq!(engine.journal.epoch(), epoch);
        let found: Vec<_> =
            engine.replay.rounds.drain(..).map(|round| (round.number, round.epoch, round.entries)).collect();
        assert_eq!(found, written);
        assert_eq!(engine.replay.torn_tail, None);
        for round in 0..3 {
            let entries = vec![entry(1, round, b"first"), entry(2, 7, &[round; 300]), entry(1, 0, b"")];
            let number = commit(&mut *engine.journal, entries.clone());
            written.push((number, epoch, entries));
        }
    }
    assert_eq!(written.last().map(|(number, ..)| *number), Some(RoundNumber(12)));
}

fn rounds_of_every_size_come_back(mut opener: Opener) {
    let mut engine = open(&mut opener);
    let mut written = vec![Vec::new()];
    for size in [0, 1, 455, 456, 457, 512, 4096, 31_000, 100_000, 1_500_000, 10] {
        written.push(vec![entry(3, 3, &vec![0xA5; size])]);
    }
    written.push((0..2000).map(|index: u32| entry(4, 1, &index.to_be_bytes())).collect());
    for entries in &written {
        commit(&mut *engine.journal, entries.clone());
    }
    drop(engine);
    let engine = open(&mut opener);
    let found: Vec<_> = engine.replay.rounds.into_iter().map(|round| round.entries).collect();
    assert!(found == written, "{} rounds of {} came back", found.len(), written.len());
}

fn trimmed_rounds_go_and_numbers_go_on(mut opener: Opener) {
    let mut engine = open(&mut opener);
    for round in 0..20 {
        commit(&mut *engine.journal, vec![entry(1, round, &[round; 5000])]);
    }
    let before = engine.journal.untrimmed_bytes();
    assert!(before >= 100_000);
    engine.journal.trim(RoundNumber(16));
    assert!(engine.journal.untrimmed_bytes() < before);
    drop(engine);
    let mut engine = open(&mut opener);
    assert!(engine.replay.begins_at <= RoundNumber(16));
    let numbers: Vec<_> = engine.replay.rounds.iter().map(|round| round.number.0).collect();
    assert_eq!(numbers, (engine.replay.begins_at.0..=20).collect::<Vec<_>>());
    engine.journal.trim(RoundNumber(21));
    assert_eq!(engine.journal.untrimmed_bytes(), 0);
    drop(engine);
    let mut engine = open(&mut opener);
    assert_eq!(wait_idle(&mut *engine.journal), RoundNumber(20));
    assert_eq!(engine.replay.rounds.len() as u64, 21 - engine.replay.begins_at.0);
    assert_eq!(commit(&mut *engine.journal, vec![entry(1, 1, b"next")]), RoundNumber(21));
}

fn many_rounds_with_trims_between(mut opener: Opener) {
    let payload =
        |number: u64| vec![u8::try_from(number % 251).unwrap(); usize::try_from(number * 37 % 3000).unwrap()];
    let (mut last, mut trimmed) = (0, 1);
    for start in 1..=6_u64 {
        let mut engine = open(&mut opener);
        assert!(engine.replay.begins_at.0 <= trimmed);
        for (expected, round) in (engine.replay.begins_at.0..).zip(&engine.replay.rounds) {
            assert_eq!(round.number.0, expected);
            assert_eq!(round.entries, vec![entry(9, 9, &payload(expected))]);
        }
        assert_eq!(engine.replay.begins_at.0 + engine.replay.rounds.len() as u64, last + 1);
        for _ in 0..60 {
            last += 1;
            assert_eq!(engine.journal.space(), Space::Ready);
            commit(&mut *engine.journal, vec![entry(9, 9, &payload(last))]);
            if last % 7 == start {
                trimmed = last.saturating_sub(3).max(trimmed);
                engine.journal.trim(RoundNumber(trimmed));
            }
        }
    }
}

fn one_owner_at_a_time(mut opener: Opener) {
    let first = open(&mut opener);
    assert!(matches!(opener(), Err(AcquireError::InUse { .. })));
    let Engine { journal, segments, .. } = first;
    drop(journal);
    assert!(matches!(opener(), Err(AcquireError::InUse { .. })), "the other half is still open");
    drop(segments);
    assert_eq!(open(&mut opener).journal.epoch(), 2, "a refused start takes no epoch");
}

fn read(segments: &dyn SegmentStore, file: crate::FileId, at: u64, count: usize) -> Vec<u8> {
    let mut into = vec![0xEE; count];
    let found = segments.read(file, at, &mut into).unwrap();
    into.truncate(found);
    into
}

fn files_are_written_read_and_cut(mut opener: Opener) {
    let mut engine = open(&mut opener);
    let segments = &mut engine.segments;
    let file = segments.create(&name("topic-0", "0.log")).unwrap();
    assert_eq!(read(&**segments, file, 0, 10), b"");
    segments.write(file, 0, b"hello world").unwrap();
    segments.write(file, 6, b"there, all").unwrap();
    assert_eq!(read(&**segments, file, 0, 100), b"hello there, all");
    assert_eq!(read(&**segments, file, 6, 5), b"there");
    assert_eq!(read(&**segments, file, 16, 5), b"");
    segments.close(file);
    drop(engine);
    let mut engine = open(&mut opener);
    let segments = &mut engine.segments;
    let file = segments.open(&name("topic-0", "0.log"), 5).unwrap();
    assert_eq!(read(&**segments, file, 0, 100), b"hello");
    segments.write(file, 5, b"!").unwrap();
    segments.close(file);
    let file = segments.open(&name("topic-0", "0.log"), 6).unwrap();
    assert_eq!(read(&**segments, file, 0, 100), b"hello!");
    for (missing, length) in [("0.log", 7), ("1.log", 0)] {
        let refused = segments.open(&name("topic-0", missing), length);
        assert!(matches!(refused, Err(StoreError::Missing { .. })), "{refused:?}");
    }
    let emptied = segments.create(&name("topic-0", "0.log")).unwrap();
    assert_eq!(read(&**segments, emptied, 0, 100), b"");
}

fn files_are_listed_and_removed(mut opener: Opener) {
    let mut engine = open(&mut opener);
    let segments = &mut engine.segments;
    let names = [name("a-0", "0.index"), name("a-0", "0.log"), name("a-1", "0.log"), name("b.c-10", "7.log")];
    for name in names.iter().rev() {
        let file = segments.create(name).unwrap();
        segments.write(file, 0, b"x").unwrap();
        segments.close(file);
    }
    assert_eq!(segments.list().unwrap(), names);
    segments.remove(&names[2]).unwrap();
    segments.remove(&names[2]).unwrap();
    segments.remove_directory("a-1").unwrap();
    segments.remove_directory("a-1").unwrap();
    assert!(segments.remove_directory("a-0").is_err(), "it is not empty");
    segments.begin_checkpoint(&[], b"1".to_vec());
    wait_checkpoint(&mut **segments);
    drop(engine);
    let mut engine = open(&mut opener);
    assert_eq!(engine.segments.list().unwrap(), [names[0].clone(), names[1].clone(), names[3].clone()]);
    assert!(engine.segments.create(&names[2]).is_ok());
}

fn more_files_than_descriptors(mut opener: Opener) {
    let mut engine = open(&mut opener);
    let segments = &mut engine.segments;
    let name = |index: u8| name("many-0", &format!("{index:03}.log"));
    let files: Vec<_> = (0..40).map(|index| segments.create(&name(index)).unwrap()).collect();
    for round in 0..3_u8 {
        for (index, file) in (0_u8..).zip(&files) {
            segments.write(*file, u64::from(round), &[index + round]).unwrap();
        }
    }
    for (index, file) in (0_u8..).zip(&files) {
        assert_eq!(read(&**segments, *file, 0, 10), [index, index + 1, index + 2]);
    }
    segments.begin_checkpoint(&files, b"document".to_vec());
    wait_checkpoint(&mut **segments);
    files.into_iter().for_each(|file| segments.close(file));
    assert_eq!(segments.list().unwrap().len(), 40);
}

fn names_stay_in_their_folder(mut opener: Opener) {
    let mut engine = open(&mut opener);
    for (directory, file) in
        [("..", "x"), ("topic-0", "../x"), ("", "x"), ("topic-0", ""), (".hidden", "x"), ("a/b", "x")]
    {
        let refused = engine.segments.create(&name(directory, file));
        assert!(matches!(refused, Err(StoreError::Io { .. })), "{directory}/{file}: {refused:?}");
    }
    assert_eq!(engine.segments.list().unwrap(), []);
}

fn checkpoints_replace_the_document(mut opener: Opener) {
    for generation in 0..4_u8 {
        let mut engine = open(&mut opener);
        assert_eq!(engine.checkpoint, generation.checked_sub(1).map(|last| vec![last; 1000]));
        let file = engine.segments.create(&name("topic-0", "0.log")).unwrap();
        engine.segments.write(file, 0, &[generation]).unwrap();
        engine.segments.begin_checkpoint(&[file], b"replaced soon".to_vec());
        wait_checkpoint(&mut *engine.segments);
        engine.segments.begin_checkpoint(&[], vec![generation; 1000]);
        wait_checkpoint(&mut *engine.segments);
    }
}
