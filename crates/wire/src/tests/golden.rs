//! Frames written out by hand from Kafka 4.4's schemas (or, where that is said, by its own classes), for the
//! versions that no other implementation at hand knows, and for the headers.

use milepost_model::TopicId;

use crate::messages::api_versions::*;
use crate::messages::delete_groups::*;
use crate::messages::describe_log_dirs::*;
use crate::messages::list_offsets::*;
use crate::messages::offset_commit::*;
use crate::messages::offset_fetch::*;
use crate::messages::txn_offset_commit::*;
use crate::messages::write_txn_markers::*;
use crate::{
    ErrorCode, Message, Reader, Request, Response, decode_request, decode_response, encode_request,
    encode_response,
};

const TOPIC: TopicId = TopicId([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

pub(super) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

#[track_caller]
pub(super) fn assert_body<'a, M: Message<'a> + PartialEq + std::fmt::Debug>(
    message: &M,
    version: i16,
    expected: &'a [u8],
) {
    let mut body = Vec::new();
    message.encode(&mut body, version).unwrap();
    assert_eq!(body, expected);
    let mut reader = Reader::new(expected);
    assert_eq!(&M::decode(&mut reader, version).unwrap(), message);
    reader.finish().unwrap();
}

/// The frame with its size in front.
#[track_caller]
fn assert_request<'a>(request: &impl Request<'a>, version: i16, client_id: Option<&str>, expected: &[u8]) {
    let mut frame = Vec::new();
    encode_request(&mut frame, request, version, 7, client_id).unwrap();
    assert_eq!(frame, expected);
    let (header, _) = decode_request(&frame[4..]).unwrap();
    assert_eq!((header.api_version, header.correlation_id, header.client_id), (version, 7, client_id));
}

#[track_caller]
fn assert_response<'a, R: Response<'a> + PartialEq + std::fmt::Debug>(
    response: &R,
    version: i16,
    expected: &'a [u8],
) {
    let mut frame = Vec::new();
    encode_response(&mut frame, response, version, 7).unwrap();
    assert_eq!(frame, expected);
    let (correlation_id, decoded) = decode_response::<R>(&expected[4..], version).unwrap();
    assert_eq!((correlation_id, &decoded), (7, response));
}

#[test]
fn describe_log_dirs_5() {
    let topics = vec![DescribableLogDirTopic { topic: "t", partitions: vec![1] }];
    let request = DescribeLogDirsRequest { topics: Some(topics) };
    assert_body(&request, 5, &bytes("02 | 02 74 | 02 00 00 00 01 | 00 | 00"));
    assert_body(&DescribeLogDirsRequest { topics: None }, 5, &bytes("00 | 00"));

    let partition = DescribeLogDirsPartition { partition_index: 1, partition_size: 70, ..Default::default() };
    let result = DescribeLogDirsResult {
        log_dir: "/d",
        topics: vec![DescribeLogDirsTopic { name: "t", partitions: vec![partition] }],
        total_bytes: 9,
        usable_bytes: 8,
        is_cordoned: true,
        ..Default::default()
    };
    let response = DescribeLogDirsResponse { results: vec![result], ..Default::default() };
    let body = bytes(
        "00 00 00 00 | 00 00 | 02 | 00 00 | 03 2f 64 | 02 | 02 74 | 02 | 00 00 00 01 | 00 00 00 00 00 00 00 46 \
         00 00 00 00 00 00 00 00 | 00 | 00 | 00 | 00 00 00 00 00 00 00 09 | 00 00 00 00 00 00 00 08 | 01 | 00 | 00",
    );
    assert_body(&response, 5, &body);
}

#[test]
fn api_versions_5() {
    let request = ApiVersionsRequest {
        client_software_name: "rd",
        client_software_version: "2.1",
        cluster_id: Some("c1"),
        node_id: 3,
    };
    let frame = bytes(
        "00 00 00 1c | 00 12 00 05 00 00 00 07 00 02 6d 65 00 | 03 72 64 | 04 32 2e 31 | 03 63 31 | 00 00 00 03 | 00",
    );
    assert_request(&request, 5, Some("me"), &frame);
    assert_body(&request, 5, &frame[17..]);

    let response = ApiVersionsResponse {
        api_keys: vec![ApiVersion { api_key: 18, min_version: 0, max_version: 5 }],
        supported_features: vec![SupportedFeatureKey { name: "f", min_version: 0, max_version: 1 }],
        finalized_features_epoch: 9,
        finalized_features: vec![FinalizedFeatureKey {
            name: "f",
            max_version_level: 2,
            min_version_level: 1,
        }],
        ..Default::default()
    };
    // No tag section in the header, although the body is flexible.
    let frame = bytes(
        "00 00 00 31 | 00 00 00 07 | 00 00 | 02 00 12 00 00 00 05 00 | 00 00 00 00 | 03
         00 08 02 02 66 00 00 00 01 00 | 01 08 00 00 00 00 00 00 00 09 | 02 08 02 02 66 00 02 00 01 00",
    );
    assert_response(&response, 5, &frame);
}

#[test]
fn api_versions_0_is_the_answer_to_a_version_from_the_future() {
    let response = ApiVersionsResponse {
        error_code: ErrorCode::UnsupportedVersion,
        api_keys: vec![ApiVersion { api_key: 18, min_version: 0, max_version: 5 }],
        ..Default::default()
    };
    let frame = bytes("00 00 00 10 | 00 00 00 07 | 00 23 | 00 00 00 01 | 00 12 00 00 00 05");
    assert_response(&response, 0, &frame);
}

#[test]
fn list_offsets_11() {
    let request = ListOffsetsRequest {
        replica_id: -1,
        isolation_level: 1,
        topics: vec![ListOffsetsTopic {
            name: "t",
            partitions: vec![ListOffsetsPartition {
                partition_index: 3,
                current_leader_epoch: -1,
                timestamp: -6,
            }],
        }],
        timeout_ms: 30_000,
    };
    let body = bytes(
        "ff ff ff ff | 01 | 02 02 74 02 00 00 00 03 ff ff ff ff ff ff ff ff ff ff ff fa 00 00 | 00 00 75 30 | 00",
    );
    assert_body(&request, 11, &body);

    let response = ListOffsetsResponse {
        throttle_time_ms: 0,
        topics: vec![ListOffsetsTopicResponse {
            name: "t",
            partitions: vec![ListOffsetsPartitionResponse {
                partition_index: 3,
                error_code: ErrorCode::None,
                timestamp: -1,
                offset: 42,
                leader_epoch: 5,
            }],
        }],
    };
    let frame = bytes(
        "00 00 00 2a | 00 00 00 07 00 | 00 00 00 00 | 02 02 74 02 00 00 00 03 00 00
         ff ff ff ff ff ff ff ff 00 00 00 00 00 00 00 2a 00 00 00 05 00 00 00",
    );
    assert_response(&response, 11, &frame);
}

#[test]
fn offset_commit_10_has_ids_instead_of_names() {
    let request = OffsetCommitRequest {
        group_id: "g1",
        generation_id_or_member_epoch: 5,
        member_id: "m",
        group_instance_id: None,
        topics: vec![OffsetCommitRequestTopic {
            topic_id: TOPIC,
            partitions: vec![OffsetCommitRequestPartition {
                partition_index: 3,
                committed_offset: 42,
                committed_leader_epoch: 7,
                committed_metadata: None,
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    let body = bytes(
        "03 67 31 | 00 00 00 05 | 02 6d | 00 | 02 000102030405060708090a0b0c0d0e0f
         02 00 00 00 03 00 00 00 00 00 00 00 2a 00 00 00 07 00 00 00 00",
    );
    assert_body(&request, 10, &body);

    let response = OffsetCommitResponse {
        throttle_time_ms: 1,
        topics: vec![OffsetCommitResponseTopic {
            topic_id: TOPIC,
            partitions: vec![OffsetCommitResponsePartition {
                partition_index: 3,
                error_code: ErrorCode::IllegalGeneration,
            }],
            ..Default::default()
        }],
    };
    let body = bytes("00 00 00 01 | 02 000102030405060708090a0b0c0d0e0f 02 00 00 00 03 00 16 00 00 00");
    assert_body(&response, 10, &body);
}

#[test]
fn offset_fetch_10_has_ids_instead_of_names() {
    let request = OffsetFetchRequest {
        groups: vec![
            OffsetFetchRequestGroup { group_id: "g1", topics: None, ..Default::default() },
            OffsetFetchRequestGroup {
                group_id: "",
                member_id: Some("m"),
                member_epoch: 4,
                topics: Some(vec![OffsetFetchRequestTopics {
                    topic_id: TOPIC,
                    partition_indexes: vec![0, 1],
                    ..Default::default()
                }]),
            },
        ],
        require_stable: true,
        ..Default::default()
    };
    let body = bytes(
        "03 | 03 67 31 00 ff ff ff ff 00 00
         01 02 6d 00 00 00 04 02 000102030405060708090a0b0c0d0e0f 03 00 00 00 00 00 00 00 01 00 00 | 01 | 00",
    );
    assert_body(&request, 10, &body);

    let response = OffsetFetchResponse {
        groups: vec![OffsetFetchResponseGroup {
            group_id: "g1",
            topics: vec![OffsetFetchResponseTopics {
                topic_id: TOPIC,
                partitions: vec![OffsetFetchResponsePartitions {
                    partition_index: 1,
                    committed_offset: -1,
                    committed_leader_epoch: -1,
                    metadata: Some(""),
                    error_code: ErrorCode::UnstableOffsetCommit,
                }],
                ..Default::default()
            }],
            error_code: ErrorCode::None,
        }],
        ..Default::default()
    };
    let body = bytes(
        "00 00 00 00 | 02 03 67 31 02 000102030405060708090a0b0c0d0e0f 02 00 00 00 01
         ff ff ff ff ff ff ff ff ff ff ff ff 01 00 58 00 00 00 00 00 00",
    );
    assert_body(&response, 10, &body);
}

/// Written by the message classes of Kafka's clients 4.4.0.
#[test]
fn txn_offset_commit_6_has_ids_instead_of_names() {
    let request = TxnOffsetCommitRequest {
        transactional_id: "t",
        group_id: "g1",
        producer_id: 9,
        producer_epoch: 2,
        generation_id_or_member_epoch: 5,
        member_id: "m",
        group_instance_id: None,
        topics: vec![TxnOffsetCommitRequestTopic {
            topic_id: TOPIC,
            partitions: vec![TxnOffsetCommitRequestPartition {
                partition_index: 3,
                committed_offset: 42,
                committed_leader_epoch: 7,
                committed_metadata: None,
            }],
            ..Default::default()
        }],
    };
    let body = bytes(
        "02 74 | 03 67 31 | 00 00 00 00 00 00 00 09 00 02 | 00 00 00 05 | 02 6d | 00 |
         02 000102030405060708090a0b0c0d0e0f
         02 00 00 00 03 00 00 00 00 00 00 00 2a 00 00 00 07 00 00 00 00",
    );
    assert_body(&request, 6, &body);

    let response = TxnOffsetCommitResponse {
        throttle_time_ms: 1,
        topics: vec![TxnOffsetCommitResponseTopic {
            topic_id: TOPIC,
            partitions: vec![TxnOffsetCommitResponsePartition {
                partition_index: 3,
                error_code: ErrorCode::IllegalGeneration,
            }],
            ..Default::default()
        }],
    };
    let body = bytes("00 00 00 01 | 02 000102030405060708090a0b0c0d0e0f 02 00 00 00 03 00 16 00 00 00");
    assert_body(&response, 6, &body);
}

/// Written by the message classes of Kafka's clients 4.4.0.
#[test]
fn write_txn_markers_2_says_by_which_version_the_transaction_ended() {
    let request = WriteTxnMarkersRequest {
        markers: vec![WritableTxnMarker {
            producer_id: 9,
            producer_epoch: 3,
            transaction_result: true,
            topics: vec![WritableTxnMarkerTopic { name: "a", partition_indexes: vec![0, 1] }],
            coordinator_epoch: 4,
            transaction_version: 2,
        }],
    };
    let body = bytes(
        "02 | 00 00 00 00 00 00 00 09 00 03 01 | 02 02 61 03 00 00 00 00 00 00 00 01 00 |
         00 00 00 04 02 00 00",
    );
    assert_body(&request, 2, &body);

    let response = WriteTxnMarkersResponse {
        markers: vec![WritableTxnMarkerResult {
            producer_id: 9,
            topics: vec![WritableTxnMarkerTopicResult {
                name: "a",
                partitions: vec![WritableTxnMarkerPartitionResult {
                    partition_index: 1,
                    error_code: ErrorCode::InvalidProducerEpoch,
                }],
            }],
        }],
    };
    let body = bytes("02 | 00 00 00 00 00 00 00 09 | 02 02 61 | 02 00 00 00 01 00 2f 00 00 00 00");
    assert_body(&response, 2, &body);
}

#[test]
fn delete_groups_3_has_a_message_for_each_group() {
    let request = DeleteGroupsRequest { groups_names: vec!["g1"] };
    assert_body(&request, 3, &bytes("02 03 67 31 00"));
    let response = DeleteGroupsResponse {
        throttle_time_ms: 0,
        results: vec![DeletableGroupResult {
            group_id: "g1",
            error_code: ErrorCode::NonEmptyGroup,
            error_message: Some("no"),
        }],
    };
    assert_body(&response, 3, &bytes("00 00 00 00 | 02 03 67 31 00 44 03 6e 6f 00 00"));
}

#[test]
fn headers_of_old_versions_have_no_tag_section() {
    let request = DeleteGroupsRequest { groups_names: vec!["g1"] };
    let frame = bytes("00 00 00 12 | 00 2a 00 01 00 00 00 07 ff ff | 00 00 00 01 00 02 67 31");
    assert_request(&request, 1, None, &frame);
    let response = DeleteGroupsResponse::default();
    assert_response(&response, 1, &bytes("00 00 00 0c | 00 00 00 07 | 00 00 00 00 | 00 00 00 00"));
    assert_response(&response, 2, &bytes("00 00 00 0b | 00 00 00 07 00 | 00 00 00 00 | 01 | 00"));
}
