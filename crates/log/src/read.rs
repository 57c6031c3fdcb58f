//! Reading one partition below its high watermark: whole batches by offset, offsets by time, aborted transactions.
//!
//! A batch is opened only where a record's own timestamp decides. Nothing above the durable length of a segment is
//! ever looked at, so a torn write can't be seen.

use std::sync::Arc;

use milepost_batch::{BatchError, BatchView, HEADER_BYTES};
use milepost_model::{LeaderEpoch, Offset, Timestamp};
use milepost_storage::{SegmentStore, StoreError};

use crate::error::ReadError;
use crate::partition::PartitionLog;
use crate::segment::{FileKind, SegmentId};
use crate::settings::{FirstBatch, IsolationLevel};
use crate::transactions::AbortEntry;

/// How much of a segment is read at once while the batch that holds an offset is looked for: about what lies between
/// two index entries.
const SCAN_BYTES: usize = 8192;

/// Bytes from a batch's beginning to the end of its length field.
const LENGTH_END: usize = 12;
const LENGTH_START: usize = 8;
/// Offset and length are what a header is skipped by; with the last offset delta this much must be there.
const SKIP_HEADER_BYTES: usize = 27;
const LAST_OFFSET_DELTA_START: usize = 23;

/// The numbers of a batch header that decide where to begin reading.
#[derive(Clone, Copy, Debug)]
struct Skip {
    last_offset: i64,
    size_bytes: u64,
}

/// A durable stretch of one open segment.
struct Reader<'a> {
    store: &'a dyn SegmentStore,
    file: milepost_storage::FileId,
    directory: Arc<str>,
    segment: SegmentId,
    end: u64,
}

impl PartitionLog {
    pub(crate) fn read(
        &mut self,
        store: &mut dyn SegmentStore,
        from: Offset,
        max_bytes: usize,
        first: FirstBatch,
        isolation: IsolationLevel,
    ) -> Result<Vec<u8>, ReadError> {
        if from < self.log_start || from > self.log_end {
            return Err(ReadError::OutOfRange {
                offset: from,
                log_start_offset: self.log_start,
                log_end_offset: self.log_end,
            });
        }
        let end = match isolation {
            IsolationLevel::ReadUncommitted => self.high_watermark,
            IsolationLevel::ReadCommitted => self.last_stable_offset(),
        };
        if from >= end {
            return Ok(Vec::new());
        }
        let Some((index, position)) = self.find(store, from)? else {
            // It is durable and waits for room to be written: a later read finds it.
            return if self.unwritten.is_empty() { Ok(Vec::new()) } else { Err(StoreError::Full.into()) };
        };
        let reader = self.reader(store, index)?;
        let (batches, next) = reader.read_whole_batches(position, end, max_bytes, first)?;
        let segment = reader.segment;
        self.next_read = next.map(|offset| (offset, segment, position + batches.len() as u64));
        Ok(batches)
    }

    /// Whole batches of one segment from a position on, about `max_bytes`, at least one; empty at its durable end.
    pub(crate) fn read_segment(
        &mut self,
        store: &mut dyn SegmentStore,
        segment: SegmentId,
        position: u64,
        max_bytes: usize,
    ) -> Result<Vec<u8>, ReadError> {
        let index = self.segment_index(segment).ok_or(ReadError::UnknownPartition)?;
        if position >= self.segments[index].durable.log_bytes {
            return Ok(Vec::new());
        }
        let reader = self.reader(store, index)?;
        let end = self.high_watermark;
        Ok(reader.read_whole_batches(position, end, max_bytes, FirstBatch::AlwaysWhole)?.0)
    }

