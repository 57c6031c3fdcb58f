//! The same requests to this machine and to a real Kafka broker leave the same records, byte for byte and in the same order.
//! Only timestamps and the version in a regular expression's record are the broker's own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]
#![allow(clippy::disallowed_methods, reason = "the fixture is a file")]

#[allow(dead_code, reason = "this test needs only a part of it")]
mod harness;

use std::fs;
use std::path::Path;

use harness::{Entry, Machine, command};
use milepost_groups::{ClusterTopics, GroupSettings};
use milepost_model::TopicId;
use milepost_records::offsets::Record;
use milepost_records::offsets::consumer_group::ConsumerGroupRecord;

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// Takes out what is the broker's own: each of these fields is set to 1, so that it must still be there.
fn without_times(key: &[u8], value: Option<Vec<u8>>) -> Option<Vec<u8>> {
    let bytes = value?;
    let Ok(Record::ConsumerGroup { value: Some(mut record), .. }) = Record::decode(Some(key), Some(&bytes))
    else {
        return Some(bytes);
    };
    let mut again = Vec::new();
    record.encode(&mut again).unwrap();
    assert_eq!(again, bytes, "what was read is written again");
    match &mut record {
        ConsumerGroupRecord::TargetAssignmentMetadata(target) => {
            if let Some(time) = &mut target.assignment_timestamp {
                time.0 = 1;
            }
        }
        ConsumerGroupRecord::RegularExpression(resolved) => {
            resolved.timestamp.0 = 1;
            resolved.version = 1;
        }
        _ => {}
    }
    again.clear();
    record.encode(&mut again).unwrap();
    Some(again)
}

#[test]
fn consumer_groups_leave_the_records_that_kafka_leaves() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let text = fs::read_to_string(folder.join("kafka-4.4.0-consumer-groups.txt")).unwrap();
    let settings = GroupSettings { consumer_assignment_interval_ms: 0, ..GroupSettings::default() };
    let mut machine = Machine::new(settings);
    let mut expected = Vec::new();
    let mut members = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(id) = line.strip_prefix("id ") {
            let id = TopicId(bytes(id).try_into().unwrap());
            machine.topics = ClusterTopics::new(1, [("orders".into(), id, 3)]).into();
        } else if let Some((key, value)) = line.trim_start().split_once(' ').filter(|_| line.starts_with(' '))
        {
            expected.push((bytes(key), (value != "-").then(|| bytes(value))));
        } else {
            command::run(&mut machine, line, &mut members);
        }
    }
    let written = machine.log.iter().map(|entry| match entry {
        Entry::Record { key, value, .. } => (key.clone(), value.clone()),
        Entry::Marker { .. } => panic!("nobody ended a transaction"),
    });
    let written: Vec<_> = written.collect();
    assert!(expected.len() > 60, "the fixture has {} records", expected.len());
    for (number, ((key, value), (kafka_key, kafka_value))) in written.iter().zip(&expected).enumerate() {
        assert_eq!(key, kafka_key, "the key of record {number}");
        let (ours, kafkas) = (without_times(key, value.clone()), without_times(key, kafka_value.clone()));
        assert_eq!(ours, kafkas, "the value of record {number}");
    }
    assert_eq!(written.len(), expected.len());
}
