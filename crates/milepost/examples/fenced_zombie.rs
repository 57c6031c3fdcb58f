//! A worker is paused, another takes over, and the first one wakes up: its late commit is refused.
//!
//! `cargo run -p milepost --example fenced_zombie`

#![allow(clippy::print_stdout, reason = "an example tells its story")]

use milepost::{Error, NextOffset, Offset, OffsetStore, PartitionIndex};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let store = OffsetStore::open(folder.path())?;
    let next = |offset| [NextOffset::new("orders", PartitionIndex(0), Offset(offset))];

    let first = store.rebalance("emails")?;
    store.commit("emails", first, next(100))?;
    println!("the first worker has generation {} and committed 100; then it is paused", first.0);

    let second = store.rebalance("emails")?;
    store.commit("emails", second, next(150))?;
    println!("the second worker has generation {} and committed 150", second.0);

    let late = store.commit("emails", first, next(120));
    println!("the first one wakes up and commits 120: {late:?}");
    assert_eq!(late, Err(Error::StaleGeneration { current: second }));

    // Neither a restart nor deleting the offsets lets it in again.
    store.close()?;
    let store = OffsetStore::open(folder.path())?;
    assert_eq!(store.commit("emails", first, next(120)), Err(Error::StaleGeneration { current: second }));
    let committed = store.committed("emails", "orders", PartitionIndex(0))?;
    println!("after a restart 150 stands: {committed:?}");
    store.delete("emails")?;
    assert_eq!(store.commit("emails", first, next(120)), Err(Error::StaleGeneration { current: second }));
    println!("after the offsets were deleted the zombie is still refused");
    Ok(())
}
