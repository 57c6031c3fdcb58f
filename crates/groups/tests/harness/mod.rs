//! A runtime for tests: it drives a shard by hand, keeps its log, and checks what must always be true.
//!
//! After each step: a replay of the log gives the live hard state, before and after compaction, through bytes; each
//! answer waits for what was last written about its group; a group's generation does not go back.

pub(crate) mod command;
pub(crate) mod compaction;
mod consumer;
pub(crate) mod embedded;
#[allow(dead_code, reason = "only the scenarios print")]
pub(crate) mod print;

use std::collections::{BTreeMap, BTreeSet};

use std::sync::Arc;

use milepost_groups::{
    ClusterTopics, ConsumerChange, EmbeddedRequest, GroupCounts, GroupSettings, Groups, Record, Reply,
    Request,
};
use milepost_model::{
    Counts, DeletedTopic, DependsOn, Instant, NoEffect, Now, Offset, Origin, Outcome, ProducerEpoch,
    ProducerId, ProducerIdentity, Shard, Ticket, Timestamp, TransactionEnd,
};

use compaction::{Dice, Removable, cleaned_now_and_then, cleaned_whole};
use consumer::ConsumerGroups;

/// Where every scenario's clocks begin.
pub(crate) const START: Now = Now { monotonic: Instant(1_000_000), wall: Timestamp(1_700_000_000_000) };

/// What a shard of groups decides.
type GroupOutcome = Outcome<Record, Reply, NoEffect, GroupCounts>;

/// One entry of the log.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Record { key: Vec<u8>, value: Option<Vec<u8>>, origin: Origin },
    Marker { producer: ProducerIdentity, end: TransactionEnd },
}

/// A shard, its log and its clocks.
pub(crate) struct Machine {
    pub(crate) settings: GroupSettings,
    pub(crate) shard: Groups,
    pub(crate) now: Now,
    pub(crate) log: Vec<Entry>,
    /// What each open ticket was asked: its label, and the group it speaks of.
    open: BTreeMap<Ticket, (String, Option<String>)>,
    next_ticket: u64,
    /// The last position of a record about a group.
    last_written: BTreeMap<String, Offset>,
    consumer_groups: ConsumerGroups,
    /// The generation of a group's last record, while it exists.
    generations: BTreeMap<String, i32>,
    /// Generations under which a commit was accepted.
    committed_under: BTreeMap<String, i32>,
    /// Classic groups with members.
    with_members: BTreeSet<String>,
    /// The generations as they were before this step.
    generations_before: BTreeMap<String, i32>,
    /// The generation of a group of one kind that ended in this step, and the one something was committed under.
    ended: BTreeMap<String, (i32, Option<i32>)>,
    /// The topics of the cluster, which heartbeats of consumer groups bring along.
    pub(crate) topics: Arc<ClusterTopics>,
    /// The state of them that had the newest one first.
    pub(crate) newest_topic_at: i64,
    /// Whether the runtime refuses to write, as it does while the disk is full.
    pub(crate) is_full: bool,
    /// What was counted since the start; what could not be written is not among it.
    pub(crate) counts: GroupCounts,
    /// Every answer ever given, by ticket.
    pub(crate) answered: BTreeSet<Ticket>,
}

/// What one step brought.
#[derive(Default)]
pub(crate) struct Step {
    pub(crate) records: Vec<Record>,
    pub(crate) replies: Vec<(String, Reply)>,
    /// Who was refused by the runtime, because nothing could be written.
    pub(crate) refused: Vec<String>,
}

