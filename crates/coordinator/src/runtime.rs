//! The runtime of one shard.
//!
//! The path of a request: [`ShardRuntime::submit`] opens its ticket and lets the shard decide; the records of the
//! outcome go into the open batch and are replayed; its replies are parked; [`ShardRuntime::flush`] appends the batch;
//! [`ShardRuntime::on_durable`] releases the replies. Called by [`crate::Coordinators`], or directly by whoever has
//! only one shard.

use std::sync::Arc;

use milepost_log::{AppendOrigin, LogSet, Space};
use milepost_model::{
    Atomicity, DependsOn, Encoded, Instant, Now, Offset, Origin, Outcome, Shard, Ticket, TopicPartition,
};

use crate::batch::{OpenBatch, fits_alone, record_bytes};
use crate::coordinators::MakeShard;
use crate::counts::HeldCounts;
use crate::deletions::{Deletions, Topics};
use crate::effects::Effects;
use crate::load::{Failure, Load, LoadProgress, Loaded};
use crate::tickets::{Stage, Tickets};
use crate::{Answer, Refusal, Settings};

/// How long a deadline whose records could not be written waits for its next turn, in milliseconds.
pub const DEADLINE_RETRY_MS: u64 = 500;

/// Of how many records of one outcome the room for their bytes is kept for the next.
const KEPT_ENCODED: usize = 64;
/// Room of one record above this is given back: every shard would keep that of its largest records for ever.
const KEPT_ENCODED_BYTES: usize = 1024;

/// What a shard is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardStatus<'a> {
    /// It is being loaded.
    Loading,
    /// It is served.
    Active,
    /// Its log cannot be understood. It stays so until the next start.
    Failed(&'a Failure),
    /// It was closed.
    Closed,
}

pub(crate) enum State<S> {
    Loading(Load<S>),
    Active(Active<S>),
    Failed(Failure),
    Closed,
}

pub(crate) struct Active<S> {
    pub(crate) shard: S,
    pub(crate) batch: OpenBatch,
    /// Deadlines rest until then, because what the last one wrote was refused.
    retry_at: Option<Instant>,
}

/// Why the records of an outcome were not written.
pub(crate) enum Unwritten {
    /// Nothing was replayed either.
    Refused(Refusal),
    /// The state and the log may differ now.
    Broken(String),
}

/// How many bytes of records must fit one batch.
#[derive(Clone, Copy)]
pub(crate) enum Size {
    /// They do as they are.
    Plain(usize),
    /// They do compressed, in a batch of their own.
    Compressed(usize),
}

/// What became of an outcome.
enum Carried {
    /// Its records are on their way. What rests on them waits for this one; `None`: for nothing.
    Out(Option<Offset>),
    /// Nothing was written.
    Refused,
    /// The shard was thrown away.
    ThrownAway,
}

/// One shard over one partition.
pub struct ShardRuntime<S: Shard> {
    pub(crate) id: TopicPartition,
    make: Arc<MakeShard<S>>,
    pub(crate) settings: Settings,
    pub(crate) state: State<S>,
    deletions: Deletions,
    counts: HeldCounts<S::Counts>,
    /// What its last load took.
    loaded: Option<Loaded>,
    tickets: Tickets<S::Reply>,
    answers: Vec<(Ticket, Answer<S::Reply>)>,
    effects: Effects<S::Effect>,
    /// Room for the bytes of one outcome's records, kept from one to the next.
    pub(crate) encoded: Vec<Encoded>,
}

impl<S: Shard> ShardRuntime<S> {
    /// A shard that is to be loaded from the log of `id`. `make` gives a new, empty shard, now and whenever the
    /// present one must be thrown away.
    pub fn new(id: TopicPartition, settings: Settings, make: Arc<MakeShard<S>>) -> Self {
        let state = State::Loading(Load::new(make(id.partition)));
        Self {
            id,
            make,
            settings,
            state,
            deletions: Deletions::default(),
            counts: HeldCounts::new(),
            loaded: None,
            tickets: Tickets::new(),
            answers: Vec::new(),
            effects: Effects::new(),
            encoded: Vec::new(),
        }
    }

    /// The partition.
    pub fn id(&self) -> TopicPartition {
        self.id
    }

