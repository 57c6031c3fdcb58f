//! Uniform, when everybody subscribes to the same topics: each member gets the same number of partitions, some one more,
//! and keeps as many of its own as that allows.

use std::collections::BTreeSet;

use milepost_model::{PartitionIndex, TopicId};

use super::{Candidate, PartitionCounts, partitions_of};
use crate::consumer::record::Assignment;

pub(super) fn assign(members: &[Candidate], topics: &PartitionCounts) -> Vec<Assignment> {
    let Some(first) = members.first() else { return Vec::new() };
    let all: Vec<(TopicId, PartitionIndex)> = first
        .topics
        .iter()
        .flat_map(|topic| partitions_of(topics, *topic).map(|partition| (*topic, partition)))
        .collect();
    let quotas = quotas(members, &first.topics, all.len());
    let mut taken = BTreeSet::new();
    let mut assignments: Vec<Assignment> = Vec::with_capacity(members.len());
    for (member, quota) in members.iter().zip(&quotas) {
        let own = member.target.iter().filter(|(topic, _)| first.topics.contains(topic));
        let kept: Assignment = own.filter(|own| !taken.contains(own)).take(*quota).collect();
        taken.extend(kept.iter());
        assignments.push(kept);
    }
    let mut free = all.into_iter().filter(|place| !taken.contains(place));
    for (assignment, quota) in assignments.iter_mut().zip(quotas) {
        let missing = quota - assignment.len();
        free.by_ref().take(missing).for_each(|(topic, partition)| assignment.insert(topic, partition));
    }
    assignments
}

/// How many partitions each member gets. Who has more than the least already gets the ones that are over, as far as
/// they go; then the last members do, so that nobody is made to give one up for another's sake.
fn quotas(members: &[Candidate], topics: &BTreeSet<TopicId>, partitions: usize) -> Vec<usize> {
    let least = partitions / members.len();
    let mut over = partitions % members.len();
    let quota = |(index, member): (usize, &Candidate)| {
        let own = member.target.iter().filter(|(topic, _)| topics.contains(topic)).count();
        let is_needed_by_the_rest = members.len() - index > over;
        if over == 0 || (own <= least && is_needed_by_the_rest) {
            return least;
        }
        over -= 1;
        least + 1
    };
    members.iter().enumerate().map(quota).collect()
}