impl Machine {
    pub(crate) fn new(settings: GroupSettings) -> Self {
        let mut machine = Self {
            shard: Groups::new(settings.clone(), 7),
            settings,
            now: START,
            log: Vec::new(),
            open: BTreeMap::new(),
            next_ticket: 0,
            last_written: BTreeMap::new(),
            consumer_groups: ConsumerGroups::default(),
            generations: BTreeMap::new(),
            committed_under: BTreeMap::new(),
            with_members: BTreeSet::new(),
            generations_before: BTreeMap::new(),
            ended: BTreeMap::new(),
            topics: Arc::default(),
            newest_topic_at: 0,
            is_full: false,
            counts: GroupCounts::default(),
            answered: BTreeSet::new(),
        };
        let outcome = machine.shard.on_loaded(machine.now);
        assert!(outcome.records.is_empty() && outcome.replies.is_empty());
        machine
    }

    pub(crate) fn handle(&mut self, label: &str, group: Option<&str>, request: Request<'_>) -> Step {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.open.insert(ticket, (label.to_owned(), group.map(str::to_owned)));
        let accepted = match &request {
            Request::OffsetCommit(commit) => commit.generation,
            Request::TxnOffsetCommit(commit) => commit.generation,
            Request::Embedded(EmbeddedRequest::Commit { generation, .. }) => Some(*generation),
            _ => None,
        };
        let outcome = self.shard.handle(self.now, ticket, request);
        let is_accepted = !self.is_full
            && match outcome.replies.first() {
                Some((_, Reply::OffsetCommit(Ok(refused)) | Reply::TxnOffsetCommit(Ok(refused)))) => {
                    refused.is_empty()
                }
                Some((_, Reply::Embedded(result))) => result.is_ok(),
                _ => false,
            };
        if let (true, Some(generation), Some(group)) = (is_accepted, accepted, group) {
            let newest = self.committed_under.entry(group.to_owned()).or_insert(generation.0);
            *newest = generation.0.max(*newest);
        }
        self.apply(outcome, Some(ticket))
    }

    /// Lets time pass, deadline by deadline.
    pub(crate) fn tick(&mut self, ms: u64) -> Step {
        let target = self.now.monotonic.plus_ms(ms);
        let mut all = Step::default();
        for _ in 0..100_000 {
            let Some(due) = self.shard.next_deadline().filter(|due| *due <= target) else {
                self.advance_to(target);
                return all;
            };
            self.advance_to(due.max(self.now.monotonic));
            let outcome = self.shard.on_deadline(self.now);
            all.add(self.apply(outcome, None));
        }
        panic!("a deadline comes again and again at {:?}", self.now);
    }

    fn advance_to(&mut self, target: Instant) {
        let passed_ms = target.ms_since(self.now.monotonic);
        self.now = Now { monotonic: target, wall: self.now.wall.plus_ms(passed_ms.cast_signed()) };
    }

    /// The shard is thrown away and loaded from its log. Whoever waits is told so by the runtime.
    pub(crate) fn restart(&mut self) -> Step {
        self.open.clear();
        self.shard = replayed(&self.settings, self.log.iter().cloned().enumerate());
        let outcome = self.shard.on_loaded(self.now);
        self.apply(outcome, None)
    }

    pub(crate) fn topics_deleted(&mut self, topics: &[DeletedTopic]) -> Step {
        let outcome = self.shard.on_topics_deleted(self.now, topics);
        self.apply(outcome, None)
    }

    /// The labels of those who still wait.
    #[allow(dead_code, reason = "not every test that shares this module asks")]
    pub(crate) fn waiting(&self) -> Vec<String> {
        self.open.values().map(|(label, _)| label.clone()).collect()
    }

    pub(crate) fn forget(&mut self, label: &str) {
        let ticket = self.open.iter().find(|(_, (known, _))| known == label).map(|(ticket, _)| *ticket);
        let ticket = ticket.unwrap_or_else(|| panic!("nothing called '{label}' is waiting"));
        self.open.remove(&ticket);
        self.shard.forget(ticket);
    }

    /// A record of a producer's transaction reaches the log, as a foreign log may hold it.
    pub(crate) fn transactional(&mut self, producer: i64, record: Record) -> Step {
        let origin = Origin::Transactional(producer_of(producer));
        self.write(&record, origin);
        self.check();
        Step { records: vec![record], ..Step::default() }
    }

