//! Power loss, process crashes and failing calls at random moments: nothing acknowledged is lost, nothing is half
//! there. The planted bugs prove that these tests notice.

use std::collections::BTreeMap;
use std::io;

use super::*;
use crate::conformance::{entry, name};
use crate::{Bugs, CheckpointState, Entry, FileId, FileName, JournalState, Operation, SegmentStore};

/// How many seeds the honest engine must survive.
const SEEDS: u64 = 600;
/// Within how many seeds a planted bug must be found.
const SEEDS_FOR_A_BUG: u64 = 100;
/// How often each seed starts the engine again.
const LIVES: usize = 5;
/// Operations that a life performs when nothing stops it.
const STEPS: usize = 60;

/// SplitMix64, as the simulated disk has it.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn bytes(&mut self, limit: u64) -> Vec<u8> {
        let size = self.below(limit);
        let first = self.below(255) + 1;
        (0..size).map(|index| u8::try_from((first + index) % 255 + 1).unwrap()).collect()
    }
}

/// Fails the run with a message, not the test: a planted bug makes runs fail.
fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

type Files = BTreeMap<FileName, Vec<u8>>;

/// What must be true.
#[derive(Default)]
struct Truth {
    /// Every round that was reported durable, from 1.
    rounds: Vec<Vec<Entry>>,
    /// A round whose fate is unknown.
    unknown: Option<Vec<Entry>>,
    trimmed: u64,
    epoch: u32,
    /// Documents that may be found, each with the files it names.
    checkpoints: Vec<(Option<Vec<u8>>, Files)>,
    next_document: u64,
    next_file: u64,
}

/// A running engine, and what its files hold.
struct Life {
    engine: Engine,
    open: BTreeMap<FileName, FileId>,
    files: Files,
}

fn read_all(segments: &dyn SegmentStore, file: FileId, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let count = segments.read(file, 0, &mut bytes).unwrap_or(0);
    bytes.truncate(count);
    bytes
}

impl Truth {
    fn new() -> Self {
        Self { checkpoints: vec![(None, Files::new())], trimmed: 1, ..Self::default() }
    }

    /// Compares what a start found with what must be true, and goes on from there as a server would.
    fn check(&mut self, mut engine: Engine) -> Result<Life, String> {
        ensure(engine.journal.epoch() > self.epoch, || "the epoch did not grow".into())?;
        self.epoch = engine.journal.epoch();
        self.check_rounds(&mut engine)?;
        let position = self.checkpoints.iter().rposition(|(document, _)| *document == engine.checkpoint);
        let position = position.ok_or_else(|| format!("unexpected checkpoint {:?}", engine.checkpoint))?;
        let (document, files) = self.checkpoints.swap_remove(position);
        let mut open = BTreeMap::new();
        for (name, content) in &files {
            let file = engine.segments.open(name, content.len() as u64).map_err(|error| error.to_string())?;
            ensure(read_all(&*engine.segments, file, content.len()) == *content, || {
                format!("{name} changed")
            })?;
            open.insert(name.clone(), file);
        }
        let garbage = engine.segments.list().map_err(|error| error.to_string())?;
        for name in garbage.iter().filter(|name| !files.contains_key(name)) {
            engine.segments.remove(name).map_err(|error| error.to_string())?;
        }
        self.checkpoints = vec![(document, files.clone())];
        Ok(Life { engine, open, files })
    }

    fn check_rounds(&mut self, engine: &mut Engine) -> Result<(), String> {
        let replay = &engine.replay;
        ensure(replay.damaged.is_empty(), || format!("damage: {:?}", replay.damaged))?;
        ensure(replay.begins_at.0 <= self.trimmed, || {
            format!("rounds before {:?} are gone", replay.begins_at)
        })?;
        for (number, round) in (replay.begins_at.0..).zip(&replay.rounds) {
            ensure(round.number.0 == number, || format!("round {number} is missing"))?;
            let index = usize::try_from(number - 1).unwrap();
            if index == self.rounds.len() {
                self.rounds.extend(self.unknown.take());
            }
            let expected =
                self.rounds.get(index).ok_or_else(|| format!("round {number} was never written"))?;
            ensure(round.entries == *expected, || format!("round {number} differs"))?;
        }
        let last = replay.begins_at.0 + replay.rounds.len() as u64 - 1;
        ensure(last == self.rounds.len() as u64, || {
            format!("{last} of {} rounds are there", self.rounds.len())
        })?;
        ensure(engine.journal.poll() == JournalState::Idle(RoundNumber(last)), || "not idle".into())?;
        self.unknown = None;
        Ok(())
    }

    /// One operation; false when the engine has stopped.
    fn step(&mut self, life: &mut Life, dice: &mut Dice) -> bool {
        match dice.below(12) {
            0..6 => self.commit(life, dice),
            6..9 => self.grow_a_file(life, dice),
            9 => self.checkpoint(life, dice),
            10 => self.remove_a_file(life, dice),
            _ => {
                let space = self.rounds.len() as u64 + 2 - self.trimmed;
                self.trimmed += dice.below(space);
                life.engine.journal.trim(RoundNumber(self.trimmed));
                life.engine.journal.space();
                !matches!(life.engine.journal.poll(), JournalState::Poisoned(_))
            }
        }
    }

    fn commit(&mut self, life: &mut Life, dice: &mut Dice) -> bool {
        let size = if dice.below(20) == 0 { 50_000 } else { 3000 };
        let count = dice.below(4);
        let entries: Vec<_> =
            (0..count).map(|tag| entry(1, u8::try_from(tag).unwrap(), &dice.bytes(size))).collect();
        life.engine.journal.submit(entries.clone());
        match life.engine.journal.poll() {
            JournalState::Idle(number) => {
                self.rounds.push(entries);
                number.0 == self.rounds.len() as u64
            }
            _ => {
                self.unknown = Some(entries);
                false
            }
        }
    }

