//! AlterConfigs and IncrementalAlterConfigs: what is changed, what is refused, and what follows from it.

use std::collections::BTreeMap;

use milepost_batch::{BatchBuilder, BatchOptions, BatchView, Codec, TimestampType};
use milepost_model::{Offset, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp};
use milepost_storage::Pace;
use milepost_wire::messages::alter_configs::{self, AlterConfigsRequest, AlterConfigsResponse};
use milepost_wire::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse,
};
use milepost_wire::messages::fetch::{FetchPartition, FetchRequest, FetchResponse, FetchTopic};
use milepost_wire::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, Frame, START_MS, all_versions, batch, batch_with};

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const SET: i8 = 0;
const DELETE: i8 = 1;
const APPEND: i8 = 2;
const SUBTRACT: i8 = 3;

type Change<'a> = (&'a str, i8, Option<&'a str>);

fn resource<'a>(kind: i8, name: &'a str, changes: &[Change<'a>]) -> AlterConfigsResource<'a> {
    let config = |(name, config_operation, value): &Change<'a>| AlterableConfig {
        name,
        config_operation: *config_operation,
        value: *value,
    };
    AlterConfigsResource {
        resource_type: kind,
        resource_name: name,
        configs: changes.iter().map(config).collect(),
    }
}

fn incremental<'a>(resources: Vec<AlterConfigsResource<'a>>) -> IncrementalAlterConfigsRequest<'a> {
    IncrementalAlterConfigsRequest { resources, validate_only: false }
}

fn codes(frame: &Frame) -> Vec<ErrorCode> {
    let response: IncrementalAlterConfigsResponse<'_> = frame.read();
    response.responses.iter().map(|resource| resource.error_code).collect()
}

fn change(broker: &mut Broker, topic: &str, changes: &[Change<'_>]) -> ErrorCode {
    codes(&broker.ask(1, &incremental(vec![resource(TOPIC, topic, changes)])))[0]
}

fn replace(broker: &mut Broker, version: i16, topic: &str, settings: &[(&str, Option<&str>)]) -> ErrorCode {
    let configs =
        settings.iter().map(|(name, value)| alter_configs::AlterableConfig { name, value: *value }).collect();
    let resources =
        vec![alter_configs::AlterConfigsResource { resource_type: TOPIC, resource_name: topic, configs }];
    let frame = broker.ask(version, &AlterConfigsRequest { resources, validate_only: false });
    frame.read::<AlterConfigsResponse<'_>>().responses[0].error_code
}

/// The topic's own settings, which DescribeConfigs calls dynamic.
fn own(broker: &mut Broker, topic: &str) -> BTreeMap<String, String> {
    const DYNAMIC_TOPIC_CONFIG: i8 = 1;
    let resources = vec![DescribeConfigsResource {
        resource_type: TOPIC,
        resource_name: topic,
        ..DescribeConfigsResource::default()
    }];
    let frame = broker.ask(4, &DescribeConfigsRequest { resources, ..DescribeConfigsRequest::default() });
    let response: DescribeConfigsResponse<'_> = frame.read();
    let configs = response.results[0].configs.iter();
    configs
        .filter(|config| config.config_source == DYNAMIC_TOPIC_CONFIG)
        .map(|config| (config.name.to_owned(), config.value.unwrap_or_default().to_owned()))
        .collect()
}

fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn with_topic() -> Broker {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 2);
    broker
}

#[test]
fn single_settings_are_set_deleted_appended_and_subtracted_and_survive() {
    let mut broker = with_topic();
    for version in all_versions(ApiKey::IncrementalAlterConfigs) {
        let changes = [("retention.ms", SET, Some("5")), ("segment.ms", SET, Some("7"))];
        let frame = broker.ask(version, &incremental(vec![resource(TOPIC, "t", &changes)]));
        assert_eq!(codes(&frame), [ErrorCode::None]);
        assert_eq!(own(&mut broker, "t"), settings(&[("retention.ms", "5"), ("segment.ms", "7")]));
    }
    assert_eq!(change(&mut broker, "t", &[("segment.ms", DELETE, None)]), ErrorCode::None);
    assert_eq!(change(&mut broker, "t", &[("segment.ms", DELETE, None)]), ErrorCode::None, "again");
    assert_eq!(change(&mut broker, "t", &[("cleanup.policy", APPEND, Some("compact"))]), ErrorCode::None);
    let expected = settings(&[("cleanup.policy", "delete,compact"), ("retention.ms", "5")]);
    assert_eq!(own(&mut broker, "t"), expected, "the default is what is appended to");
    assert_eq!(change(&mut broker, "t", &[("cleanup.policy", SUBTRACT, Some("delete"))]), ErrorCode::None);
    broker.crash();
    let expected = settings(&[("cleanup.policy", "compact"), ("retention.ms", "5")]);
    assert_eq!(own(&mut broker, "t"), expected);
    broker.stop();
    broker.start_again();
    assert_eq!(own(&mut broker, "t"), expected);
}

