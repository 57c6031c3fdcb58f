//! DescribeTopicPartitions, DescribeLogDirs, ListConfigResources, DescribeProducers, ElectLeaders.

use milepost_wire::messages::describe_log_dirs::{
    DescribableLogDirTopic, DescribeLogDirsRequest, DescribeLogDirsResponse,
};
use milepost_wire::messages::describe_producers::{
    self, DescribeProducersRequest, DescribeProducersResponse,
};
use milepost_wire::messages::describe_topic_partitions::{
    Cursor, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, TopicRequest,
};
use milepost_wire::messages::elect_leaders::{ElectLeadersRequest, ElectLeadersResponse, TopicPartitions};
use milepost_wire::messages::list_config_resources::{
    ListConfigResourcesRequest, ListConfigResourcesResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, START_MS, all_versions, batch, numbered_batch, operations};

/// a (2 partitions), b (1), c (3).
fn with_topics() -> Broker {
    let mut broker = Broker::start(&[]);
    for (name, partitions) in [("c", 3), ("a", 2), ("b", 1)] {
        broker.create_topic(name, partitions);
    }
    broker
}

fn describe<'a>(
    names: &[&'a str],
    limit: i32,
    cursor: Option<(&'a str, i32)>,
) -> DescribeTopicPartitionsRequest<'a> {
    DescribeTopicPartitionsRequest {
        topics: names.iter().map(|name| TopicRequest { name }).collect(),
        response_partition_limit: limit,
        cursor: cursor.map(|(topic_name, partition_index)| Cursor { topic_name, partition_index }),
    }
}

/// Topics with their codes and partitions, and the cursor.
type Page = (Vec<(String, ErrorCode, Vec<i32>)>, Option<(String, i32)>);

fn page(broker: &mut Broker, request: &DescribeTopicPartitionsRequest<'_>) -> Page {
    let frame = broker.ask(0, request);
    let response: DescribeTopicPartitionsResponse<'_> = frame.read();
    let topics = response
        .topics
        .iter()
        .map(|topic| {
            let indices = topic.partitions.iter().map(|partition| partition.partition_index).collect();
            (topic.name.unwrap_or_default().to_owned(), topic.error_code, indices)
        })
        .collect();
    (topics, response.next_cursor.map(|cursor| (cursor.topic_name.to_owned(), cursor.partition_index)))
}

fn good(name: &str, partitions: &[i32]) -> (String, ErrorCode, Vec<i32>) {
    (name.to_owned(), ErrorCode::None, partitions.to_vec())
}

#[test]
fn topics_come_sorted_and_page_by_page() {
    let mut broker = with_topics();
    let all = page(&mut broker, &describe(&["c", "a", "b"], 2000, None));
    assert_eq!(all, (vec![good("a", &[0, 1]), good("b", &[0]), good("c", &[0, 1, 2])], None));
    let two = page(&mut broker, &describe(&["c", "a", "b"], 2, None));
    assert_eq!(two, (vec![good("a", &[0, 1])], Some(("b".to_owned(), 0))));
    let next = page(&mut broker, &describe(&["c", "a", "b"], 2, Some(("b", 0))));
    assert_eq!(next, (vec![good("b", &[0]), good("c", &[0])], Some(("c".to_owned(), 1))));
    let last = page(&mut broker, &describe(&["c", "a", "b"], 2, Some(("c", 1))));
    assert_eq!(last, (vec![good("c", &[1, 2])], None));
    let one = page(&mut broker, &describe(&["c"], 0, None));
    assert_eq!(one, (vec![good("c", &[0])], Some(("c".to_owned(), 1))), "a limit is at least 1");
    let behind = page(&mut broker, &describe(&["c"], 5, Some(("c", 7))));
    assert_eq!(behind, (vec![good("c", &[])], None));
}

#[test]
fn no_names_ask_for_all_topics() {
    let mut broker = with_topics();
    let (topics, cursor) = page(&mut broker, &describe(&[], 2000, None));
    let names: Vec<&str> = topics.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!((names, cursor), (vec!["__consumer_offsets", "a", "b", "c"], None));
    let (topics, _) = page(&mut broker, &describe(&[], 2000, Some(("aa", 0))));
    assert_eq!(topics[0].0, "b", "a cursor need not exist then");
}

