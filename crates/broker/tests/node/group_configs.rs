//! Settings of single groups: set, described, listed, refused, lasting, and what they do.

use milepost_wire::ErrorCode;
use milepost_wire::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
};
use milepost_wire::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse,
};
use milepost_wire::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse,
};
use milepost_wire::messages::list_config_resources::{
    ListConfigResourcesRequest, ListConfigResourcesResponse,
};

use crate::harness::Broker;

const GROUP: i8 = 32;
const SET: i8 = 0;
const DELETE: i8 = 1;
const APPEND: i8 = 2;
const GROUP_SOURCE: i8 = 8;
const HEARTBEAT: &str = "consumer.heartbeat.interval.ms";

fn change(broker: &mut Broker, group: &str, changes: &[(&str, i8, Option<&str>)]) -> ErrorCode {
    let configs = changes
        .iter()
        .map(|&(name, config_operation, value)| AlterableConfig { name, config_operation, value })
        .collect();
    let resource = AlterConfigsResource { resource_type: GROUP, resource_name: group, configs };
    let frame =
        broker.ask(1, &IncrementalAlterConfigsRequest { resources: vec![resource], validate_only: false });
    frame.read::<IncrementalAlterConfigsResponse<'_>>().responses[0].error_code
}

/// Every setting of a group: its name, its value, and where that comes from.
fn described(broker: &mut Broker, group: &str) -> Vec<(String, String, i8)> {
    let resources = vec![DescribeConfigsResource {
        resource_type: GROUP,
        resource_name: group,
        ..DescribeConfigsResource::default()
    }];
    let frame = broker.ask(4, &DescribeConfigsRequest { resources, ..DescribeConfigsRequest::default() });
    let response: DescribeConfigsResponse<'_> = frame.read();
    assert_eq!(response.results[0].error_code, ErrorCode::None);
    let configs = response.results[0].configs.iter();
    configs
        .map(|config| {
            (config.name.to_owned(), config.value.unwrap_or_default().to_owned(), config.config_source)
        })
        .collect()
}

fn own(broker: &mut Broker, group: &str) -> Vec<(String, String)> {
    let all = described(broker, group).into_iter().filter(|(_, _, source)| *source == GROUP_SOURCE);
    all.map(|(name, value, _)| (name, value)).collect()
}

fn listed(broker: &mut Broker) -> Vec<String> {
    let request = ListConfigResourcesRequest { resource_types: vec![GROUP] };
    let frame = broker.ask(1, &request);
    let response: ListConfigResourcesResponse<'_> = frame.read();
    response.config_resources.iter().map(|resource| resource.resource_name.to_owned()).collect()
}

/// How often a member that joins the group is told to say something.
fn interval(broker: &mut Broker, group: &str) -> i32 {
    let request = ConsumerGroupHeartbeatRequest {
        group_id: group,
        member_id: "m",
        rebalance_timeout_ms: 60_000,
        subscribed_topic_names: Some(vec!["t"]),
        topic_partitions: Some(Vec::new()),
        ..ConsumerGroupHeartbeatRequest::default()
    };
    let frame = broker.ask(1, &request);
    let response: ConsumerGroupHeartbeatResponse<'_> = frame.read();
    assert_eq!(response.error_code, ErrorCode::None);
    response.heartbeat_interval_ms
}

#[test]
fn what_is_set_for_a_group_holds_for_it_alone_and_lasts() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    assert_eq!(described(&mut broker, "g").len(), 3);
    assert_eq!(own(&mut broker, "g"), []);
    assert_eq!(change(&mut broker, "g", &[(HEARTBEAT, SET, Some("7000"))]), ErrorCode::None);
    for _ in 0..2 {
        assert_eq!(own(&mut broker, "g"), [(HEARTBEAT.to_owned(), "7000".to_owned())]);
        assert_eq!(own(&mut broker, "h"), []);
        assert_eq!(listed(&mut broker), ["g"]);
        assert_eq!(interval(&mut broker, "g"), 7_000);
        assert_eq!(interval(&mut broker, "h"), 5_000);
        broker.crash();
    }
    assert_eq!(change(&mut broker, "g", &[(HEARTBEAT, DELETE, None)]), ErrorCode::None);
    assert_eq!(listed(&mut broker), Vec::<String>::new());
    assert_eq!(interval(&mut broker, "g"), 5_000);
}

#[test]
fn what_a_group_cannot_have_is_refused() {
    let mut broker = Broker::start(&[]);
    let cases = [
        ("", HEARTBEAT, SET, "7000", ErrorCode::InvalidRequest),
        ("g", HEARTBEAT, SET, "1", ErrorCode::InvalidConfig),
        ("g", HEARTBEAT, APPEND, "7000", ErrorCode::InvalidConfig),
        ("g", "share.session.timeout.ms", SET, "45000", ErrorCode::InvalidConfig),
        ("g", "streams.num.standby.replicas", SET, "1", ErrorCode::InvalidConfig),
        ("g", "retention.ms", SET, "1", ErrorCode::InvalidConfig),
    ];
    for (group, name, operation, value, code) in cases {
        assert_eq!(change(&mut broker, group, &[(name, operation, Some(value))]), code, "{name}={value}");
    }
    assert_eq!(listed(&mut broker), Vec::<String>::new());
}
