//! Who flushes: the caller where a sync is quick, a thread where it is not. Measured once, at start.

use std::io;
use std::time::Instant;

use super::core::Core;
use super::frame::{FRAME_ALIGNMENT_BYTES, HEADER_BLOCK_BYTES};
use super::settings::{Durability, FlushMode};
use super::writer::Writer;
use crate::file_system::{Concurrency, write_all};

/// The longest median sync with which the caller flushes itself. Above it a thread hand-over costs less than the
/// requests that wait meanwhile (measured: 36 µs a hand-over; a 1 ms sync on the loop cost 25 % of its commits).
const LONGEST_INLINE_SYNC_US: u64 = 200;
/// How many syncs are measured.
const PROBES: usize = 9;

/// Who writes and syncs rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushedBy {
    /// The caller of [`crate::Journal::submit`], before it returns.
    Caller,
    /// The journal's thread.
    Thread,
}

/// Who flushes, and what the choice rests on.
pub(super) struct Choice {
    pub(super) flushed_by: FlushedBy,
    pub(super) sync_time_us: Option<u64>,
}

/// Chooses by the settings, else by the device.
pub(super) fn choose(core: &Core, writer: &Writer) -> io::Result<Choice> {
    let by = |flushed_by| Ok(Choice { flushed_by, sync_time_us: None });
    match (core.system.concurrency(), core.settings.flush, core.settings.durability) {
        (Concurrency::Inline, ..) | (_, FlushMode::Inline, _) | (_, FlushMode::Auto, Durability::Os) => {
            by(FlushedBy::Caller)
        }
        (_, FlushMode::Thread, _) => by(FlushedBy::Thread),
        (_, FlushMode::Auto, Durability::Sync) => {
            let median = measure(writer)?;
            let flushed_by =
                if median <= LONGEST_INLINE_SYNC_US { FlushedBy::Caller } else { FlushedBy::Thread };
            Ok(Choice { flushed_by, sync_time_us: Some(median) })
        }
    }
}

/// The median time of a write and sync, in the part of the header block that nobody reads.
fn measure(writer: &Writer) -> io::Result<u64> {
    let bytes = [0; HEADER_BLOCK_BYTES - FRAME_ALIGNMENT_BYTES];
    let mut times = Vec::with_capacity(PROBES);
    for _ in 0..PROBES {
        let begin = Instant::now();
        write_all(&*writer.file, &bytes, FRAME_ALIGNMENT_BYTES as u64)?;
        writer.file.sync_data()?;
        times.push(u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
    times.sort_unstable();
    Ok(times[PROBES / 2])
}
