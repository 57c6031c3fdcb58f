//! A runtime for tests: it drives a shard by hand, keeps its log, plays the partitions that markers go to, and checks
//! what must always be true.
//!
//! After each step: a replay of the log gives the live hard state, before and after compaction, through bytes; each
//! answer waits for what was last written about its transactional id; epochs do not go back; a transaction is complete
//! only after a marker in every partition; markers of every prepared transaction have been asked for; and nobody who was
//! fenced gets anything accepted.

pub(crate) mod command;
mod invariants;
#[allow(dead_code, reason = "only the scenarios print")]
pub(crate) mod print;

use std::collections::BTreeMap;

use milepost_model::{
    DependsOn, Encoded, Instant, LeaderEpoch, Now, Offset, Origin, Outcome, ProducerId, ProducerIdentity,
    Shard, Ticket, Timestamp,
};
use milepost_transactions::{
    AbortTimedOut, Effect, Record, Reply, Request, TransactionCounts, TransactionError, TransactionSettings,
    Transactions, WriteMarkers,
};

use invariants::Invariants;

/// Where every scenario's clocks begin.
pub(crate) const START: Now = Now { monotonic: Instant(1_000_000), wall: Timestamp(1_700_000_000_000) };

/// The key and the value of a record of the log.
pub(crate) type Entry = (Vec<u8>, Option<Vec<u8>>);

/// A shard, its log and its clocks.
pub(crate) struct Machine {
    pub(crate) settings: TransactionSettings,
    shard: Transactions,
    pub(crate) now: Now,
    log: Vec<Entry>,
    next_ticket: u64,
    next_producer_id: i64,
    /// The last position of a record about a transactional id.
    last_written: BTreeMap<String, Offset>,
    /// Markers that were asked for and are not reported yet.
    pub(crate) asked: Vec<WriteMarkers>,
    /// Markers that were reported.
    reported: Vec<WriteMarkers>,
    /// Transactional ids for which a producer id is wanted, with the present producer.
    wanted: BTreeMap<String, ProducerIdentity>,
    /// Whether the runtime refuses to write, as it does while the disk is full.
    pub(crate) is_full: bool,
    invariants: Invariants,
}

/// What one step brought.
#[derive(Default)]
pub(crate) struct Step {
    pub(crate) records: Vec<Record>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) replies: Vec<(String, Reply)>,
    /// Who was refused by the runtime, because nothing could be written.
    pub(crate) refused: Vec<String>,
}

impl Step {
    fn add(&mut self, other: Self) {
        self.records.extend(other.records);
        self.effects.extend(other.effects);
        self.replies.extend(other.replies);
        self.refused.extend(other.refused);
    }
}

/// Who asks about what.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) label: &'a str,
    pub(crate) transactional_id: Option<&'a str>,
    pub(crate) producer: Option<ProducerIdentity>,
}

impl Machine {
    pub(crate) fn new(settings: TransactionSettings) -> Self {
        let mut machine = Self {
            shard: Transactions::new(settings.clone(), LeaderEpoch(5), 7),
            settings,
            now: START,
            log: Vec::new(),
            next_ticket: 0,
            next_producer_id: 1,
            last_written: BTreeMap::new(),
            asked: Vec::new(),
            reported: Vec::new(),
            wanted: BTreeMap::new(),
            is_full: false,
            invariants: Invariants::default(),
        };
        let outcome = machine.shard.on_loaded(machine.now);
        assert!(outcome.records.is_empty() && outcome.replies.is_empty() && outcome.effects.is_empty());
        machine
    }

