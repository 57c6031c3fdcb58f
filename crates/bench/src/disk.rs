//! What a write and sync costs here: the floor under every durable answer.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::BenchError;
use crate::report::{Report, line};
use crate::tally::{Outcome, Tally};

/// The size of the file. It is filled beforehand, so that a sync has no extents to convert.
const FILE_BYTES: u64 = 16 << 20;
/// The file's name; it is removed afterwards.
const FILE_NAME: &str = "bench-disk.tmp";
/// The largest write that is measured.
pub(crate) const WRITE_BYTES_MAX: u64 = FILE_BYTES;

/// The flags of `disk`.
#[derive(Debug, clap::Args)]
pub(crate) struct Disk {
    /// The folder whose device is measured; best the server's data folder.
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,
    /// Bytes of each write.
    #[arg(long, default_value_t = 9600, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..=WRITE_BYTES_MAX))]
    bytes: u64,
    /// How long to measure.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
}

/// Measures and reports.
pub(crate) fn run(disk: &Disk) -> Result<Report, BenchError> {
    let tally = measure(&disk.folder, disk.bytes, Duration::from_secs(disk.seconds))?;
    let mut text = String::new();
    line(
        &mut text,
        "disk",
        &describe(&tally, disk.bytes, mean_ms(&tally, Duration::from_secs(disk.seconds))),
    );
    Ok(Report { text, server_errors: false })
}

/// The mean time of one write and sync when they follow each other without a pause.
pub(crate) fn mean_ms(tally: &Tally, took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0 / tally.requests().max(1) as f64
}

/// Says it in words.
pub(crate) fn describe(tally: &Tally, bytes: u64, mean_ms: f64) -> String {
    format!(
        "write of {bytes} bytes + fdatasync: mean {mean_ms:.3} ms   p50 {:.3} ms   p99 {:.3} ms   max {:.3} ms",
        tally.latency_ms(50.0),
        tally.latency_ms(99.0),
        tally.latency_ms(100.0)
    )
}

/// Writes and syncs, one after the other, for a while.
pub(crate) fn measure(folder: &Path, bytes: u64, time: Duration) -> Result<Tally, BenchError> {
    let path = folder.join(FILE_NAME);
    let measured = measure_file(&path, bytes, time);
    let removed = std::fs::remove_file(&path);
    let failed = |source| BenchError::Disk { folder: folder.to_owned(), source };
    let tally = measured.map_err(failed)?;
    removed.map_err(failed)?;
    Ok(tally)
}

fn measure_file(path: &Path, bytes: u64, time: Duration) -> std::io::Result<Tally> {
    let file = File::create(path)?;
    let zeros = vec![0; 1 << 20];
    for at in (0..FILE_BYTES).step_by(zeros.len()) {
        file.write_all_at(&zeros, at)?;
    }
    file.sync_all()?;
    let size = usize::try_from(bytes).map_err(std::io::Error::other)?;
    let buffer = vec![0xa5; size];
    let mut tally = Tally::default();
    let mut at = 0;
    let begin = Instant::now();
    while begin.elapsed() < time {
        if at + bytes > FILE_BYTES {
            at = 0;
        }
        let round = Instant::now();
        file.write_all_at(&buffer, at)?;
        file.sync_data()?;
        tally.note(round.elapsed(), &Outcome { units: bytes, error: None });
        at += bytes;
    }
    Ok(tally)
}
