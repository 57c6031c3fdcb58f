//! DescribeConfigs, DescribeCluster, FindCoordinator, InitProducerId.

use milepost_wire::messages::create_topics::{CreatableTopic, CreatableTopicConfig, CreateTopicsRequest};
use milepost_wire::messages::describe_cluster::{DescribeClusterRequest, DescribeClusterResponse};
use milepost_wire::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse,
};
use milepost_wire::messages::find_coordinator::{FindCoordinatorRequest, FindCoordinatorResponse};
use milepost_wire::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, all_versions};

const TOPIC: i8 = 2;
const BROKER: i8 = 4;

fn resource(resource_type: i8, resource_name: &str) -> DescribeConfigsResource<'_> {
    DescribeConfigsResource { resource_type, resource_name, configuration_keys: None }
}

fn describe(resources: Vec<DescribeConfigsResource<'_>>) -> DescribeConfigsRequest<'_> {
    DescribeConfigsRequest { resources, ..DescribeConfigsRequest::default() }
}

fn create_small_topic(broker: &mut Broker) {
    let configs = vec![CreatableTopicConfig { name: "retention.ms", value: Some("1000") }];
    let topic = CreatableTopic {
        name: "t",
        num_partitions: 1,
        replication_factor: 1,
        configs,
        ..CreatableTopic::default()
    };
    broker.ask(7, &CreateTopicsRequest { topics: vec![topic], ..CreateTopicsRequest::default() });
}

#[test]
fn configs_of_a_topic_say_where_each_value_comes_from() {
    let mut broker = Broker::start(&["log.segment.bytes=2000000"]);
    create_small_topic(&mut broker);
    for version in all_versions(ApiKey::DescribeConfigs) {
        let request =
            DescribeConfigsRequest { include_synonyms: true, ..describe(vec![resource(TOPIC, "t")]) };
        let frame = broker.ask(version, &request);
        let response: DescribeConfigsResponse<'_> = frame.read();
        let result = &response.results[0];
        assert_eq!((result.error_code, result.resource_name), (ErrorCode::None, "t"));
        let entry = |name: &str| {
            result.configs.iter().find(|config| config.name == name).expect("every setting is there")
        };
        assert_eq!((entry("retention.ms").value, entry("retention.ms").config_source), (Some("1000"), 1));
        assert_eq!(
            (entry("segment.bytes").value, entry("segment.bytes").config_source),
            (Some("2000000"), 4)
        );
        assert_eq!(entry("cleanup.policy").config_source, 5);
        let sources: Vec<_> = entry("segment.bytes").synonyms.iter().map(|s| (s.name, s.source)).collect();
        assert_eq!(sources, [("log.segment.bytes", 4), ("log.segment.bytes", 5)]);
    }
}

#[test]
fn an_empty_list_of_keys_is_all_of_them_and_a_named_key_is_one() {
    let mut broker = Broker::start(&[]);
    let ask = |broker: &mut Broker, configuration_keys| {
        let frame = broker
            .ask(4, &describe(vec![DescribeConfigsResource { configuration_keys, ..resource(BROKER, "1") }]));
        frame.read::<DescribeConfigsResponse<'_>>().results[0].configs.len()
    };
    let all = ask(&mut broker, None);
    assert!(all > 20);
    assert_eq!(ask(&mut broker, Some(Vec::new())), all);
    assert_eq!(ask(&mut broker, Some(vec!["node.id", "no.such"])), 1);
}

#[test]
fn what_describe_configs_refuses() {
    let mut broker = Broker::start(&[]);
    let codes = |broker: &mut Broker, resources| -> Vec<ErrorCode> {
        let frame = broker.ask(4, &describe(resources));
        frame.read::<DescribeConfigsResponse<'_>>().results.iter().map(|result| result.error_code).collect()
    };
    let single = [
        (resource(TOPIC, "none"), ErrorCode::UnknownTopicOrPartition),
        (resource(TOPIC, "bad name"), ErrorCode::InvalidTopicException),
        (resource(BROKER, "2"), ErrorCode::InvalidRequest),
        (resource(BROKER, "one"), ErrorCode::InvalidRequest),
        (resource(BROKER, ""), ErrorCode::None),
        (resource(8, "1"), ErrorCode::None),
        (resource(8, ""), ErrorCode::InvalidRequest),
        (resource(16, "metrics"), ErrorCode::None),
        (resource(16, ""), ErrorCode::InvalidRequest),
        (resource(32, "group"), ErrorCode::None),
        (resource(32, ""), ErrorCode::InvalidRequest),
    ];
    for (resource, expected) in single {
        assert_eq!(codes(&mut broker, vec![resource.clone()]), [expected], "{resource:?}");
    }
    let one_unknown = vec![resource(BROKER, "1"), resource(99, "x")];
    assert_eq!(codes(&mut broker, one_unknown), [ErrorCode::InvalidRequest; 2]);
}

#[test]
fn a_resource_asked_for_many_times_is_described_once() {
    let mut broker = Broker::start(&[]);
    let frame = broker.ask(4, &describe(vec![resource(BROKER, "1"); 1000]));
    assert_eq!(frame.read::<DescribeConfigsResponse<'_>>().results.len(), 1);
    let frame = broker.ask(4, &describe(vec![resource(BROKER, "01")]));
    let code = frame.read::<DescribeConfigsResponse<'_>>().results[0].error_code;
    assert_eq!(code, ErrorCode::InvalidRequest, "one broker has one name");
}

#[test]
fn the_cluster_is_this_broker() {
    let mut broker = Broker::start(&["node.id=7"]);
    for version in all_versions(ApiKey::DescribeCluster) {
        let frame = broker.ask(version, &DescribeClusterRequest::default());
        let response: DescribeClusterResponse<'_> = frame.read();
        assert_eq!((response.error_code, response.controller_id), (ErrorCode::None, 7));
        assert_eq!(response.cluster_id.len(), 22);
        let line = &response.brokers[0];
        assert_eq!((line.broker_id, line.host, line.port), (7, "broker.test", 9092));
        assert_eq!(response.cluster_authorized_operations, i32::MIN);
    }
    for (endpoint_type, expected) in
        [(2, ErrorCode::MismatchedEndpointType), (3, ErrorCode::UnsupportedEndpointType)]
    {
        let frame =
            broker.ask(1, &DescribeClusterRequest { endpoint_type, ..DescribeClusterRequest::default() });
        assert_eq!(frame.read::<DescribeClusterResponse<'_>>().error_code, expected);
    }
}

#[test]
fn the_coordinator_of_every_group_is_this_broker() {
    let mut broker = Broker::start(&[]);
    for version in all_versions(ApiKey::FindCoordinator) {
        for key in ["g", ""] {
            let request = if version < 4 {
                FindCoordinatorRequest { key, ..FindCoordinatorRequest::default() }
            } else {
                FindCoordinatorRequest { coordinator_keys: vec![key], ..FindCoordinatorRequest::default() }
            };
            let frame = broker.ask(version, &request);
            let response: FindCoordinatorResponse<'_> = frame.read();
            let (code, id, host, port) = match response.coordinators.first() {
                None => (response.error_code, response.node_id, response.host, response.port),
                Some(found) => (found.error_code, found.node_id, found.host, found.port),
            };
            assert_eq!((code, id, host, port), (ErrorCode::None, 1, "broker.test", 9092), "{version}");
        }
    }
}

#[test]
fn share_groups_have_no_coordinator_and_transactions_not_at_first() {
    let mut broker = Broker::start(&[]);
    let cases = [
        (1, 1, ErrorCode::CoordinatorNotAvailable),
        (3, 2, ErrorCode::InvalidRequest),
        (3, 9, ErrorCode::InvalidRequest),
        (5, 2, ErrorCode::InvalidRequest),
        (6, 2, ErrorCode::CoordinatorNotAvailable),
    ];
    for (version, key_type, expected) in cases {
        let (key, keys) = if version < 4 { ("k", Vec::new()) } else { ("", vec!["k"]) };
        let frame = broker.ask(version, &FindCoordinatorRequest { key, key_type, coordinator_keys: keys });
        let response: FindCoordinatorResponse<'_> = frame.read();
        let (code, id, host, port) = match response.coordinators.first() {
            None => (response.error_code, response.node_id, response.host, response.port),
            Some(found) => (found.error_code, found.node_id, found.host, found.port),
        };
        assert_eq!((code, id, host, port), (expected, -1, "", -1), "version {version}, type {key_type}");
    }
}

fn producer_id(broker: &mut Broker, version: i16) -> i64 {
    let frame = broker.ask(version, &InitProducerIdRequest::default());
    let response: InitProducerIdResponse = frame.read();
    assert_eq!((response.error_code, response.producer_epoch), (ErrorCode::None, 0));
    response.producer_id
}

#[test]
fn producer_ids_are_given_in_order_and_never_twice() {
    let mut broker = Broker::start(&[]);
    let mut given = Vec::new();
    for version in all_versions(ApiKey::InitProducerId) {
        given.push(producer_id(&mut broker, version));
    }
    assert_eq!(given, (0..6).collect::<Vec<_>>());
    broker.crash();
    assert_eq!(producer_id(&mut broker, 5), 1000, "what a crash left of a block is lost, not reused");
    for expected in 1001..2003 {
        assert_eq!(producer_id(&mut broker, 5), expected);
    }
}

#[test]
fn many_producers_wait_for_one_block() {
    let mut broker = Broker::start(&[]);
    let clients: Vec<_> = (0..30).map(|_| broker.connect()).collect();
    for client in &clients {
        for _ in 0..50 {
            broker.send(*client, 4, &InitProducerIdRequest::default());
        }
    }
    broker.settle();
    let mut given = Vec::new();
    for client in clients {
        while let Some(frame) = broker.answer(client) {
            given.push(frame.read::<InitProducerIdResponse>().producer_id);
        }
    }
    given.sort_unstable();
    assert_eq!(given, (0..1500).collect::<Vec<_>>());
}

#[test]
fn what_init_producer_id_refuses() {
    let mut broker = Broker::start(&[]);
    let base = InitProducerIdRequest::default();
    let cases = [
        (InitProducerIdRequest { producer_id: 5, ..base.clone() }, ErrorCode::InvalidRequest),
        (InitProducerIdRequest { producer_epoch: 0, ..base.clone() }, ErrorCode::InvalidRequest),
        (InitProducerIdRequest { transactional_id: Some(""), ..base.clone() }, ErrorCode::InvalidRequest),
        (InitProducerIdRequest { transactional_id: Some("t"), ..base.clone() }, ErrorCode::NotCoordinator),
    ];
    for (request, expected) in cases {
        let frame = broker.ask(5, &request);
        let response: InitProducerIdResponse = frame.read();
        assert_eq!(response.error_code, expected, "{request:?}");
        assert_eq!((response.producer_id, response.producer_epoch), (-1, -1));
    }
    // With both given and no transactional id they are not looked at.
    let frame = broker.ask(5, &InitProducerIdRequest { producer_id: 99, producer_epoch: 3, ..base });
    let response: InitProducerIdResponse = frame.read();
    assert_eq!((response.error_code, response.producer_id, response.producer_epoch), (ErrorCode::None, 0, 0));
}
