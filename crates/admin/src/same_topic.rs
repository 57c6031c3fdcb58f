//! Whether a topic is still the one whose offsets are meant. One that was deleted and made again has the name and other records.

use std::collections::{BTreeMap, BTreeSet};

use milepost_client::{ClientError, Cluster, TopicPartition};
use milepost_model::TopicId;

use crate::reason::Reason;

/// Compares what the topic was with what it is now; where either is not known nothing can be said against it.
///
/// # Errors
/// The reason why an offset of then means nothing now.
pub fn check(partition: &TopicPartition, then: Option<TopicId>, now: Option<TopicId>) -> Result<(), Reason> {
    if then.zip(now).is_some_and(|(then, now)| then != now) {
        let why = "the topic was made again since; its offsets mean other records";
        return Err(Reason::other(format!("{partition}: {why}")));
    }
    Ok(())
}

/// Those partitions whose topics are others now, and why their offsets are left out.
///
/// # Errors
/// When nobody can be asked.
pub fn made_again(
    cluster: &mut Cluster,
    then: &BTreeMap<TopicPartition, TopicId>,
) -> Result<BTreeMap<TopicPartition, Reason>, ClientError> {
    if then.is_empty() {
        return Ok(BTreeMap::new());
    }
    let names: BTreeSet<&str> = then.keys().map(|one| &*one.topic).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let metadata = cluster.metadata(Some(&names))?;
    let why = |(one, then): (&TopicPartition, &TopicId)| {
        let now = metadata.topic(&one.topic).and_then(|topic| topic.id);
        Some((one.clone(), check(one, Some(*then), now).err()?))
    };
    Ok(then.iter().filter_map(why).collect())
}

#[cfg(test)]
mod tests {
    use milepost_model::PartitionIndex;

    use super::*;

    #[test]
    fn only_what_is_known_to_be_another_is_refused() {
        let one = TopicPartition::new("t", PartitionIndex(0));
        let id = |text: &str| Some(text.parse::<TopicId>().unwrap());
        let (a, b) = (id("AAAAAAAAAAAAAAAAAAAAAQ"), id("AAAAAAAAAAAAAAAAAAAAAg"));
        for (then, now) in [(a, a), (None, b), (a, None)] {
            assert_eq!(check(&one, then, now), Ok(()));
        }
        assert!(check(&one, a, b).unwrap_err().words.starts_with("t-0: the topic was made again"));
    }
}
