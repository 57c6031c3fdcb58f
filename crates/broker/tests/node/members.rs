//! JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

use milepost_storage::Pace;
use milepost_wire::messages::heartbeat::{HeartbeatRequest, HeartbeatResponse};
use milepost_wire::messages::join_group::{JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse};
use milepost_wire::messages::leave_group::{LeaveGroupRequest, LeaveGroupResponse, MemberIdentity};
use milepost_wire::messages::sync_group::{SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, Client, all_versions};

/// No waiting for further members of an empty group.
pub(crate) const AT_ONCE: &str = "group.initial.rebalance.delay.ms=0";

pub(crate) fn join<'a>(group: &'a str, member_id: &'a str) -> JoinGroupRequest<'a> {
    JoinGroupRequest {
        group_id: group,
        member_id,
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 20_000,
        protocol_type: "consumer",
        protocols: vec![JoinGroupRequestProtocol { name: "range", metadata: b"subscribed" }],
        ..JoinGroupRequest::default()
    }
}

pub(crate) fn sync<'a>(group: &'a str, member_id: &'a str, generation_id: i32) -> SyncGroupRequest<'a> {
    SyncGroupRequest {
        group_id: group,
        member_id,
        generation_id,
        protocol_type: Some("consumer"),
        protocol_name: Some("range"),
        ..SyncGroupRequest::default()
    }
}

fn assign<'a>(member_id: &'a str, assignment: &'a [u8]) -> SyncGroupRequestAssignment<'a> {
    SyncGroupRequestAssignment { member_id, assignment }
}

/// The id that a new member gets from version 4 on.
fn new_member_id(broker: &mut Broker, client: Client, group: &str) -> String {
    let frame = broker.ask_on(client, 5, &join(group, ""));
    let response: JoinGroupResponse<'_> = frame.read();
    assert_eq!(response.error_code, ErrorCode::MemberIdRequired);
    response.member_id.to_owned()
}

