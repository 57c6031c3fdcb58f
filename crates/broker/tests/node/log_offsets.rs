//! ListOffsets and OffsetForLeaderEpoch.

use milepost_batch::{BatchBuilder, BatchOptions};
use milepost_model::{Offset, Timestamp};
use milepost_wire::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic,
};
use milepost_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic,
};
use milepost_wire::messages::metadata::{MetadataRequest, MetadataResponse};
use milepost_wire::messages::offset_for_leader_epoch::{
    OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, OffsetForLeaderPartition, OffsetForLeaderTopic,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, START_MS, all_versions, batch};

const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const MAX_TIMESTAMP: i64 = -3;

/// Records at these times after the start, one batch.
fn batch_at(times: &[i64]) -> Vec<u8> {
    let mut builder = BatchBuilder::new(BatchOptions::default());
    for time in times {
        builder.append(Timestamp(START_MS + time), None, Some(b"v"), &[]).expect("a small record");
    }
    builder.build(Offset(0))
}

/// t-0 with records at 10, 30, 20 and, in a second batch, 50, 40.
fn with_times() -> Broker {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 2);
    broker.produce("t", 0, &batch_at(&[10, 30, 20])).expect("a good batch");
    broker.produce("t", 0, &batch_at(&[50, 40])).expect("a good batch");
    broker
}

fn list(topic: &str, partition: i32, timestamp: i64) -> ListOffsetsRequest<'_> {
    let partition =
        ListOffsetsPartition { partition_index: partition, timestamp, ..ListOffsetsPartition::default() };
    let topics = vec![ListOffsetsTopic { name: topic, partitions: vec![partition] }];
    ListOffsetsRequest { replica_id: -1, topics, ..ListOffsetsRequest::default() }
}

/// Code, offset, and the timestamp after the start (−1 where there is none).
fn found(broker: &mut Broker, version: i16, request: &ListOffsetsRequest<'_>) -> (ErrorCode, i64, i64) {
    let frame = broker.ask(version, request);
    let response: ListOffsetsResponse<'_> = frame.read();
    let partition = &response.topics[0].partitions[0];
    let time = if partition.timestamp < 0 { -1 } else { partition.timestamp - START_MS };
    (partition.error_code, partition.offset, time)
}

fn current_epoch(broker: &mut Broker) -> i32 {
    let frame = broker.ask(12, &MetadataRequest { topics: None, ..MetadataRequest::default() });
    frame.read::<MetadataResponse<'_>>().topics[0].partitions[0].leader_epoch
}

#[test]
fn ends_and_times_in_every_version() {
    let mut broker = with_times();
    let epoch = current_epoch(&mut broker);
    for version in all_versions(ApiKey::ListOffsets) {
        let mut ask = |time| found(&mut broker, version, &list("t", 0, time));
        assert_eq!(ask(LATEST), (ErrorCode::None, 5, -1));
        assert_eq!(ask(EARLIEST), (ErrorCode::None, 0, -1));
        assert_eq!(ask(START_MS), (ErrorCode::None, 0, 10));
        assert_eq!(ask(START_MS + 11), (ErrorCode::None, 1, 30), "the first in offset order");
        assert_eq!(ask(START_MS + 41), (ErrorCode::None, 3, 50));
        assert_eq!(ask(START_MS + 51), (ErrorCode::None, -1, -1), "none is a success");
        let frame = broker.ask(version, &list("t", 0, LATEST));
        let found = frame.read::<ListOffsetsResponse<'_>>().topics[0].partitions[0].leader_epoch;
        assert_eq!(found, if version < 4 { -1 } else { epoch });
    }
}

#[test]
fn special_times_and_the_versions_that_know_them() {
    let mut broker = with_times();
    let unsupported = (ErrorCode::UnsupportedVersion, -1, -1);
    let nothing = (ErrorCode::None, -1, -1);
    let cases = [
        (MAX_TIMESTAMP, 7, (ErrorCode::None, 3, 50)),
        (-4, 8, (ErrorCode::None, 0, -1)),
        (-5, 9, nothing),
        (-6, 11, nothing),
    ];
    for (time, since, expected) in cases {
        for version in all_versions(ApiKey::ListOffsets) {
            let expected = if version < since { unsupported } else { expected };
            assert_eq!(found(&mut broker, version, &list("t", 0, time)), expected, "{time} in {version}");
        }
    }
    assert_eq!(found(&mut broker, 11, &list("t", 0, -7)), unsupported);
    assert_eq!(found(&mut broker, 7, &list("t", 1, MAX_TIMESTAMP)), nothing, "an empty log");
}

