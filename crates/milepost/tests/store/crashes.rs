//! Losses of power at any operation, failed syncs, torn tails and full disks: what was acknowledged is there.

use std::io;
use std::sync::Arc;

use milepost::{Error, Generation, OffsetStore, OpenError};
use milepost_storage::{Operation, SimulatedFileSystem};

use crate::support::{at, commit, committed, open, try_open};

const SEEDS: u64 = 120;
const LIVES: u64 = 4;
const GROUPS: [&str; 3] = ["a", "b", "c"];

/// What the test knows about a group.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The last generation that was returned.
    generation: i32,
    /// The last offset that was acknowledged, and the last that was sent.
    acknowledged: Option<i64>,
    sent: Option<i64>,
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Works until the power goes.
fn work(store: &OffsetStore, dice: &mut Dice, known: &mut [Known; 3], next_offset: &mut i64) {
    for _ in 0..60 {
        let index = usize::try_from(dice.below(3)).unwrap();
        let (group, known) = (GROUPS[index], &mut known[index]);
        if known.generation == 0 || dice.below(8) == 0 {
            let Ok(generation) = store.rebalance(group) else { return };
            assert!(generation.0 > known.generation, "a generation came back");
            known.generation = generation.0;
            continue;
        }
        *next_offset += 1;
        known.sent = Some(*next_offset);
        match commit(store, group, Generation(known.generation), *next_offset) {
            Ok(()) => known.acknowledged = Some(*next_offset),
            Err(Error::Poisoned(_)) => return,
            Err(error) => panic!("a commit of the present generation was refused: {error}"),
        }
        let zombie = commit(store, group, Generation(known.generation - 1), 1_000_000);
        assert!(matches!(zombie, Err(Error::StaleGeneration { .. } | Error::Poisoned(_))), "{zombie:?}");
    }
}

