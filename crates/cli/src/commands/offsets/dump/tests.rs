use milepost_batch::{BatchBuilder, BatchOptions, BatchView};
use milepost_model::{Generation, LeaderEpoch, Offset, PartitionIndex, Timestamp, TopicId};
use milepost_records::offsets::consumer_group::{
    ConsumerGroupKey, ConsumerGroupMetadataValue, ConsumerGroupPart, ConsumerGroupRecord,
};
use milepost_records::offsets::{
    GroupMetadataKey, GroupMetadataMember, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue,
};

use super::entry::{self, Filter, Only};
use super::shape::Shape;

const TIME: Timestamp = Timestamp(1_700_000_000_000);
type Bytes = (Option<Vec<u8>>, Option<Vec<u8>>);

fn commit(value: Option<&OffsetCommitValue<'_>>) -> Bytes {
    let (mut key, mut bytes) = (Vec::new(), Vec::new());
    OffsetCommitKey { group: "g1", topic: "t", partition: PartitionIndex(3) }.encode(&mut key).unwrap();
    value.inspect(|value| value.encode(&mut bytes).unwrap());
    (Some(key), value.map(|_| bytes))
}

fn classic(members: Vec<GroupMetadataMember<'_>>) -> Bytes {
    let (mut key, mut value) = (Vec::new(), Vec::new());
    GroupMetadataKey { group: "g2" }.encode(&mut key).unwrap();
    let group = GroupMetadataValue {
        protocol_type: Some("consumer"),
        generation: Generation(4),
        protocol: (!members.is_empty()).then_some("range"),
        leader: members.first().map(|member| member.member_id),
        current_state_timestamp: Some(TIME),
        members,
    };
    group.encode(&mut value).unwrap();
    (Some(key), Some(value))
}

/// One of each kind of thing that can be in the log.
fn batch() -> Vec<u8> {
    let value = OffsetCommitValue {
        offset: Offset(42),
        leader_epoch: Some(LeaderEpoch(7)),
        metadata: "m",
        commit_timestamp: TIME,
        expire_timestamp: None,
        topic_id: Some(TopicId([7; 16])),
    };
    let expiring = OffsetCommitValue {
        expire_timestamp: Some(TIME.plus_ms(60_000)),
        leader_epoch: None,
        topic_id: None,
        metadata: "",
        ..value
    };
    let (mut key, mut group) = (Vec::new(), Vec::new());
    ConsumerGroupKey { group: "g3", part: ConsumerGroupPart::GroupMetadata }.encode(&mut key).unwrap();
    let of_group = ConsumerGroupMetadataValue { epoch: 5, metadata_hash: 9 };
    ConsumerGroupRecord::GroupMetadata(of_group).encode(&mut group).unwrap();
    let member = GroupMetadataMember {
        member_id: "m-1",
        group_instance_id: None,
        client_id: "c",
        client_host: "/127.0.0.1",
        rebalance_timeout_ms: Some(300_000),
        session_timeout_ms: 45_000,
        subscription: b"\0\0\0\0\0\x01\0\x01t\xff\xff\xff\xff",
        assignment: b"",
    };
    let records = [
        commit(Some(&value)),
        commit(Some(&expiring)),
        commit(None),
        classic(vec![member]),
        classic(Vec::new()),
        (Some(key), Some(group)),
        (Some(b"\0\x12\0\x01s".to_vec()), Some(b"new".to_vec())),
        (Some(b"\0\x01\0\x09".to_vec()), Some(b"\xff".to_vec())),
        (None, None),
        (Some(b"\0\x0c\0\x02g4".to_vec()), Some(b"\0\0\0\0\0\x07\0".to_vec())),
        (Some(b"\0\x13\0\x02g5\0\x01m".to_vec()), None),
        (Some(b"\0\x0b\0\x02g4".to_vec()), Some(b"\0\0\0".to_vec())),
    ];
    let mut builder = BatchBuilder::new(BatchOptions::default());
    for (key, value) in &records {
        builder.append(TIME, key.as_deref(), value.as_deref(), &[]).unwrap();
    }
    builder.build(Offset(10))
}