#[test]
fn all_settings_are_replaced_at_once() {
    let mut broker = with_topic();
    assert_eq!(change(&mut broker, "t", &[("retention.ms", SET, Some("5"))]), ErrorCode::None);
    for version in all_versions(ApiKey::AlterConfigs) {
        let value = version.to_string();
        assert_eq!(replace(&mut broker, version, "t", &[("flush.ms", Some(&value))]), ErrorCode::None);
        assert_eq!(own(&mut broker, "t"), settings(&[("flush.ms", &value)]));
    }
    assert_eq!(replace(&mut broker, 2, "t", &[]), ErrorCode::None);
    assert_eq!(own(&mut broker, "t"), settings(&[]));
    assert_eq!(replace(&mut broker, 2, "t", &[("flush.ms", None)]), ErrorCode::InvalidRequest);
    assert_eq!(replace(&mut broker, 2, "t", &[("flush.ms", Some("x"))]), ErrorCode::InvalidConfig);
}

#[test]
fn a_request_that_only_checks_changes_nothing() {
    let mut broker = with_topic();
    let good = resource(TOPIC, "t", &[("retention.ms", SET, Some("5"))]);
    let bad = resource(TOPIC, "t", &[("retention.ms", SET, Some("-2"))]);
    for (resource, expected) in [(good, ErrorCode::None), (bad, ErrorCode::InvalidConfig)] {
        let request = IncrementalAlterConfigsRequest { resources: vec![resource], validate_only: true };
        assert_eq!(codes(&broker.ask(1, &request)), [expected]);
    }
    assert_eq!(own(&mut broker, "t"), settings(&[]));
}

#[test]
fn the_answer_waits_for_the_disk() {
    let mut broker = with_topic();
    let client = broker.main();
    broker.disk.set_pace(Pace::Held);
    let changes = [("retention.ms", SET, Some("5"))];
    broker.send(client, 1, &incremental(vec![resource(TOPIC, "t", &changes)]));
    broker.settle();
    assert!(broker.answer(client).is_none());
    let other = broker.connect();
    let second = incremental(vec![resource(TOPIC, "t", &[("flush.ms", SET, Some("5"))])]);
    let frame = broker.ask_on(other, 1, &second);
    assert_eq!(codes(&frame), [ErrorCode::NotController], "one change of a topic at a time");
    broker.disk.set_pace(Pace::AtOnce);
    broker.disk.complete();
    broker.settle();
    assert_eq!(codes(&broker.answer(client).expect("it is durable")), [ErrorCode::None]);
    assert_eq!(own(&mut broker, "t"), settings(&[("retention.ms", "5")]));
}

