//! ListGroups, DescribeGroups, DeleteGroups.

use milepost_wire::messages::delete_groups::{DeleteGroupsRequest, DeleteGroupsResponse};
use milepost_wire::messages::describe_groups::{DescribeGroupsRequest, DescribeGroupsResponse};
use milepost_wire::messages::list_groups::{ListGroupsRequest, ListGroupsResponse};
use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, all_versions, operations};
use crate::members::{AT_ONCE, join_alone};

fn commit(broker: &mut Broker, group_id: &str) {
    let partitions = vec![OffsetCommitRequestPartition { committed_offset: 1, ..Default::default() }];
    let topics = vec![OffsetCommitRequestTopic { name: "t", partitions, ..Default::default() }];
    let frame = broker.ask(8, &OffsetCommitRequest { group_id, topics, ..OffsetCommitRequest::default() });
    let response: OffsetCommitResponse<'_> = frame.read();
    assert_eq!(response.topics[0].partitions[0].error_code, ErrorCode::None);
}

/// "simple" only has an offset, "live" has a member.
fn with_groups() -> (Broker, String) {
    let mut broker = Broker::start(&[AT_ONCE]);
    broker.create_topic("t", 1);
    commit(&mut broker, "simple");
    let member = join_alone(&mut broker, "live");
    (broker, member)
}

fn listed(broker: &mut Broker, version: i16, request: &ListGroupsRequest<'_>) -> Vec<[String; 4]> {
    let frame = broker.ask(version, request);
    let response: ListGroupsResponse<'_> = frame.read();
    assert_eq!(response.error_code, ErrorCode::None);
    let mut groups: Vec<_> = response
        .groups
        .iter()
        .map(|g| [g.group_id, g.protocol_type, g.group_state, g.group_type].map(str::to_owned))
        .collect();
    groups.sort();
    groups
}

#[test]
fn groups_are_listed_in_every_version() {
    let (mut broker, _) = with_groups();
    for version in all_versions(ApiKey::ListGroups) {
        let state = |name: &'static str| if version < 4 { "" } else { name };
        let kind = if version < 5 { "" } else { "classic" };
        assert_eq!(
            listed(&mut broker, version, &ListGroupsRequest::default()),
            [["live", "consumer", state("Stable"), kind], ["simple", "", state("Empty"), kind]]
        );
    }
}

#[test]
fn filters_take_any_case_and_unknown_words_match_nothing() {
    let (mut broker, _) = with_groups();
    let mut names = |states: &[&'static str], types: &[&'static str]| -> Vec<String> {
        let request = ListGroupsRequest { states_filter: states.to_vec(), types_filter: types.to_vec() };
        listed(&mut broker, 5, &request).into_iter().map(|[name, ..]| name).collect()
    };
    assert_eq!(names(&["stable"], &[]), ["live"]);
    assert_eq!(names(&[" EMPTY ", "Stable"], &["Classic"]), ["live", "simple"]);
    assert!(names(&["Exploded"], &[]).is_empty());
    assert!(names(&[], &["consumer"]).is_empty());
    assert!(names(&[], &["share"]).is_empty());
}

#[test]
fn groups_are_described_in_every_version() {
    let (mut broker, member) = with_groups();
    for version in all_versions(ApiKey::DescribeGroups) {
        let groups = vec!["live", "simple", "missing"];
        let request = DescribeGroupsRequest { groups, include_authorized_operations: version >= 3 };
        let frame = broker.ask(version, &request);
        let response: DescribeGroupsResponse<'_> = frame.read();
        let [live, simple, missing] = &response.groups[..] else { panic!("three groups") };
        assert_eq!((live.error_code, live.group_id, live.group_state), (ErrorCode::None, "live", "Stable"));
        assert_eq!((live.protocol_type, live.protocol_data), ("consumer", "range"));
        let only = &live.members[0];
        assert_eq!(
            (only.member_id, only.client_id, only.client_host),
            (member.as_str(), "test", "/10.1.2.3")
        );
        assert_eq!((only.member_metadata, only.member_assignment), (&b"subscribed"[..], &b"all"[..]));
        assert_eq!(
            live.authorized_operations,
            if version < 3 { i32::MIN } else { operations(&[3, 6, 8, 10, 11]) }
        );
        assert_eq!((simple.error_code, simple.group_state), (ErrorCode::None, "Empty"));
        assert!(simple.members.is_empty());
        let expected = if version < 6 { ErrorCode::None } else { ErrorCode::GroupIdNotFound };
        assert_eq!((missing.error_code, missing.group_state), (expected, "Dead"));
        assert_eq!(missing.error_message.is_some(), version >= 6);
    }
}

#[test]
fn a_group_asked_for_many_times_is_described_once() {
    let (mut broker, _) = with_groups();
    let request = DescribeGroupsRequest { groups: vec!["live"; 1000], ..DescribeGroupsRequest::default() };
    let frame = broker.ask(5, &request);
    assert_eq!(frame.read::<DescribeGroupsResponse<'_>>().groups.len(), 1);
}

#[test]
fn groups_are_deleted_in_every_version() {
    let (mut broker, _) = with_groups();
    for version in all_versions(ApiKey::DeleteGroups) {
        commit(&mut broker, "simple");
        let groups_names = vec!["simple", "live", "missing", "simple"];
        let frame = broker.ask(version, &DeleteGroupsRequest { groups_names });
        let response: DeleteGroupsResponse<'_> = frame.read();
        let mut results: Vec<_> = response.results.iter().map(|r| (r.group_id, r.error_code)).collect();
        results.sort();
        assert_eq!(
            results,
            [
                ("live", ErrorCode::NonEmptyGroup),
                ("missing", ErrorCode::GroupIdNotFound),
                ("simple", ErrorCode::None)
            ]
        );
        let groups = listed(&mut broker, 5, &ListGroupsRequest::default());
        assert_eq!(groups.iter().map(|[name, ..]| name.as_str()).collect::<Vec<_>>(), ["live"]);
    }
    broker.crash();
    let groups = listed(&mut broker, 5, &ListGroupsRequest::default());
    assert_eq!(groups.iter().map(|[name, ..]| name.as_str()).collect::<Vec<_>>(), ["live"]);
}
