//! The whole broker on a folder that loses power, over many seeds; and the proof that bugs would be noticed.
//!
//! `SIM_SEEDS` says how many seeds, `TEST_TIER=full` asks for all of them, `SIM_SEED` replays one.

use std::collections::BTreeSet;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};

use milepost_sim::{Counts, PlantedBug, Report, run};

/// Seeds of a full run, and of an ordinary one.
const FULL_SEEDS: u64 = 1000;
const ORDINARY_SEEDS: u64 = 150;
/// Within how many seeds each planted bug must be noticed.
const BUG_SEEDS: u64 = 60;

/// Seeds that are played twice.
const TRACED_SEEDS: std::ops::Range<u64> = 7..12;

/// Seeds that failed once, one a line; words after `#` say of what.
const ONCE_FAILED: &str = include_str!("../seeds.txt");

fn seeds() -> Vec<u64> {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    if let Some(seed) = number("SIM_SEED") {
        return vec![seed];
    }
    let is_full = env::var("TEST_TIER").is_ok_and(|tier| tier == "full");
    let count = number("SIM_SEEDS").unwrap_or(if is_full { FULL_SEEDS } else { ORDINARY_SEEDS });
    once_failed().into_iter().chain(0..count).collect()
}

fn once_failed() -> Vec<u64> {
    let numbers = ONCE_FAILED.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    numbers.filter(|text| !text.is_empty()).map(|text| text.parse().expect("a seed a line")).collect()
}

/// Plays a seed; a panic of the node is a failure like any other.
fn play(seed: u64, bug: Option<PlantedBug>) -> Result<Report, String> {
    match catch_unwind(AssertUnwindSafe(|| run(seed, bug))) {
        Ok(result) => result.map_err(|violation| violation.to_string()),
        Err(panic) => {
            let words = panic.downcast_ref::<String>().cloned();
            let words = words.or_else(|| panic.downcast_ref::<&str>().map(|words| (*words).to_owned()));
            Err(format!("panic: {}", words.unwrap_or_default()))
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_half_is_there() {
    let seeds = seeds();
    let mut batches = 0;
    let mut commits = 0;
    let mut counts = Counts::default();
    let mut failed = Vec::new();
    for seed in &seeds {
        match play(*seed, None) {
            Ok(report) => {
                batches += report.batches;
                commits += report.commits;
                counts.add(&report.counts);
            }
            Err(why) => {
                println!("seed {seed}: {}", why.lines().last().unwrap_or_default());
                failed.push((seed, why));
            }
        }
    }
    if let Some((seed, why)) = failed.first() {
        let all: Vec<_> = failed.iter().map(|(seed, _)| *seed).collect();
        panic!(
            "seeds {all:?} fail; replay the first with\n  \
             SIM_SEED={seed} cargo test -p milepost-sim --test power_loss nothing_acknowledged\n{why}"
        );
    }
    println!("{} seeds: {batches} batches and {commits} commits were acknowledged; {counts:?}", seeds.len());
    // A run in which hardly anything is acknowledged would prove nothing.
    let count = seeds.len() as u64;
    assert!(batches > 10 * count && commits > 10 * count, "{batches} batches, {commits} commits");
    assert!(count < ORDINARY_SEEDS || counts.all_happened(), "{counts:?}");
}

/// The first seed that notices the bug, and the promise that was seen broken.
fn first_notice(bug: PlantedBug) -> Option<(u64, String)> {
    (0..BUG_SEEDS).find_map(|seed| {
        let why = play(seed, Some(bug)).err()?;
        Some((seed, why.lines().last().unwrap_or_default().to_owned()))
    })
}

fn assert_noticed(bug: PlantedBug) {
    let notice = first_notice(bug);
    eprintln!("{bug:?}: {notice:?}");
    assert!(notice.is_some(), "{bug:?} is not noticed within {BUG_SEEDS} seeds");
}

#[test]
fn an_answer_before_its_sync_is_noticed() {
    assert_noticed(PlantedBug::AnswerBeforeSync);
}

#[test]
fn a_sync_that_does_nothing_is_noticed() {
    assert_noticed(PlantedBug::NoSync);
}

#[test]
fn a_folder_sync_that_does_nothing_is_noticed() {
    assert_noticed(PlantedBug::NoDirectorySync);
}

#[test]
fn a_segment_trusted_above_its_checkpoint_is_noticed() {
    assert_noticed(PlantedBug::SegmentTrusted);
}

#[test]
fn one_seed_gives_one_trace() {
    let mut traces = BTreeSet::new();
    for seed in TRACED_SEEDS {
        let first = play(seed, None).expect("the seed holds");
        let second = play(seed, None).expect("the seed holds");
        assert_eq!(first, second, "seed {seed} gave two runs");
        traces.insert(first.trace);
    }
    assert_eq!(traces.len(), TRACED_SEEDS.count(), "two seeds gave one run");
}