#[test]
fn what_is_said_of_a_topic_and_of_one_that_is_not_there() {
    let mut broker = with_topics();
    let frame = broker.ask(0, &describe(&["b", "none", "no/name", "__consumer_offsets"], 2000, None));
    let response: DescribeTopicPartitionsResponse<'_> = frame.read();
    let codes: Vec<_> = response.topics.iter().map(|topic| (topic.name, topic.error_code)).collect();
    let expected = [
        (Some("__consumer_offsets"), ErrorCode::None),
        (Some("b"), ErrorCode::None),
        (Some("no/name"), ErrorCode::InvalidTopicException),
        (Some("none"), ErrorCode::UnknownTopicOrPartition),
    ];
    assert_eq!(codes, expected);
    assert!(response.topics[0].is_internal && !response.topics[1].is_internal);
    let partition = &response.topics[1].partitions[0];
    assert_eq!((partition.leader_id, partition.replica_nodes.as_slice()), (1, [1].as_slice()));
    assert_eq!((partition.isr_nodes.as_slice(), partition.leader_epoch), ([1].as_slice(), 1));
    assert_eq!(
        (&partition.eligible_leader_replicas, &partition.last_known_elr),
        (&Some(vec![]), &Some(vec![]))
    );
    assert!(!response.topics[1].topic_id.is_zero());
    let all = operations(&[3, 4, 5, 6, 7, 8, 10, 11]);
    assert_eq!(response.topics[1].topic_authorized_operations, all);
}

#[test]
fn a_cursor_must_lie_in_what_is_asked_for() {
    let mut broker = with_topics();
    let refused = vec![("a".to_owned(), ErrorCode::InvalidRequest, Vec::new())];
    assert_eq!(page(&mut broker, &describe(&["a"], 5, Some(("b", 0)))), (refused.clone(), None));
    assert_eq!(page(&mut broker, &describe(&["a"], 5, Some(("a", -1)))), (refused, None));
    assert_eq!(page(&mut broker, &describe(&[], 5, Some(("a", -1)))), (Vec::new(), None));
}

/// Topic, partition and size of every log in the answer.
fn sizes(broker: &mut Broker, topics: Option<Vec<DescribableLogDirTopic<'_>>>) -> Vec<(String, i32, i64)> {
    let frame = broker.ask(5, &DescribeLogDirsRequest { topics });
    let response: DescribeLogDirsResponse<'_> = frame.read();
    let mut found = Vec::new();
    for topic in &response.results[0].topics {
        for partition in &topic.partitions {
            assert_eq!((partition.offset_lag, partition.is_future_key), (0, false));
            found.push((topic.name.to_owned(), partition.partition_index, partition.partition_size));
        }
    }
    found
}

#[test]
fn logs_have_the_sizes_of_their_batches() {
    let mut broker = with_topics();
    let bytes = batch(&["one", "two"]);
    broker.produce("a", 1, &bytes).expect("a good batch");
    broker.produce("a", 1, &bytes).expect("a good batch");
    let size = i64::try_from(2 * bytes.len()).unwrap();
    let asked = |topic, partitions: &[i32]| DescribableLogDirTopic { topic, partitions: partitions.to_vec() };
    let some = vec![asked("a", &[1, 0, 9]), asked("none", &[0]), asked("b", &[0])];
    let expected = [("a".to_owned(), 0, 0), ("a".to_owned(), 1, size), ("b".to_owned(), 0, 0)];
    assert_eq!(sizes(&mut broker, Some(some)), expected, "what is not there is left out");
    assert_eq!(sizes(&mut broker, None).len(), 3 + 6, "with the committed offsets");
    assert_eq!(sizes(&mut broker, Some(Vec::new())), []);
    for version in all_versions(ApiKey::DescribeLogDirs) {
        let frame = broker.ask(version, &DescribeLogDirsRequest { topics: None });
        let response: DescribeLogDirsResponse<'_> = frame.read();
        assert_eq!(response.error_code, ErrorCode::None);
        let result = &response.results[0];
        assert_eq!(
            (result.error_code, result.log_dir, result.is_cordoned),
            (ErrorCode::None, "memory", false)
        );
        assert_eq!((result.total_bytes, result.usable_bytes), (-1, -1), "memory has no device");
    }
}