    /// A record reaches the log as another broker wrote it.
    #[allow(dead_code, reason = "not every test that shares this module has one")]
    pub(crate) fn foreign(&mut self, record: Record) -> Step {
        self.write(&record, Origin::Plain);
        self.check();
        Step { records: vec![record], ..Step::default() }
    }

    pub(crate) fn marker(&mut self, producer: i64, end: TransactionEnd) {
        let producer = producer_of(producer);
        let position = self.end();
        self.shard.replay_marker(position, producer, end);
        self.log.push(Entry::Marker { producer, end });
        self.check();
    }

    fn end(&self) -> Offset {
        Offset(i64::try_from(self.log.len()).unwrap())
    }

    fn write(&mut self, record: &Record, origin: Origin) {
        let position = self.end();
        self.check_generation(record);
        let mut encoded = milepost_model::Encoded::default();
        self.shard.encode(record, &mut encoded);
        let decoded = self.shard.decode(Some(&encoded.key), encoded.value.as_deref());
        assert_eq!(decoded, Ok(Some(record.clone())), "a record must be what its bytes say");
        self.log.push(Entry::Record { key: encoded.key, value: encoded.value, origin });
        self.last_written.insert(record.group().to_string(), position);
        self.shard.replay(position, origin, record.clone());
    }

    fn check_generation(&mut self, record: &Record) {
        if let Record::Consumer(record) = record {
            self.consumer_groups.check(record);
            let group = record.group.to_string();
            match &record.change {
                ConsumerChange::Group(Some(value)) => {
                    if self.with_members.remove(&group) {
                        self.check_conversion(&group, value.epoch.0);
                    }
                    self.generations.insert(group, value.epoch.0);
                }
                ConsumerChange::Group(None) => self.end_group(group),
                _ => {}
            }
            return;
        }
        let Record::Group(record) = record else { return };
        let group = record.group.to_string();
        let Some(classic) = &record.classic else { return self.end_group(group) };
        if classic.members.is_empty() {
            self.with_members.remove(&group);
        } else {
            self.with_members.insert(group.clone());
            self.check_conversion(&group, classic.generation.0);
        }
        let before = self.generations.insert(group, classic.generation.0);
        assert!(before.is_none_or(|before| before <= classic.generation.0), "a generation went back");
    }

    fn end_group(&mut self, group: String) {
        let committed_under = self.committed_under.remove(&group);
        self.generations.remove(&group);
        if let Some(before) = self.generations_before.get(&group) {
            self.ended.insert(group, (*before, committed_under));
        }
    }

    /// A group that keeps its members but not its kind goes on with its generation.
    fn check_conversion(&mut self, group: &str, generation: i32) {
        let Some((before, committed_under)) = self.ended.remove(group) else { return };
        assert!(generation >= before, "generation {generation} of {group} after {before}");
        if let Some(committed_under) = committed_under {
            self.committed_under.insert(group.to_owned(), committed_under);
        }
    }

    fn apply(&mut self, outcome: GroupOutcome, asker: Option<Ticket>) -> Step {
        if self.is_full && !outcome.records.is_empty() {
            return self.refuse(&outcome, asker);
        }
        let has_records = !outcome.records.is_empty();
        self.generations_before.clone_from(&self.generations);
        self.counts.add(outcome.counts);
        for record in &outcome.records {
            self.write(record, outcome.origin);
        }
        self.ended.clear();
        self.consumer_groups.check_owners();
        let mut replies = Vec::new();
        for (ticket, reply) in outcome.replies {
            assert!(self.answered.insert(ticket), "answered twice: {reply:?}");
            let Some((label, group)) = self.open.remove(&ticket) else {
                panic!("answered, not asked: {reply:?}")
            };
            if !has_records {
                self.check_dependency(group.as_deref(), outcome.depends_on, &reply);
            }
            self.check_handed_out(group.as_deref(), &reply);
            replies.push((label, reply));
        }
        self.check();
        Step { records: outcome.records, replies, refused: Vec::new() }
    }