    fn grow_a_file(&mut self, life: &mut Life, dice: &mut Dice) -> bool {
        let existing = usize::try_from(dice.below(8)).unwrap();
        let bytes = dice.bytes(2000);
        let (name, file) = if let Some((name, file)) = life.open.iter().nth(existing) {
            (name.clone(), *file)
        } else {
            self.next_file += 1;
            let name = name(&format!("topic-{}", dice.below(3)), &format!("{:05}.log", self.next_file));
            let Ok(file) = life.engine.segments.create(&name) else { return false };
            life.open.insert(name.clone(), file);
            (name, file)
        };
        let content = life.files.entry(name).or_default();
        if life.engine.segments.write(file, content.len() as u64, &bytes).is_err() {
            return false;
        }
        content.extend_from_slice(&bytes);
        true
    }

    fn checkpoint(&mut self, life: &mut Life, dice: &mut Dice) -> bool {
        let mut document = dice.bytes(3000);
        self.next_document += 1;
        document.extend_from_slice(&self.next_document.to_be_bytes());
        self.checkpoints.push((Some(document.clone()), life.files.clone()));
        let files: Vec<_> = life.open.values().copied().collect();
        life.engine.segments.begin_checkpoint(&files, document);
        if life.engine.segments.poll_checkpoint() != CheckpointState::Done {
            return false;
        }
        self.checkpoints = self.checkpoints.split_off(self.checkpoints.len() - 1);
        true
    }

    /// Removes a file that no document names.
    fn remove_a_file(&mut self, life: &mut Life, dice: &mut Dice) -> bool {
        let named = |name: &FileName| self.checkpoints.iter().any(|(_, files)| files.contains_key(name));
        let free: Vec<_> = life.files.keys().filter(|name| !named(name)).cloned().collect();
        if free.is_empty() {
            return true;
        }
        let name = &free[usize::try_from(dice.below(free.len() as u64)).unwrap()];
        life.files.remove(name);
        if let Some(file) = life.open.remove(name) {
            life.engine.segments.close(file);
        }
        life.engine.segments.remove(name).is_ok()
    }
}

/// Has something go wrong in the life to come; or nothing.
fn prepare_trouble(system: &SimulatedFileSystem, dice: &mut Dice) {
    let operations =
        [Operation::Write, Operation::Sync, Operation::SyncDirectory, Operation::Name, Operation::Open];
    match dice.below(4) {
        0 => {}
        1 => {
            let operation = operations[usize::try_from(dice.below(5)).unwrap()];
            system.fail(operation, "", dice.below(40), io::ErrorKind::Other);
        }
        _ => system.power_off_after(1 + dice.below(400)),
    }
}

/// Some lives of one disk; what was found wrong.
fn run(seed: u64, settings: LocalSettings, bugs: Bugs) -> Result<(), String> {
    let mut dice = Dice(seed);
    let system = SimulatedFileSystem::new(seed);
    system.plant(bugs);
    if dice.below(4) == 0 {
        system.write_in_pieces();
    }
    let mut truth = Truth::new();
    for _ in 0..LIVES {
        if dice.below(3) == 0 {
            // The power goes while the engine starts, or it crashes right after.
            system.power_off_after(1 + dice.below(60));
            let started = open_with(&system, settings);
            if let Err(error) = &started {
                ensure(matches!(error, AcquireError::Io { .. }), || error.to_string())?;
            }
            drop(started);
            system.crash(dice.below(u64::MAX));
        }
        let engine = open_with(&system, settings).map_err(|error| error.to_string())?;
        let mut life = truth.check(engine)?;
        prepare_trouble(&system, &mut dice);
        for _ in 0..STEPS {
            if !truth.step(&mut life, &mut dice) {
                break;
            }
        }
        drop(life);
        // Sometimes only the process ends, and everything written stays in the system's memory for now.
        if system.is_off() || dice.below(3) > 0 {
            system.crash(dice.below(u64::MAX));
        } else {
            system.clear_faults();
        }
    }
    Ok(())
}

fn first_failure(seeds: u64, settings: LocalSettings, bugs: Bugs) -> Option<(u64, String)> {
    (0..seeds).find_map(|seed| run(seed, settings, bugs).err().map(|reason| (seed, reason)))
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_half_there() {
    assert_eq!(first_failure(SEEDS, LocalSettings::small(), Bugs::default()), None);
}

#[test]
fn a_sync_that_does_nothing_is_noticed() {
    let bugs = Bugs { sync_does_nothing: true, ..Bugs::default() };
    assert_ne!(first_failure(SEEDS_FOR_A_BUG, LocalSettings::small(), bugs), None);
}

#[test]
fn a_directory_sync_that_does_nothing_is_noticed() {
    let bugs = Bugs { directory_sync_does_nothing: true, ..Bugs::default() };
    assert_ne!(first_failure(SEEDS_FOR_A_BUG, LocalSettings::small(), bugs), None);
}

#[test]
fn an_answer_before_the_sync_is_noticed() {
    let settings = LocalSettings { durability: Durability::Os, ..LocalSettings::small() };
    assert_ne!(first_failure(SEEDS_FOR_A_BUG, settings, Bugs::default()), None);
}

#[test]
fn one_seed_gives_one_history() {
    let history = || {
        let system = SimulatedFileSystem::new(5);
        let mut dice = Dice(5);
        let mut life = Truth::new().check(open(&system).unwrap()).unwrap();
        let mut truth = Truth::new();
        (0..STEPS).for_each(|_| assert!(truth.step(&mut life, &mut dice)));
        system.crash(5);
        (system.operations(), system.files())
    };
    assert!(history() == history());
}
