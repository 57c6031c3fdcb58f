//! Range: the partitions of each topic are cut into contiguous pieces, the first ones larger by one where they must be.
//! Static members come first, by their instance ids, so that a restart under a new member id changes nothing.

use std::collections::BTreeMap;

use milepost_model::TopicId;

use super::{Candidate, PartitionCounts, partitions_of};
use crate::consumer::record::Assignment;

pub(super) fn assign(members: &[Candidate], topics: &PartitionCounts) -> Vec<Assignment> {
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_key(|&index| {
        let member = &members[index];
        (member.instance_id.is_none(), member.instance_id.clone(), member.member_id.clone())
    });
    let mut subscribers: BTreeMap<TopicId, Vec<usize>> = BTreeMap::new();
    for &index in &order {
        members[index].topics.iter().for_each(|topic| subscribers.entry(*topic).or_default().push(index));
    }
    let mut assignments = vec![Assignment::default(); members.len()];
    for (topic, subscribers) in subscribers {
        let mut partitions = partitions_of(topics, topic);
        let count = partitions_of(topics, topic).count();
        let (least, larger) = (count / subscribers.len(), count % subscribers.len());
        for (place, &index) in subscribers.iter().enumerate() {
            let share = least + usize::from(place < larger);
            partitions.by_ref().take(share).for_each(|partition| assignments[index].insert(topic, partition));
        }
    }
    assignments
}
