//! A toy shard: named counters.

use std::collections::BTreeMap;

use milepost_model::{
    Atomicity, Corrupt, Counts, DeletedTopic, DependsOn, Encoded, Instant, Now, Offset, Origin, Outcome,
    ProducerIdentity, Shard, Ticket, TransactionEnd,
};

pub(super) const KNOWN_TYPE: u8 = 1;
/// A counter of this name, if there is one, grows with every load.
pub(super) const COUNTS_LOADS: &str = "loads";

/// Counts what was added, and a thousand for each look at a counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sets(pub(super) u64);

impl Counts for Sets {
    fn is_empty(&self) -> bool {
        self.0 == 0
    }

    fn add(&mut self, more: Self) {
        self.0 += more.0;
    }
}

/// Hard state: counters with the offset of their last record, and what transactions hold back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hard {
    pub(super) counters: BTreeMap<String, (i64, Offset)>,
    pub(super) held_back: BTreeMap<ProducerIdentity, Vec<(Offset, Set)>>,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) hard: Hard,
    waiting: Vec<Ticket>,
    pub(super) forgotten: Vec<Ticket>,
    pub(super) loads: u32,
    /// What the next deadline adds to, and when.
    alarm: Option<(Instant, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) name: String,
    pub(super) value: Option<i64>,
}