#[test]
fn what_was_deleted_is_found_no_more() {
    let mut broker = with_times();
    let partitions = vec![DeleteRecordsPartition { partition_index: 0, offset: 4 }];
    let topics = vec![DeleteRecordsTopic { name: "t", partitions }];
    broker.ask(2, &DeleteRecordsRequest { topics, timeout_ms: 1000 });
    let epoch = current_epoch(&mut broker);
    assert_eq!(found(&mut broker, 11, &list("t", 0, EARLIEST)), (ErrorCode::None, 4, -1));
    assert_eq!(found(&mut broker, 11, &list("t", 0, START_MS)), (ErrorCode::None, 4, 40));
    assert_eq!(found(&mut broker, 11, &list("t", 0, START_MS + 41)), (ErrorCode::None, -1, -1));
    let frame = broker.ask(11, &list("t", 0, EARLIEST));
    let response: ListOffsetsResponse<'_> = frame.read();
    assert_eq!(response.topics[0].partitions[0].leader_epoch, epoch);
    let newest = found(&mut broker, 11, &list("t", 0, MAX_TIMESTAMP));
    assert_eq!(newest, (ErrorCode::None, 3, 50), "its batch is still there, and Kafka looks no closer");
}

#[test]
fn what_list_offsets_refuses() {
    let mut broker = with_times();
    let unknown = (ErrorCode::UnknownTopicOrPartition, -1, -1);
    assert_eq!(found(&mut broker, 6, &list("none", 0, LATEST)), unknown);
    assert_eq!(found(&mut broker, 6, &list("t", 2, LATEST)), unknown);
    let mut twice = list("t", 0, LATEST);
    let again = twice.topics[0].partitions[0].clone();
    twice.topics[0].partitions.push(again);
    assert_eq!(found(&mut broker, 6, &twice), (ErrorCode::InvalidRequest, -1, -1));
    let epoch = current_epoch(&mut broker);
    for (asked, expected) in [
        (epoch - 1, ErrorCode::FencedLeaderEpoch),
        (epoch, ErrorCode::None),
        (epoch + 1, ErrorCode::UnknownLeaderEpoch),
    ] {
        let mut request = list("t", 0, LATEST);
        request.topics[0].partitions[0].current_leader_epoch = asked;
        assert_eq!(found(&mut broker, 6, &request).0, expected);
    }
}

fn end_of(
    broker: &mut Broker,
    version: i16,
    topic: &str,
    partition: i32,
    epoch: i32,
) -> (ErrorCode, i32, i64) {
    let asked =
        OffsetForLeaderPartition { partition, leader_epoch: epoch, ..OffsetForLeaderPartition::default() };
    let topics = vec![OffsetForLeaderTopic { topic, partitions: vec![asked] }];
    let frame = broker
        .ask(version, &OffsetForLeaderEpochRequest { topics, ..OffsetForLeaderEpochRequest::default() });
    let response: OffsetForLeaderEpochResponse<'_> = frame.read();
    let end = &response.topics[0].partitions[0];
    (end.error_code, end.leader_epoch, end.end_offset)
}

#[test]
fn where_each_epoch_ended() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let first = current_epoch(&mut broker);
    broker.produce("t", 0, &batch(&["a", "b"])).expect("a good batch");
    broker.crash();
    let second = current_epoch(&mut broker);
    assert_eq!(second, first + 1);
    for version in all_versions(ApiKey::OffsetForLeaderEpoch) {
        // Nothing was written in the second epoch yet, so both end at the same place.
        assert_eq!(end_of(&mut broker, version, "t", 0, first), (ErrorCode::None, first, 2));
        assert_eq!(end_of(&mut broker, version, "t", 0, second), (ErrorCode::None, second, 2));
    }
    broker.produce("t", 0, &batch(&["c"])).expect("a good batch");
    assert_eq!(end_of(&mut broker, 4, "t", 0, first), (ErrorCode::None, first, 2));
    assert_eq!(end_of(&mut broker, 4, "t", 0, second), (ErrorCode::None, second, 3));
    assert_eq!(end_of(&mut broker, 4, "t", 0, second + 1), (ErrorCode::None, -1, -1));
    assert_eq!(end_of(&mut broker, 4, "t", 0, -1), (ErrorCode::None, -1, -1));
    assert_eq!(end_of(&mut broker, 4, "none", 0, 0).0, ErrorCode::UnknownTopicOrPartition);
    assert_eq!(end_of(&mut broker, 4, "t", 5, 0).0, ErrorCode::UnknownTopicOrPartition);
}
