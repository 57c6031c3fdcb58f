//! The batches of a partition's folder, segment by segment, each checked as it is read.
//!
//! It trusts no length and no checksum, and never holds more than one batch. An import stops at the first that is wrong;
//! the command line, which only shows what is there, passes over it.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use milepost_batch::BatchView;
use milepost_model::Offset;

use super::ImportError;
use super::source::SourcePartition;

/// How much of a segment is read at once.
const READ_BYTES: usize = 256 << 10;
/// The offset and the length of a batch, which stand before everything else.
const PREFIX_BYTES: usize = 12;

/// The end of the last segment that is not a whole batch: what an unclean stop leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornEnd {
    /// The segment.
    pub path: PathBuf,
    /// Where the last whole batch ends.
    pub position: u64,
}

/// The batches of one partition.
#[derive(Debug)]
pub struct Batches {
    segments: VecDeque<(Offset, PathBuf)>,
    open: Option<OpenSegment>,
    buffer: Vec<u8>,
    /// Whether the buffer holds a batch of the open segment, as long as it says it is.
    is_read: bool,
    /// Where the log begins, as its first segment and the broker's checkpoint say.
    log_start: Offset,
    /// Where the log ends, as far as it was read; in the end, at least where its last segment begins.
    end: Offset,
    torn: Option<TornEnd>,
}

#[derive(Debug)]
struct OpenSegment {
    path: PathBuf,
    reader: BufReader<File>,
    position: u64,
    size_bytes: u64,
}

impl Batches {
    pub(super) fn open(partition: &SourcePartition) -> Result<Self, ImportError> {
        let mut batches = Self::of_folder(&partition.path)?;
        batches.log_start =
            partition.log_start.map_or(batches.log_start, |start| start.max(batches.log_start));
        Ok(batches)
    }

    /// The batches of all segments in this folder.
    ///
    /// # Errors
    /// When the folder cannot be read, and when its broker was interrupted while it swapped segments.
    pub fn of_folder(folder: &Path) -> Result<Self, ImportError> {
        let mut segments = Vec::new();
        for entry in fs::read_dir(folder).map_err(ImportError::read(folder))? {
            let path = entry.map_err(ImportError::read(folder))?.path();
            if path.extension() == Some(OsStr::new("swap")) {
                return Err(ImportError::HalfCleaned(path));
            }
            if let Some(base) = base_offset(&path) {
                segments.push((base, path));
            }
        }
        segments.sort();
        Ok(Self::of_segments(segments))
    }

    /// The batches of one segment.
    #[must_use]
    pub fn of_file(path: &Path) -> Self {
        Self::of_segments(vec![(base_offset(path).unwrap_or(Offset::ZERO), path.to_owned())])
    }

    fn of_segments(segments: Vec<(Offset, PathBuf)>) -> Self {
        let log_start = segments.first().map_or(Offset::ZERO, |(base, _)| *base);
        Self {
            segments: segments.into(),
            open: None,
            buffer: Vec::new(),
            is_read: false,
            log_start,
            end: Offset::ZERO,
            torn: None,
        }
    }

    pub(super) fn log_start(&self) -> Offset {
        self.log_start
    }

    pub(super) fn end(&self) -> Offset {
        self.end.max(self.log_start)
    }

    /// The end of the last segment, if it is no whole batch and was reached.
    #[must_use]
    pub fn torn(&self) -> Option<&TornEnd> {
        self.torn.as_ref()
    }

    /// After an error: goes on behind the batch that is wrong if it is known where it ends, else with the next segment.
    pub fn pass_over(&mut self) {
        if !self.is_read {
            self.open = None;
        }
    }