#[test]
fn what_is_refused_and_that_nothing_of_it_happens() {
    let mut broker = with_topic();
    let cases: &[(&str, &[Change<'_>], ErrorCode)] = &[
        ("t", &[("no.such", SET, Some("1"))], ErrorCode::InvalidConfig),
        ("t", &[("retention.ms", SET, Some("-2"))], ErrorCode::InvalidConfig),
        ("t", &[("retention.ms", SET, Some("soon"))], ErrorCode::InvalidConfig),
        ("t", &[("retention.ms", SET, None)], ErrorCode::InvalidRequest),
        ("t", &[("retention.ms", APPEND, Some("1"))], ErrorCode::InvalidConfig),
        ("t", &[("retention.ms", 9, Some("1"))], ErrorCode::InvalidRequest),
        ("t", &[("flush.ms", SET, Some("1")), ("flush.ms", SET, Some("2"))], ErrorCode::InvalidRequest),
        ("t", &[("flush.ms", SET, Some("1")), ("no.such", SET, Some("2"))], ErrorCode::InvalidConfig),
        (
            "t",
            &[("min.compaction.lag.ms", SET, Some("2")), ("max.compaction.lag.ms", SET, Some("1"))],
            ErrorCode::InvalidConfig,
        ),
        ("t", &[("cleanup.policy", APPEND, Some("shred"))], ErrorCode::InvalidConfig),
        ("none", &[("flush.ms", SET, Some("1"))], ErrorCode::UnknownTopicOrPartition),
        ("none", &[("no.such", SET, Some("1"))], ErrorCode::InvalidConfig),
        ("no/name", &[("flush.ms", SET, Some("1"))], ErrorCode::InvalidTopicException),
        ("", &[("flush.ms", SET, Some("1"))], ErrorCode::InvalidRequest),
    ];
    for (topic, changes, expected) in cases {
        assert_eq!(change(&mut broker, topic, changes), *expected, "{topic} {changes:?}");
    }
    assert_eq!(own(&mut broker, "t"), settings(&[]));
    let one = || resource(TOPIC, "t", &[("flush.ms", SET, Some("1"))]);
    assert_eq!(codes(&broker.ask(1, &incremental(vec![one(), one()]))), [ErrorCode::InvalidRequest]);
    let mixed = vec![one(), resource(TOPIC, "none", &[("flush.ms", SET, Some("1"))])];
    let expected = [ErrorCode::None, ErrorCode::UnknownTopicOrPartition];
    assert_eq!(codes(&broker.ask(1, &incremental(mixed))), expected, "each for itself");
}

#[test]
fn settings_of_the_broker_do_not_change_while_it_runs() {
    let mut broker = with_topic();
    let set = [("message.max.bytes", SET, Some("1"))];
    for (kind, name) in [(BROKER, "1"), (BROKER, ""), (BROKER, "2"), (8, "1"), (16, "m"), (3, "x")] {
        let frame = broker.ask(1, &incremental(vec![resource(kind, name, &set)]));
        let response: IncrementalAlterConfigsResponse<'_> = frame.read();
        let refused = &response.responses[0];
        assert_eq!((refused.error_code, refused.resource_type), (ErrorCode::InvalidRequest, kind));
        assert!(refused.error_message.is_some_and(|why| why.len() > 10));
    }
    let nothing = incremental(vec![resource(BROKER, "1", &[])]);
    assert_eq!(codes(&broker.ask(1, &nothing)), [ErrorCode::None]);
}

fn batch_at(time_ms: i64) -> Vec<u8> {
    let mut builder = BatchBuilder::new(BatchOptions::default());
    builder.append(Timestamp(START_MS + time_ms), None, Some(b"value"), &[]).expect("a small record");
    builder.build(Offset(0))
}

#[test]
fn changed_settings_hold_for_the_next_produce_of_every_partition() {
    let mut broker = with_topic();
    for partition in 0..2 {
        assert!(broker.produce("t", partition, &batch_at(0)).is_ok());
    }
    let large = batch(&[&"x".repeat(500)]);
    assert!(broker.produce("t", 0, &large).is_ok());
    let bad: &[(&[Change<'_>], &[u8], ErrorCode)] = &[
        (&[("max.message.bytes", SET, Some("100"))], &large, ErrorCode::MessageTooLarge),
        (&[("cleanup.policy", SET, Some("compact"))], &batch_at(0), ErrorCode::InvalidRecord),
        (
            &[("message.timestamp.before.max.ms", SET, Some("10"))],
            &batch_at(-11),
            ErrorCode::InvalidTimestamp,
        ),
        (&[("message.timestamp.after.max.ms", SET, Some("10"))], &batch_at(11), ErrorCode::InvalidTimestamp),
    ];
    for (changes, bytes, expected) in bad {
        assert_eq!(change(&mut broker, "t", changes), ErrorCode::None);
        for partition in 0..2 {
            assert_eq!(broker.produce("t", partition, bytes), Err(*expected), "{changes:?}");
        }
        broker.crash();
        assert_eq!(broker.produce("t", 1, bytes), Err(*expected), "{changes:?} after a crash");
        let undo = [(changes[0].0, DELETE, None)];
        assert_eq!(change(&mut broker, "t", &undo), ErrorCode::None);
        assert!(broker.produce("t", 0, bytes).is_ok(), "without {changes:?}");
    }
}

/// The first batch of t-0 at or behind this offset, as it is stored.
fn stored(broker: &mut Broker, offset: i64) -> Vec<u8> {
    let partition =
        FetchPartition { fetch_offset: offset, partition_max_bytes: 1 << 20, ..FetchPartition::default() };
    let topics = vec![FetchTopic { topic: "t", partitions: vec![partition], ..FetchTopic::default() }];
    let frame = broker.ask(12, &FetchRequest { max_bytes: 1 << 20, topics, ..FetchRequest::default() });
    let response: FetchResponse<'_> = frame.read();
    response.responses[0].partitions[0].records.expect("never null").to_vec()
}

#[test]
fn batches_are_stored_in_the_codec_that_the_topic_names() {
    let codecs = [
        ("uncompressed", Codec::None),
        ("gzip", Codec::Gzip),
        ("snappy", Codec::Snappy),
        ("lz4", Codec::Lz4),
        ("zstd", Codec::Zstd),
    ];
    let mut broker = with_topic();
    for (word, wanted) in codecs {
        assert_eq!(change(&mut broker, "t", &[("compression.type", SET, Some(word))]), ErrorCode::None);
        for (_, codec) in codecs {
            let options = BatchOptions { codec, ..BatchOptions::default() };
            let sent = batch_with(options, &["one", "two", &"three ".repeat(100)]);
            let offset = broker.produce("t", 0, &sent).expect("a good batch");
            let bytes = stored(&mut broker, offset);
            let (view, _) = BatchView::parse(&bytes).expect("a batch");
            assert!(view.crc_matches());
            assert_eq!(view.codec(), Ok(wanted), "{codec} in {word}");
            let records = view.records().expect("it opens");
            let lengths: Vec<_> =
                records.iter().map(|record| record.expect("a record").value.map_or(0, <[u8]>::len)).collect();
            assert_eq!(lengths, [3, 3, 600]);
        }
    }
    assert_eq!(change(&mut broker, "t", &[("compression.type", SET, Some("producer"))]), ErrorCode::None);
    let options = BatchOptions { codec: Codec::Lz4, ..BatchOptions::default() };
    let sent = batch_with(options, &["as it came"]);
    let offset = broker.produce("t", 0, &sent).expect("a good batch");
    assert_eq!(stored(&mut broker, offset)[16..], sent[16..], "but for offset and epoch");
}

#[test]
fn a_batch_that_is_compressed_anew_is_checked_before_and_after() {
    let mut broker = with_topic();
    let small = [("max.message.bytes", SET, Some("300")), ("compression.type", SET, Some("uncompressed"))];
    assert_eq!(change(&mut broker, "t", &small), ErrorCode::None);
    let options = BatchOptions { codec: Codec::Gzip, ..BatchOptions::default() };
    let fits_only_as_it_came = batch_with(options, &[&"x".repeat(1000)]);
    assert!(fits_only_as_it_came.len() < 300);
    assert_eq!(broker.produce("t", 0, &fits_only_as_it_came), Err(ErrorCode::MessageTooLarge));
    let mut damaged = batch_with(options, &["one"]);
    *damaged.last_mut().expect("bytes") ^= 1;
    assert_eq!(broker.produce("t", 0, &damaged), Err(ErrorCode::CorruptMessage));
    let old = "message.timestamp.before.max.ms";
    assert_eq!(change(&mut broker, "t", &[(old, SET, Some("10"))]), ErrorCode::None);
    broker.pass_ms(11);
    assert_eq!(broker.produce("t", 0, &batch_with(options, &["one"])), Err(ErrorCode::InvalidTimestamp));
    let stamped = ("message.timestamp.type", SET, Some("LogAppendTime"));
    assert_eq!(change(&mut broker, "t", &[(old, DELETE, None), stamped]), ErrorCode::None);
    let numbered = BatchOptions {
        producer: Some(ProducerIdentity { id: ProducerId(5), epoch: ProducerEpoch(0) }),
        base_sequence: Some(0),
        ..options
    };
    let sent = batch_with(numbered, &["one", "two"]);
    assert_eq!(broker.produce("t", 0, &sent), Ok(0), "nothing was kept of what was refused");
    assert_eq!(broker.produce("t", 0, &sent), Ok(0), "a duplicate, whatever its codec");
    let bytes = stored(&mut broker, 0);
    let (view, rest) = BatchView::parse(&bytes).expect("a batch");
    assert!(rest.is_empty() && view.crc_matches());
    assert_eq!((view.codec(), view.max_timestamp().0), (Ok(Codec::None), START_MS + 11));
    assert_eq!(view.timestamp_type(), TimestampType::LogAppendTime);
}

#[test]
fn the_topic_of_committed_offsets_stays_compacted() {
    const OFFSETS: &str = "__consumer_offsets";
    let mut broker = Broker::start(&[]);
    let before = own(&mut broker, OFFSETS);
    for policy in ["delete", "compact,delete", ""] {
        let changed = change(&mut broker, OFFSETS, &[("cleanup.policy", SET, Some(policy))]);
        assert_eq!(changed, ErrorCode::InvalidConfig, "{policy:?}");
    }
    assert_eq!(change(&mut broker, OFFSETS, &[("cleanup.policy", DELETE, None)]), ErrorCode::InvalidConfig);
    // AlterConfigs sets back what it does not name.
    assert_eq!(
        replace(&mut broker, 2, OFFSETS, &[("segment.ms", Some("1000000"))]),
        ErrorCode::InvalidConfig
    );
    assert_eq!(own(&mut broker, OFFSETS), before);
    let both = [("segment.ms", Some("1000000")), ("cleanup.policy", Some("compact"))];
    assert_eq!(replace(&mut broker, 2, OFFSETS, &both), ErrorCode::None);
    assert_eq!(change(&mut broker, OFFSETS, &[("delete.retention.ms", SET, Some("5"))]), ErrorCode::None);
}
