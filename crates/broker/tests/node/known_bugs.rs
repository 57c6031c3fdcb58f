//! Bugs of Kafka's own broker at its edge that are none here, by their tickets.

use milepost_storage::Pace;
use milepost_wire::ErrorCode;
use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use milepost_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestTopic, OffsetFetchResponse,
};

use crate::harness::Broker;

fn commit(position: i64) -> OffsetCommitRequest<'static> {
    let partitions = vec![OffsetCommitRequestPartition { committed_offset: position, ..Default::default() }];
    let topics = vec![OffsetCommitRequestTopic { name: "t", partitions, ..Default::default() }];
    OffsetCommitRequest { group_id: "g", topics, ..OffsetCommitRequest::default() }
}

fn fetch(partition_indexes: Vec<i32>) -> OffsetFetchRequest<'static> {
    let topics = vec![OffsetFetchRequestTopic { name: "t", partition_indexes }];
    OffsetFetchRequest { group_id: "g", topics: Some(topics), ..OffsetFetchRequest::default() }
}

#[test]
fn kafka_19246_group_errors_are_on_each_partition_in_version_1() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 2);
    broker.ask(8, &commit(5));
    broker.restart_unloaded();
    let client = broker.main();
    broker.send(client, 1, &fetch(vec![0, 1]));
    broker.settle();
    let frame = broker.answer(client).expect("an answer");
    let response: OffsetFetchResponse<'_> = frame.read();
    let codes: Vec<_> = response.topics[0].partitions.iter().map(|partition| partition.error_code).collect();
    assert_eq!(codes, [ErrorCode::CoordinatorLoadInProgress; 2]);
}

#[test]
fn kafka_17267_a_fetch_that_waits_too_long_is_never_told_that_it_timed_out() {
    let mut broker = Broker::start(&["offsets.commit.timeout.ms=5000"]);
    broker.create_topic("t", 1);
    broker.ask(8, &commit(5));
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    broker.send(client, 8, &commit(6));
    for require_stable in [false, true] {
        broker.send(client, 7, &OffsetFetchRequest { require_stable, ..fetch(vec![0]) });
    }
    broker.pass_ms(5000);
    broker.answer(client).expect("that of the commit");
    for _ in 0..2 {
        let frame = broker.answer(client).expect("an answer");
        assert_eq!(frame.read::<OffsetFetchResponse<'_>>().error_code, ErrorCode::NotCoordinator);
    }
}
