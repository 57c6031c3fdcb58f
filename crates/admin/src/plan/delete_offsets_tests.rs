use milepost_client::TopicPartition;
use milepost_client::groups::{Committed, GroupDescription, GroupKind, MemberDescription};
use milepost_model::{Offset, PartitionIndex};

use super::*;
use crate::reason::Cause;

fn partition(topic: &str, log: Option<&'static str>) -> PartitionFacts {
    let committed = Committed { offset: Offset(1), leader_epoch: None, metadata: String::new() };
    let cause = log.map_or(Cause::Other, Cause::Refused);
    PartitionFacts {
        partition: TopicPartition::new(topic, PartitionIndex(0)),
        position: Position::Committed(committed),
        log: Err(Reason { words: "x".to_owned(), cause }),
        member: None,
        next_record: None,
    }
}

fn group(subscribed: &[Option<&str>]) -> GroupFacts {
    let member = |topics: &Option<&str>| MemberDescription {
        member_id: "m".to_owned(),
        instance_id: None,
        client_id: "c".to_owned(),
        host: "/h".to_owned(),
        epoch: None,
        subscribed: topics.map(|topic| BTreeSet::from([topic.to_owned()])),
        assigned: BTreeSet::new(),
        target: None,
        work: None,
    };
    let description = GroupDescription {
        kind: GroupKind::Classic,
        state: "Stable".to_owned(),
        protocol_type: "consumer".to_owned(),
        assignor: String::new(),
        epochs: None,
        topology: None,
        members: subscribed.iter().map(member).collect(),
    };
    GroupFacts {
        group: "g".to_owned(),
        description: Some(Ok(description)),
        unknown: None,
        partitions: vec![
            partition("gone", Some("UNKNOWN_TOPIC_OR_PARTITION")),
            partition("old", Some("LEADER_NOT_AVAILABLE")),
            partition("read", None),
        ],
    }
}

fn topics(group: &GroupFacts, choice: &Choice) -> Result<Vec<String>, Reason> {
    let plan = plan(group, choice, Deletion::ByPartition)?;
    Ok(plan.forgets.iter().map(|(one, _)| one.topic.to_string()).collect())
}

#[test]
fn topics_are_named_or_no_longer_read_or_gone() {
    let group = group(&[Some("read")]);
    let named = Choice { named: vec!["old".parse().unwrap()], ..Choice::default() };
    assert_eq!(topics(&group, &named).unwrap(), ["old"]);
    let unsubscribed = Choice { unsubscribed: Some(Unsubscribed), ..Choice::default() };
    assert_eq!(topics(&group, &unsubscribed).unwrap(), ["gone", "old"]);
    // A topic whose leader is away is not gone.
    let gone = Choice { gone: Some(Gone), ..Choice::default() };
    assert_eq!(topics(&group, &gone).unwrap(), ["gone"]);
    assert_eq!(topics(&group, &Choice::default()).unwrap(), Vec::<String>::new());
}

#[test]
fn what_a_group_reads_must_be_known() {
    let unsubscribed = Choice { unsubscribed: Some(Unsubscribed), ..Choice::default() };
    assert!(topics(&group(&[]), &unsubscribed).unwrap_err().words.contains("no members"));
    assert!(topics(&group(&[Some("read"), None]), &unsubscribed).unwrap_err().words.contains("pattern"));
}

#[test]
fn a_group_that_is_made_anew_keeps_what_was_not_meant() {
    let mut group = group(&[]);
    let gone = Choice { gone: Some(Gone), ..Choice::default() };
    let made = plan(&group, &gone, Deletion::WithGroup).unwrap();
    let kept: Vec<&str> = made.moves.iter().map(|one| &*one.partition.topic).collect();
    assert_eq!((kept, made.forgets.len(), made.presence.clone()), (vec!["old", "read"], 1, Presence::Empty));
    assert!(made.moves.iter().all(|one| !one.changes()), "{made:?}");
    // What is gone cannot be committed again.
    let named = Choice { named: vec!["old".parse().unwrap()], ..Choice::default() };
    assert!(
        plan(&group, &named, Deletion::WithGroup).unwrap_err().words.contains("gone-0: it does not exist")
    );
    // What is not known cannot be kept.
    group.partitions[2].position = Position::Unknown(Reason::other("in doubt"));
    assert_eq!(plan(&group, &gone, Deletion::WithGroup).unwrap_err().words, "in doubt");
}
