//! Offsets of a topic that a crash kept from being removed with it.

use milepost_storage::Pace;
use milepost_wire::ErrorCode;
use milepost_wire::messages::delete_topics::DeleteTopicsRequest;
use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse,
};
use milepost_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestTopic, OffsetFetchResponse,
};

use crate::harness::Broker;

fn commit(broker: &mut Broker, group_id: &str, topic: &str, committed_offset: i64) {
    let partitions = vec![OffsetCommitRequestPartition { committed_offset, ..Default::default() }];
    let topics = vec![OffsetCommitRequestTopic { name: topic, partitions, ..Default::default() }];
    let frame = broker.ask(8, &OffsetCommitRequest { group_id, topics, ..Default::default() });
    let code = frame.read::<OffsetCommitResponse<'_>>().topics[0].partitions[0].error_code;
    assert_eq!(code, ErrorCode::None);
}

fn committed(broker: &mut Broker, group_id: &str, topic: &str) -> i64 {
    let topics = vec![OffsetFetchRequestTopic { name: topic, partition_indexes: vec![0] }];
    let frame = broker.ask(5, &OffsetFetchRequest { group_id, topics: Some(topics), ..Default::default() });
    frame.read::<OffsetFetchResponse<'_>>().topics[0].partitions[0].committed_offset
}

/// The power goes when the deletion is durable and nothing that follows from it is.
fn delete_and_crash(broker: &mut Broker, topic: &str) {
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    let request = DeleteTopicsRequest { topic_names: vec![topic], ..Default::default() };
    broker.send(client, 5, &request);
    broker.settle();
    broker.disk.complete();
    broker.disk.set_pace(Pace::AtOnce);
    broker.crash();
}

#[test]
fn they_are_removed_at_the_next_start() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    broker.create_topic("kept", 1);
    for group in ["g1", "g2", "g3"] {
        commit(&mut broker, group, "t", 5);
        commit(&mut broker, group, "kept", 6);
    }
    assert_eq!(broker.counters().census.offsets, 6);
    delete_and_crash(&mut broker, "t");
    assert_eq!(broker.counters().census.offsets, 3, "they are not hidden, they are gone");
    for group in ["g1", "g2", "g3"] {
        assert_eq!((committed(&mut broker, group, "t"), committed(&mut broker, group, "kept")), (-1, 6));
    }
    // Their removal is written down.
    broker.crash();
    assert_eq!(broker.counters().census.offsets, 3);
}

#[test]
fn what_was_committed_for_a_new_topic_of_the_name_stays() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    commit(&mut broker, "g", "t", 5);
    delete_and_crash(&mut broker, "t");
    broker.create_topic("t", 1);
    assert_eq!(committed(&mut broker, "g", "t"), -1, "it inherits nothing");
    commit(&mut broker, "g", "t", 7);
    for _ in 0..3 {
        // The log of topics still tells of the deletion, at every start.
        broker.crash();
        assert_eq!(committed(&mut broker, "g", "t"), 7);
    }
}
