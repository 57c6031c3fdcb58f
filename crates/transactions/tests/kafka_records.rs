//! The same operations as a Kafka broker was asked for write the same records, byte for byte and in the same order.
//! Only these are made equal before: times and producer ids, which each coordinator has its own of, and the order of
//! partitions within a record, which Kafka leaves to a hash map.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]

#[allow(dead_code, reason = "only its log is looked at here")]
mod harness;

use harness::{Machine, command};
use milepost_model::Timestamp;
use milepost_records::transactions::{Record, TransactionValue, ValueVersion};
use milepost_transactions::TransactionSettings;

/// What the producers of the fixture did, as far as the coordinator heard of it.
const OPERATIONS: &[&str] = &[
    "init t1",
    "add t1 1/0 a:0",
    "add t1 1/0 a:1",
    "commit t1 1/0",
    "markers t1",
    "add t1 1/1 a:0",
    "abort t1 1/1",
    "markers t1",
    "add t1 1/2 a:1",
    "init t1",
    "markers t1",
    "init t1",
    "add t1 1/4 a:1",
    "add t1 1/4 __consumer_offsets:0",
    "commit t1 1/4",
    "markers t1",
    "init t2 timeout=1s",
    "add t2 2/0 a:0",
    "tick 20s",
    "markers t2",
];

/// Kafka's producer ids begin with 0, those of the machine with 1.
const FIRST_ID: i64 = 1;

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn fixture() -> Vec<(Vec<u8>, Vec<u8>)> {
    let lines = include_str!("fixtures/kafka_4_4_0.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split_once(' ').unwrap())
        .map(|(key, value)| (bytes_of(key), bytes_of(value)))
        .collect()
}

fn encoded(value: &TransactionValue<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    value.encode(ValueVersion::V1, &mut out).unwrap();
    out
}

/// The value without times, its partitions in order, its producer ids moved by `ids`.
fn normalised(key: &[u8], value: &[u8], ids: i64) -> Vec<u8> {
    let Ok(Record::Transaction { value: Some(mut read), .. }) = Record::decode(Some(key), Some(value)) else {
        panic!("{key:02x?} {value:02x?} is no transaction");
    };
    assert_eq!(encoded(&read), value, "what is read is written back");
    let own = &mut read.producer.id;
    for id in
        [Some(own), read.previous_producer_id.as_mut(), read.next_producer_id.as_mut()].into_iter().flatten()
    {
        id.0 += ids;
    }
    for topics in read.partitions.iter_mut() {
        topics.sort_by_key(|topic| topic.topic);
        topics.iter_mut().for_each(|topic| topic.partitions.sort_unstable());
    }
    read.last_update_timestamp = Timestamp(0);
    read.start_timestamp = read.start_timestamp.map(|_| Timestamp(0));
    encoded(&read)
}

#[test]
fn the_same_operations_write_the_records_of_kafka() {
    let mut machine = Machine::new(TransactionSettings::default());
    for line in OPERATIONS {
        command::run(&mut machine, line);
    }
    let ours = machine.log();
    let theirs = fixture();
    assert_eq!(ours.len(), theirs.len());
    for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        let (key, value) = (&ours.0, ours.1.as_deref().expect("nothing expires here"));
        assert_eq!(*key, theirs.0, "the key of record {number}");
        let theirs = normalised(&theirs.0, &theirs.1, FIRST_ID);
        assert_eq!(normalised(key, value, 0), theirs, "record {number}");
    }
}