    /// The aborted transactions that reach into the offsets from `from` to before `to`, in the order of their markers.
    pub(crate) fn aborted_between(
        &mut self,
        store: &mut dyn SegmentStore,
        from: Offset,
        to: Offset,
    ) -> Result<Vec<AbortEntry>, StoreError> {
        let mut found = Vec::new();
        let after = self.segments.partition_point(|segment| segment.base_offset() <= from);
        for segment in self.segments.iter_mut().skip(after.saturating_sub(1)) {
            if segment.accepted.abort_entries == 0 {
                continue;
            }
            let entries = segment.aborted(store, &self.directory)?;
            let first = entries.partition_point(|entry| entry.last_offset < from);
            for entry in &entries[first..] {
                if entry.first_offset < to {
                    found.push(*entry);
                }
                if entry.last_stable_offset >= to {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }

    /// The segment and position of the first batch that ends at or above `from`. It may begin above it, where
    /// compaction left a gap.
    fn find(
        &mut self,
        store: &mut dyn SegmentStore,
        from: Offset,
    ) -> Result<Option<(usize, u64)>, ReadError> {
        if let Some((offset, segment, position)) = self.next_read
            && offset == from
            && let Some(index) = self.segment_index(segment)
            && position < self.segments[index].durable.log_bytes.min(self.segments[index].written.log_bytes)
        {
            return Ok(Some((index, position)));
        }
        let after = self.segments.partition_point(|segment| segment.base_offset() <= from);
        for index in after.saturating_sub(1)..self.segments.len() {
            let segment = &self.segments[index];
            if segment.durable.log_bytes.min(segment.written.log_bytes) == 0 {
                continue;
            }
            let start = self.segments[index].position_at_or_before(store, &self.directory, from)?;
            let reader = self.reader(store, index)?;
            if let Some(position) = reader.seek(start, from)? {
                return Ok(Some((index, position)));
            }
        }
        Ok(None)
    }

    fn reader<'a>(
        &mut self,
        store: &'a mut dyn SegmentStore,
        index: usize,
    ) -> Result<Reader<'a>, StoreError> {
        let segment = &mut self.segments[index];
        let file = segment.open(store, &self.directory, FileKind::Log)?;
        Ok(Reader {
            store,
            file,
            directory: self.directory.clone(),
            segment: segment.id,
            end: segment.durable.log_bytes.min(segment.written.log_bytes),
        })
    }

    pub(crate) fn offset_for_timestamp(
        &mut self,
        store: &mut dyn SegmentStore,
        timestamp: Timestamp,
    ) -> Result<Option<(Offset, Timestamp, LeaderEpoch)>, ReadError> {
        for index in 0..self.segments.len() {
            let max = self.segments[index].durable.max_timestamp;
            if max.is_none_or(|(max, _)| max < timestamp) {
                continue;
            }
            let at_or_before = self.segments[index].offset_at_or_before(store, &self.directory, timestamp)?;
            let from = at_or_before.max(self.log_start);
            let start = self.segments[index].position_at_or_before(store, &self.directory, from)?;
            let log_start = self.log_start;
            let reader = self.reader(store, index)?;
            let mut position = reader.seek(start, from)?;
            while let Some(at) = position.filter(|at| *at < reader.end) {
                let bytes = reader.batch(at)?;
                let (batch, _) = BatchView::parse(&bytes).map_err(|error| reader.corrupt(at, &error))?;
                let wanted = |time: Timestamp, offset: Offset| time >= timestamp && offset >= log_start;
                if batch.max_timestamp() >= timestamp
                    && let Some(found) = reader.first_record(at, &batch, wanted)?
                {
                    return Ok(Some(found));
                }
                position = Some(at + bytes.len() as u64);
            }
        }
        Ok(None)
    }

    pub(crate) fn offset_of_max_timestamp(
        &mut self,
        store: &mut dyn SegmentStore,
    ) -> Result<Option<(Offset, Timestamp, LeaderEpoch)>, ReadError> {
        let mut largest: Option<(usize, Timestamp, Offset)> = None;
        for (index, segment) in self.segments.iter().enumerate() {
            if let Some((timestamp, offset)) = segment.durable.max_timestamp
                && largest.is_none_or(|(_, max, _)| timestamp > max)
            {
                largest = Some((index, timestamp, offset));
            }
        }
        let Some((index, timestamp, offset)) = largest else { return Ok(None) };
        let start = self.segments[index].position_at_or_before(store, &self.directory, offset)?;
        let reader = self.reader(store, index)?;
        let Some(position) = reader.seek(start, offset)? else { return Ok(None) };
        let bytes = reader.batch(position)?;
        let (batch, _) = BatchView::parse(&bytes).map_err(|error| reader.corrupt(position, &error))?;
        reader.first_record(position, &batch, |time, _| time == timestamp)
    }
}

impl Reader<'_> {
    /// The position of the first batch at or after `position` whose last offset is at least `from`.
    fn seek(&self, mut position: u64, from: Offset) -> Result<Option<u64>, ReadError> {
        let mut window = Vec::new();
        let mut window_start = position;
        while position < self.end {
            let mut at = usize::try_from(position - window_start).unwrap_or(usize::MAX);
            if window.len().saturating_sub(at) < SKIP_HEADER_BYTES {
                window = self.bytes(position, SCAN_BYTES)?;
                (window_start, at) = (position, 0);
            }
            let skip = self.skip(position, window.get(at..).unwrap_or_default())?;
            if skip.last_offset >= from.0 {
                return Ok(Some(position));
            }
            position += skip.size_bytes;
        }
        Ok(None)
    }

