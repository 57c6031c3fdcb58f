//! Which partitions are meant: `TOPIC`, or `TOPIC:0,1,5`.

use std::collections::BTreeSet;
use std::str::FromStr;

use milepost_client::TopicPartition;
use milepost_model::PartitionIndex;

/// A topic, or some of its partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicFilter {
    /// The topic.
    pub topic: String,
    /// The partitions; all if empty.
    pub partitions: Vec<PartitionIndex>,
}

impl TopicFilter {
    /// Whether it lets this one pass.
    #[must_use]
    pub fn takes(&self, partition: &TopicPartition) -> bool {
        self.topic == *partition.topic
            && (self.partitions.is_empty() || self.partitions.contains(&partition.partition))
    }

    /// Sees to it that each of some filters takes one of these partitions.
    ///
    /// # Errors
    /// When one takes none: its topic was mistyped, or nothing is known of it.
    pub fn check_used(filters: &[Self], partitions: &BTreeSet<&TopicPartition>) -> Result<(), String> {
        match filters.iter().find(|filter| !partitions.iter().any(|one| filter.takes(one))) {
            Some(filter) => Err(format!("{}: there is nothing of it", filter.topic)),
            None => Ok(()),
        }
    }
}

impl FromStr for TopicFilter {
    type Err = String;

    fn from_str(said: &str) -> Result<Self, String> {
        // No topic's name has a colon in it.
        let (topic, partitions) = match said.split_once(':') {
            None => (said, Vec::new()),
            Some((topic, list)) => {
                let number =
                    |part: &str| part.trim().parse().ok().filter(|index| *index >= 0).map(PartitionIndex);
                let list: Option<Vec<PartitionIndex>> = list.split(',').map(number).collect();
                (topic, list.ok_or_else(|| format!("{said:?} is not TOPIC or TOPIC:0,1"))?)
            }
        };
        if topic.is_empty() {
            return Err("the topic's name is missing".to_owned());
        }
        Ok(Self { topic: topic.to_owned(), partitions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_or_some_of_its_partitions() {
        let all: TopicFilter = "orders".parse().unwrap();
        let some: TopicFilter = "orders:0,2".parse().unwrap();
        let at = |index| TopicPartition::new("orders", PartitionIndex(index));
        assert!(all.takes(&at(1)) && !some.takes(&at(1)) && some.takes(&at(2)));
        assert!(!all.takes(&TopicPartition::new("order", PartitionIndex(0))));
        for said in ["", ":0", "orders:", "orders:a", "orders:-1"] {
            assert!(said.parse::<TopicFilter>().is_err(), "{said:?}");
        }
    }
}
