//! Who shall have which partition. Pure: the members, what each has been meant to have, and the topics go in; the target
//! assignment comes out.

mod range;
mod uniform;
mod uniform_mixed;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use milepost_model::{PartitionIndex, TopicId};

use super::record::Assignment;

/// A way to assign that the coordinator knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assignor {
    /// Everybody gets about as much, and keeps what it has where that is fair.
    Uniform,
    /// Each topic is cut into contiguous ranges, so that equally numbered partitions of several topics go together.
    Range,
}

impl Assignor {
    /// All of them; the first is the default.
    pub const ALL: [Self; 2] = [Self::Uniform, Self::Range];

    /// Kafka's name of it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Range => "range",
        }
    }

    pub(super) fn assign(self, members: &[Candidate], topics: &PartitionCounts) -> Vec<Assignment> {
        match self {
            Self::Range => range::assign(members, topics),
            Self::Uniform if has_equal_subscriptions(members) => uniform::assign(members, topics),
            Self::Uniform => uniform_mixed::assign(members, topics),
        }
    }
}

/// How many partitions each topic has that somebody subscribes to.
pub(super) type PartitionCounts = BTreeMap<TopicId, i32>;

/// A member, as an assignor sees it. The answers are in the order of the candidates.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) member_id: Arc<str>,
    pub(super) instance_id: Option<Arc<str>>,
    /// The topics it subscribes to, existing ones only.
    pub(super) topics: BTreeSet<TopicId>,
    /// What it was meant to have so far.
    pub(super) target: Arc<Assignment>,
}

fn has_equal_subscriptions(members: &[Candidate]) -> bool {
    members.windows(2).all(|pair| pair[0].topics == pair[1].topics)
}

/// The partitions of a topic.
fn partitions_of(topics: &PartitionCounts, topic: TopicId) -> impl Iterator<Item = PartitionIndex> + use<> {
    (0..topics.get(&topic).copied().unwrap_or(0)).map(PartitionIndex)
}

#[cfg(test)]
mod tests;