    /// Asks, and asks again with a fresh producer id if one is needed, as the edge does.
    pub(crate) fn ask<'r>(
        &mut self,
        asker: Asker<'_>,
        request: impl Fn(Option<ProducerId>) -> Request<'r>,
    ) -> Step {
        let step = self.handle(asker, request(None));
        let needs_id = |reply: &Reply| {
            let error = match reply {
                Reply::InitProducerId(result) | Reply::EndTransaction(result) => result.err(),
                _ => None,
            };
            error == Some(TransactionError::ProducerIdRequired)
        };
        if !step.replies.iter().any(|(_, reply)| needs_id(reply)) {
            return step;
        }
        assert!(step.records.is_empty() && step.effects.is_empty(), "nothing happens without the id");
        let fresh = self.take_producer_id();
        self.handle(asker, request(Some(fresh)))
    }

    fn take_producer_id(&mut self) -> ProducerId {
        self.next_producer_id += 1;
        ProducerId(self.next_producer_id - 1)
    }

    fn handle(&mut self, asker: Asker<'_>, request: Request<'_>) -> Step {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        let outcome = self.shard.handle(self.now, ticket, request);
        assert_eq!(outcome.replies.len(), 1, "everybody is answered at once");
        assert_eq!(outcome.replies[0].0, ticket);
        self.apply(outcome, Some(asker))
    }

    /// The first markers asked for of a transactional id are written everywhere, and reported.
    pub(crate) fn write_markers(&mut self, transactional_id: &str) -> Step {
        let of_id = |asked: &WriteMarkers| *asked.transactional_id == *transactional_id;
        let Some(at) = self.asked.iter().position(of_id) else { return Step::default() };
        let markers = self.asked.remove(at);
        self.invariants.note_markers(&markers);
        let step = self.report(&markers);
        if !step.refused.is_empty() {
            // Whoever writes markers reports them until he is heard.
            self.asked.insert(at, markers.clone());
        }
        self.reported.push(markers);
        step
    }

    /// The last reported markers of a transactional id are reported once more.
    pub(crate) fn report_again(&mut self, transactional_id: &str) -> Step {
        let of_id = |reported: &&WriteMarkers| *reported.transactional_id == *transactional_id;
        let Some(markers) = self.reported.iter().rfind(of_id).cloned() else { return Step::default() };
        self.report(&markers)
    }

    fn report(&mut self, markers: &WriteMarkers) -> Step {
        let id = Some(&*markers.transactional_id);
        let asker = Asker { label: "markers", transactional_id: id, producer: None };
        self.handle(asker, Request::MarkersWritten(markers))
    }

    /// Brings the producer id that is wanted for a transactional id.
    pub(crate) fn bring_producer_id(&mut self, transactional_id: &str) -> Step {
        let Some(producer) = self.wanted.remove(transactional_id) else { return Step::default() };
        let fresh_producer_id = self.take_producer_id();
        let asker = Asker { label: "producer-id", transactional_id: Some(transactional_id), producer: None };
        self.handle(
            asker,
            Request::AbortTimedOut(AbortTimedOut { transactional_id, producer, fresh_producer_id }),
        )
    }

    /// The keys and values of the log.
    #[allow(dead_code, reason = "not every test that shares this module asks")]
    pub(crate) fn log(&self) -> &[Entry] {
        &self.log
    }

    /// Lets time pass, deadline by deadline.
    pub(crate) fn tick(&mut self, ms: u64) -> Step {
        let target = self.now.monotonic.plus_ms(ms);
        let mut all = Step::default();
        for _ in 0..1_000_000 {
            let Some(due) = self.shard.next_deadline().filter(|due| *due <= target) else {
                self.advance_to(target);
                return all;
            };
            self.advance_to(due.max(self.now.monotonic));
            let outcome = self.shard.on_deadline(self.now);
            // Most sweeps find nothing, and then there is nothing to check.
            if !outcome.records.is_empty() || !outcome.effects.is_empty() {
                all.add(self.apply(outcome, None));
            }
        }
        panic!("a deadline comes again and again at {:?}", self.now);
    }

    fn advance_to(&mut self, target: Instant) {
        let passed_ms = target.ms_since(self.now.monotonic);
        self.now = Now { monotonic: target, wall: self.now.wall.plus_ms(passed_ms.cast_signed()) };
    }

    /// The process starts again: what was asked for is lost too, and asked for again.
    pub(crate) fn restart(&mut self) -> Step {
        self.asked.clear();
        self.wanted.clear();
        self.reload()
    }

    /// Only the shard is loaded again: what was asked for before goes on, beside what is asked for again.
    pub(crate) fn reload(&mut self) -> Step {
        self.shard = replayed(&self.settings, self.log.iter().cloned().enumerate());
        let outcome = self.shard.on_loaded(self.now);
        assert!(outcome.records.is_empty(), "what is asked for at a load must not depend on a write");
        self.apply(outcome, None)
    }

    /// A record as another broker left it.
    pub(crate) fn foreign(&mut self, record: Record, producer: ProducerId) -> Step {
        // What others took is never handed out again.
        self.next_producer_id = self.next_producer_id.max(producer.0 + 1);
        self.write(&record);
        self.restart_with(record)
    }

    fn restart_with(&mut self, record: Record) -> Step {
        let mut step = Step { records: vec![record], ..Step::default() };
        step.add(self.restart());
        step
    }

    fn end(&self) -> Offset {
        Offset(i64::try_from(self.log.len()).unwrap())
    }

    fn write(&mut self, record: &Record) {
        let position = self.end();
        let mut encoded = Encoded::default();
        self.shard.encode(record, &mut encoded);
        let decoded = self.shard.decode(Some(&encoded.key), encoded.value.as_deref());
        assert_eq!(decoded, Ok(Some(record.clone())), "a record must be what its bytes say");
        self.log.push((encoded.key, encoded.value));
        self.last_written.insert(record.transactional_id.to_string(), position);
        self.invariants.note_record(record);
        self.shard.replay(position, Origin::Plain, record.clone());
    }

    fn apply(
        &mut self,
        outcome: Outcome<Record, Reply, Effect, TransactionCounts>,
        asker: Option<Asker<'_>>,
    ) -> Step {
        if self.is_full && !outcome.records.is_empty() {
            self.check();
            let refused = asker.map(|asker| asker.label.to_owned());
            return Step { refused: refused.into_iter().collect(), ..Step::default() };
        }
        for record in &outcome.records {
            self.write(record);
        }
        let mut replies = Vec::new();
        for (_, reply) in outcome.replies {
            let asker = asker.expect("nobody is answered who did not ask");
            if outcome.records.is_empty() {
                self.check_dependency(asker.transactional_id, outcome.depends_on, &reply);
            }
            self.invariants.note_reply(asker, &reply);
            replies.push((asker.label.to_owned(), reply));
        }
        for effect in &outcome.effects {
            match effect {
                Effect::WriteMarkers(markers) => self.asked.push(markers.clone()),
                Effect::TakeProducerId { transactional_id, producer } => {
                    self.wanted.insert(transactional_id.to_string(), *producer);
                }
            }
        }
        self.invariants.check_asked(&self.asked);
        self.check();
        Step { records: outcome.records, effects: outcome.effects, replies, refused: Vec::new() }
    }

    fn check_dependency(&self, transactional_id: Option<&str>, depends_on: DependsOn, reply: &Reply) {
        let last = transactional_id.and_then(|id| self.last_written.get(id));
        let waits_for = match depends_on {
            DependsOn::Nothing => None,
            DependsOn::Position(position) => Some(position),
            DependsOn::ShardEnd => return,
        };
        assert!(waits_for < Some(self.end()), "nothing can wait for what was not written");
        assert!(waits_for >= last.copied(), "{reply:?} must wait for {last:?}, not only for {waits_for:?}");
    }

    /// Replaying the log gives the live hard state, also when it was compacted.
    fn check(&self) {
        let live = self.shard.describe_hard_state();
        let entries: Vec<_> = self.log.iter().cloned().enumerate().collect();
        let last: BTreeMap<_, _> = entries.iter().map(|(at, (key, _))| (key.clone(), *at)).collect();
        let is_last = |(at, (key, _)): &(usize, Entry)| last[key] == *at;
        let compacted: Vec<_> = entries.iter().filter(|entry| is_last(entry)).cloned().collect();
        let living: Vec<_> = compacted.iter().filter(|(_, (_, value))| value.is_some()).cloned().collect();
        for (what, entries) in
            [("as it is", entries), ("compacted", compacted), ("without tombstones", living)]
        {
            let replayed = replayed(&self.settings, entries.into_iter()).describe_hard_state();
            assert_eq!(replayed, live, "a replay of the log {what}");
        }
    }
}

/// A shard loaded from entries of a log and their positions.
fn replayed(settings: &TransactionSettings, entries: impl Iterator<Item = (usize, Entry)>) -> Transactions {
    let mut shard = Transactions::new(settings.clone(), LeaderEpoch(5), 8);
    for (position, (key, value)) in entries {
        let record = shard.decode(Some(&key), value.as_deref()).unwrap().unwrap();
        shard.replay(Offset(i64::try_from(position).unwrap()), Origin::Plain, record);
    }
    shard
}
