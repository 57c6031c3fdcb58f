//! Metadata, CreateTopics, CreatePartitions, DeleteTopics.

use milepost_model::TopicId;
use milepost_wire::messages::create_partitions::{
    CreatePartitionsAssignment, CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic,
};
use milepost_wire::messages::create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
    CreateTopicsResponse,
};
use milepost_wire::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest, DeleteTopicsResponse};
use milepost_wire::messages::metadata::{MetadataRequest, MetadataRequestTopic, MetadataResponse};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, all_versions, operations, versions};

fn named(name: &str) -> CreatableTopic<'_> {
    CreatableTopic { name, num_partitions: -1, replication_factor: -1, ..CreatableTopic::default() }
}

fn metadata_of<'a>(names: &[&'a str]) -> MetadataRequest<'a> {
    let topics = names
        .iter()
        .map(|name| MetadataRequestTopic { name: Some(name), ..MetadataRequestTopic::default() })
        .collect();
    MetadataRequest { topics: Some(topics), ..MetadataRequest::default() }
}

/// The codes of a CreateTopics answer, topic by topic.
fn create(broker: &mut Broker, topics: Vec<CreatableTopic<'_>>) -> Vec<ErrorCode> {
    let frame = broker.ask(7, &CreateTopicsRequest { topics, ..CreateTopicsRequest::default() });
    frame.read::<CreateTopicsResponse<'_>>().topics.iter().map(|topic| topic.error_code).collect()
}

fn names(broker: &mut Broker) -> Vec<String> {
    let frame = broker.ask(12, &MetadataRequest { topics: None, ..MetadataRequest::default() });
    let response: MetadataResponse<'_> = frame.read();
    response.topics.iter().filter_map(|topic| topic.name).map(str::to_owned).collect()
}

#[test]
fn topics_are_created_and_shown_in_every_version() {
    let mut broker = Broker::start(&[]);
    for version in all_versions(ApiKey::CreateTopics) {
        let name = format!("topic-{version}");
        let topic = CreatableTopic { num_partitions: 2, replication_factor: 1, ..named(&name) };
        let request = CreateTopicsRequest { topics: vec![topic], ..CreateTopicsRequest::default() };
        let frame = broker.ask(version, &request);
        let response: CreateTopicsResponse<'_> = frame.read();
        let created = &response.topics[0];
        assert_eq!((created.name, created.error_code), (name.as_str(), ErrorCode::None));
        if version >= 5 {
            assert_eq!((created.num_partitions, created.replication_factor), (2, 1));
            let configs = created.configs.as_ref().expect("allowed to see them");
            assert!(configs.iter().any(|config| config.name == "cleanup.policy"));
            assert!(configs.is_sorted_by_key(|config| config.name));
        }
        assert_eq!(created.topic_id.is_zero(), version < 7);
    }
    for version in all_versions(ApiKey::Metadata) {
        let frame = broker.ask(version, &metadata_of(&["topic-2"]));
        let response: MetadataResponse<'_> = frame.read();
        let broker_line = &response.brokers[0];
        assert_eq!((broker_line.node_id, broker_line.host, broker_line.port), (1, "broker.test", 9092));
        let topic = &response.topics[0];
        assert_eq!(
            (topic.name, topic.error_code, topic.is_internal),
            (Some("topic-2"), ErrorCode::None, false)
        );
        assert_eq!(topic.topic_id.is_zero(), version < 10, "version {version}");
        let leaders: Vec<_> = topic.partitions.iter().map(|p| (p.partition_index, p.leader_id)).collect();
        assert_eq!(leaders, [(0, 1), (1, 1)]);
        assert_eq!(response.controller_id, if version >= 1 { 1 } else { -1 });
    }
}