fn verify(store: &OffsetStore, known: &mut [Known; 3], seed: u64) {
    for (group, known) in GROUPS.iter().zip(known) {
        let found = committed(store, group, 0);
        assert!(
            found >= known.acknowledged && found <= known.sent,
            "seed {seed}, group {group}: {found:?} was found, {:?} acknowledged, {:?} sent",
            known.acknowledged,
            known.sent
        );
        known.acknowledged = found;
        let generation = store.generation(group).unwrap().map_or(0, |generation| generation.0);
        assert!(
            generation == known.generation || generation == known.generation + 1,
            "seed {seed}: {group} is at {generation}, {} was returned",
            known.generation
        );
        known.generation = generation;
        if generation > 1 {
            let zombie = commit(store, group, Generation(generation - 1), 1_000_000);
            assert_eq!(zombie, Err(Error::StaleGeneration { current: Generation(generation) }));
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_the_power_goes() {
    let mut commits = 0;
    for seed in 0..SEEDS {
        let system = SimulatedFileSystem::new(seed);
        if seed % 2 == 0 {
            system.write_in_pieces();
        }
        let mut dice = Dice(seed + 1);
        let mut known = [Known::default(); 3];
        let mut next_offset = 0;
        for life in 0..LIVES {
            // In some lives the power goes while the folder is still being opened.
            if dice.below(4) == 0 {
                system.power_off_after(1 + dice.below(60));
            }
            if let Ok(store) = try_open(Arc::new(system.clone())) {
                if !system.is_off() {
                    system.clear_faults();
                    verify(&store, &mut known, seed);
                    system.power_off_after(1 + dice.below(150));
                }
                work(&store, &mut dice, &mut known, &mut next_offset);
            }
            system.crash(seed * LIVES + life);
        }
        let store = open(&system);
        verify(&store, &mut known, seed);
        commits += next_offset;
    }
    assert!(commits > 1_000, "only {commits} commits were tried");
}

#[test]
fn a_killed_process_loses_nothing_either() {
    let system = SimulatedFileSystem::new(500);
    let mut known = [Known::default(); 3];
    let (mut dice, mut next_offset) = (Dice(5), 0);
    for life in 0..10 {
        let store = open(&system);
        verify(&store, &mut known, life);
        work(&store, &mut dice, &mut known, &mut next_offset);
    }
    assert!(next_offset > 100);
}

#[test]
fn a_failed_sync_ends_the_store_and_the_next_start_recovers() {
    let system = SimulatedFileSystem::new(501);
    let store = open(&system);
    let generation = store.rebalance("g").unwrap();
    commit(&store, "g", generation, 1).unwrap();
    system.fail(Operation::Sync, "journal/", 0, io::ErrorKind::Other);
    assert!(matches!(commit(&store, "g", generation, 2), Err(Error::Poisoned(_))));
    // It is never tried again: what the operating system has now cannot be known.
    assert!(matches!(commit(&store, "g", generation, 3), Err(Error::Poisoned(_))));
    assert!(matches!(store.close(), Err(Error::Poisoned(_))));
    system.crash(9);
    let store = open(&system);
    assert!(committed(&store, "g", 0) >= Some(1));
    commit(&store, "g", generation, 4).unwrap();
}

#[test]
fn a_torn_tail_is_cut_and_reported() {
    let system = SimulatedFileSystem::new(502);
    let store = open(&system);
    let generation = store.rebalance("g").unwrap();
    commit(&store, "g", generation, 1).unwrap();
    drop(store);
    // The next round was being written when the power went: some of it reached the disk.
    let files = system.files();
    let (path, bytes) =
        files.iter().rfind(|(path, _)| path.ends_with(".journal")).expect("there is a journal");
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap().next_multiple_of(512);
    for byte in end..end + 100 {
        system.tamper(path, byte, |byte| *byte = 0xab);
    }
    let store = open(&system);
    let torn = store.recovery().torn_tail.as_ref().expect("the torn tail is reported");
    assert!(torn.place.contains("journal"), "{torn:?}");
    assert_eq!(committed(&store, "g", 0), Some(1));
    commit(&store, "g", generation, 2).unwrap();
    drop(store);
    let store = open(&system);
    assert_eq!(store.recovery().torn_tail, None);
    assert_eq!(committed(&store, "g", 0), Some(2));
}

#[test]
fn a_full_disk_refuses_commits_answers_reads_and_heals() {
    let system = SimulatedFileSystem::new(503);
    let store = open(&system);
    let generation = store.rebalance("g").unwrap();
    commit(&store, "g", generation, 1).unwrap();
    let used: usize = system.files().values().map(Vec::len).sum();
    system.set_capacity(Some(used as u64 + 1_000));
    let mut acknowledged = 1;
    let refused = (2..5_000).find_map(|offset| match commit(&store, "g", generation, offset) {
        Ok(()) => {
            acknowledged = offset;
            None
        }
        Err(error) => Some(error),
    });
    assert_eq!(refused, Some(Error::NoSpace));
    assert_eq!(committed(&store, "g", 0), Some(acknowledged));
    assert_eq!(store.rebalance("g"), Err(Error::NoSpace));
    system.set_capacity(None);
    let heals = (0..200).any(|_| commit(&store, "g", generation, 10_000) == Ok(()));
    assert!(heals, "the disk has room again");
    assert_eq!(store.generation("g"), Ok(Some(generation)), "the refused rebalance left nothing");
}

#[test]
fn a_new_folder_without_room_is_said() {
    let system = SimulatedFileSystem::new(504);
    system.set_capacity(Some(4_000));
    let opened = try_open(Arc::new(system.clone()));
    assert!(matches!(opened, Err(OpenError::Acquire(_) | OpenError::Write(_) | OpenError::Metadata(_))));
    system.set_capacity(None);
    let store = open(&system);
    store.commit("g", store.rebalance("g").unwrap(), [at(0, 1)]).unwrap();
}