fn shown(shape: Shape, filter: &Filter) -> Vec<String> {
    let bytes = batch();
    let (batch, _) = BatchView::parse(&bytes).unwrap();
    let mut out = Vec::new();
    entry::each(Some(PartitionIndex(2)), Offset::ZERO, &batch, &mut |entry| {
        if filter.takes(entry) {
            shape.write(entry, &mut out).unwrap();
        }
        Ok(())
    })
    .unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

fn all() -> Filter {
    Filter { groups: Vec::new(), topics: Vec::new(), only: None }
}

#[test]
fn as_text_nothing_is_left_out() {
    let time = "2023-11-14T22:13:20.000Z";
    assert_eq!(
        shown(Shape::Text, &all()),
        [
            format!(
                "2:10  {time}  OffsetCommit  group=g1 topic=t partition=3  ->  offset=42 leaderEpoch=7 metadata=m \
                 commitTimestamp=1700000000000 topicId=BwcHBwcHBwcHBwcHBwcHBw"
            ),
            format!(
                "2:11  {time}  OffsetCommit  group=g1 topic=t partition=3  ->  offset=42 metadata=\"\" \
                 commitTimestamp=1700000000000 expireTimestamp=1700000060000"
            ),
            format!("2:12  {time}  OffsetCommit  group=g1 topic=t partition=3  ->  deleted"),
            format!(
                "2:13  {time}  GroupMetadata  group=g2  ->  protocolType=consumer generation=4 protocol=range leader=m-1 \
                 currentStateTimestamp=1700000000000 members=[{{\"memberId\":\"m-1\",\"groupInstanceId\":null,\"clientId\":\"c\",\
                 \"clientHost\":\"/127.0.0.1\",\"rebalanceTimeout\":300000,\"sessionTimeout\":45000,\
                 \"subscription\":{{\"topics\":[\"t\"],\"ownedPartitions\":[],\"rackId\":null}},\
                 \"assignment\":{{\"assignedPartitions\":[]}}}}]"
            ),
            format!(
                "2:14  {time}  GroupMetadata  group=g2  ->  protocolType=consumer generation=4 protocol=null leader=null \
                 currentStateTimestamp=1700000000000 members=[]"
            ),
            format!("2:15  {time}  ConsumerGroupMetadata  groupId=g3  ->  epoch=5 metadataHash=9"),
            format!("2:16  {time}  unknown type 18  key_base64=\"ABIAAXM=\" value_base64=\"bmV3\""),
            format!(
                "2:17  {time}  cannot be read: the bytes end within group  key_base64=\"AAEACQ==\" value_base64=\"/w==\""
            ),
            format!("2:18  {time}  cannot be read: the record has no key  key_base64=null value_base64=null"),
            format!("2:19  {time}  ShareGroupTargetAssignmentMetadata  groupId=g4  ->  assignmentEpoch=7"),
            format!("2:20  {time}  StreamsGroupMemberMetadata  groupId=g5 memberId=m  ->  deleted"),
            format!(
                "2:21  {time}  cannot be read: the bytes end within epoch  key_base64=\"AAsAAmc0\" value_base64=\"AAAA\""
            ),
        ]
    );
}

#[test]
fn as_json_nothing_is_left_out_either() {
    let lines = shown(Shape::Json, &all());
    assert_eq!(lines.len(), 12);
    assert_eq!(
        lines[0],
        r#"{"partition":2,"offset":10,"timestamp":1700000000000,"type":1,"name":"OffsetCommit","key":{"group":"g1","topic":"t","partition":3},"version":4,"value":{"offset":42,"leaderEpoch":7,"metadata":"m","commitTimestamp":1700000000000,"topicId":"BwcHBwcHBwcHBwcHBwcHBw"}}"#
    );
    assert!(lines[2].ends_with(r#""version":null,"value":null}"#), "{}", lines[2]);
    assert_eq!(
        lines[6],
        r#"{"partition":2,"offset":16,"timestamp":1700000000000,"type":18,"error":"the type is unknown","key_base64":"ABIAAXM=","value_base64":"bmV3"}"#
    );
    assert_eq!(
        lines[9],
        r#"{"partition":2,"offset":19,"timestamp":1700000000000,"type":12,"name":"ShareGroupTargetAssignmentMetadata","key":{"groupId":"g4"},"version":0,"value":{"assignmentEpoch":7}}"#
    );
    assert!(lines[10].ends_with(r#""key":{"groupId":"g5","memberId":"m"},"version":null,"value":null}"#));
    assert!(lines[8].contains(r#""type":null,"error":"the record has no key""#), "{}", lines[8]);
}

#[test]
fn kafkas_shapes_have_what_its_formatters_have() {
    let offsets = Filter { only: Some(Only::Offsets), ..all() };
    assert_eq!(
        shown(Shape::Kafka, &offsets),
        [
            r#"{"key":{"type":1,"data":{"group":"g1","topic":"t","partition":3}},"value":{"version":4,"data":{"offset":42,"leaderEpoch":7,"metadata":"m","commitTimestamp":1700000000000,"topicId":"BwcHBwcHBwcHBwcHBwcHBw"}}}"#,
            r#"{"key":{"type":1,"data":{"group":"g1","topic":"t","partition":3}},"value":{"version":1,"data":{"offset":42,"metadata":"","commitTimestamp":1700000000000,"expireTimestamp":1700000060000}}}"#,
            r#"{"key":{"type":1,"data":{"group":"g1","topic":"t","partition":3}},"value":null}"#,
        ]
    );
    assert_eq!(shown(Shape::Kafka, &all()).len(), 5);
    assert_eq!(
        shown(Shape::Kafka3, &all()),
        [
            "[g1,t,3]::OffsetAndMetadata(offset=42, leaderEpoch=Optional[7], metadata=m, commitTimestamp=1700000000000, expireTimestamp=None)",
            "[g1,t,3]::OffsetAndMetadata(offset=42, leaderEpoch=Optional.empty, metadata=, commitTimestamp=1700000000000, expireTimestamp=Some(1700000060000))",
            "[g1,t,3]::NULL",
            "g2::GroupMetadata(groupId=g2, generation=4, protocolType=Some(consumer), currentState=Stable, members=Map(m-1 -> MemberMetadata(memberId=m-1, groupInstanceId=None, clientId=c, clientHost=/127.0.0.1, sessionTimeoutMs=45000, rebalanceTimeoutMs=300000, supportedProtocols=List(range), )))",
            "g2::GroupMetadata(groupId=g2, generation=4, protocolType=Some(consumer), currentState=Empty, members=Map())",
        ]
    );
}

#[test]
fn filters_leave_out_what_is_not_known_to_be_meant() {
    let named = |groups: &[&str], topics: &[&str]| Filter {
        groups: groups.iter().map(|name| (*name).to_owned()).collect(),
        topics: topics.iter().map(|name| (*name).to_owned()).collect(),
        only: None,
    };
    assert_eq!(shown(Shape::Text, &named(&["g1"], &[])).len(), 3);
    assert_eq!(shown(Shape::Text, &named(&["g2", "g3"], &[])).len(), 3);
    assert_eq!(shown(Shape::Text, &named(&[], &["t"])).len(), 3);
    assert_eq!(shown(Shape::Text, &named(&["g2"], &["t"])).len(), 0);
    assert_eq!(shown(Shape::Text, &named(&["g4", "g5"], &[])).len(), 2);
    assert_eq!(shown(Shape::Text, &Filter { only: Some(Only::Groups), ..all() }).len(), 5);
}
