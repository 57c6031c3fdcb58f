//! A group as it will be once the records decided so far are replayed.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use super::record::{ConsumerChange, ConsumerRecord};
use super::state::ConsumerGroup;
use crate::Record;

/// A group being decided about. Reading it sees what was written; the hard state is as before, and is copied at the first
/// write only.
pub(crate) struct Draft<'a> {
    group_id: Arc<str>,
    group: Cow<'a, ConsumerGroup>,
    records: Vec<Record>,
}

impl<'a> Draft<'a> {
    /// Begins with the group as it is.
    pub(crate) fn of(group_id: Arc<str>, group: &'a ConsumerGroup) -> Self {
        Self { group_id, group: Cow::Borrowed(group), records: Vec::new() }
    }

    /// Begins with a group that does not exist yet, after these records.
    pub(crate) fn new(group_id: Arc<str>, records: Vec<Record>) -> Self {
        Self { group_id, group: Cow::Owned(ConsumerGroup::default()), records }
    }

    /// Decides on a record.
    pub(crate) fn write(&mut self, change: ConsumerChange) {
        self.group.to_mut().apply(change.clone());
        let group = Arc::clone(&self.group_id);
        self.records.push(Record::Consumer(ConsumerRecord { group, change }));
    }

    /// The group.
    pub(crate) fn group_id(&self) -> &Arc<str> {
        &self.group_id
    }

    /// Whether anything was decided.
    pub(crate) fn has_records(&self) -> bool {
        !self.records.is_empty()
    }

    /// What was decided, in order.
    pub(crate) fn into_records(self) -> Vec<Record> {
        self.records
    }
}

impl Deref for Draft<'_> {
    type Target = ConsumerGroup;

    fn deref(&self) -> &ConsumerGroup {
        &self.group
    }
}