fn resources(broker: &mut Broker, version: i16, types: &[i8]) -> (ErrorCode, Vec<(i8, String)>) {
    let frame = broker.ask(version, &ListConfigResourcesRequest { resource_types: types.to_vec() });
    let response: ListConfigResourcesResponse<'_> = frame.read();
    let found = response.config_resources.iter();
    let found = found.map(|resource| (resource.resource_type, resource.resource_name.to_owned())).collect();
    (response.error_code, found)
}

#[test]
fn resources_with_settings_are_listed_by_kind() {
    let mut broker = with_topics();
    let line = |kind: i8, name: &str| (kind, name.to_owned());
    let topics = ["__consumer_offsets", "a", "b", "c"].map(|name| line(2, name)).to_vec();
    assert_eq!(resources(&mut broker, 0, &[]), (ErrorCode::None, Vec::new()), "client metrics only");
    assert_eq!(resources(&mut broker, 1, &[2, 2]), (ErrorCode::None, topics.clone()));
    assert_eq!(resources(&mut broker, 1, &[4]), (ErrorCode::None, vec![line(4, "1")]));
    assert_eq!(resources(&mut broker, 1, &[16, 32]), (ErrorCode::None, Vec::new()));
    let all = [topics, vec![line(4, "1"), line(8, "1")]].concat();
    assert_eq!(resources(&mut broker, 1, &[]), (ErrorCode::None, all));
    assert_eq!(resources(&mut broker, 1, &[2, 3]), (ErrorCode::UnsupportedVersion, Vec::new()));
}

#[test]
fn producers_that_are_remembered_are_described() {
    let mut broker = with_topics();
    broker.produce("a", 0, &numbered_batch(40, 2, 0, &["x", "y", "z"])).expect("a good batch");
    broker.produce("a", 0, &numbered_batch(7, 0, 0, &["x"])).expect("a good batch");
    broker.produce("a", 0, &batch(&["of nobody"])).expect("a good batch");
    let topic = |name, indices: &[i32]| describe_producers::TopicRequest {
        name,
        partition_indexes: indices.to_vec(),
    };
    let request =
        DescribeProducersRequest { topics: vec![topic("a", &[0, 1, 2]), topic("x", &[0]), topic("/", &[0])] };
    let frame = broker.ask(0, &request);
    let response: DescribeProducersResponse<'_> = frame.read();
    let codes: Vec<_> =
        response.topics.iter().flat_map(|topic| &topic.partitions).map(|p| p.error_code).collect();
    let (unknown, invalid) = (ErrorCode::UnknownTopicOrPartition, ErrorCode::InvalidTopicException);
    assert_eq!(codes, [ErrorCode::None, ErrorCode::None, unknown, unknown, invalid]);
    let found: Vec<_> = response.topics[0].partitions[0]
        .active_producers
        .iter()
        .map(|p| (p.producer_id, p.producer_epoch, p.last_sequence, p.last_timestamp))
        .collect();
    assert_eq!(found, [(7, 0, 0, START_MS), (40, 2, 2, START_MS)]);
    let one = &response.topics[0].partitions[0].active_producers[0];
    assert_eq!((one.coordinator_epoch, one.current_txn_start_offset), (-1, -1));
}

#[test]
fn the_only_leader_needs_no_election() {
    let mut broker = with_topics();
    for version in all_versions(ApiKey::ElectLeaders) {
        let asked = vec![TopicPartitions { topic: "a", partitions: vec![1, 5] }];
        let request = ElectLeadersRequest { topic_partitions: Some(asked), ..ElectLeadersRequest::default() };
        let frame = broker.ask(version, &request);
        let response: ElectLeadersResponse<'_> = frame.read();
        let results = &response.replica_election_results[0].partition_result;
        let codes: Vec<_> = results.iter().map(|result| (result.partition_id, result.error_code)).collect();
        assert_eq!(codes, [(1, ErrorCode::ElectionNotNeeded), (5, ErrorCode::UnknownTopicOrPartition)]);
        let frame = broker.ask(version, &ElectLeadersRequest::default());
        assert_eq!(frame.read::<ElectLeadersResponse<'_>>().replica_election_results, []);
    }
}
