//! Offsets that transactions commit: TxnOffsetCommit and what readers of offsets see of it.

use milepost_model::TopicId;
use milepost_storage::Pace;
use milepost_wire::messages::metadata::{MetadataRequest, MetadataRequestTopic, MetadataResponse};
use milepost_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics, OffsetFetchResponse,
};
use milepost_wire::messages::txn_offset_commit::{
    TxnOffsetCommitRequest, TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, all_versions};
use crate::transacting::{Producer, add_offsets, decide, end, init, with_transactions};

fn commit<'a>(
    producer: Producer,
    group_id: &'a str,
    topic: (&'a str, TopicId),
    offset: i64,
) -> TxnOffsetCommitRequest<'a> {
    let partition = TxnOffsetCommitRequestPartition {
        committed_offset: offset,
        committed_metadata: Some(""),
        ..TxnOffsetCommitRequestPartition::default()
    };
    TxnOffsetCommitRequest {
        transactional_id: producer.transactional_id,
        group_id,
        producer_id: producer.id,
        producer_epoch: producer.epoch,
        topics: vec![TxnOffsetCommitRequestTopic {
            name: topic.0,
            topic_id: topic.1,
            partitions: vec![partition],
        }],
        ..TxnOffsetCommitRequest::default()
    }
}

fn code(broker: &mut Broker, version: i16, request: &TxnOffsetCommitRequest<'_>) -> ErrorCode {
    let frame = broker.ask(version, request);
    frame.read::<TxnOffsetCommitResponse<'_>>().topics[0].partitions[0].error_code
}

/// The committed offset of a group in the first partition of `t`, as a reader sees it that wants a stable one.
fn stable(broker: &mut Broker, group_id: &str) -> Result<i64, ErrorCode> {
    let topics =
        vec![OffsetFetchRequestTopics { name: "t", partition_indexes: vec![0], ..Default::default() }];
    let groups = vec![OffsetFetchRequestGroup { group_id, topics: Some(topics), ..Default::default() }];
    let request = OffsetFetchRequest { groups, require_stable: true, ..OffsetFetchRequest::default() };
    let frame = broker.ask(8, &request);
    let response: OffsetFetchResponse<'_> = frame.read();
    let partition = &response.groups[0].topics[0].partitions[0];
    match partition.error_code {
        ErrorCode::None => Ok(partition.committed_offset),
        code => {
            assert_eq!(partition.committed_offset, -1);
            Err(code)
        }
    }
}

fn topic_id(broker: &mut Broker) -> TopicId {
    let topics = vec![MetadataRequestTopic { name: Some("t"), ..MetadataRequestTopic::default() }];
    let frame = broker.ask(12, &MetadataRequest { topics: Some(topics), ..MetadataRequest::default() });
    frame.read::<MetadataResponse<'_>>().topics[0].topic_id
}

fn with_topic() -> (Broker, (&'static str, TopicId)) {
    let mut broker = with_transactions(&[]);
    let id = topic_id(&mut broker);
    (broker, ("t", id))
}

#[test]
fn an_offset_takes_effect_with_its_transaction_in_every_version() {
    let (mut broker, topic) = with_topic();
    let mut producer = init(&mut broker, 5, "a").expect("a producer");
    let mut known = -1;
    for version in all_versions(ApiKey::TxnOffsetCommit) {
        for committed in [true, false] {
            let offset = i64::from(version) * 10 + i64::from(committed);
            let request = commit(producer, "g", topic, offset);
            if version < 5 {
                let refused =
                    if version < 4 { ErrorCode::InvalidTxnState } else { ErrorCode::TransactionAbortable };
                assert_eq!(code(&mut broker, version, &request), refused, "the group was not added");
                let add_version =
                    version.min(all_versions(ApiKey::AddOffsetsToTxn).last().expect("versions"));
                assert_eq!(add_offsets(&mut broker, add_version, producer, "g"), ErrorCode::None);
            }
            assert_eq!(code(&mut broker, version, &request), ErrorCode::None, "version {version}");
            assert_eq!(stable(&mut broker, "g"), Err(ErrorCode::UnstableOffsetCommit));
            producer = end(&mut broker, 5, producer, committed).expect("it ends");
            if committed {
                known = offset;
            }
            assert_eq!(stable(&mut broker, "g"), Ok(known));
        }
    }
    broker.crash();
    assert_eq!(stable(&mut broker, "g"), Ok(known));
}

#[test]
fn an_answer_waits_for_the_disk() {
    let (mut broker, topic) = with_topic();
    let producer = init(&mut broker, 5, "a").expect("a producer");
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    broker.send(client, 5, &commit(producer, "g", topic, 1));
    broker.settle();
    broker.disk.complete();
    broker.settle();
    assert!(broker.answer(client).is_none(), "the partition was added, the offset is on its way");
    broker.disk.complete();
    broker.settle();
    assert!(broker.answer(client).is_some());
}

#[test]
fn what_no_transaction_may_commit() {
    let (mut broker, topic) = with_topic();
    let producer = init(&mut broker, 5, "a").expect("a producer");
    let stranger = Producer { id: producer.id + 1, ..producer };
    assert_eq!(code(&mut broker, 5, &commit(stranger, "g", topic, 1)), ErrorCode::InvalidProducerIdMapping);
    let newer = Producer { epoch: 1, ..producer };
    assert_eq!(code(&mut broker, 5, &commit(newer, "g", topic, 1)), ErrorCode::InvalidProducerEpoch);
    assert_eq!(code(&mut broker, 5, &commit(producer, "", topic, 1)), ErrorCode::InvalidGroupId);
    let member = TxnOffsetCommitRequest {
        generation_id_or_member_epoch: 3,
        member_id: "m",
        ..commit(producer, "g", topic, 1)
    };
    assert_eq!(code(&mut broker, 5, &member), ErrorCode::IllegalGeneration);
    assert_eq!(code(&mut broker, 6, &member), ErrorCode::GroupIdNotFound);
    let unknown = commit(producer, "g", ("none", TopicId([9; 16])), 1);
    assert_eq!(code(&mut broker, 5, &unknown), ErrorCode::UnknownTopicOrPartition);
    assert_eq!(code(&mut broker, 6, &unknown), ErrorCode::UnknownTopicId);
    // What is too long is refused by itself and leaves nothing pending (KAFKA-16371).
    let long = "x".repeat(5_000);
    let mut request = commit(producer, "g", topic, 1);
    request.topics[0].partitions[0].committed_metadata = Some(&long);
    assert_eq!(code(&mut broker, 5, &request), ErrorCode::OffsetMetadataTooLarge);
    assert_eq!(stable(&mut broker, "g"), Ok(-1));
}

#[test]
fn pending_offsets_outlive_a_crash_and_end_with_the_markers() {
    let (mut broker, topic) = with_topic();
    let producer = init(&mut broker, 5, "a").expect("a producer");
    assert_eq!(code(&mut broker, 5, &commit(producer, "g", topic, 7)), ErrorCode::None);
    broker.crash();
    assert_eq!(stable(&mut broker, "g"), Err(ErrorCode::UnstableOffsetCommit));
    decide(&mut broker, producer, true);
    broker.disk.set_pace(Pace::AtOnce);
    broker.crash();
    assert_eq!(stable(&mut broker, "g"), Ok(7), "the next start wrote the marker");
}
