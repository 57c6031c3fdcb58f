//! The journal applied to the checkpoint, in memory: which partitions there are, and what each must be refilled with.

use std::collections::BTreeMap;

use bytes::Bytes;
use milepost_model::{Offset, Timestamp, TopicPartition};
use milepost_storage::{DamagedRound, RecoveredRound, Replay, RoundNumber};

use super::super::document::{Document, PartitionImage};
use super::super::entries::{JournalEntry, partition_of};
use crate::error::OpenError;
use crate::leader_epochs::LeaderEpochs;
use crate::partition::PartitionLog;
use crate::segment::{Segment, SegmentId};
use crate::settings::{LogKind, PartitionConfig};

/// One step of the way from the checkpoint to the journal's end.
#[derive(Debug)]
pub(super) enum Refill {
    AddSegment(SegmentId),
    Data(Bytes),
    RemoveSegments(Vec<SegmentId>),
}

/// What checkpoint and journal say together.
#[derive(Debug, Default)]
pub(super) struct Recovered {
    pub(super) partitions: BTreeMap<TopicPartition, (PartitionImage, Vec<Refill>)>,
    /// How many rounds lay above the checkpoint.
    pub(super) rounds: u64,
    pub(super) last_round: RoundNumber,
}

enum Found {
    Good(RecoveredRound),
    Damaged(DamagedRound),
}

/// Applies every round above the checkpoint, in order.
pub(super) fn replay_rounds(document: Document, replay: Replay) -> Result<Recovered, OpenError> {
    let covered = document.covered;
    let images = document.partitions.into_iter().map(|image| (image.id, (image, Vec::new())));
    let mut recovered = Recovered { partitions: images.collect(), rounds: 0, last_round: covered };
    let good = replay.rounds.into_iter().map(|round| (round.number, Found::Good(round)));
    let damaged = replay.damaged.into_iter().map(|round| (round.number, Found::Damaged(round)));
    let mut found: Vec<_> = good.chain(damaged).filter(|(number, _)| *number > covered).collect();
    found.sort_by_key(|(number, _)| *number);
    for (number, round) in found {
        let expected = recovered.last_round.next();
        if number != expected {
            return Err(OpenError::MissingRounds { expected, found: number });
        }
        recovered.last_round = number;
        recovered.rounds += 1;
        match round {
            Found::Good(round) => recovered.apply(round)?,
            Found::Damaged(round) => recovered.hold_offline(&round),
        }
    }
    Ok(recovered)
}

impl Recovered {
    fn apply(&mut self, round: RecoveredRound) -> Result<(), OpenError> {
        for entry in round.entries {
            let id = partition_of(entry.stream);
            let decoded = JournalEntry::decode(&entry)
                .map_err(|malformed| OpenError::Entry { round: round.number, reason: malformed.0 })?;
            match decoded {
                JournalEntry::CreatePartition { kind, directory } => {
                    self.partitions
                        .entry(id)
                        .or_insert_with(|| (empty_image(id, kind, &directory), Vec::new()));
                }
                JournalEntry::DeletePartition => {
                    self.partitions.remove(&id);
                }
                JournalEntry::AddSegment(segment) => self.partition(id).1.push(Refill::AddSegment(segment)),
                JournalEntry::Data(batches) => self.partition(id).1.push(Refill::Data(batches)),
                JournalEntry::LogStart(offset) => {
                    let image = &mut self.partition(id).0;
                    image.log_start = image.log_start.max(offset);
                }
                JournalEntry::RemoveSegments(segments) => {
                    let (image, refill) = self.partition(id);
                    image.segments.retain(|(segment, _)| !segments.contains(segment));
                    refill.push(Refill::RemoveSegments(segments));
                }
            }
        }
        Ok(())
    }

    /// Data that was acknowledged is gone: nobody may read on as if nothing were missing, now or after the next
    /// checkpoint. What else the journal holds of these partitions is kept all the same.
    fn hold_offline(&mut self, round: &DamagedRound) {
        for stream in &round.streams {
            let reason = format!("round {} of the journal is damaged at {}", round.number.0, round.place);
            self.partition(partition_of(*stream)).0.offline.get_or_insert(reason);
        }
    }

    /// The partition an entry names. One that was never created has lost its creation to damage.
    fn partition(&mut self, id: TopicPartition) -> &mut (PartitionImage, Vec<Refill>) {
        self.partitions.entry(id).or_insert_with(|| {
            let mut image = empty_image(id, LogKind::User, &id.to_string());
            image.offline = Some("the entry that created it is damaged".into());
            (image, Vec::new())
        })
    }
}

fn empty_image(id: TopicPartition, kind: LogKind, directory: &str) -> PartitionImage {
    PartitionImage {
        id,
        kind,
        offline: None,
        directory: directory.into(),
        log_start: Offset::ZERO,
        end_offset: Offset::ZERO,
        segments: Vec::new(),
        epochs: Vec::new(),
        producers: Vec::new(),
    }
}

/// The partition as its image says, with no file opened.
pub(super) fn rebuild(id: TopicPartition, image: &PartitionImage, now: Timestamp) -> PartitionLog {
    let mut partition =
        PartitionLog::new(id, image.directory.clone(), image.kind, PartitionConfig::default());
    partition.created = true;
    partition.offline.clone_from(&image.offline);
    partition.log_start = image.log_start;
    partition.high_watermark = image.end_offset;
    partition.log_end = image.end_offset;
    let segments = image.segments.iter().map(|(segment, extent)| Segment::recovered(*segment, now, *extent));
    partition.segments = segments.collect();
    partition.epochs = LeaderEpochs::from_entries(image.epochs.clone());
    for (producer, steps) in &image.producers {
        partition.producers.restore(*producer, steps.clone());
    }
    partition
}
