//! Appending to one partition: validate, check what is known of the producer, roll if need be, stamp, accept.

use milepost_batch::{
    AppendRules, BatchView, HeaderChange, Marker, TimestampType, ValidBatch, build_marker,
    validate_client_batch,
};
use milepost_model::{LeaderEpoch, Now, Offset, ProducerIdentity, Timestamp};

use crate::error::AppendError;
use crate::leader_epochs::LeaderEpochs;
use crate::partition::{DataRun, PartitionLog, Run};
use crate::producer_state::{BelongsTo, ProducerCheck, ProducerStep};
use crate::segment::SegmentId;
use crate::settings::{AppendOrigin, MAX_SEGMENT_BYTES, MarkerEpoch};

/// What became of an accepted batch. It is acknowledged when the high watermark is above `last_offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The offset of its first record.
    pub base_offset: Offset,
    /// The offset of its last record.
    pub last_offset: Offset,
    /// The broker's time where the topic stamps it, and for a duplicate the largest timestamp of the original, also
    /// on a topic of producer time (as Kafka answers).
    pub log_append_time: Option<Timestamp>,
    /// The first offset of the log.
    pub log_start_offset: Offset,
    /// The batch was there already: the offsets are the original's and nothing was written.
    pub duplicate: bool,
}

/// What an append needs to know beside the batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AppendContext {
    pub(crate) epoch: LeaderEpoch,
    pub(crate) now: Now,
    pub(crate) max_run_bytes: u64,
}

/// What a batch is stamped with.
#[derive(Clone, Copy, Debug)]
struct Place {
    base_offset: Offset,
    epoch: LeaderEpoch,
}

impl PartitionLog {
    /// Accepts one batch, or says why not.
    pub(crate) fn append(
        &mut self,
        bytes: &[u8],
        origin: AppendOrigin,
        context: AppendContext,
    ) -> Result<Appended, AppendError> {
        let (batch, rest) = BatchView::parse(bytes).map_err(AppendError::NotABatch)?;
        if !rest.is_empty() {
            return Err(AppendError::MoreThanOneBatch);
        }
        let valid = match origin {
            AppendOrigin::Client => self.validate(&batch, self.config.max_message_bytes, context.now.wall)?,
            AppendOrigin::Coordinator | AppendOrigin::OtherBroker => ValidBatch {
                record_count: batch.record_count(),
                max_timestamp: batch.max_timestamp(),
                change: HeaderChange::Keep,
            },
        };
        let size_bytes = bytes.len() as u64;
        let segment_bytes = self.config.segment_bytes.min(MAX_SEGMENT_BYTES);
        if size_bytes > segment_bytes {
            return Err(AppendError::LargerThanSegment { size_bytes, segment_bytes });
        }
        if let Some(original) = self.check_producer(&batch, origin)? {
            return Ok(Appended {
                base_offset: original.base_offset,
                last_offset: original.last_offset,
                log_append_time: Some(original.timestamp),
                log_start_offset: self.log_start,
                duplicate: true,
            });
        }
        let place = match origin {
            AppendOrigin::Client | AppendOrigin::Coordinator => self.next_place(context),
            AppendOrigin::OtherBroker => self.place_it_has(&batch)?,
        };
        Ok(self.accept_new(&batch, &valid, place, context))
    }

    /// Accepts the marker that ends a transaction of `producer`, or says why not. It takes no more than a hundred
    /// bytes and must find room whatever a segment's bound: a transaction that cannot end holds up all readers.
    pub(crate) fn append_marker(
        &mut self,
        producer: ProducerIdentity,
        marker: Marker,
        rule: MarkerEpoch,
        context: AppendContext,
    ) -> Result<(Appended, usize), AppendError> {
        refused(self.producers.check_marker(producer, marker.coordinator_epoch, rule))?;
        let bytes = build_marker(producer, marker, context.now.wall, Offset::ZERO);
        let (batch, _) = BatchView::parse(&bytes).map_err(AppendError::NotABatch)?;
        let change = match self.config.timestamp_type {
            TimestampType::CreateTime => HeaderChange::Keep,
            TimestampType::LogAppendTime => HeaderChange::LogAppendTime,
        };
        let valid = ValidBatch { record_count: 1, max_timestamp: context.now.wall, change };
        Ok((self.accept_new(&batch, &valid, self.next_place(context), context), bytes.len()))
    }

    /// Accepts a batch that was checked.
    fn accept_new(
        &mut self,
        batch: &BatchView<'_>,
        valid: &ValidBatch,
        place: Place,
        context: AppendContext,
    ) -> Appended {
        let base_offset = place.base_offset;
        let last_offset = base_offset.plus(i64::from(batch.last_offset_delta()));
        let size_bytes = batch.size_bytes() as u64;
        let opens_segment =
            self.roll_if_due(base_offset, last_offset, valid.max_timestamp, size_bytes, context.now.wall);
        self.push(batch, valid, opens_segment, place, context.max_run_bytes);
        Appended {
            base_offset,
            last_offset,
            log_append_time: valid.log_append_time(),
            log_start_offset: self.log_start,
            duplicate: false,
        }
    }

    /// The next offset, and this start's epoch.
    fn next_place(&self, context: AppendContext) -> Place {
        Place { base_offset: self.log_end, epoch: context.epoch }
    }

