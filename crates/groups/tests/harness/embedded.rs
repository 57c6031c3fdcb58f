//! What members of the classic protocol hand to each other, as the words of scenario files.

use milepost_model::PartitionIndex;
use milepost_records::consumer_protocol::{AssignedTopic, Assignment};

/// A consumer's subscription: version 0, or the first one that can say where the member runs or what it has.
pub(crate) fn subscription(topics: &[&str], owned: Option<&[&str]>, rack_id: Option<&str>) -> Vec<u8> {
    let version = match (owned, rack_id) {
        (_, Some(_)) => 3,
        (Some(_), None) => 1,
        (None, None) => 0,
    };
    let mut bytes = vec![0, version];
    put_length(&mut bytes, topics.len());
    topics.iter().for_each(|topic| put_string(&mut bytes, topic));
    bytes.extend((-1_i32).to_be_bytes());
    if version >= 1 {
        let owned = by_topic(owned.unwrap_or_default());
        put_length(&mut bytes, owned.len());
        for topic in owned {
            put_string(&mut bytes, topic.topic);
            put_length(&mut bytes, topic.partitions.len());
            topic.partitions.iter().for_each(|partition| bytes.extend(partition.0.to_be_bytes()));
        }
    }
    if let Some(rack_id) = rack_id {
        bytes.extend((-1_i32).to_be_bytes());
        put_string(&mut bytes, rack_id);
    }
    bytes
}

/// What a leader gives to one member, version 0: `orders:0+orders:1`, or `nothing`.
pub(crate) fn assignment(words: &str, user_data: Option<&str>) -> Vec<u8> {
    let words: Vec<&str> = words.split('+').filter(|word| *word != "nothing").collect();
    let user_data = user_data.map(str::as_bytes);
    Assignment { partitions: by_topic(&words), user_data }.encode().unwrap()
}

/// The words of an assignment, if these bytes are one.
#[allow(dead_code, reason = "only the scenarios print")]
pub(crate) fn describe(bytes: &[u8]) -> Option<String> {
    if bytes.first() != Some(&0) {
        return None;
    }
    let assignment = Assignment::decode(bytes).ok()?;
    let topics = assignment.partitions.iter().map(|topic| {
        let partitions: Vec<_> = topic.partitions.iter().map(ToString::to_string).collect();
        format!("{}:{}", topic.topic, partitions.join(","))
    });
    let all = topics.collect::<Vec<_>>().join(" ");
    Some(if all.is_empty() { "nothing".to_owned() } else { all })
}

fn by_topic<'a>(words: &[&'a str]) -> Vec<AssignedTopic<'a>> {
    let mut topics: Vec<AssignedTopic<'a>> = Vec::new();
    for word in words.iter().filter(|word| **word != "nothing") {
        let (topic, partition) =
            word.split_once(':').unwrap_or_else(|| panic!("'{word}' is no topic:partition"));
        let partition = PartitionIndex(partition.parse().unwrap());
        match topics.iter_mut().find(|known| known.topic == topic) {
            Some(known) => known.partitions.push(partition),
            None => topics.push(AssignedTopic { topic, partitions: vec![partition] }),
        }
    }
    topics
}

fn put_length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend(i32::try_from(length).unwrap().to_be_bytes());
}

fn put_string(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend(i16::try_from(text.len()).unwrap().to_be_bytes());
    bytes.extend(text.as_bytes());
}
