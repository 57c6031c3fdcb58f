use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_model::{ProducerId, TopicId};

use super::{GroupConfigs, InvalidRecord, MetadataChange, MetadataImage, MetadataRecord, Topic};

fn topic(id: u8, name: &str, partition_count: i32) -> Arc<Topic> {
    Arc::new(Topic {
        id: TopicId([id; 16]),
        name: name.to_owned(),
        partition_count,
        replication_factor: 1,
        is_internal: false,
        configs: BTreeMap::from([("retention.ms".to_owned(), "5".to_owned())]),
    })
}

fn created(topic: &Arc<Topic>) -> MetadataRecord {
    MetadataRecord::Topic(Arc::clone(topic))
}

#[test]
fn topics_come_change_and_go() {
    let mut image = MetadataImage::default();
    let first = topic(1, "orders", 1);
    assert_eq!(image.replay(&created(&first)), Ok(Some(MetadataChange::TopicCreated(Arc::clone(&first)))));
    let grown = topic(1, "orders", 3);
    let change = MetadataChange::TopicChanged { before: Arc::clone(&first), after: Arc::clone(&grown) };
    assert_eq!(image.replay(&created(&grown)), Ok(Some(change)));
    assert_eq!(image.topic("orders"), Some(&grown));
    assert_eq!(image.topic_by_id(TopicId([1; 16])), Some(&grown));

    let deletion = MetadataRecord::TopicDeletion(TopicId([1; 16]));
    assert_eq!(image.replay(&deletion), Ok(Some(MetadataChange::TopicDeleted(grown))));
    assert_eq!(image.replay(&deletion), Ok(None));
    assert_eq!(image, MetadataImage::default());

    let again = topic(2, "orders", 1);
    assert!(image.replay(&created(&again)).is_ok());
    assert_eq!(image.topic("orders").map(|topic| topic.id), Some(TopicId([2; 16])));
}

#[test]
fn topics_are_listed_by_name() {
    let mut image = MetadataImage::default();
    for (id, name) in [(1, "c"), (2, "a"), (3, "b")] {
        image.replay(&created(&topic(id, name, 1))).unwrap();
    }
    assert_eq!(image.topics().map(|topic| topic.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn what_cannot_follow_is_refused_and_changes_nothing() {
    let mut image = MetadataImage::default();
    image.replay(&created(&topic(1, "orders", 3))).unwrap();
    image.replay(&MetadataRecord::ClusterId("ours".to_owned())).unwrap();
    image.replay(&MetadataRecord::ProducerIdBlock { next_producer_id: ProducerId(1000) }).unwrap();
    let before = image.clone();

    let name = || "orders".to_owned();
    assert_eq!(image.replay(&created(&topic(2, "orders", 3))), Err(InvalidRecord::NameTaken(name())));
    assert_eq!(image.replay(&created(&topic(1, "orders", 2))), Err(InvalidRecord::TopicShrinks(name())));
    assert_eq!(image.replay(&created(&topic(1, "sales", 3))), Err(InvalidRecord::TopicShrinks(name())));
    assert_eq!(
        image.replay(&MetadataRecord::ClusterId("theirs".to_owned())),
        Err(InvalidRecord::ClusterIdChanges("ours".to_owned()))
    );
    assert_eq!(
        image.replay(&MetadataRecord::ProducerIdBlock { next_producer_id: ProducerId(999) }),
        Err(InvalidRecord::ProducerIdsReturn(ProducerId(1000)))
    );
    assert_eq!(image, before);
    assert_eq!(image.replay(&MetadataRecord::ClusterId("ours".to_owned())), Ok(None));
}

#[test]
fn records_survive_their_bytes() {
    for record in [
        created(&topic(1, "orders", 3)),
        MetadataRecord::TopicDeletion(TopicId([1; 16])),
        MetadataRecord::ClusterId("ours".to_owned()),
        MetadataRecord::ProducerIdBlock { next_producer_id: ProducerId(7) },
    ] {
        let (key, value) = record.encode().unwrap();
        assert_eq!(MetadataRecord::decode(Some(&key), value.as_deref()), Ok(record));
    }
    assert_eq!(MetadataRecord::decode(Some(&[0, 9]), None), Err(InvalidRecord::UnknownType(9)));
}

fn group_configs(group: &str, configs: &[(&str, &str)]) -> MetadataRecord {
    let configs = configs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    MetadataRecord::GroupConfigs(Arc::new(GroupConfigs { group: group.to_owned(), configs }))
}

#[test]
fn what_is_set_for_a_group_is_replaced_whole_and_ends_when_nothing_is_left() {
    let mut image = MetadataImage::default();
    let set = group_configs("g", &[("consumer.session.timeout.ms", "45000")]);
    let nothing = group_configs("g", &[]);
    for record in [&set, &nothing, &group_configs("h", &[("a", "b")])] {
        let (key, value) = record.encode().unwrap();
        assert_eq!(MetadataRecord::decode(Some(&key), value.as_deref()).as_ref(), Ok(record));
    }
    assert_eq!(image.replay(&nothing), Ok(None));
    assert_eq!(image.replay(&set), Ok(Some(MetadataChange::GroupConfigsChanged)));
    assert_eq!(
        image.replay(&group_configs("a", &[("x", "y")])),
        Ok(Some(MetadataChange::GroupConfigsChanged))
    );
    assert_eq!(image.group_configs().map(|set| set.group.as_str()).collect::<Vec<_>>(), ["a", "g"]);
    let configs = &image.configs_of_group("g").unwrap().configs;
    assert_eq!(configs.get("consumer.session.timeout.ms").map(String::as_str), Some("45000"));
    assert_eq!(image.replay(&nothing), Ok(Some(MetadataChange::GroupConfigsChanged)));
    assert_eq!(image.configs_of_group("g"), None);
}
