//! Under which names topics or groups are written: their own, unless a map says another.

use std::collections::{BTreeMap, BTreeSet};

use milepost_client::TopicPartition;

/// Old names, each with its new one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameMap(BTreeMap<String, String>);

impl NameMap {
    /// Of pairs of an old and a new name.
    ///
    /// # Errors
    /// When one old name is to have two new ones.
    pub fn new(pairs: &[(String, String)]) -> Result<Self, String> {
        let mut map = BTreeMap::new();
        for (old, new) in pairs {
            if let Some(other) = map.insert(old.clone(), new.clone())
                && other != *new
            {
                return Err(format!("{old} is mapped to both {other} and {new}"));
            }
        }
        Ok(Self(map))
    }

    /// The name that stands for this one.
    #[must_use]
    pub fn name<'a>(&'a self, old: &'a str) -> &'a str {
        self.0.get(old).map_or(old, String::as_str)
    }

    /// The partition that stands for this one, where the names are those of topics.
    #[must_use]
    pub fn apply(&self, partition: &TopicPartition) -> TopicPartition {
        TopicPartition::new(self.name(&partition.topic), partition.partition)
    }

    /// Whether the partition keeps its name.
    #[must_use]
    pub fn keeps(&self, partition: &TopicPartition) -> bool {
        self.name(&partition.topic) == &*partition.topic
    }

    /// Sees to it that everything in the map is about one of these names.
    ///
    /// # Errors
    /// When something is not: it was mistyped.
    pub fn check_used(&self, names: &BTreeSet<&str>) -> Result<(), String> {
        match self.0.iter().find(|(old, _)| !names.contains(old.as_str())) {
            Some((old, new)) => Err(format!("{old}={new}: nothing of {old} is to be written")),
            None => Ok(()),
        }
    }

    /// Sees to it that these names stay apart.
    ///
    /// # Errors
    /// When two of them would become one: then one would be lost.
    pub fn check_apart(&self, names: &BTreeSet<&str>) -> Result<(), String> {
        let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
        for old in names {
            let new = self.name(old);
            if let Some(other) = taken.insert(new, old) {
                return Err(format!("both {other} and {old} would be written as {new}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use milepost_model::PartitionIndex;

    use super::*;

    fn map(pairs: &[(&str, &str)]) -> Result<NameMap, String> {
        let pairs: Vec<_> = pairs.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect();
        NameMap::new(&pairs)
    }

    #[test]
    fn a_map_renames_topics() {
        let map = map(&[("a", "b")]).unwrap();
        let place = |topic| TopicPartition::new(topic, PartitionIndex(0));
        assert_eq!(map.apply(&place("a")), place("b"));
        assert_eq!(map.apply(&place("c")), place("c"));
        assert!(!map.keeps(&place("a")) && map.keeps(&place("c")));
    }

    #[test]
    fn what_is_mistyped_or_would_be_lost_is_refused() {
        assert_eq!(map(&[("a", "b"), ("a", "c")]), Err("a is mapped to both b and c".to_owned()));
        let small = map(&[("small", "orders")]).unwrap();
        assert!(small.check_used(&BTreeSet::from(["small", "other"])).is_ok());
        assert!(small.check_used(&BTreeSet::from(["smal"])).unwrap_err().starts_with("small=orders"));
        assert!(small.check_apart(&BTreeSet::from(["small", "other"])).is_ok());
        assert_eq!(
            small.check_apart(&BTreeSet::from(["orders", "small"])),
            Err("both orders and small would be written as orders".to_owned())
        );
        let swapped = map(&[("a", "b"), ("b", "a")]).unwrap();
        assert!(swapped.check_apart(&BTreeSet::from(["a", "b"])).is_ok());
    }
}
