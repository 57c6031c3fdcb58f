//! What OffsetFetch may answer.
//!
//! For each group and partition there is a history: every commit and deletion in the order in which it was admitted,
//! which is the order of the log. An answer must be an entry at or after the last one that was acknowledged or seen.

use std::collections::BTreeMap;

use crate::check::{Checked, promise};
use crate::oracle::PartitionKey;

/// A partition as a group sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OffsetKey {
    pub(crate) group: usize,
    pub(crate) partition: PartitionKey,
}

/// One entry of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryId {
    pub(crate) key: OffsetKey,
    place: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Sent,
    Never,
    Acknowledged,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The offset, every one used once; `None` for a deletion.
    offset: Option<i64>,
    standing: Standing,
}

#[derive(Debug, Default)]
struct History {
    entries: Vec<Entry>,
    /// Nothing before this entry may be answered.
    floor: Option<usize>,
}

/// All histories.
#[derive(Debug, Default)]
pub(crate) struct Offsets {
    histories: BTreeMap<OffsetKey, History>,
    next_offset: i64,
    acknowledged: u64,
}

impl Offsets {
    /// How many commits were acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// An offset that was never committed anywhere.
    pub(crate) fn new_offset(&mut self) -> i64 {
        self.next_offset += 1;
        self.next_offset
    }

    /// A commit, or a deletion, was admitted.
    pub(crate) fn sent(&mut self, key: OffsetKey, offset: Option<i64>) -> EntryId {
        let entries = &mut self.histories.entry(key).or_default().entries;
        entries.push(Entry { offset, standing: Standing::Sent });
        EntryId { key, place: entries.len() - 1 }
    }

    pub(crate) fn acknowledged_entry(&mut self, id: EntryId) -> Checked {
        let history = self.histories.get_mut(&id.key).expect("it was sent");
        let entry = &mut history.entries[id.place];
        promise!(entry.standing != Standing::Never, "{id:?} was lost, and is acknowledged");
        entry.standing = Standing::Acknowledged;
        history.floor = history.floor.max(Some(id.place));
        self.acknowledged += 1;
        Ok(())
    }

    pub(crate) fn refused(&mut self, id: EntryId) {
        let history = self.histories.get_mut(&id.key).expect("it was sent");
        history.entries[id.place].standing = Standing::Never;
    }

    pub(crate) fn floor(&self, key: OffsetKey) -> Option<usize> {
        self.histories.get(&key)?.floor
    }

    /// The keys of a group that have a history.
    pub(crate) fn keys_of(&self, group: usize) -> Vec<OffsetKey> {
        self.histories.keys().filter(|key| key.group == group).copied().collect()
    }

    /// OffsetFetch answered; `floor` is what [`Offsets::floor`] said when it was admitted.
    /// Only for topics that are not being deleted, which takes their offsets along.
    pub(crate) fn seen(&mut self, key: OffsetKey, offset: Option<i64>, floor: Option<usize>) -> Checked {
        let history = self.histories.entry(key).or_default();
        let from = floor.unwrap_or(0);
        let place = (from..history.entries.len()).find(|place| {
            let entry = &history.entries[*place];
            entry.offset == offset && entry.standing != Standing::Never
        });
        match (place, offset) {
            (Some(place), Some(_)) => history.floor = history.floor.max(Some(place)),
            (Some(_), None) => {}
            (None, None) => {
                promise!(
                    floor.is_none(),
                    "{key:?}: no offset, and {:?} was committed",
                    floor.map(|floor| history.entries[floor])
                );
            }
            (None, Some(offset)) => {
                let floor = floor.map(|floor| history.entries[floor]);
                let entry = history.entries.iter().find(|entry| entry.offset == Some(offset));
                promise!(
                    false,
                    "{key:?}: offset {offset} ({entry:?}), and {floor:?} was acknowledged or seen"
                );
            }
        }
        Ok(())
    }

    /// What a freshly started node answered is what there is: what was sent after it is lost for good. What was sent
    /// before it was overtaken.
    pub(crate) fn settle_after_start(&mut self, key: OffsetKey, offset: Option<i64>) {
        let Some(history) = self.histories.get_mut(&key) else { return };
        let place = history
            .entries
            .iter()
            .rposition(|entry| entry.offset == offset && entry.standing != Standing::Never);
        let lost_from = place.map_or(0, |place| place + 1);
        for entry in &mut history.entries[lost_from..] {
            entry.standing = Standing::Never;
        }
        history.floor = history.floor.max(place);
    }
}
