//! One turn of the machine: what a handler may read, what it may change, and what it decides.

use std::sync::Arc;

use milepost_model::{Atomicity, DependsOn, NoEffect, Now, Origin, Outcome, Ticket};

use crate::hard::{Hard, HardGroup};
use crate::soft::{Soft, SoftGroup};
use crate::{ClassicGroup, GroupCounts, GroupRecord, GroupSettings, Record, Reply};

/// What a shard of groups decides.
pub(crate) type GroupOutcome = Outcome<Record, Reply, NoEffect, GroupCounts>;

/// What a handler works with. It reads the hard state and may change only the soft one; what shall last goes into a
/// record.
pub(crate) struct Turn<'a> {
    pub(crate) now: Now,
    pub(crate) settings: &'a GroupSettings,
    pub(crate) hard: &'a Hard,
    pub(crate) soft: &'a mut Soft,
    pub(crate) records: Vec<Record>,
    /// What the records do not say by themselves.
    pub(crate) counts: GroupCounts,
    /// Who writes the records.
    pub(crate) origin: Origin,
    replies: Vec<(Ticket, Reply)>,
    depends_on: DependsOn,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(now: Now, settings: &'a GroupSettings, hard: &'a Hard, soft: &'a mut Soft) -> Self {
        Self {
            now,
            settings,
            hard,
            soft,
            records: Vec::new(),
            counts: GroupCounts::default(),
            origin: Origin::Plain,
            replies: Vec::new(),
            depends_on: DependsOn::Nothing,
        }
    }

    /// Answers. The answer speaks of this group, and rests on what was last written about it.
    pub(crate) fn answer(&mut self, hard: Option<&HardGroup>, ticket: Ticket, reply: Reply) {
        self.answer_from(self.hard.depends_on_group(hard), ticket, reply);
    }

    /// Answers with something that rests on more than one group.
    pub(crate) fn answer_from(&mut self, depends_on: DependsOn, ticket: Ticket, reply: Reply) {
        self.depends_on = later(self.depends_on, depends_on);
        self.replies.push((ticket, reply));
    }

    /// Answers a request that was parked.
    pub(crate) fn release(&mut self, hard: Option<&HardGroup>, ticket: Ticket, reply: Reply) {
        self.soft.unpark(ticket);
        self.answer(hard, ticket, reply);
    }

    /// Writes down a group's classic state, on which its soft state rests from now on.
    pub(crate) fn record_group(&mut self, group: &mut SoftGroup, classic: ClassicGroup) {
        let classic = Arc::new(classic);
        group.note_decided(&classic, self.now);
        let record = GroupRecord { group: Arc::clone(&group.id), classic: Some(classic) };
        self.records.push(Record::Group(record));
    }

    pub(crate) fn finish(self, atomicity: Atomicity) -> GroupOutcome {
        let mut counts = self.counts;
        self.records.iter().for_each(|record| counts.note_record(record));
        Outcome {
            records: self.records,
            atomicity,
            origin: self.origin,
            replies: self.replies,
            effects: Vec::new(),
            counts,
            depends_on: self.depends_on,
        }
    }
}

/// The dependency that both wait for.
fn later(one: DependsOn, other: DependsOn) -> DependsOn {
    match (one, other) {
        (DependsOn::ShardEnd, _) | (_, DependsOn::ShardEnd) => DependsOn::ShardEnd,
        (DependsOn::Nothing, known) | (known, DependsOn::Nothing) => known,
        (DependsOn::Position(one), DependsOn::Position(other)) => DependsOn::Position(one.max(other)),
    }
}
