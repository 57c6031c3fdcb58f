//! A store that was committed to for a long time: of each partition only the last commit is worth its space.
//!
//! `cargo run -p milepost --example compaction`

#![allow(clippy::print_stdout, reason = "an example tells its story")]

use std::error::Error;

use milepost::{Durability, NextOffset, Offset, OffsetStore, Options, PartitionIndex};

const COMMITS: i64 = 5_000;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    // So many commits one by one would wait for the disk as many times; this story is not about that.
    let options = Options { durability: Durability::Os, ..Options::default() };
    let store = OffsetStore::open_with(folder.path(), &options)?;
    let zombie = store.rebalance("billing")?;
    let generation = store.rebalance("billing")?;
    for offset in 1..=COMMITS {
        store.commit(
            "billing",
            generation,
            [NextOffset::new("orders", PartitionIndex(0), Offset(offset))],
        )?;
    }

    let done = store.compact()?;
    println!("{COMMITS} commits took {} bytes; {} are left", done.bytes_before, done.bytes_after);

    let committed = store.committed("billing", "orders", PartitionIndex(0))?.ok_or("the commit is lost")?;
    println!("committed is still {}", committed.offset());
    assert_eq!(committed.offset(), Offset(COMMITS));

    let late = store.commit("billing", zombie, [NextOffset::new("orders", PartitionIndex(0), Offset(1))]);
    println!("a zombie is still refused: {}", late.err().ok_or("the zombie was let in")?);
    store.close()?;
    Ok(())
}
