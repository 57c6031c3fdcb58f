//! Topics, one entry for each time one was created: a topic that was deleted and created again is another one.

use milepost_model::TopicId;

use crate::check::{Checked, promise};

/// What is known of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its creation was asked for and not answered.
    Creating,
    /// It was seen.
    Exists,
    /// Its deletion was asked for and not answered.
    Deleting,
    /// It was deleted, or never came into being.
    Gone,
}

/// One life of a topic of some name.
#[derive(Clone, Debug)]
pub(crate) struct Topic {
    pub(crate) name: String,
    pub(crate) id: TopicId,
    pub(crate) partitions: i32,
    /// More partitions were asked for and not answered.
    pub(crate) growing: Option<i32>,
    pub(crate) fate: Fate,
}

/// All lives of all topics, by the order in which their creation was asked for.
#[derive(Debug, Default)]
pub(crate) struct Topics {
    all: Vec<Topic>,
}

impl Topics {
    pub(crate) fn get(&self, topic: usize) -> &Topic {
        &self.all[topic]
    }

    pub(crate) fn fate(&self, topic: usize) -> Fate {
        self.all[topic].fate
    }

    /// The topics that certainly exist.
    pub(crate) fn existing(&self) -> Vec<usize> {
        (0..self.all.len()).filter(|index| self.all[*index].fate == Fate::Exists).collect()
    }

    /// The one life of this name that may be going on.
    pub(crate) fn live(&self, name: &str) -> Option<usize> {
        self.all.iter().rposition(|topic| topic.name == name && topic.fate != Fate::Gone)
    }

    pub(crate) fn creation_sent(&mut self, name: &str, partitions: i32) -> usize {
        let (name, id, fate) = (name.to_owned(), TopicId::ZERO, Fate::Creating);
        self.all.push(Topic { name, id, partitions, growing: None, fate });
        self.all.len() - 1
    }

    pub(crate) fn created(&mut self, topic: usize, id: TopicId, partitions: i32) -> Checked {
        let known = &mut self.all[topic];
        promise!(known.partitions == partitions, "{known:?} was created with {partitions} partitions");
        promise!(!id.is_zero(), "{known:?} was created without an id");
        known.id = id;
        known.fate = Fate::Exists;
        Ok(())
    }

    pub(crate) fn growth_sent(&mut self, topic: usize, partitions: i32) {
        self.all[topic].growing = Some(partitions);
    }

    pub(crate) fn growth_answered(&mut self, topic: usize, has_grown: bool) {
        let known = &mut self.all[topic];
        if let Some(partitions) = known.growing.take().filter(|_| has_grown) {
            known.partitions = partitions;
        }
    }

    pub(crate) fn set_fate(&mut self, topic: usize, fate: Fate) {
        self.all[topic].fate = fate;
    }

    /// What a freshly started node says exists: names, ids and partition counts, without internal topics.
    pub(crate) fn listed_after_start(&mut self, listed: &[(String, TopicId, i32)]) -> Checked {
        for (name, id, _) in listed {
            let known = self.all.iter().any(|topic| topic.name == *name && topic.fate != Fate::Gone);
            promise!(known, "topic {name} ({id}) exists, and was deleted or never created");
        }
        for topic in &mut self.all {
            let found = listed.iter().find(|(name, ..)| *name == topic.name);
            match (topic.fate, found) {
                (Fate::Gone, _) => {}
                (Fate::Creating, Some((_, id, partitions))) => {
                    promise!(topic.partitions == *partitions, "{topic:?} has {partitions} partitions");
                    topic.id = *id;
                    topic.fate = Fate::Exists;
                }
                (Fate::Exists | Fate::Deleting, Some((_, id, partitions))) => {
                    promise!(topic.id == *id, "{topic:?} came back with id {id}");
                    let fits = topic.partitions == *partitions || topic.growing == Some(*partitions);
                    promise!(fits, "{topic:?} has {partitions} partitions");
                    (topic.partitions, topic.growing, topic.fate) = (*partitions, None, Fate::Exists);
                }
                (Fate::Exists, None) => promise!(false, "{topic:?} was created and is gone"),
                (Fate::Creating | Fate::Deleting, None) => topic.fate = Fate::Gone,
            }
        }
        Ok(())
    }
}