#[derive(Clone, Debug)]
pub(super) enum Request<'a> {
    /// Adds to counters, all or none.
    Add(&'a [&'a str]),
    /// As [`Request::Add`], within a producer's transaction.
    AddWithin(ProducerIdentity, &'a [&'a str]),
    /// Adds to counters, one after the other.
    AddMaySplit(&'a [&'a str]),
    /// Adds to a counter, and wants to be asked for once that is durable.
    Announce(&'a str),
    Get(&'a str),
    List,
    /// Is answered by the next [`Request::Wake`].
    Wait,
    Wake,
    /// Adds to a counter at a deadline that stays due until its record was replayed.
    Alarm(Instant, &'a str),
}

/// A reply says what it rests on, so that a test can tell whether it came too early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Added,
    Value(Option<i64>),
    Listing(usize),
    Woken,
}

impl Counters {
    fn add(&self, names: &[&str]) -> Vec<Set> {
        let mut added = BTreeMap::new();
        let mut sets = Vec::new();
        for &name in names {
            let value = added
                .entry(name)
                .or_insert_with(|| self.hard.counters.get(name).map_or(0, |counter| counter.0));
            *value += 1;
            sets.push(Set { name: name.to_owned(), value: Some(*value) });
        }
        sets
    }

    fn apply(&mut self, position: Offset, set: Set) {
        match set.value {
            Some(value) => drop(self.hard.counters.insert(set.name, (value, position))),
            None => drop(self.hard.counters.remove(&set.name)),
        }
    }
}

impl Shard for Counters {
    type Request<'a> = Request<'a>;
    type Reply = Reply;
    type Record = Set;
    type Effect = String;
    type Counts = Sets;

    fn decode(&self, key: Option<&[u8]>, value: Option<&[u8]>) -> Result<Option<Set>, Corrupt> {
        let corrupt = || Corrupt("not a counter".to_owned());
        let (record_type, name) = key.and_then(<[u8]>::split_first).ok_or_else(corrupt)?;
        if *record_type != KNOWN_TYPE {
            return Ok(None);
        }
        let name = String::from_utf8(name.to_vec()).map_err(|_| corrupt())?;
        let value = value.map(|value| value.try_into().map(i64::from_be_bytes)).transpose();
        Ok(Some(Set { name, value: value.map_err(|_| corrupt())? }))
    }

    fn encode(&self, set: &Set, into: &mut Encoded) {
        into.key = [&[KNOWN_TYPE], set.name.as_bytes()].concat();
        into.value = set.value.map(|value| value.to_be_bytes().to_vec());
    }

    fn handle(&mut self, _: Now, ticket: Ticket, request: Request<'_>) -> Outcome<Set, Reply, String, Sets> {
        let position = |name| match self.hard.counters.get(name) {
            Some(counter) => DependsOn::Position(counter.1),
            None => DependsOn::Nothing,
        };
        match request {
            Request::Add(names) => Outcome {
                records: self.add(names),
                replies: vec![(ticket, Reply::Added)],
                counts: Sets(names.len() as u64),
                ..Outcome::nothing()
            },
            Request::AddWithin(producer, names) => Outcome {
                records: self.add(names),
                origin: Origin::Transactional(producer),
                replies: vec![(ticket, Reply::Added)],
                ..Outcome::nothing()
            },
            Request::AddMaySplit(names) => Outcome {
                records: self.add(names),
                atomicity: Atomicity::MaySplit,
                replies: vec![(ticket, Reply::Added)],
                ..Outcome::nothing()
            },
            Request::Announce(name) => Outcome {
                records: self.add(&[name]),
                replies: vec![(ticket, Reply::Added)],
                effects: vec![name.to_owned()],
                ..Outcome::nothing()
            },
            Request::Get(name) => {
                let value = self.hard.counters.get(name).map(|counter| counter.0);
                let reply = Outcome::reply(ticket, Reply::Value(value), position(name));
                Outcome { counts: Sets(1000), ..reply }
            }
            Request::List => {
                Outcome::reply(ticket, Reply::Listing(self.hard.counters.len()), DependsOn::ShardEnd)
            }
            Request::Wait => {
                self.waiting.push(ticket);
                Outcome::nothing()
            }
            Request::Wake => {
                let woken = std::mem::take(&mut self.waiting).into_iter().chain([ticket]);
                Outcome {
                    replies: woken.map(|ticket| (ticket, Reply::Woken)).collect(),
                    ..Outcome::nothing()
                }
            }
            Request::Alarm(at, name) => {
                self.alarm = Some((at, name.to_owned()));
                Outcome::reply(ticket, Reply::Added, DependsOn::Nothing)
            }
        }
    }

    fn replay(&mut self, position: Offset, origin: Origin, set: Set) {
        if self.alarm.as_ref().is_some_and(|(_, name)| *name == set.name) {
            self.alarm = None;
        }
        match origin {
            Origin::Plain => self.apply(position, set),
            Origin::Transactional(producer) => {
                self.hard.held_back.entry(producer).or_default().push((position, set));
            }
        }
    }

    fn replay_marker(&mut self, _: Offset, producer: ProducerIdentity, end: TransactionEnd) {
        let held_back = self.hard.held_back.remove(&producer).unwrap_or_default();
        if end == TransactionEnd::Commit {
            held_back.into_iter().for_each(|(position, set)| self.apply(position, set));
        }
    }

    fn on_topics_deleted(&mut self, _: Now, topics: &[DeletedTopic]) -> Outcome<Set, Reply, String, Sets> {
        let there_are = |topic: &&DeletedTopic| self.hard.counters.contains_key(&topic.name);
        let tombstone = |topic: &DeletedTopic| Set { name: topic.name.clone(), value: None };
        let records = topics.iter().filter(there_are).map(tombstone).collect();
        Outcome { records, atomicity: Atomicity::MaySplit, ..Outcome::nothing() }
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.alarm.as_ref().map(|alarm| alarm.0)
    }

    fn on_deadline(&mut self, now: Now) -> Outcome<Set, Reply, String, Sets> {
        match &self.alarm {
            Some((at, name)) if *at <= now.monotonic => {
                Outcome { records: self.add(&[name]), ..Outcome::nothing() }
            }
            _ => Outcome::nothing(),
        }
    }

    fn on_loaded(&mut self, _: Now) -> Outcome<Set, Reply, String, Sets> {
        self.loads += 1;
        let records =
            if self.hard.counters.contains_key(COUNTS_LOADS) { self.add(&[COUNTS_LOADS]) } else { vec![] };
        Outcome { records, ..Outcome::nothing() }
    }

    fn forget(&mut self, ticket: Ticket) {
        self.waiting.retain(|&waiting| waiting != ticket);
        self.forgotten.push(ticket);
    }
}