    /// What the shard is doing.
    pub fn status(&self) -> ShardStatus<'_> {
        match &self.state {
            State::Loading(_) => ShardStatus::Loading,
            State::Active(_) => ShardStatus::Active,
            State::Failed(failure) => ShardStatus::Failed(failure),
            State::Closed => ShardStatus::Closed,
        }
    }

    /// The shard's state, for counting and showing it; `None` unless it is active. It contains what is not durable
    /// yet, so nothing seen here may be told to a client.
    pub fn shard(&self) -> Option<&S> {
        match &self.state {
            State::Active(active) => Some(&active.shard),
            _ => None,
        }
    }

    /// Room kept for the bytes of records.
    #[cfg(test)]
    pub(crate) fn kept_room_bytes(&self) -> usize {
        self.encoded.iter().map(Encoded::room_bytes).sum()
    }

    /// How many requests are open.
    pub fn open_tickets(&self) -> usize {
        self.tickets.len()
    }

    /// Whether [`ShardRuntime::flush`] has something to append.
    pub fn has_open_batch(&self) -> bool {
        matches!(&self.state, State::Active(active) if !active.batch.is_empty())
    }

    /// Reads about `budget_bytes` of the log, at least one batch; at the log's end the shard becomes active.
    pub fn load_step(&mut self, logs: &mut LogSet, now: Now, budget_bytes: usize) -> LoadProgress {
        let State::Loading(load) = &mut self.state else { return LoadProgress::Finished };
        match load.step(logs, self.id, now, budget_bytes) {
            Ok(LoadProgress::Finished) => {
                self.activate(logs, now);
                LoadProgress::Finished
            }
            Ok(progress) => progress,
            Err(failure) => {
                tracing::error!(%failure, "a coordinator's log cannot be loaded; its groups are not served");
                self.state = State::Failed(failure);
                self.deletions.clear();
                LoadProgress::Finished
            }
        }
    }

    fn activate(&mut self, logs: &mut LogSet, now: Now) {
        let State::Loading(load) = std::mem::replace(&mut self.state, State::Closed) else { return };
        self.note_loaded(load.loaded(now));
        let end = log_end_offset(logs, self.id);
        let mut active =
            Active { shard: load.shard, batch: OpenBatch::new(end, self.settings.codec), retry_at: None };
        let outcome = active.shard.on_loaded(now);
        self.state = State::Active(active);
        self.carry_out(logs, now, outcome, None);
        self.tell_of_deletions(logs, now);
    }

    fn note_loaded(&mut self, loaded: Loaded) {
        let Loaded { records, bytes, took_us } = loaded;
        let took_ms = took_us / 1000;
        if records > 0 {
            tracing::info!(partition = %self.id, records, bytes, took_ms, "a coordinator is loaded");
        }
        self.loaded = Some(loaded);
    }

    /// What the last load took; `None` before the first was through.
    pub fn loaded(&self) -> Option<Loaded> {
        self.loaded
    }

    /// Hands a request to the shard. The answer comes by [`ShardRuntime::drain_answers`], at once or later.
    pub fn submit(&mut self, logs: &mut LogSet, now: Now, ticket: Ticket, request: S::Request<'_>) {
        let is_full = self.tickets.len().max(self.tickets.parked_len()) >= self.settings.max_open_tickets;
        let refusal = match &mut self.state {
            State::Active(_) if is_full => Refusal::Busy,
            State::Active(active) => {
                self.tickets.open(ticket);
                let outcome = active.shard.handle(now, ticket, request);
                self.carry_out(logs, now, outcome, Some(ticket));
                return;
            }
            State::Loading(_) => Refusal::Loading,
            State::Failed(_) | State::Closed => Refusal::NotCoordinator,
        };
        self.answers.push((ticket, Answer::Refused(refusal)));
    }

    /// Tells the shard of deleted topics; a loading one hears of them when it is loaded.
    pub fn on_topics_deleted(&mut self, logs: &mut LogSet, now: Now, topics: &Topics) {
        if matches!(self.state, State::Loading(_) | State::Active(_)) {
            self.deletions.add(Arc::clone(topics));
            self.tell_of_deletions(logs, now);
        }
    }

    fn tell_of_deletions(&mut self, logs: &mut LogSet, now: Now) {
        while let State::Active(active) = &mut self.state
            && let Some(topics) = self.deletions.take_untold()
        {
            let outcome = active.shard.on_topics_deleted(now, &topics);
            match self.carry_out(logs, now, outcome, None) {
                Carried::Out(until) => self.deletions.told(topics, until),
                Carried::Refused | Carried::ThrownAway => return self.deletions.put_back(topics),
            }
        }
    }

    /// Does what an outcome says: writes and replays its records, then answers or parks its replies, and lets its effects
    /// out or holds them. Effects of an outcome that could not be written are never heard of.
    fn carry_out(
        &mut self,
        logs: &mut LogSet,
        now: Now,
        outcome: Outcome<S::Record, S::Reply, S::Effect, S::Counts>,
        asker: Option<Ticket>,
    ) -> Carried {
        let until = if outcome.records.is_empty() {
            self.dependency(logs, outcome.depends_on)
        } else {
            let written = match outcome.origin {
                Origin::Plain => self.write(logs, now, outcome.records, outcome.atomicity),
                Origin::Transactional(producer) => {
                    self.write_transactional(logs, now, outcome.records, producer)
                }
            };
            match written {
                Ok(last) => Some(last),
                Err(Unwritten::Refused(refusal)) => {
                    self.refuse(now, refusal, outcome.replies.into_iter().map(|(ticket, _)| ticket), asker);
                    return Carried::Refused;
                }
                Err(Unwritten::Broken(reason)) => {
                    self.throw_away(&reason);
                    return Carried::ThrownAway;
                }
            }
        };
        self.effects.add(outcome.effects, until);
        if let State::Active(active) = &self.state {
            self.counts.add(outcome.counts, until, active.batch.base());
        }
        let deadline = now.monotonic.plus_ms(self.settings.commit_timeout_ms);
        for (ticket, reply) in outcome.replies {
            match until {
                None => self.tickets.answer(ticket, Answer::Reply(reply), &mut self.answers),
                Some(until) => self.tickets.park(ticket, reply, until, deadline),
            }
        }
        Carried::Out(until)
    }

    /// The offset that must become durable before an answer may leave; `None` when it may at once.
    fn dependency(&self, logs: &LogSet, depends_on: DependsOn) -> Option<Offset> {
        let State::Active(active) = &self.state else { return None };
        let last = match depends_on {
            DependsOn::Nothing => return None,
            DependsOn::Position(offset) => offset,
            DependsOn::ShardEnd => active.batch.next().plus(-1),
        };
        let is_durable = logs.log(self.id).is_some_and(|log| last < log.high_watermark());
        (!is_durable && last >= Offset::ZERO).then_some(last)
    }

    /// Puts records into the open batch and replays each. Either all of them are on their way, or none was replayed,
    /// or the shard must be thrown away.
    fn write(
        &mut self,
        logs: &mut LogSet,
        now: Now,
        records: Vec<S::Record>,
        atomicity: Atomicity,
    ) -> Result<Offset, Unwritten> {
        let size = self.encode(logs, now, &records, atomicity)?;
        let State::Active(active) = &mut self.state else {
            return Err(Unwritten::Refused(Refusal::NotCoordinator));
        };
        let max_batch_bytes = max_batch_bytes(logs, self.id);
        let (Size::Plain(together_bytes) | Size::Compressed(together_bytes)) = size;
        if !active.batch.has_room(together_bytes, max_batch_bytes) {
            active.append(logs, self.id, now)?;
        }
        if active.batch.is_empty() {
            active.check_base(logs, self.id)?;
        }
        for (record, encoded) in records.into_iter().zip(&self.encoded) {
            let is_plain = matches!(size, Size::Plain(_));
            if is_plain && !active.batch.has_room(record_bytes(encoded), max_batch_bytes) {
                active.append(logs, self.id, now)?;
            }
            let pushed = active.batch.push(now.wall, encoded);
            let position = pushed.map_err(|full| Unwritten::Broken(full.to_string()))?;
            active.shard.replay(position, Origin::Plain, record);
        }
        let last = active.batch.next().plus(-1);
        self.give_back_room();
        Ok(last)
    }

    /// Encodes the records of an outcome, and says how much must fit one batch. Nothing has happened yet.
    pub(crate) fn encode(
        &mut self,
        logs: &LogSet,
        now: Now,
        records: &[S::Record],
        atomicity: Atomicity,
    ) -> Result<Size, Unwritten> {
        let State::Active(active) = &mut self.state else {
            return Err(Unwritten::Refused(Refusal::NotCoordinator));
        };
        self.encoded.truncate(records.len().max(KEPT_ENCODED));
        self.encoded.resize_with(records.len().max(self.encoded.len()), Encoded::default);
        let encoded = &mut self.encoded[..records.len()];
        for (record, into) in records.iter().zip(encoded.iter_mut()) {
            active.shard.encode(record, into);
        }
        let sizes = encoded.iter().map(record_bytes);
        let together_bytes = match atomicity {
            Atomicity::OneBatch => sizes.sum(),
            Atomicity::MaySplit => sizes.max().unwrap_or(0),
        };
        let max_batch_bytes = max_batch_bytes(logs, self.id);
        let is_large = !fits_alone(together_bytes, max_batch_bytes);
        let may_be_split = atomicity == Atomicity::MaySplit;
        if is_large && (may_be_split || !active.batch.fits_compressed(now.wall, encoded, max_batch_bytes)) {
            return Err(Unwritten::Refused(Refusal::TooLarge));
        }
        if logs.space() == Space::Full {
            return Err(Unwritten::Refused(Refusal::NoSpace));
        }
        Ok(if is_large { Size::Compressed(together_bytes) } else { Size::Plain(together_bytes) })
    }

    /// Keeps no more room for encoded records than an ordinary outcome needs.
    pub(crate) fn give_back_room(&mut self) {
        for large in self.encoded.iter_mut().filter(|one| one.room_bytes() > KEPT_ENCODED_BYTES) {
            *large = Encoded::default();
        }
    }

    /// Answers for an outcome that could not be written. The shard is told that its asker is gone, and gets its next
    /// deadline later, because its state did not change and the deadline would be due again at once.
    fn refuse(
        &mut self,
        now: Now,
        refusal: Refusal,
        replies: impl Iterator<Item = Ticket>,
        asker: Option<Ticket>,
    ) {
        for ticket in replies {
            self.tickets.answer(ticket, Answer::Refused(refusal), &mut self.answers);
        }
        let State::Active(active) = &mut self.state else { return };
        match asker {
            Some(ticket) => {
                active.shard.forget(ticket);
                self.tickets.answer(ticket, Answer::Refused(refusal), &mut self.answers);
            }
            None => active.retry_at = Some(now.monotonic.plus_ms(DEADLINE_RETRY_MS)),
        }
    }

    /// Appends the open batch to the log, so that the next round takes it.
    pub fn flush(&mut self, logs: &mut LogSet, now: Now) {
        let State::Active(active) = &mut self.state else { return };
        if let Err(Unwritten::Broken(reason)) = active.append(logs, self.id, now) {
            self.throw_away(&reason);
        }
    }

    /// Releases the answers and effects whose records became durable.
    pub fn on_durable(&mut self, logs: &LogSet) {
        if let Some(log) = logs.log(self.id) {
            self.tickets.release(log.high_watermark(), &mut self.answers);
            self.effects.release(log.high_watermark());
            self.counts.release(log.high_watermark());
            self.deletions.on_durable(log.high_watermark());
        }
    }

    /// When [`ShardRuntime::on_deadline`] wants to be called next.
    pub fn next_deadline(&self) -> Option<Instant> {
        let (shard, retry) = match &self.state {
            State::Active(active) => {
                (active.next_deadline(), active.retry_at.filter(|_| self.deletions.has_untold()))
            }
            _ => (None, None),
        };
        [shard, retry, self.tickets.next_deadline()].into_iter().flatten().min()
    }

    /// Time passed: gives up on answers that waited too long for the disk, and lets the shard act.
    pub fn on_deadline(&mut self, logs: &mut LogSet, now: Now) {
        self.tickets.time_out(now.monotonic, &mut self.answers);
        let State::Active(active) = &mut self.state else { return };
        if active.retry_at.is_some_and(|retry_at| retry_at <= now.monotonic) {
            active.retry_at = None;
            self.tell_of_deletions(logs, now);
        }
        let State::Active(active) = &mut self.state else { return };
        if active.next_deadline().is_some_and(|deadline| deadline <= now.monotonic) {
            let outcome = active.shard.on_deadline(now);
            self.carry_out(logs, now, outcome, None);
        }
    }

    /// The connection of this ticket went: nobody wants the answer. Says whether the ticket was open here.
    pub fn forget(&mut self, ticket: Ticket) -> bool {
        let stage = self.tickets.forget(ticket);
        if let (Some(Stage::Waiting), State::Active(active)) = (stage, &mut self.state) {
            active.shard.forget(ticket);
        }
        stage.is_some()
    }

    /// Stops serving: every open ticket is refused. What was not flushed is lost, and nobody was told of it.
    pub fn close(&mut self) {
        self.tickets.refuse_all(Refusal::NotCoordinator, &mut self.answers);
        self.effects.drop_held();
        self.counts.drop_held();
        self.deletions.clear();
        self.state = State::Closed;
    }

    /// Hands over the answers given since the last call, in the order in which they were given.
    pub fn drain_answers(&mut self, into: &mut Vec<(Ticket, Answer<S::Reply>)>) {
        into.append(&mut self.answers);
    }

    /// Hands over what was counted since the last call.
    pub fn take_counts(&mut self) -> S::Counts {
        self.counts.take()
    }

    /// Hands over what the shard wants done since the last call. What comes of it is submitted as a request.
    pub fn drain_effects(&mut self) -> std::vec::Drain<'_, S::Effect> {
        self.effects.drain()
    }

    pub(crate) fn throw_away(&mut self, reason: &str) {
        tracing::error!(partition = %self.id, reason, "a coordinator's state is thrown away and loaded again");
        self.tickets.refuse_all(Refusal::NotCoordinator, &mut self.answers);
        self.effects.drop_held();
        self.counts.drop_held();
        self.deletions.tell_again();
        self.state = State::Loading(Load::new((self.make)(self.id.partition)));
    }
}