#[test]
fn all_topics_are_asked_for_by_null_and_in_version_0_by_none() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let none = MetadataRequest { topics: Some(Vec::new()), ..MetadataRequest::default() };
    let null = MetadataRequest { topics: None, ..MetadataRequest::default() };
    assert_eq!(broker.ask(0, &none).read::<MetadataResponse<'_>>().topics.len(), 2);
    assert_eq!(broker.ask(1, &none).read::<MetadataResponse<'_>>().topics.len(), 0);
    let frame = broker.ask(13, &null);
    let response: MetadataResponse<'_> = frame.read();
    let topics: Vec<_> = response.topics.iter().map(|topic| (topic.name, topic.is_internal)).collect();
    assert_eq!(topics, [(Some("__consumer_offsets"), true), (Some("t"), false)]);
}

#[test]
fn metadata_creates_a_topic_and_says_so_the_next_time() {
    let mut broker = Broker::start(&["num.partitions=3"]);
    for version in versions(ApiKey::Metadata) {
        let name = format!("wanted-{version}");
        let code = |frame: &crate::harness::Frame| frame.read::<MetadataResponse<'_>>().topics[0].error_code;
        assert_eq!(code(&broker.ask(version, &metadata_of(&[&name]))), ErrorCode::UnknownTopicOrPartition);
        let frame = broker.ask(version, &metadata_of(&[&name]));
        assert_eq!(code(&frame), ErrorCode::None);
        assert_eq!(frame.read::<MetadataResponse<'_>>().topics[0].partitions.len(), 3);
    }
}

#[test]
fn metadata_creates_nothing_it_is_not_to_create() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("a.b", 1);
    let quiet = MetadataRequest { allow_auto_topic_creation: false, ..metadata_of(&["quiet"]) };
    broker.ask(4, &quiet);
    let reserved =
        ["__cluster_metadata", "__transaction_state", "__share_group_state", "__milepost_metadata"];
    broker.ask(4, &metadata_of(&reserved));
    broker.ask(4, &metadata_of(&["a_b", "bad name", ""]));
    assert_eq!(names(&mut broker), ["__consumer_offsets", "a.b"]);
    let mut broker = Broker::start(&["auto.create.topics.enable=false"]);
    broker.ask(0, &metadata_of(&["t"]));
    assert_eq!(names(&mut broker), ["__consumer_offsets"]);
}

#[test]
fn metadata_by_id_and_its_errors() {
    let mut broker = Broker::start(&[]);
    let id = broker.create_topic("t", 1);
    let unknown = TopicId([7; 16]);
    let entry = |topic_id, name| MetadataRequestTopic { topic_id, name };
    let ask = |topics| MetadataRequest { topics: Some(topics), ..MetadataRequest::default() };
    // Names beside ids are not looked at; unknown ids come first; duplicates collapse.
    let topics =
        vec![entry(id, None), entry(unknown, None), entry(TopicId::ZERO, Some("x")), entry(id, None)];
    let frame = broker.ask(12, &ask(topics));
    let response: MetadataResponse<'_> = frame.read();
    let found: Vec<_> = response.topics.iter().map(|t| (t.name, t.topic_id, t.error_code)).collect();
    assert_eq!(found, [(None, unknown, ErrorCode::UnknownTopicId), (Some("t"), id, ErrorCode::None)]);
    for version in [10, 11] {
        let frame = broker.ask(version, &ask(vec![entry(id, Some("t"))]));
        assert_eq!(frame.read::<MetadataResponse<'_>>().topics[0].error_code, ErrorCode::InvalidRequest);
        let frame = broker.ask(version, &ask(vec![entry(TopicId::ZERO, None)]));
        assert_eq!(frame.read::<MetadataResponse<'_>>().topics[0].error_code, ErrorCode::InvalidRequest);
    }
    let frame = broker.ask(12, &metadata_of(&["bad name"]));
    assert_eq!(frame.read::<MetadataResponse<'_>>().topics[0].error_code, ErrorCode::InvalidTopicException);
}

#[test]
fn authorized_operations_are_said_when_asked_for() {
    let mut broker = Broker::start(&[]);
    let asked = MetadataRequest {
        include_topic_authorized_operations: true,
        include_cluster_authorized_operations: true,
        ..metadata_of(&["__consumer_offsets"])
    };
    let frame = broker.ask(8, &asked);
    let response: MetadataResponse<'_> = frame.read();
    assert_eq!(response.cluster_authorized_operations, operations(&[5, 7, 8, 9, 10, 11, 12]));
    assert_eq!(response.topics[0].topic_authorized_operations, operations(&[3, 4, 5, 6, 7, 8, 10, 11]));
    let frame = broker.ask(8, &metadata_of(&["__consumer_offsets"]));
    let response: MetadataResponse<'_> = frame.read();
    assert_eq!(response.cluster_authorized_operations, i32::MIN);
    assert_eq!(response.topics[0].topic_authorized_operations, i32::MIN);
}

#[test]
fn names_that_cannot_be_created() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("a.b", 1);
    let long = "x".repeat(250);
    let cases = [
        ("__cluster_metadata", ErrorCode::InvalidRequest),
        ("bad name", ErrorCode::InvalidTopicException),
        ("", ErrorCode::InvalidTopicException),
        ("..", ErrorCode::InvalidTopicException),
        (long.as_str(), ErrorCode::InvalidTopicException),
        ("a_b", ErrorCode::InvalidTopicException),
        ("a.b", ErrorCode::TopicAlreadyExists),
        ("__consumer_offsets", ErrorCode::TopicAlreadyExists),
    ];
    for (name, expected) in cases {
        assert_eq!(create(&mut broker, vec![named(name)]), [expected], "{name}");
    }
    let twice = vec![named("t"), named("u"), named("t")];
    assert_eq!(create(&mut broker, twice), [ErrorCode::InvalidRequest, ErrorCode::None]);
    assert_eq!(names(&mut broker), ["__consumer_offsets", "a.b", "u"]);
}

#[test]
fn what_a_new_topic_may_be() {
    let mut broker = Broker::start(&[]);
    let assign = |index, broker_ids: &[i32]| CreatableReplicaAssignment {
        partition_index: index,
        broker_ids: broker_ids.to_vec(),
    };
    let config = |name, value| CreatableTopicConfig { name, value };
    let base = named("t");
    let cases = [
        (CreatableTopic { num_partitions: 0, ..base.clone() }, ErrorCode::InvalidPartitions),
        (CreatableTopic { num_partitions: -2, ..base.clone() }, ErrorCode::InvalidPartitions),
        (CreatableTopic { replication_factor: 0, ..base.clone() }, ErrorCode::InvalidReplicationFactor),
        (CreatableTopic { replication_factor: 3, ..base.clone() }, ErrorCode::InvalidReplicationFactor),
        (CreatableTopic { num_partitions: 10_001, ..base.clone() }, ErrorCode::PolicyViolation),
        (
            CreatableTopic { configs: vec![config("retention.ms", None)], ..base.clone() },
            ErrorCode::InvalidConfig,
        ),
        (
            CreatableTopic { configs: vec![config("no.such", Some("1"))], ..base.clone() },
            ErrorCode::InvalidConfig,
        ),
        (
            CreatableTopic { configs: vec![config("cleanup.policy", Some("shred"))], ..base.clone() },
            ErrorCode::InvalidConfig,
        ),
        (
            CreatableTopic { num_partitions: 1, assignments: vec![assign(0, &[1])], ..base.clone() },
            ErrorCode::InvalidRequest,
        ),
        (
            CreatableTopic { assignments: vec![assign(1, &[1])], ..base.clone() },
            ErrorCode::InvalidReplicaAssignment,
        ),
        (
            CreatableTopic { assignments: vec![assign(0, &[1]), assign(0, &[1])], ..base.clone() },
            ErrorCode::InvalidReplicaAssignment,
        ),
        (
            CreatableTopic { assignments: vec![assign(0, &[2])], ..base.clone() },
            ErrorCode::InvalidReplicaAssignment,
        ),
        (
            CreatableTopic { assignments: vec![assign(0, &[])], ..base.clone() },
            ErrorCode::InvalidReplicaAssignment,
        ),
    ];
    for (topic, expected) in cases {
        assert_eq!(create(&mut broker, vec![topic.clone()]), [expected], "{topic:?}");
    }
    let good = CreatableTopic { assignments: vec![assign(1, &[1]), assign(0, &[1])], ..base };
    assert_eq!(create(&mut broker, vec![good]), [ErrorCode::None]);
}

#[test]
fn more_than_ten_thousand_partitions_refuse_the_whole_request() {
    let mut broker = Broker::start(&[]);
    let topics = vec![CreatableTopic { num_partitions: 10_000, ..named("large") }, named("small")];
    assert_eq!(create(&mut broker, topics), [ErrorCode::PolicyViolation, ErrorCode::PolicyViolation]);
    assert_eq!(names(&mut broker), ["__consumer_offsets"]);
}

#[test]
fn validate_only_creates_nothing() {
    let mut broker = Broker::start(&[]);
    let request = CreateTopicsRequest {
        topics: vec![named("t")],
        validate_only: true,
        ..CreateTopicsRequest::default()
    };
    let frame = broker.ask(7, &request);
    let response: CreateTopicsResponse<'_> = frame.read();
    assert_eq!((response.topics[0].error_code, response.topics[0].num_partitions), (ErrorCode::None, 1));
    assert_eq!(names(&mut broker), ["__consumer_offsets"]);
}

#[test]
fn a_topic_grows_in_every_version_and_never_shrinks() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let grow = |broker: &mut Broker, version, topics: Vec<CreatePartitionsTopic<'_>>| -> Vec<ErrorCode> {
        let request = CreatePartitionsRequest { topics, ..CreatePartitionsRequest::default() };
        let frame = broker.ask(version, &request);
        frame.read::<CreatePartitionsResponse<'_>>().results.iter().map(|result| result.error_code).collect()
    };
    let to = |name, count| CreatePartitionsTopic { name, count, assignments: None };
    for version in all_versions(ApiKey::CreatePartitions) {
        let count = 2 + i32::from(version);
        assert_eq!(grow(&mut broker, version, vec![to("t", count)]), [ErrorCode::None]);
        let frame = broker.ask(12, &metadata_of(&["t"]));
        assert_eq!(frame.read::<MetadataResponse<'_>>().topics[0].partitions.len(), 2 + version as usize);
    }
    assert_eq!(broker.produce("t", 4, &crate::harness::batch(&["x"])), Ok(0));
    let with = |broker_ids: Vec<i32>| CreatePartitionsTopic {
        assignments: Some(vec![CreatePartitionsAssignment { broker_ids }]),
        ..to("t", 7)
    };
    let cases = [
        (to("t", 5), ErrorCode::InvalidPartitions),
        (to("t", 1), ErrorCode::InvalidPartitions),
        (to("t", -1), ErrorCode::InvalidPartitions),
        (to("t", 20_000), ErrorCode::PolicyViolation),
        (to("none", 5), ErrorCode::UnknownTopicOrPartition),
        (to("__consumer_offsets", 100), ErrorCode::InvalidPartitions),
        (with(vec![1]), ErrorCode::InvalidReplicaAssignment),
    ];
    for (topic, expected) in cases {
        assert_eq!(grow(&mut broker, 3, vec![topic.clone()]), [expected], "{topic:?}");
    }
    let twice = vec![to("t", 8), to("t", 9)];
    assert_eq!(grow(&mut broker, 3, twice), [ErrorCode::InvalidRequest]);
}

#[test]
fn topics_are_deleted_in_every_version() {
    let mut broker = Broker::start(&[]);
    for version in all_versions(ApiKey::DeleteTopics) {
        let name = format!("topic-{version}");
        let id = broker.create_topic(&name, 2);
        let request = if version < 6 {
            DeleteTopicsRequest { topic_names: vec![&name, "none"], ..DeleteTopicsRequest::default() }
        } else {
            let by_id = DeleteTopicState { name: None, topic_id: id };
            let none = DeleteTopicState { name: Some("none"), ..DeleteTopicState::default() };
            DeleteTopicsRequest { topics: vec![by_id, none], ..DeleteTopicsRequest::default() }
        };
        let frame = broker.ask(version, &request);
        let response: DeleteTopicsResponse<'_> = frame.read();
        let codes: Vec<_> = response.responses.iter().map(|topic| (topic.name, topic.error_code)).collect();
        let expected =
            [(Some(name.as_str()), ErrorCode::None), (Some("none"), ErrorCode::UnknownTopicOrPartition)];
        assert_eq!(codes, expected, "version {version}");
        assert_eq!(names(&mut broker), ["__consumer_offsets"]);
    }
}

#[test]
fn what_delete_topics_refuses() {
    let mut broker = Broker::start(&[]);
    let id = broker.create_topic("t", 1);
    let unknown = TopicId([9; 16]);
    let by = |name, topic_id| DeleteTopicState { name, topic_id };
    let cases = [
        (vec![by(None, unknown)], vec![ErrorCode::UnknownTopicId]),
        (vec![by(Some("t"), id)], vec![ErrorCode::InvalidRequest]),
        (vec![by(None, TopicId::ZERO)], vec![ErrorCode::InvalidRequest]),
        (vec![by(Some("t"), TopicId::ZERO), by(None, id)], vec![ErrorCode::InvalidRequest; 2]),
        (vec![by(Some("__consumer_offsets"), TopicId::ZERO)], vec![ErrorCode::InvalidTopicException]),
    ];
    for (topics, expected) in cases {
        let frame =
            broker.ask(6, &DeleteTopicsRequest { topics: topics.clone(), ..DeleteTopicsRequest::default() });
        let response: DeleteTopicsResponse<'_> = frame.read();
        let codes: Vec<_> = response.responses.iter().map(|topic| topic.error_code).collect();
        assert_eq!(codes, expected, "{topics:?}");
    }
    assert_eq!(names(&mut broker), ["__consumer_offsets", "t"]);
    let mut broker = Broker::start(&["delete.topic.enable=false"]);
    broker.create_topic("t", 1);
    for (version, expected) in [(1, ErrorCode::InvalidRequest), (3, ErrorCode::TopicDeletionDisabled)] {
        let request = DeleteTopicsRequest { topic_names: vec!["t"], ..DeleteTopicsRequest::default() };
        let frame = broker.ask(version, &request);
        assert_eq!(frame.read::<DeleteTopicsResponse<'_>>().responses[0].error_code, expected);
    }
}

#[test]
fn a_topic_that_is_created_again_is_another_one() {
    let mut broker = Broker::start(&[]);
    let first = broker.create_topic("t", 1);
    assert_eq!(broker.produce("t", 0, &crate::harness::batch(&["old"])), Ok(0));
    let request = DeleteTopicsRequest { topic_names: vec!["t"], ..DeleteTopicsRequest::default() };
    broker.ask(5, &request);
    let second = broker.create_topic("t", 1);
    assert_ne!(first, second);
    assert_eq!(broker.produce("t", 0, &crate::harness::batch(&["new"])), Ok(0));
}