    /// The next batch, whole and with a right checksum, and its segment; `None` at the end.
    ///
    /// # Errors
    /// When a segment cannot be read, or something in it is no batch or does not follow on what was before it.
    pub fn next_batch(&mut self) -> Result<Option<(BatchView<'_>, &Path)>, ImportError> {
        self.is_read = false;
        loop {
            if self.open.is_none() && !self.open_next()? {
                return Ok(None);
            }
            if self.read_batch()? {
                break;
            }
            self.open = None;
        }
        self.is_read = true;
        let segment = self.open.as_ref().expect("a batch was read from it");
        let position = segment.position - self.buffer.len() as u64;
        let damaged = |reason: &dyn std::fmt::Display| ImportError::damaged(&segment.path, position, reason);
        let (batch, _) = BatchView::parse(&self.buffer).map_err(|error| damaged(&error))?;
        if !batch.crc_matches() {
            return Err(damaged(&"the checksum of the batch is wrong"));
        }
        if batch.base_offset() < self.end || batch.last_offset_delta() < 0 {
            let base = batch.base_offset();
            return Err(damaged(&format!("offset {base} follows on {}", self.end.plus(-1))));
        }
        self.end = batch.next_offset();
        Ok(Some((batch, &segment.path)))
    }

    fn open_next(&mut self) -> Result<bool, ImportError> {
        let Some((base, path)) = self.segments.pop_front() else { return Ok(false) };
        if base < self.end {
            let reason = format!("it begins below offset {}, where the one before it ends", self.end);
            return Err(ImportError::damaged(&path, 0, reason));
        }
        self.end = base;
        let file = File::open(&path).map_err(ImportError::read(&path))?;
        let size_bytes = file.metadata().map_err(ImportError::read(&path))?.len();
        let reader = BufReader::with_capacity(READ_BYTES, file);
        self.open = Some(OpenSegment { path, reader, position: 0, size_bytes });
        Ok(true)
    }

    /// Reads one batch into the buffer; false at the segment's end.
    fn read_batch(&mut self) -> Result<bool, ImportError> {
        let segment = self.open.as_mut().expect("the caller opened it");
        let left = segment.size_bytes - segment.position;
        if left == 0 {
            return Ok(false);
        }
        let size_bytes = segment.batch_size(&mut self.buffer, left)?;
        let Some(size_bytes) = size_bytes.filter(|size_bytes| *size_bytes <= left) else {
            let torn = TornEnd { path: segment.path.clone(), position: segment.position };
            if !self.segments.is_empty() {
                return Err(ImportError::damaged(&torn.path, torn.position, "the last batch is not whole"));
            }
            self.torn = Some(torn);
            // What is left counts as read.
            segment.position = segment.size_bytes;
            return Ok(false);
        };
        let whole = usize::try_from(size_bytes).expect("a length of 31 bits");
        self.buffer.resize(whole, 0);
        let rest = &mut self.buffer[PREFIX_BYTES..];
        segment.reader.read_exact(rest).map_err(ImportError::read(&segment.path))?;
        segment.position += size_bytes;
        Ok(true)
    }
}

impl OpenSegment {
    /// Reads the prefix of the next batch and says how long the batch is; `None` if not even the prefix is there.
    fn batch_size(&mut self, buffer: &mut Vec<u8>, left: u64) -> Result<Option<u64>, ImportError> {
        if left < PREFIX_BYTES as u64 {
            return Ok(None);
        }
        buffer.resize(PREFIX_BYTES, 0);
        self.reader.read_exact(buffer).map_err(ImportError::read(&self.path))?;
        let length = i32::from_be_bytes(buffer[8..].try_into().expect("the prefix ends with four bytes"));
        match u64::try_from(length) {
            Ok(length) if length > 0 => Ok(Some(length + PREFIX_BYTES as u64)),
            _ => Err(ImportError::damaged(&self.path, self.position, format!("a batch of {length} bytes"))),
        }
    }
}

/// The base offset of a segment, if the file is one.
fn base_offset(path: &Path) -> Option<Offset> {
    let name = path.file_name()?.to_str()?.strip_suffix(".log")?;
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| name.parse().ok().map(Offset)).flatten()
}
