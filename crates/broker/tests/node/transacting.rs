//! What producers of transactions ask, for the tests of transactions: one request each, checked as far as all agree.

use milepost_batch::{BatchOptions, BatchView};
use milepost_model::{ProducerEpoch, ProducerId, ProducerIdentity};
use milepost_storage::Pace;
use milepost_wire::ErrorCode;
use milepost_wire::messages::add_offsets_to_txn::{AddOffsetsToTxnRequest, AddOffsetsToTxnResponse};
use milepost_wire::messages::add_partitions_to_txn::{
    AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, AddPartitionsToTxnTopic,
};
use milepost_wire::messages::describe_transactions::{
    DescribeTransactionsRequest, DescribeTransactionsResponse,
};
use milepost_wire::messages::end_txn::{EndTxnRequest, EndTxnResponse};
use milepost_wire::messages::fetch::{FetchPartition, FetchRequest, FetchResponse, FetchTopic};
use milepost_wire::messages::find_coordinator::{FindCoordinatorRequest, FindCoordinatorResponse};
use milepost_wire::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};
use milepost_wire::messages::produce::{ProduceRequest, ProduceResponse};

use crate::harness::{Broker, batch_with, produce_request};

/// A transactional id and the producer that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Producer {
    pub(crate) transactional_id: &'static str,
    pub(crate) id: i64,
    pub(crate) epoch: i16,
}

/// A broker that has a topic `t` of two partitions, and coordinators of transactions.
pub(crate) fn with_transactions(settings: &[&str]) -> Broker {
    let all: Vec<&str> = ["transaction.state.log.num.partitions=3"].iter().chain(settings).copied().collect();
    let mut broker = Broker::start(&all);
    broker.create_topic("t", 2);
    while find_coordinator(&mut broker) == ErrorCode::CoordinatorNotAvailable {}
    broker
}

pub(crate) fn find_coordinator(broker: &mut Broker) -> ErrorCode {
    let request = FindCoordinatorRequest { key_type: 1, coordinator_keys: vec!["x"], ..Default::default() };
    let frame = broker.ask(4, &request);
    frame.read::<FindCoordinatorResponse<'_>>().coordinators[0].error_code
}

pub(crate) fn init(
    broker: &mut Broker,
    version: i16,
    transactional_id: &'static str,
) -> Result<Producer, ErrorCode> {
    let request = InitProducerIdRequest {
        transactional_id: Some(transactional_id),
        transaction_timeout_ms: 60_000,
        ..InitProducerIdRequest::default()
    };
    let frame = broker.ask(version, &request);
    let response: InitProducerIdResponse = frame.read();
    match response.error_code {
        ErrorCode::None => {
            Ok(Producer { transactional_id, id: response.producer_id, epoch: response.producer_epoch })
        }
        code => Err(code),
    }
}

/// Adds a partition of a topic, in one of the versions that clients send.
pub(crate) fn add(
    broker: &mut Broker,
    version: i16,
    producer: Producer,
    topic: &str,
    index: i32,
) -> ErrorCode {
    let request = AddPartitionsToTxnRequest {
        v3_and_below_transactional_id: producer.transactional_id,
        v3_and_below_producer_id: producer.id,
        v3_and_below_producer_epoch: producer.epoch,
        v3_and_below_topics: vec![AddPartitionsToTxnTopic { name: topic, partitions: vec![index] }],
        ..AddPartitionsToTxnRequest::default()
    };
    let frame = broker.ask(version, &request);
    let response: AddPartitionsToTxnResponse<'_> = frame.read();
    response.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
}

pub(crate) fn add_offsets(
    broker: &mut Broker,
    version: i16,
    producer: Producer,
    group_id: &str,
) -> ErrorCode {
    let request = AddOffsetsToTxnRequest {
        transactional_id: producer.transactional_id,
        producer_id: producer.id,
        producer_epoch: producer.epoch,
        group_id,
    };
    let frame = broker.ask(version, &request);
    frame.read::<AddOffsetsToTxnResponse>().error_code
}

/// Ends the transaction; the producer that goes on.
pub(crate) fn end(
    broker: &mut Broker,
    version: i16,
    producer: Producer,
    committed: bool,
) -> Result<Producer, ErrorCode> {
    let frame = broker.ask(version, &end_request(producer, committed));
    ended(producer, version, &frame.read())
}

/// Ends a transaction as far as it is decided: the disk is held after the record that says so, with the markers on their way.
/// Gives the producer of the next transaction.
pub(crate) fn decide(broker: &mut Broker, producer: Producer, committed: bool) -> Producer {
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    broker.send(client, 5, &end_request(producer, committed));
    broker.settle();
    broker.disk.complete();
    broker.settle();
    let frame = broker.answer(client).expect("it is decided, though no marker is durable");
    ended(producer, 5, &frame.read::<EndTxnResponse>()).expect("it ends")
}