impl<S: Shard> Active<S> {
    fn next_deadline(&self) -> Option<Instant> {
        let deadline = self.shard.next_deadline()?;
        Some(self.retry_at.map_or(deadline, |retry_at| deadline.max(retry_at)))
    }

    /// The open batch must begin where the log ends (I5): its records were replayed at the offsets they will have.
    pub(crate) fn check_base(&self, logs: &LogSet, id: TopicPartition) -> Result<(), Unwritten> {
        let end = log_end_offset(logs, id);
        if self.batch.base() == end {
            return Ok(());
        }
        Err(Unwritten::Broken(format!(
            "the log ends at {end}, the open batch begins at {}",
            self.batch.base()
        )))
    }

    pub(crate) fn append(
        &mut self,
        logs: &mut LogSet,
        id: TopicPartition,
        now: Now,
    ) -> Result<(), Unwritten> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.check_base(logs, id)?;
        let base = self.batch.base();
        let batch = self.batch.take();
        let appended = logs
            .append(id, &batch, AppendOrigin::Coordinator, now)
            .map_err(|error| Unwritten::Broken(format!("the batch at {base} cannot be appended: {error}")))?;
        let last = self.batch.base().plus(-1);
        if appended.base_offset != base || appended.last_offset != last {
            let (base_found, last_found) = (appended.base_offset, appended.last_offset);
            return Err(Unwritten::Broken(format!(
                "a batch for {base} to {last} was appended at {base_found} to {last_found}"
            )));
        }
        Ok(())
    }
}

/// Where the log ends. A partition that is gone ends before every offset, so that nothing is written to it.
fn log_end_offset(logs: &LogSet, id: TopicPartition) -> Offset {
    logs.log(id).map_or(Offset(-1), milepost_log::PartitionLog::log_end_offset)
}

/// The largest batch that the topic takes, in bytes, as it is before compression.
fn max_batch_bytes(logs: &LogSet, id: TopicPartition) -> usize {
    logs.log(id).map_or(0, |log| {
        let config = log.config();
        let segment_bytes = usize::try_from(config.segment_bytes).unwrap_or(usize::MAX);
        config.max_message_bytes.min(segment_bytes)
    })
}
