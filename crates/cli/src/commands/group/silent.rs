//! Brokers that did not answer for some of what they were asked.

use std::collections::BTreeMap;

use milepost_admin::{Cause, GroupFacts, Reason};

/// By how they did not answer: the first that is not known because of it, and how many others.
#[derive(Debug, Default)]
pub(super) struct Silent {
    by_words: BTreeMap<String, (String, usize)>,
}

impl Silent {
    /// Notes partitions of a group whose ends are not known.
    pub(super) fn note(&mut self, group: &GroupFacts) {
        for one in group.partitions.iter().filter(|_| group.unknown.is_none()) {
            if let Err(reason) = &one.log {
                self.add(reason, || format!("{}: {}", group.group, one.partition));
            }
        }
    }

    /// The same, and the group if nothing is known of it.
    pub(super) fn note_whole(&mut self, group: &GroupFacts) {
        self.note(group);
        let described = group.description.as_ref().and_then(|description| description.as_ref().err());
        if let Some(reason) = group.unknown.as_ref().or(described) {
            self.add(reason, || group.group.clone());
        }
    }

    fn add(&mut self, reason: &Reason, what: impl FnOnce() -> String) {
        if reason.cause == Cause::Unreachable {
            match self.by_words.get_mut(&reason.words) {
                Some((_, more)) => *more += 1,
                None => drop(self.by_words.insert(reason.words.clone(), (what(), 0))),
            }
        }
    }

    /// A reason for each broker.
    pub(super) fn reasons(self) -> impl Iterator<Item = Reason> {
        self.by_words.into_iter().map(|(words, (first, more))| Reason {
            words: match more {
                0 => format!("{first}: {words}"),
                _ => format!("{first} and {more} more: {words}"),
            },
            cause: Cause::Unreachable,
        })
    }
}

#[cfg(test)]
mod tests {
    use milepost_admin::{PartitionFacts, Position};
    use milepost_client::TopicPartition;
    use milepost_model::PartitionIndex;

    use super::*;

    fn group(name: &str, partitions: i32, reason: &Reason) -> GroupFacts {
        let partition = |index| PartitionFacts {
            partition: TopicPartition::new("t", PartitionIndex(index)),
            position: Position::Never,
            log: Err(reason.clone()),
            member: None,
            next_record: None,
        };
        let partitions = (0..partitions).map(partition).collect();
        GroupFacts { group: name.to_owned(), description: None, unknown: None, partitions }
    }

    #[test]
    fn what_one_broker_hides_is_said_once() {
        let dead = Reason { words: "b:1 did not answer".to_owned(), cause: Cause::Unreachable };
        let mut silent = Silent::default();
        silent.note_whole(&group("g", 2, &dead));
        silent.note_whole(&GroupFacts { unknown: Some(dead.clone()), ..group("h", 0, &dead) });
        silent.note_whole(&group("refused", 1, &Reason::other("no")));
        let said: Vec<String> = silent.reasons().map(|reason| reason.words).collect();
        assert_eq!(said, ["g: t-0 and 2 more: b:1 did not answer"]);
    }
}
