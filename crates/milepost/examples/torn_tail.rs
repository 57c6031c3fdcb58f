//! The power goes while a commit is being written: half of it reached the disk. The next start cuts that off and says
//! so, and everything that was acknowledged is there.
//!
//! `cargo run -p milepost --example torn_tail`

#![allow(clippy::print_stdout, reason = "an example tells its story")]

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use milepost::{NextOffset, Offset, OffsetStore, PartitionIndex};

/// Journal entries begin at multiples of this.
const ALIGNMENT_BYTES: usize = 512;

/// Does to the journal what a loss of power may do: bytes of a commit that nobody was told of, and not all of them.
fn tear(folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let files = fs::read_dir(folder.join("journal"))?.collect::<Result<Vec<_>, _>>()?;
    let paths = files.iter().map(fs::DirEntry::path);
    let in_use = paths.filter(|path| path.extension().is_some_and(|extension| extension == "journal"));
    let path = in_use.max().ok_or("there is no journal")?;
    let bytes = fs::read(&path)?;
    let end = bytes.iter().rposition(|byte| *byte != 0).ok_or("the journal is empty")? + 1;
    let file = OpenOptions::new().write(true).open(&path)?;
    file.write_all_at(b"half of a comm", end.next_multiple_of(ALIGNMENT_BYTES) as u64)?;
    Ok(path)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = OffsetStore::open(folder.path())?;
    let generation = store.rebalance("emails")?;
    store.commit("emails", generation, [NextOffset::new("orders", PartitionIndex(0), Offset(7))])?;
    println!("committed 7");
    drop(store);

    let path = tear(folder.path())?;
    println!("the power goes; the end of {} is torn", path.file_name().unwrap_or_default().display());

    let store = OffsetStore::open(folder.path())?;
    let torn = store.recovery().torn_tail.as_ref().ok_or("the torn tail was not noticed")?;
    println!("cut {} bytes that nobody was told of, at {}", torn.bytes, torn.place);
    let committed = store.committed("emails", "orders", PartitionIndex(0))?.ok_or("the commit is lost")?;
    println!("committed is still {}", committed.offset());
    assert_eq!(committed.offset(), Offset(7));
    Ok(())
}
