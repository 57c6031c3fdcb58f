//! Uniform, when members subscribe to different topics: what a member has and still subscribes to stays, what is free goes
//! to whoever has least, and then partitions move from those who have more to those who have less.

use std::collections::{BTreeMap, BTreeSet};

use milepost_model::{PartitionIndex, TopicId};

use super::{Candidate, PartitionCounts, partitions_of};
use crate::consumer::record::Assignment;

/// How often all topics are gone through for a better balance. It mostly takes two times; Kafka gives up after as many.
const PASSES_MAX: usize = 16;

pub(super) fn assign(members: &[Candidate], topics: &PartitionCounts) -> Vec<Assignment> {
    let mut balance = Balance::new(members, topics);
    balance.keep(members);
    let order = balance.order(topics);
    for &topic in &order {
        balance.fill(topic, topics);
    }
    for _ in 0..PASSES_MAX {
        let moved: usize = order.iter().map(|&topic| balance.even_out(topic)).sum();
        if moved == 0 {
            break;
        }
    }
    balance.into_assignments()
}

/// Who has what so far. Members are their places in the list of candidates.
struct Balance {
    subscribers: BTreeMap<TopicId, Vec<usize>>,
    owners: BTreeMap<TopicId, BTreeMap<PartitionIndex, usize>>,
    /// How many partitions each member has.
    loads: Vec<usize>,
}

impl Balance {
    fn new(members: &[Candidate], topics: &PartitionCounts) -> Self {
        let mut subscribers: BTreeMap<TopicId, Vec<usize>> = BTreeMap::new();
        for (index, member) in members.iter().enumerate() {
            let existing = member.topics.iter().filter(|topic| topics.contains_key(topic));
            existing.for_each(|topic| subscribers.entry(*topic).or_default().push(index));
        }
        let owners = subscribers.keys().map(|topic| (*topic, BTreeMap::new())).collect();
        Self { subscribers, owners, loads: vec![0; members.len()] }
    }

    /// Everybody keeps what it subscribes to.
    fn keep(&mut self, members: &[Candidate]) {
        for (index, member) in members.iter().enumerate() {
            for (topic, partition) in member.target.iter().filter(|(topic, _)| member.topics.contains(topic))
            {
                let Some(owners) = self.owners.get_mut(&topic) else { continue };
                if owners.insert(partition, index).is_none() {
                    self.loads[index] += 1;
                }
            }
        }
    }

    /// The topics in the order in which they are dealt with: those with the most partitions for each subscriber first,
    /// since they leave the least choice.
    fn order(&self, topics: &PartitionCounts) -> Vec<TopicId> {
        let mut order: Vec<TopicId> = self.subscribers.keys().copied().collect();
        let count = |topic: &TopicId| i64::from(topics.get(topic).copied().unwrap_or(0));
        let readers = |topic: &TopicId| i64::try_from(self.subscribers[topic].len()).unwrap_or(i64::MAX);
        order.sort_by(|one, other| {
            // As fractions, without dividing.
            let (one_part, other_part) = (count(one) * readers(other), count(other) * readers(one));
            other_part.cmp(&one_part).then(readers(one).cmp(&readers(other))).then(one.cmp(other))
        });
        order
    }

    /// Gives each free partition of a topic to the subscriber with the least.
    fn fill(&mut self, topic: TopicId, topics: &PartitionCounts) {
        let mut by_load = self.by_load(topic);
        let free: Vec<PartitionIndex> = partitions_of(topics, topic)
            .filter(|partition| !self.owners[&topic].contains_key(partition))
            .collect();
        for partition in free {
            let Some((load, index)) = by_load.pop_first() else { return };
            self.owners.entry(topic).or_default().insert(partition, index);
            self.loads[index] = load + 1;
            by_load.insert((load + 1, index));
        }
    }

    fn by_load(&self, topic: TopicId) -> BTreeSet<(usize, usize)> {
        self.subscribers[&topic].iter().map(|&index| (self.loads[index], index)).collect()
    }

    /// Moves partitions of a topic from the subscriber with the most to the one with the least, while that makes them
    /// more equal. Returns how many moved.
    fn even_out(&mut self, topic: TopicId) -> usize {
        let mut by_load = self.by_load(topic);
        let mut owned: BTreeMap<usize, Vec<PartitionIndex>> = BTreeMap::new();
        for (partition, index) in &self.owners[&topic] {
            owned.entry(*index).or_default().push(*partition);
        }
        let mut moved = 0;
        // Who has much, but nothing (more) of this topic, cannot give any of it.
        while let Some(&(most, giver)) = by_load.last() {
            let Some(&(least, taker)) = by_load.first().filter(|(least, _)| least + 1 < most) else { break };
            let Some(partition) = owned.get_mut(&giver).and_then(Vec::pop) else {
                by_load.pop_last();
                continue;
            };
            self.owners.entry(topic).or_default().insert(partition, taker);
            by_load.remove(&(most, giver));
            by_load.remove(&(least, taker));
            by_load.insert((most - 1, giver));
            by_load.insert((least + 1, taker));
            self.loads[giver] = most - 1;
            self.loads[taker] = least + 1;
            moved += 1;
        }
        moved
    }

    fn into_assignments(self) -> Vec<Assignment> {
        let mut assignments = vec![Assignment::default(); self.loads.len()];
        for (topic, owners) in self.owners {
            owners.into_iter().for_each(|(partition, index)| assignments[index].insert(topic, partition));
        }
        assignments
    }
}
