//! A worker crashes between its work and its commit, and resumes: everything is done at least once, nothing is skipped.
//!
//! `cargo run -p milepost --example at_least_once`

#![allow(clippy::print_stdout, reason = "an example tells its story")]

use std::error::Error;
use std::path::Path;

use milepost::{CommittedOffset, NextOffset, Offset, OffsetStore, PartitionIndex};

const RECORDS: i64 = 10;
const COMMIT_EVERY: i64 = 4;

/// Works through the records from the last commit on. Returns what it worked on.
fn work(folder: &Path, crash_before: Option<i64>) -> Result<Vec<i64>, Box<dyn Error>> {
    let store = OffsetStore::open(folder)?;
    let generation = store.rebalance("emails")?;
    let partition = PartitionIndex(0);
    let committed = store.committed("emails", "orders", partition)?;
    let first = committed.as_ref().map_or(0, |committed: &CommittedOffset| committed.offset().0);
    println!("generation {} begins at offset {first}", generation.0);
    let mut done = Vec::new();
    for offset in first..RECORDS {
        if crash_before == Some(offset) {
            println!("  crash: {} records since the last commit", offset % COMMIT_EVERY);
            return Ok(done);
        }
        done.push(offset);
        // What is committed is where to read next, and only after the work is done.
        let next = offset + 1;
        if next % COMMIT_EVERY == 0 || next == RECORDS {
            store.commit("emails", generation, [NextOffset::new("orders", partition, Offset(next))])?;
        }
    }
    Ok(done)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let before = work(folder.path(), Some(6))?;
    let after = work(folder.path(), None)?;
    let twice: Vec<_> = after.iter().filter(|offset| before.contains(offset)).collect();
    println!("done before the crash: {before:?}");
    println!("done after it:         {after:?}");
    println!("done twice:            {twice:?}, because their commit had not come yet");
    assert_eq!(twice, [&4, &5]);
    assert!((0..RECORDS).all(|offset| before.contains(&offset) || after.contains(&offset)));
    Ok(())
}