    /// Reads batches from `position` on that end below `end`. Also gives the offset after the last of them.
    fn read_whole_batches(
        &self,
        position: u64,
        end_offset: Offset,
        max_bytes: usize,
        first: FirstBatch,
    ) -> Result<(Vec<u8>, Option<Offset>), ReadError> {
        let mut bytes = self.bytes(position, max_bytes.max(SKIP_HEADER_BYTES))?;
        let mut whole = 0;
        let mut next = None;
        while bytes.len() - whole >= SKIP_HEADER_BYTES {
            let skip = self.skip(position + whole as u64, &bytes[whole..])?;
            let end = usize::try_from(skip.size_bytes).map_or(usize::MAX, |size| whole.saturating_add(size));
            if end > bytes.len() || end > max_bytes || skip.last_offset >= end_offset.0 {
                break;
            }
            whole = end;
            next = Some(Offset(skip.last_offset + 1));
        }
        if whole == 0 && first == FirstBatch::AlwaysWhole {
            let skip = self.skip(position, &bytes)?;
            if skip.last_offset < end_offset.0 {
                return Ok((self.batch(position)?, Some(Offset(skip.last_offset + 1))));
            }
        }
        bytes.truncate(whole);
        Ok((bytes, next))
    }

    /// The whole batch at `position`.
    fn batch(&self, position: u64) -> Result<Vec<u8>, ReadError> {
        let header = self.bytes(position, HEADER_BYTES)?;
        let skip = self.skip(position, &header)?;
        let size =
            usize::try_from(skip.size_bytes).map_err(|_| self.corrupt(position, &"it is too large"))?;
        let bytes = self.bytes(position, size)?;
        if bytes.len() < size {
            return Err(self.corrupt(position, &"the batch is cut short"));
        }
        Ok(bytes)
    }

    /// Up to `count` durable bytes.
    fn bytes(&self, position: u64, count: usize) -> Result<Vec<u8>, ReadError> {
        let available = usize::try_from(self.end.saturating_sub(position)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; count.min(available)];
        let read = self.store.read(self.file, position, &mut bytes)?;
        if read < bytes.len() {
            return Err(self.corrupt(position + read as u64, &"the file ends before its durable length"));
        }
        Ok(bytes)
    }

    fn skip(&self, position: u64, header: &[u8]) -> Result<Skip, ReadError> {
        if header.len() < SKIP_HEADER_BYTES {
            return Err(self.corrupt(position, &"a batch header is cut short"));
        }
        let long = i64::from_be_bytes(header[..LENGTH_START].try_into().expect("eight bytes"));
        let length = i32::from_be_bytes(header[LENGTH_START..LENGTH_END].try_into().expect("four bytes"));
        let delta = i32::from_be_bytes(
            header[LAST_OFFSET_DELTA_START..SKIP_HEADER_BYTES].try_into().expect("four bytes"),
        );
        let size_bytes = u64::try_from(length).unwrap_or(0) + LENGTH_END as u64;
        if size_bytes < HEADER_BYTES as u64 || size_bytes > self.end - position {
            return Err(self.corrupt(position, &format_args!("a batch claims {size_bytes} bytes")));
        }
        Ok(Skip { last_offset: long.saturating_add(i64::from(delta)), size_bytes })
    }

    fn first_record(
        &self,
        position: u64,
        batch: &BatchView<'_>,
        wanted: impl Fn(Timestamp, Offset) -> bool,
    ) -> Result<Option<(Offset, Timestamp, LeaderEpoch)>, ReadError> {
        let corrupt = |error: BatchError| self.corrupt(position, &error);
        let records = batch.records().map_err(corrupt)?;
        for record in &records {
            let record = record.map_err(corrupt)?;
            if wanted(record.timestamp, record.offset) {
                return Ok(Some((record.offset, record.timestamp, batch.leader_epoch())));
            }
        }
        Ok(None)
    }

    fn corrupt(&self, position: u64, reason: &dyn std::fmt::Display) -> ReadError {
        let file = self.segment.file_name(&self.directory, FileKind::Log).to_string();
        ReadError::Corrupt { file, position, reason: reason.to_string() }
    }
}