    /// In a log that is moved here: the offset and the epoch that the batch has. Such a log begins with the epochs of its
    /// batches.
    fn place_it_has(&mut self, batch: &BatchView<'_>) -> Result<Place, AppendError> {
        let base_offset = batch.base_offset();
        if base_offset < self.log_end || batch.last_offset_delta() < 0 {
            return Err(AppendError::OffsetTaken { base_offset, log_end_offset: self.log_end });
        }
        if self.segments.is_empty() {
            self.epochs = LeaderEpochs::default();
        }
        // Batches from before there were leader epochs have −1.
        Ok(Place { base_offset, epoch: batch.leader_epoch().max(LeaderEpoch(0)) })
    }

    /// Checks a client's batch against the topic's rules.
    pub(crate) fn validate(
        &self,
        batch: &BatchView<'_>,
        max_message_bytes: usize,
        now: Timestamp,
    ) -> Result<ValidBatch, AppendError> {
        let rules = AppendRules {
            max_message_bytes,
            keys: self.config.keys(),
            timestamp_type: self.config.timestamp_type,
            timestamps: self.config.timestamps,
            now,
        };
        validate_client_batch(batch, &rules).map_err(AppendError::Invalid)
    }

    /// Checks a batch against what is known of its producer. Gives the original if it is a duplicate.
    fn check_producer(
        &self,
        batch: &BatchView<'_>,
        origin: AppendOrigin,
    ) -> Result<Option<ProducerStep>, AppendError> {
        let Some(producer) = batch.producer() else { return Ok(None) };
        if origin == AppendOrigin::OtherBroker {
            // It was checked when that broker appended it.
            return Ok(None);
        }
        let belongs_to = BelongsTo::of(batch);
        let sequences = batch.base_sequence().zip(batch.last_sequence());
        refused(match (origin, sequences) {
            (AppendOrigin::Client, Some(sequences)) => {
                self.producers.check_client(producer, sequences, belongs_to)
            }
            _ => self.producers.check_coordinator(producer, belongs_to),
        })
    }

    /// Begins a new segment if the batch must not go into the last one, and says whether it did.
    fn roll_if_due(
        &mut self,
        base_offset: Offset,
        last_offset: Offset,
        max_timestamp: Timestamp,
        size_bytes: u64,
        now: Timestamp,
    ) -> bool {
        if self.segments.back().is_some_and(|last| last.accepted.log_bytes == 0) {
            // The one before was sealed ahead of time; this batch is the first of the new one.
            return true;
        }
        if !self.must_roll(last_offset, max_timestamp, size_bytes, now) {
            return false;
        }
        self.add_segment(SegmentId { base_offset, generation: 0 }, now);
        true
    }

    fn must_roll(
        &self,
        last_offset: Offset,
        max_timestamp: Timestamp,
        size_bytes: u64,
        now: Timestamp,
    ) -> bool {
        let Some(segment) = self.segments.back() else { return true };
        let end = &segment.accepted;
        let age_ms = match end.first_timestamp {
            Some(first) if max_timestamp >= Timestamp(0) => max_timestamp.0.saturating_sub(first.0),
            _ => now.0.saturating_sub(segment.created.0),
        };
        end.log_bytes + size_bytes > self.config.segment_bytes.min(MAX_SEGMENT_BYTES)
            || age_ms > self.config.roll_ms()
            || segment.is_index_full(self.config.segment_index_bytes)
            || segment.relative(last_offset).is_none()
            // What the cleaner wrote stays as it is: found at the end of the log only at a start.
            || segment.id.generation > 0
    }

    /// Copies the batch to the end of the last run, stamps it there and accepts it.
    fn push(
        &mut self,
        batch: &BatchView<'_>,
        valid: &ValidBatch,
        opens_segment: bool,
        place: Place,
        max_run_bytes: u64,
    ) {
        let size = batch.size_bytes() as u64;
        let base_offset = place.base_offset;
        let mut run = match self.pending.pop_back() {
            Some(Run::Data(run)) if !opens_segment && run.batches.len() as u64 + size <= max_run_bytes => run,
            other => {
                self.pending.extend(other);
                DataRun {
                    segment: SegmentId { base_offset, generation: 0 },
                    opens_segment,
                    position: 0,
                    batches: Vec::with_capacity(batch.size_bytes()),
                    end: crate::segment::Extent::default(),
                    end_offset: base_offset,
                }
            }
        };
        let start = run.batches.len();
        run.batches.extend_from_slice(batch.bytes());
        valid.stamp(&mut run.batches[start..], base_offset, place.epoch);
        let (stamped, _) =
            BatchView::parse(&run.batches[start..]).expect("it was parsed before it was copied");
        let accepted = self.accept(&stamped);
        if start == 0 {
            run.segment = accepted.segment;
            run.position = accepted.position;
        }
        run.end = accepted.end;
        run.end_offset = self.log_end;
        self.pending.push_back(Run::Data(run));
    }
}

/// The error that a check means, or the original of a duplicate.
fn refused(check: ProducerCheck) -> Result<Option<ProducerStep>, AppendError> {
    match check {
        ProducerCheck::Accept => Ok(None),
        ProducerCheck::Duplicate(original) => Ok(Some(original)),
        ProducerCheck::StaleEpoch { known } => Err(AppendError::StaleProducerEpoch { known }),
        ProducerCheck::OutOfOrder { expected } => Err(AppendError::OutOfOrderSequence { expected }),
        ProducerCheck::OutsideTransaction => Err(AppendError::OutsideTransaction),
        ProducerCheck::StaleCoordinatorEpoch { known } => Err(AppendError::StaleCoordinatorEpoch { known }),
    }
}