pub(crate) fn end_request(producer: Producer, committed: bool) -> EndTxnRequest<'static> {
    EndTxnRequest {
        transactional_id: producer.transactional_id,
        producer_id: producer.id,
        producer_epoch: producer.epoch,
        committed,
    }
}

pub(crate) fn ended(
    producer: Producer,
    version: i16,
    response: &EndTxnResponse,
) -> Result<Producer, ErrorCode> {
    match response.error_code {
        ErrorCode::None if version < 5 => {
            assert_eq!(
                (response.producer_id, response.producer_epoch),
                (-1, -1),
                "older clients keep theirs"
            );
            Ok(producer)
        }
        ErrorCode::None => {
            Ok(Producer { id: response.producer_id, epoch: response.producer_epoch, ..producer })
        }
        code => Err(code),
    }
}

pub(crate) fn transactional_batch(producer: Producer, sequence: i32, values: &[&str]) -> Vec<u8> {
    let identity = ProducerIdentity { id: ProducerId(producer.id), epoch: ProducerEpoch(producer.epoch) };
    let options = BatchOptions {
        producer: Some(identity),
        base_sequence: Some(sequence),
        transactional: true,
        ..BatchOptions::default()
    };
    batch_with(options, values)
}

pub(crate) fn transactional_produce<'a>(
    producer: Producer,
    topic: &'a str,
    index: i32,
    bytes: &'a [u8],
) -> ProduceRequest<'a> {
    ProduceRequest {
        transactional_id: Some(producer.transactional_id),
        ..produce_request(topic, index, bytes)
    }
}

/// Produces into `t` within the producer's transaction; the base offset, or the code.
pub(crate) fn produce(
    broker: &mut Broker,
    version: i16,
    producer: Producer,
    (index, sequence): (i32, i32),
    value: &str,
) -> Result<i64, ErrorCode> {
    let bytes = transactional_batch(producer, sequence, &[value]);
    let frame = broker.ask(version, &transactional_produce(producer, "t", index, &bytes));
    produced(&frame.read())
}

pub(crate) fn produced(response: &ProduceResponse<'_>) -> Result<i64, ErrorCode> {
    let answer = &response.responses[0].partition_responses[0];
    if answer.error_code == ErrorCode::None { Ok(answer.base_offset) } else { Err(answer.error_code) }
}

/// What a reader of committed records sees from the beginning of a partition of `t`, as a Kafka client does: it leaves out
/// control records, and what the answer says was aborted.
pub(crate) fn committed_values(broker: &mut Broker, index: i32) -> Vec<String> {
    let frame = broker.ask(11, &fetch("t", index, 0, 1));
    let response: FetchResponse<'_> = frame.read();
    let data = &response.responses[0].partitions[0];
    assert_eq!(data.error_code, ErrorCode::None);
    let mut aborted = data.aborted_transactions.clone().expect("a list, even if it is empty");
    let mut skipped = std::collections::BTreeSet::new();
    let mut values = Vec::new();
    let mut rest = data.records.expect("never null");
    while !rest.is_empty() {
        let (batch, after) = BatchView::parse(rest).expect("whole batches");
        assert!(batch.next_offset().0 <= data.last_stable_offset);
        while aborted.first().is_some_and(|first| first.first_offset <= batch.base_offset().0) {
            skipped.insert(aborted.remove(0).producer_id);
        }
        let producer = batch.producer().map(|producer| producer.id.0);
        if batch.is_control() {
            producer.map(|id| skipped.remove(&id));
        } else if !(batch.is_transactional() && producer.is_some_and(|id| skipped.contains(&id))) {
            let records = batch.records().expect("records");
            for record in &records {
                let value = record.expect("a record").value.expect("a value");
                values.push(String::from_utf8_lossy(value).into_owned());
            }
        }
        rest = after;
    }
    values
}

pub(crate) fn fetch(topic: &str, index: i32, offset: i64, isolation_level: i8) -> FetchRequest<'_> {
    let partition = FetchPartition {
        partition: index,
        fetch_offset: offset,
        partition_max_bytes: 1 << 20,
        ..FetchPartition::default()
    };
    FetchRequest {
        max_bytes: 1 << 20,
        isolation_level,
        topics: vec![FetchTopic { topic, partitions: vec![partition], ..FetchTopic::default() }],
        ..FetchRequest::default()
    }
}

/// The state of a transactional id, as it is called.
pub(crate) fn state(broker: &mut Broker, transactional_id: &str) -> String {
    let request = DescribeTransactionsRequest { transactional_ids: vec![transactional_id] };
    let frame = broker.ask(0, &request);
    let response: DescribeTransactionsResponse<'_> = frame.read();
    assert_eq!(response.transaction_states[0].error_code, ErrorCode::None);
    response.transaction_states[0].transaction_state.to_owned()
}
