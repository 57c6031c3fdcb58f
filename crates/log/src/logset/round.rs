//! Rounds: what gathered goes to the journal, the segments are written behind it, and when it is durable the high
//! watermarks move.

use bytes::Bytes;
use milepost_model::{Now, Offset, TopicPartition};
use milepost_storage::{Entry, JournalState, RoundNumber, Space};

use super::LogSet;
use super::entries::JournalEntry;
use super::removal::Removal;
use super::write_behind::UnwrittenRun;
use crate::partition::{Effect, Run};
use crate::segment::Segment;
use crate::settings::LogKind;

/// The round that was submitted last, and what becomes true when it is durable.
pub(super) struct InFlight {
    number: RoundNumber,
    completions: Vec<(usize, Completion)>,
}

enum Completion {
    Written(WrittenRun),
    Change(Effect),
}

/// A run of batches that was taken into a round.
struct WrittenRun {
    unwritten: UnwrittenRun,
    end_offset: Offset,
}

/// A round as it is put together.
#[derive(Default)]
struct Selection {
    entries: Vec<Entry>,
    completions: Vec<(usize, Completion)>,
    bytes: u64,
}

impl LogSet {
    /// Submits what gathered, internal logs first and a bounded number of bytes, if the journal is idle; then writes
    /// the segments. On a full disk only what gives space back is taken. Call it after every [`LogSet::poll`].
    pub fn begin_round(&mut self, now: Now) {
        if self.poisoned.is_some() || self.in_flight.is_some() || !self.has_work() {
            return;
        }
        self.look_at_space();
        let selection = match self.space {
            Space::Ready => self.select_within_bounds(),
            Space::Full => self.select_what_frees_space(),
        };
        if selection.entries.is_empty() {
            return;
        }
        self.pending_bytes -= selection.bytes;
        self.checkpointing.count_journal_bytes(&selection.entries);
        let number = self.journal.submit(selection.entries);
        for (slot, completion) in &selection.completions {
            if let Completion::Written(run) = completion {
                self.write_later(*slot, run.unwritten.clone(), now);
            }
        }
        self.write_if_due(now);
        self.in_flight = Some(InFlight { number, completions: selection.completions });
    }

    fn select_within_bounds(&mut self) -> Selection {
        let mut selection = Selection::default();
        let whole = self.settings.max_round_bytes;
        if std::mem::take(&mut self.users_waited) {
            // Internal logs may fill every round. After one round without users, one of their runs goes ahead.
            self.take_from_lane(LogKind::User, 0, &mut selection);
        }
        let ahead = selection.entries.len();
        self.take_from_lane(LogKind::Internal, whole, &mut selection);
        let before_users = selection.entries.len();
        self.take_from_lane(LogKind::User, whole, &mut selection);
        let none_taken = ahead == 0 && selection.entries.len() == before_users;
        self.users_waited = none_taken && !self.lanes[LogKind::User as usize].is_empty();
        selection
    }

    /// Takes runs of one lane, one per partition and turn, until the next would exceed the bound. A larger run goes
    /// alone.
    fn take_from_lane(&mut self, kind: LogKind, max_bytes: u64, selection: &mut Selection) {
        while let Some(slot) = self.lanes[kind as usize].pop_front() {
            let partition = self.slots[slot].as_mut().expect("only used slots stand in a lane");
            let Some(run) = partition.pending.front() else {
                partition.in_lane = false;
                continue;
            };
            if !selection.entries.is_empty() && selection.bytes + run.size_bytes() > max_bytes {
                self.lanes[kind as usize].push_front(slot);
                return;
            }
            let run = partition.pending.pop_front().expect("it was just looked at");
            let id = partition.id;
            partition.in_lane = !partition.pending.is_empty();
            if partition.in_lane {
                self.lanes[kind as usize].push_back(slot);
            }
            selection.add(slot, id, run);
        }
    }

    fn select_what_frees_space(&mut self) -> Selection {
        let mut selection = Selection::default();
        for lane in &mut self.lanes {
            let slots = &mut self.slots;
            lane.retain(|slot| {
                let partition = slots[*slot].as_mut().expect("only used slots stand in a lane");
                // What frees space speaks of what is durable, so it may overtake the batches that wait for room.
                let pending = std::mem::take(&mut partition.pending);
                for run in pending {
                    if run.frees_space() {
                        selection.add(*slot, partition.id, run);
                    } else {
                        partition.pending.push_back(run);
                    }
                }
                partition.in_lane = !partition.pending.is_empty();
                partition.in_lane
            });
        }
        selection
    }

