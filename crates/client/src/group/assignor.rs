//! Kafka's range assignor: of each topic, the members that want it get neighbouring partitions, in the order of their
//! ids; the first ones get one more where the number does not divide.

use std::collections::{BTreeMap, BTreeSet};

use milepost_model::PartitionIndex;

/// The name by which members agree on it.
pub(super) const NAME: &str = "range";

/// What each member wants, by member id.
pub(super) type Wishes = BTreeMap<String, BTreeSet<String>>;
/// What each member gets, by member id; then by topic.
pub(super) type Shares = BTreeMap<String, BTreeMap<String, Vec<PartitionIndex>>>;

/// Shares out the partitions of all topics that somebody wants. `partitions` has the number of partitions of each topic;
/// one that is not there is left out.
pub(super) fn assign(wishes: &Wishes, partitions: &BTreeMap<String, usize>) -> Shares {
    let mut shares: Shares = wishes.keys().map(|member| (member.clone(), BTreeMap::new())).collect();
    let topics: BTreeSet<&String> = wishes.values().flatten().collect();
    for topic in topics {
        let Some(count) = partitions.get(topic) else { continue };
        let takers: Vec<&String> =
            wishes.iter().filter(|(_, wanted)| wanted.contains(topic)).map(|(member, _)| member).collect();
        let (each, more) = (count / takers.len(), count % takers.len());
        let mut first = 0;
        for (position, member) in takers.into_iter().enumerate() {
            let end = first + each + usize::from(position < more);
            let share: Vec<PartitionIndex> =
                (first..end).filter_map(|index| i32::try_from(index).ok()).map(PartitionIndex).collect();
            if let Some(of_member) = shares.get_mut(member).filter(|_| !share.is_empty()) {
                of_member.insert(topic.clone(), share);
            }
            first = end;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(wishes: &[(&str, &[&str])], partitions: &[(&str, usize)]) -> Vec<String> {
        let wishes = wishes.iter().map(|(member, topics)| {
            ((*member).to_owned(), topics.iter().map(|topic| (*topic).to_owned()).collect())
        });
        let partitions = partitions.iter().map(|(topic, count)| ((*topic).to_owned(), *count)).collect();
        let write = |(member, share): (String, BTreeMap<String, Vec<PartitionIndex>>)| {
            let topics = share.iter().map(|(topic, partitions)| {
                let numbers: Vec<String> = partitions.iter().map(ToString::to_string).collect();
                format!(" {topic}:{}", numbers.join(","))
            });
            format!("{member}{}", topics.collect::<String>())
        };
        assign(&wishes.collect(), &partitions).into_iter().map(write).collect()
    }

    #[test]
    fn neighbours_in_the_order_of_members_and_the_first_get_more() {
        let wishes: [(&str, &[&str]); 2] = [("b", &["t", "u"]), ("a", &["t", "u"])];
        assert_eq!(shares(&wishes, &[("t", 3), ("u", 4)]), ["a t:0,1 u:0,1", "b t:2 u:2,3"]);
    }

    #[test]
    fn members_get_what_they_want_and_nothing_else() {
        let wishes: [(&str, &[&str]); 3] = [("a", &["t"]), ("b", &["t", "u"]), ("c", &["gone"])];
        assert_eq!(shares(&wishes, &[("t", 1), ("u", 1)]), ["a t:0", "b u:0", "c"]);
    }

    #[test]
    fn every_partition_has_exactly_one_owner() {
        for members in 1..6 {
            for count in 0..12 {
                let ids: Vec<String> = (0..members).map(|id| format!("m{id}")).collect();
                let wishes = ids.iter().map(|id| (id.clone(), BTreeSet::from(["t".to_owned()]))).collect();
                let shares = assign(&wishes, &BTreeMap::from([("t".to_owned(), count)]));
                let mut all: Vec<i32> =
                    shares.values().filter_map(|share| share.get("t")).flatten().map(|one| one.0).collect();
                all.sort_unstable();
                assert_eq!(all, (0..i32::try_from(count).unwrap()).collect::<Vec<i32>>());
            }
        }
    }
}
