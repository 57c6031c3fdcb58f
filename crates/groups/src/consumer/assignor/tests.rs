use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use milepost_model::{PartitionIndex, TopicId};
use proptest::prelude::*;

use super::{Assignor, Candidate, PartitionCounts};
use crate::consumer::record::Assignment;

fn topic(number: u8) -> TopicId {
    TopicId([number; 16])
}

fn candidate(number: usize, topics: &BTreeSet<TopicId>, target: Assignment) -> Candidate {
    Candidate {
        member_id: format!("m{number}").into(),
        instance_id: None,
        topics: topics.clone(),
        target: Arc::new(target),
    }
}

fn sizes(assignments: &[Assignment]) -> Vec<usize> {
    assignments.iter().map(Assignment::len).collect()
}

#[test]
fn range_cuts_each_topic_and_static_members_come_first() {
    let topics: PartitionCounts = [(topic(1), 5), (topic(2), 1)].into();
    let both: BTreeSet<TopicId> = topics.keys().copied().collect();
    let mut members: Vec<_> = (0..3).map(|number| candidate(number, &both, Assignment::default())).collect();
    members[2].instance_id = Some("i".into());
    let assignments = Assignor::Range.assign(&members, &topics);
    let indexes = |assignment: &Assignment, number| {
        let partitions = assignment.0.get(&topic(number)).cloned().unwrap_or_default();
        partitions.into_iter().map(|partition| partition.0).collect::<Vec<_>>()
    };
    assert_eq!(indexes(&assignments[2], 1), [0, 1]);
    assert_eq!(indexes(&assignments[0], 1), [2, 3]);
    assert_eq!(indexes(&assignments[1], 1), [4]);
    assert_eq!(indexes(&assignments[2], 2), [0]);
    assert_eq!(assignments[0].len() + assignments[1].len(), 3);
}

#[test]
fn kafka_18688_uniform_moves_no_more_than_it_must() {
    let topics: PartitionCounts = [(topic(1), 7)].into();
    let subscription: BTreeSet<TopicId> = topics.keys().copied().collect();
    let one = [candidate(0, &subscription, Assignment::default())];
    let all = Assignor::Uniform.assign(&one, &topics);
    assert_eq!(sizes(&all), [7]);
    let two =
        [candidate(0, &subscription, all[0].clone()), candidate(1, &subscription, Assignment::default())];
    let halves = Assignor::Uniform.assign(&two, &topics);
    assert_eq!(sizes(&halves), [4, 3]);
    let moved = halves[1].iter().filter(|place| !all[0].contains(place.0, place.1)).count();
    assert_eq!(moved, 0);
    // KAFKA-18688: asked again, nothing moves.
    let again: Vec<_> = halves
        .iter()
        .enumerate()
        .map(|(number, target)| candidate(number, &subscription, target.clone()))
        .collect();
    assert_eq!(Assignor::Uniform.assign(&again, &topics), halves);
}

/// What a member subscribes to, and which partitions of which topics it was meant to have.
type Situation = (BTreeSet<TopicId>, Vec<(u8, i32)>);

/// Subscriptions of some members to some topics, and what each was meant to have.
fn situations() -> impl Strategy<Value = (PartitionCounts, Vec<Situation>)> {
    let counts = prop::collection::btree_map((1..5_u8).prop_map(topic), 1..8_i32, 1..4);
    let member = (
        prop::collection::btree_set((1..5_u8).prop_map(topic), 0..4),
        prop::collection::vec((1..5_u8, 0..8_i32), 0..8),
    );
    (counts, prop::collection::vec(member, 1..6))
}

proptest! {
    /// Every partition that somebody subscribes to has exactly one owner, who subscribes to it; and nobody has more than
    /// one partition above somebody it could give one to.
    #[test]
    fn everything_is_assigned_once_and_evenly((counts, members) in situations(), is_equal: bool, is_range: bool) {
        let mut taken = BTreeSet::new();
        let members: Vec<Candidate> = members.iter().enumerate().map(|(number, (topics, had))| {
            let topics = if is_equal { &members[0].0 } else { topics };
            let topics: BTreeSet<TopicId> = topics.iter().filter(|id| counts.contains_key(id)).copied().collect();
            let exists = |place: &(TopicId, PartitionIndex)| counts.get(&place.0).is_some_and(|count| place.1.0 < *count);
            let had = had.iter().map(|(number, index)| (topic(*number), PartitionIndex(*index)));
            let target: Assignment = had.filter(exists).filter(|place| taken.insert(*place)).collect();
            candidate(number, &topics, target)
        }).collect();
        let assignor = if is_range { Assignor::Range } else { Assignor::Uniform };
        let assignments = assignor.assign(&members, &counts);
        prop_assert_eq!(assignments.len(), members.len());
        let mut owners: BTreeMap<(TopicId, PartitionIndex), usize> = BTreeMap::new();
        for (index, assignment) in assignments.iter().enumerate() {
            for place in assignment.iter() {
                prop_assert!(members[index].topics.contains(&place.0), "not subscribed");
                prop_assert!(owners.insert(place, index).is_none(), "two owners of {place:?}");
            }
        }
        let wanted: BTreeSet<TopicId> = members.iter().flat_map(|member| member.topics.iter().copied()).collect();
        let all: usize = wanted.iter().map(|id| usize::try_from(counts[id]).unwrap()).sum();
        prop_assert_eq!(owners.len(), all);
        if assignor == Assignor::Uniform {
            for (place, giver) in &owners {
                for (taker, member) in members.iter().enumerate() {
                    let fair = assignments[*giver].len() <= assignments[taker].len() + 1;
                    prop_assert!(fair || !member.topics.contains(&place.0), "{giver} could give to {taker}");
                }
            }
        }
    }
}