/// Makes a stable group of one member, generation 1.
pub(crate) fn join_alone(broker: &mut Broker, group: &str) -> String {
    let client = broker.main();
    let member_id = new_member_id(broker, client, group);
    let frame = broker.ask(5, &join(group, &member_id));
    let response: JoinGroupResponse<'_> = frame.read();
    assert_eq!((response.error_code, response.generation_id), (ErrorCode::None, 1));
    assert_eq!(response.leader, member_id);
    let assignments = vec![assign(&member_id, b"all")];
    let frame = broker.ask(5, &SyncGroupRequest { assignments, ..sync(group, &member_id, 1) });
    assert_eq!(frame.read::<SyncGroupResponse<'_>>().assignment, b"all");
    member_id
}

pub(crate) fn heartbeat(broker: &mut Broker, group: &str, member_id: &str, generation_id: i32) -> ErrorCode {
    let request =
        HeartbeatRequest { group_id: group, member_id, generation_id, ..HeartbeatRequest::default() };
    broker.ask(3, &request).read::<HeartbeatResponse>().error_code
}

#[test]
fn a_member_lives_through_every_version() {
    let mut broker = Broker::start(&[AT_ONCE]);
    for version in all_versions(ApiKey::JoinGroup) {
        let group = format!("group-{version}");
        let frame = broker.ask(version, &join(&group, ""));
        let first: JoinGroupResponse<'_> = frame.read();
        let member_id = first.member_id.to_owned();
        assert!(member_id.starts_with("test-") && member_id.len() == 5 + 36, "{member_id}");
        let frame = if version < 4 {
            frame
        } else {
            assert_eq!((first.error_code, first.generation_id), (ErrorCode::MemberIdRequired, -1));
            broker.ask(version, &join(&group, &member_id))
        };
        let joined: JoinGroupResponse<'_> = frame.read();
        assert_eq!((joined.error_code, joined.generation_id), (ErrorCode::None, 1));
        assert_eq!((joined.leader, joined.member_id), (member_id.as_str(), member_id.as_str()));
        assert_eq!(joined.protocol_name, Some("range"));
        assert_eq!(joined.protocol_type, (version >= 7).then_some("consumer"));
        assert_eq!(joined.members.len(), 1);
        assert_eq!(joined.members[0].metadata, b"subscribed");

        let sync_version = version.min(5);
        let assignments = vec![assign(&member_id, b"all")];
        let frame =
            broker.ask(sync_version, &SyncGroupRequest { assignments, ..sync(&group, &member_id, 1) });
        let synced: SyncGroupResponse<'_> = frame.read();
        assert_eq!((synced.error_code, synced.assignment), (ErrorCode::None, &b"all"[..]));
        assert_eq!(synced.protocol_name, (sync_version >= 5).then_some("range"));

        let beat = HeartbeatRequest {
            group_id: &group,
            member_id: &member_id,
            generation_id: 1,
            ..HeartbeatRequest::default()
        };
        assert_eq!(broker.ask(version.min(4), &beat).read::<HeartbeatResponse>().error_code, ErrorCode::None);

        let leave_version = version.min(5);
        let leave = if leave_version < 3 {
            LeaveGroupRequest { group_id: &group, member_id: &member_id, ..LeaveGroupRequest::default() }
        } else {
            let members = vec![MemberIdentity { member_id: &member_id, ..MemberIdentity::default() }];
            LeaveGroupRequest { group_id: &group, members, ..LeaveGroupRequest::default() }
        };
        let frame = broker.ask(leave_version, &leave);
        assert_eq!(frame.read::<LeaveGroupResponse<'_>>().error_code, ErrorCode::None);
        assert_eq!(broker.ask(0, &beat).read::<HeartbeatResponse>().error_code, ErrorCode::UnknownMemberId);
    }
}

#[test]
fn a_second_member_makes_the_first_join_again() {
    let mut broker = Broker::start(&[AT_ONCE]);
    let one = join_alone(&mut broker, "g");
    let newcomer = broker.connect();
    let two = new_member_id(&mut broker, newcomer, "g");
    broker.send(newcomer, 5, &join("g", &two));
    broker.settle();
    assert!(broker.answer(newcomer).is_none(), "it waits for the first one");
    assert_eq!(heartbeat(&mut broker, "g", &one, 1), ErrorCode::RebalanceInProgress);
    let frame = broker.ask(5, &join("g", &one));
    let leader: JoinGroupResponse<'_> = frame.read();
    assert_eq!((leader.generation_id, leader.leader, leader.members.len()), (2, one.as_str(), 2));
    let frame = broker.answer(newcomer).expect("both are there");
    let follower: JoinGroupResponse<'_> = frame.read();
    assert_eq!((follower.generation_id, follower.leader, follower.members.len()), (2, one.as_str(), 0));

    broker.send(newcomer, 5, &sync("g", &two, 2));
    broker.settle();
    assert!(broker.answer(newcomer).is_none(), "it waits for the leader");
    let assignments = vec![assign(&one, b"half"), assign(&two, b"other half")];
    let frame = broker.ask(5, &SyncGroupRequest { assignments, ..sync("g", &one, 2) });
    assert_eq!(frame.read::<SyncGroupResponse<'_>>().assignment, b"half");
    let frame = broker.answer(newcomer).expect("the leader assigned");
    assert_eq!(frame.read::<SyncGroupResponse<'_>>().assignment, b"other half");
    assert_eq!(heartbeat(&mut broker, "g", &one, 1), ErrorCode::IllegalGeneration);
    assert_eq!(heartbeat(&mut broker, "g", &two, 2), ErrorCode::None);
}

#[test]
fn an_assignment_is_told_when_the_disk_has_it() {
    let mut broker = Broker::start(&[AT_ONCE]);
    let client = broker.main();
    let id = new_member_id(&mut broker, client, "g");
    broker.ask(5, &join("g", &id));
    broker.disk.set_pace(Pace::Held);
    let assignments = vec![assign(&id, b"all")];
    broker.send(client, 5, &SyncGroupRequest { assignments, ..sync("g", &id, 1) });
    broker.settle();
    assert!(broker.answer(client).is_none());
    broker.disk.complete();
    broker.settle();
    let frame = broker.answer(client).expect("it is durable");
    assert_eq!(frame.read::<SyncGroupResponse<'_>>().assignment, b"all");
}

#[test]
fn an_empty_group_waits_for_more_members() {
    let mut broker = Broker::start(&["group.initial.rebalance.delay.ms=3000"]);
    let client = broker.main();
    broker.send(client, 3, &join("g", ""));
    broker.pass_ms(2999);
    assert!(broker.answer(client).is_none());
    broker.pass_ms(1);
    assert!(broker.answer(client).is_some());
}

#[test]
fn what_join_group_refuses() {
    let mut broker = Broker::start(&[AT_ONCE, "group.max.size=1"]);
    let member = join_alone(&mut broker, "g");
    let base = join("new", "");
    let cases = [
        (JoinGroupRequest { group_id: "", ..base.clone() }, ErrorCode::InvalidGroupId),
        (JoinGroupRequest { session_timeout_ms: 5_999, ..base.clone() }, ErrorCode::InvalidSessionTimeout),
        (
            JoinGroupRequest { session_timeout_ms: 1_800_001, ..base.clone() },
            ErrorCode::InvalidSessionTimeout,
        ),
        (JoinGroupRequest { member_id: "nobody", ..base.clone() }, ErrorCode::UnknownMemberId),
        (JoinGroupRequest { protocol_type: "", ..base.clone() }, ErrorCode::InconsistentGroupProtocol),
        (JoinGroupRequest { protocols: Vec::new(), ..base.clone() }, ErrorCode::InconsistentGroupProtocol),
        (JoinGroupRequest { group_id: "g", ..base.clone() }, ErrorCode::GroupMaxSizeReached),
        (
            JoinGroupRequest { protocol_type: "connect", ..join("g", &member) },
            ErrorCode::InconsistentGroupProtocol,
        ),
        (JoinGroupRequest { group_instance_id: Some("i"), ..join("g", &member) }, ErrorCode::UnknownMemberId),
    ];
    for (request, expected) in cases {
        let frame = broker.ask(9, &request);
        let response: JoinGroupResponse<'_> = frame.read();
        assert_eq!((response.error_code, response.generation_id), (expected, -1), "{request:?}");
    }
    assert_eq!(heartbeat(&mut broker, "g", &member, 1), ErrorCode::None, "the group is as it was");
}

#[test]
fn what_sync_heartbeat_and_leave_refuse() {
    let mut broker = Broker::start(&[AT_ONCE]);
    let member = join_alone(&mut broker, "g");
    let mut synced = |request: &SyncGroupRequest<'_>| -> ErrorCode {
        broker.ask(5, request).read::<SyncGroupResponse<'_>>().error_code
    };
    let good = sync("g", &member, 1);
    assert_eq!(synced(&good), ErrorCode::None);
    assert_eq!(synced(&sync("", &member, 1)), ErrorCode::InvalidGroupId);
    assert_eq!(synced(&sync("none", &member, 1)), ErrorCode::UnknownMemberId);
    assert_eq!(synced(&sync("g", "nobody", 1)), ErrorCode::UnknownMemberId);
    assert_eq!(synced(&sync("g", &member, 2)), ErrorCode::IllegalGeneration);
    let inconsistent = ErrorCode::InconsistentGroupProtocol;
    assert_eq!(synced(&SyncGroupRequest { protocol_name: None, ..good.clone() }), inconsistent);
    assert_eq!(synced(&SyncGroupRequest { protocol_type: None, ..good.clone() }), inconsistent);
    assert_eq!(synced(&SyncGroupRequest { protocol_name: Some("sticky"), ..good }), inconsistent);

    assert_eq!(heartbeat(&mut broker, "", &member, 1), ErrorCode::InvalidGroupId);
    assert_eq!(heartbeat(&mut broker, "none", &member, 1), ErrorCode::UnknownMemberId);
    assert_eq!(heartbeat(&mut broker, "g", "nobody", 1), ErrorCode::UnknownMemberId);
    assert_eq!(heartbeat(&mut broker, "g", &member, 0), ErrorCode::IllegalGeneration);

    let entry = |member_id| MemberIdentity { member_id, ..MemberIdentity::default() };
    let leave = |group_id, members| LeaveGroupRequest { group_id, members, ..LeaveGroupRequest::default() };
    let frame = broker.ask(4, &leave("", vec![entry("x")]));
    assert_eq!(frame.read::<LeaveGroupResponse<'_>>().error_code, ErrorCode::InvalidGroupId);
    for group in ["none", "g"] {
        let frame = broker.ask(4, &leave(group, vec![entry("nobody"), entry("")]));
        let response: LeaveGroupResponse<'_> = frame.read();
        assert_eq!(response.error_code, ErrorCode::None);
        let codes: Vec<_> = response.members.iter().map(|m| (m.member_id, m.error_code)).collect();
        let unknown = ErrorCode::UnknownMemberId;
        assert_eq!(codes, [("nobody", unknown), ("", unknown)]);
        let old = LeaveGroupRequest { group_id: group, member_id: "nobody", ..LeaveGroupRequest::default() };
        assert_eq!(broker.ask(2, &old).read::<LeaveGroupResponse<'_>>().error_code, unknown);
    }
}

#[test]
fn silence_ends_a_session() {
    let mut broker = Broker::start(&[AT_ONCE]);
    let member = join_alone(&mut broker, "g");
    broker.pass_ms(9_000);
    assert_eq!(heartbeat(&mut broker, "g", &member, 1), ErrorCode::None);
    broker.pass_ms(9_999);
    assert_eq!(heartbeat(&mut broker, "g", &member, 1), ErrorCode::None);
    broker.pass_ms(10_000);
    assert_eq!(heartbeat(&mut broker, "g", &member, 1), ErrorCode::UnknownMemberId);
}

#[test]
fn a_static_member_comes_back_under_its_instance_id() {
    let mut broker = Broker::start(&[AT_ONCE]);
    let named = |member_id| JoinGroupRequest { group_instance_id: Some("one"), ..join("g", member_id) };
    let frame = broker.ask(5, &named(""));
    let first: JoinGroupResponse<'_> = frame.read();
    assert_eq!((first.error_code, first.generation_id), (ErrorCode::None, 1));
    let former = first.member_id.to_owned();
    assert!(former.starts_with("one-"));
    let assignments = vec![assign(&former, b"all")];
    broker.ask(5, &SyncGroupRequest { assignments, ..sync("g", &former, 1) });
    // A new process with the same instance id: no rebalance, the old member is fenced.
    let frame = broker.ask(9, &named(""));
    let second: JoinGroupResponse<'_> = frame.read();
    assert_eq!((second.error_code, second.generation_id), (ErrorCode::None, 1));
    let present = second.member_id.to_owned();
    assert_ne!(present, former);
    assert!(second.skip_assignment);
    let mut beat = |member_id| {
        let request =
            HeartbeatRequest { group_id: "g", member_id, generation_id: 1, group_instance_id: Some("one") };
        broker.ask(4, &request).read::<HeartbeatResponse>().error_code
    };
    assert_eq!(beat(&former), ErrorCode::FencedInstanceId);
    assert_eq!(beat(&present), ErrorCode::None);
    // An administrator removes it by its instance id alone.
    let members =
        vec![MemberIdentity { member_id: "", group_instance_id: Some("one"), ..MemberIdentity::default() }];
    let frame = broker.ask(4, &LeaveGroupRequest { group_id: "g", members, ..LeaveGroupRequest::default() });
    assert_eq!(frame.read::<LeaveGroupResponse<'_>>().members[0].error_code, ErrorCode::None);
    assert_eq!(heartbeat(&mut broker, "g", &present, 1), ErrorCode::UnknownMemberId);
}