    /// Looks at the journal, and applies what a durable round made true.
    pub(super) fn poll_round(&mut self, advanced: &mut Vec<TopicPartition>) {
        let reason = match self.journal.poll() {
            JournalState::InFlight => return,
            JournalState::Poisoned(reason) => reason,
            JournalState::Fenced => "another owner took the journal over".into(),
            JournalState::Idle(durable) => {
                self.durable_round = durable;
                // After a failed segment write the journal may be durable but readers could not see it.
                if self.poisoned.is_none()
                    && self.in_flight.as_ref().is_some_and(|round| round.number <= durable)
                {
                    self.complete_round(advanced);
                }
                return;
            }
        };
        self.poison(format!("the journal failed: {reason}"));
    }

    fn complete_round(&mut self, advanced: &mut Vec<TopicPartition>) {
        let Some(round) = self.in_flight.take() else { return };
        for (slot, completion) in round.completions {
            let partition = self.slots[slot].as_mut().expect("a partition in a round is not removed");
            if !partition.deleting {
                advanced.push(partition.id);
            }
            match completion {
                Completion::Written(WrittenRun { unwritten: run, end_offset }) => {
                    if let Some(index) = partition.segment_index(run.segment) {
                        if run.opens_segment && index > 0 {
                            let previous = &mut partition.segments[index - 1];
                            // Sealed, and everything before this run is durable with it.
                            previous.durable = previous.accepted;
                        }
                        partition.segments[index].durable = run.end;
                    }
                    partition.raise_high_watermark(end_offset);
                    self.note_growth(slot, run.batches.len());
                }
                Completion::Change(effect) => self.apply(slot, effect),
            }
        }
    }

    fn apply(&mut self, slot: usize, effect: Effect) {
        let partition = self.slots[slot].as_mut().expect("a partition in a round is not removed");
        match effect {
            Effect::Created => partition.created = true,
            Effect::LogStart(offset) => {
                partition.log_start = partition.log_start.max(offset);
                partition.epochs.cut_front(partition.log_start);
                self.queue_removal_below_log_start(slot);
            }
            Effect::SegmentsRemoved(segments) => {
                self.forget_unwritten(slot, &segments);
                let partition = self.slots[slot].as_mut().expect("it was there above");
                let removal = Removal::of_segments(partition, &segments);
                self.removals.push(removal);
            }
            Effect::Deleted => {
                self.forget_all_unwritten(slot);
                let partition = self.slots[slot].take().expect("it was there above");
                self.free_slots.push(slot);
                self.removals.push(Removal::of_partition(partition));
            }
        }
    }

    /// Queues the removal of whole segments that nobody can read any more.
    pub(super) fn queue_removal_below_log_start(&mut self, slot: usize) {
        let partition = self.slots[slot].as_ref().expect("only used slots are changed");
        if partition.deleting || partition.offline.is_some() || self.is_cleaning(partition) {
            return;
        }
        let next_bases = partition.segments.iter().skip(1).map(Segment::base_offset);
        let ended =
            partition.segments.iter().zip(next_bases).take_while(|(_, next)| *next <= partition.log_start);
        let segments: Vec<_> = ended.map(|(segment, _)| segment.id).collect();
        if !segments.is_empty() {
            let effect = Effect::SegmentsRemoved(segments.clone());
            self.queue_change(slot, JournalEntry::RemoveSegments(segments), effect);
        }
    }

    pub(super) fn poison(&mut self, reason: String) {
        if self.poisoned.is_none() {
            tracing::error!(%reason, "the log takes no more writes; restart to recover");
            self.poisoned = Some(reason);
        }
    }
}

impl Selection {
    fn add(&mut self, slot: usize, id: TopicPartition, run: Run) {
        self.bytes += run.size_bytes();
        match run {
            Run::Change { entry, effect } => {
                self.entries.push(entry);
                self.completions.push((slot, Completion::Change(effect)));
            }
            Run::Data(run) => {
                if run.opens_segment {
                    self.entries.push(JournalEntry::AddSegment(run.segment).into_entry(id));
                }
                let batches = Bytes::from(run.batches);
                self.entries.push(JournalEntry::Data(batches.clone()).into_entry(id));
                let unwritten = UnwrittenRun {
                    segment: run.segment,
                    opens_segment: run.opens_segment,
                    position: run.position,
                    batches,
                    end: run.end,
                };
                let written = WrittenRun { unwritten, end_offset: run.end_offset };
                self.completions.push((slot, Completion::Written(written)));
            }
        }
    }
}