    /// What the runtime does with an outcome that it can't write: nothing of it happens, whoever would have been answered is
    /// refused, and the shard forgets who asked.
    fn refuse(&mut self, outcome: &GroupOutcome, asker: Option<Ticket>) -> Step {
        let mut refused = Vec::new();
        if let Some(ticket) = asker {
            self.shard.forget(ticket);
        }
        for ticket in outcome.replies.iter().map(|(ticket, _)| *ticket).chain(asker) {
            if let Some((label, _)) = self.open.remove(&ticket) {
                self.answered.insert(ticket);
                refused.push(label);
            }
        }
        self.check();
        Step { refused, ..Step::default() }
    }

    fn check_dependency(&self, group: Option<&str>, depends_on: DependsOn, reply: &Reply) {
        let last = group.and_then(|group| self.last_written.get(group));
        let waits_for = match depends_on {
            DependsOn::Nothing => None,
            DependsOn::Position(position) => Some(position),
            DependsOn::ShardEnd => return,
        };
        assert!(waits_for < Some(self.end()), "nothing can wait for what was not written");
        assert!(waits_for >= last.copied(), "{reply:?} must wait for {last:?}, not only for {waits_for:?}");
    }

    /// A generation under which something was committed never returns, other than as the present one.
    fn check_handed_out(&self, group: Option<&str>, reply: &Reply) {
        let (Some(group), Reply::JoinGroup(Ok(joined))) = (group, reply) else { return };
        // In a consumer group, where nobody leads, a member stays in its epoch until it gave up what it must.
        if joined.leader.is_empty() {
            return;
        }
        let present = self.generations.get(group).copied();
        if let Some(used) = self.committed_under.get(group)
            && joined.generation.0 <= *used
        {
            assert_eq!(present, Some(joined.generation.0), "generation {used} of {group} came back");
        }
    }

    /// Replaying the log gives the live hard state, also when it was compacted.
    pub(crate) fn check(&self) {
        let live = self.shard.describe_hard_state();
        let entries: Vec<_> = self.log.iter().cloned().enumerate().collect();
        let replay = |entries: Vec<(usize, Entry)>| {
            replayed(&self.settings, entries.into_iter()).describe_hard_state()
        };
        assert_eq!(replay(entries.clone()), live, "a replay of the log");
        assert_eq!(replay(cleaned_whole(&entries, Removable::Kept)), live, "a replay after compaction");
        assert_eq!(replay(cleaned_whole(&entries, Removable::Dropped)), live, "a replay without tombstones");
        // Every length of the log is cleaned in another way.
        let seed = entries.len() as u64;
        let cleaned = cleaned_now_and_then(&entries, &mut Dice(seed));
        assert_eq!(replay(cleaned), live, "a replay of a log that was cleaned as dice {seed} said");
    }
}

impl Step {
    fn add(&mut self, other: Self) {
        self.records.extend(other.records);
        self.replies.extend(other.replies);
        self.refused.extend(other.refused);
    }
}

/// The producer of a number, in its first epoch.
pub(crate) fn producer_of(id: i64) -> ProducerIdentity {
    ProducerIdentity { id: ProducerId(id), epoch: ProducerEpoch(0) }
}

/// A shard loaded from entries of a log and their positions.
pub(crate) fn replayed(settings: &GroupSettings, entries: impl Iterator<Item = (usize, Entry)>) -> Groups {
    let mut shard = Groups::new(settings.clone(), 8);
    for (position, entry) in entries {
        let position = Offset(i64::try_from(position).unwrap());
        match entry {
            Entry::Record { key, value, origin } => {
                let record = shard.decode(Some(&key), value.as_deref()).unwrap().unwrap();
                shard.replay(position, origin, record);
            }
            Entry::Marker { producer, end } => shard.replay_marker(position, producer, end),
        }
    }
    shard
}
