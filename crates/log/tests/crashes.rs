//! Random histories against a plain model, with restarts, kills and losses of power at any moment.
//!
//! The model knows what was accepted and what was acknowledged. After every start the log must hold what was
//! acknowledged and whole batches of what was accepted after it, in order, and nothing else.

mod support;

use milepost_log::RecoveryTrust;
use milepost_storage::{Bugs, MemoryDisk, SimulatedFileSystem};
use support::history::run;
use support::model::Disk;

/// How many seeds an ordinary run takes; `LOG_SEEDS` asks for more.
#[expect(clippy::disallowed_methods, reason = "a person asks for more seeds")]
fn seeds() -> u64 {
    std::env::var("LOG_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(150)
}

#[test]
fn nothing_acknowledged_is_lost_on_the_engine_in_memory() {
    for seed in 0..seeds() {
        run(Disk::Memory(MemoryDisk::new()), seed, RecoveryTrust::Checkpoint).expect("holds");
    }
}

#[test]
fn nothing_acknowledged_is_lost_on_a_disk_that_loses_power() {
    for seed in 0..seeds() {
        let system = SimulatedFileSystem::new(seed);
        run(Disk::Simulated(system), seed, RecoveryTrust::Checkpoint).expect("holds");
    }
}

/// The planted bug: these histories must be able to see it.
#[test]
fn a_segment_trusted_above_its_checkpoint_is_noticed() {
    let found = (0..seeds()).any(|seed| {
        let system = SimulatedFileSystem::new(seed);
        run(Disk::Simulated(system), seed, RecoveryTrust::FileContents).is_err()
    });
    assert!(found, "no history noticed it");
}

/// Another: a disk that says "synced" and did nothing.
#[test]
fn a_sync_that_does_nothing_is_noticed() {
    let found = (0..seeds()).any(|seed| {
        let system = SimulatedFileSystem::new(seed);
        system.plant(Bugs { sync_does_nothing: true, ..Bugs::default() });
        run(Disk::Simulated(system), seed, RecoveryTrust::Checkpoint).is_err()
    });
    assert!(found, "no history noticed it");
}
