//! Tests of the whole room: every message in every version.

mod differential;
mod golden;
mod golden_groups;
mod hostile;
mod notation;
mod round_trip;

use crate::api::ApiKey;
use crate::errors::DecodeError;
use crate::testing::{Random, Sketch};

/// A message as a picture, and its bytes.
pub(super) type Decoded = (Sketch, Vec<u8>);

/// One message type, for tests that treat all of them alike. Bodies are without header.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) api: ApiKey,
    pub(super) is_request: bool,
    /// The body of some value that the version can carry, and the picture of that value.
    pub(super) arbitrary: fn(&mut Random, i16) -> (Vec<u8>, Sketch),
    /// What a body decodes to, as a picture and encoded again.
    pub(super) decode: fn(&[u8], i16) -> Result<Decoded, DecodeError>,
    /// The same by the other implementation; `None` for versions that it does not know.
    pub(super) reference: fn(&[u8], i16) -> Option<Decoded>,
}

macro_rules! cases {
    ($($module:ident: $request:ident, $response:ident;)+
    @without_reference
    $($alone:ident: $alone_request:ident, $alone_response:ident;)+) => {
        pub(super) fn cases() -> Vec<Case> {
            use crate::messages::{$($module::{$request, $response}),+, $($alone::{$alone_request, $alone_response}),+};
            vec![
                $(
                    cases!(@one $request, true, differential::reference::<kafka_protocol::messages::$request>),
                    cases!(@one $response, false, differential::reference::<kafka_protocol::messages::$response>),
                )+
                $(cases!(@one $alone_request, true, |_, _| None), cases!(@one $alone_response, false, |_, _| None),)+
            ]
        }
    };
    (@one $name:ident, $is_request:literal, $reference:expr) => {
        Case {
            name: stringify!($name),
            api: <$name as crate::Message>::API,
            is_request: $is_request,
            arbitrary: |random, version| {
                use crate::field::{Field, Shape};
                let message = <$name>::arbitrary(random, Shape::of(<$name as crate::Message>::API, version));
                let mut body = Vec::new();
                crate::Message::encode(&message, &mut body, version).expect("arbitrary values have bytes");
                crate::Message::check(&message, version).expect("arbitrary values fit their version");
                (body, message.sketch())
            },
            decode: |body, version| {
                let mut reader = crate::Reader::new(body);
                let message: $name = crate::Message::decode(&mut reader, version)?;
                reader.finish()?;
                let mut again = Vec::new();
                crate::Message::encode(&message, &mut again, version).expect("what was decoded has bytes");
                Ok((crate::field::Field::sketch(&message), again))
            },
            reference: $reference,
        }
    };
}

cases! {
    add_offsets_to_txn: AddOffsetsToTxnRequest, AddOffsetsToTxnResponse;
    add_partitions_to_txn: AddPartitionsToTxnRequest, AddPartitionsToTxnResponse;
    alter_configs: AlterConfigsRequest, AlterConfigsResponse;
    api_versions: ApiVersionsRequest, ApiVersionsResponse;
    consumer_group_describe: ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse;
    consumer_group_heartbeat: ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse;
    create_partitions: CreatePartitionsRequest, CreatePartitionsResponse;
    create_topics: CreateTopicsRequest, CreateTopicsResponse;
    delete_groups: DeleteGroupsRequest, DeleteGroupsResponse;
    delete_records: DeleteRecordsRequest, DeleteRecordsResponse;
    delete_topics: DeleteTopicsRequest, DeleteTopicsResponse;
    describe_cluster: DescribeClusterRequest, DescribeClusterResponse;
    describe_configs: DescribeConfigsRequest, DescribeConfigsResponse;
    describe_groups: DescribeGroupsRequest, DescribeGroupsResponse;
    describe_log_dirs: DescribeLogDirsRequest, DescribeLogDirsResponse;
    describe_producers: DescribeProducersRequest, DescribeProducersResponse;
    describe_share_group_offsets: DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse;
    describe_topic_partitions: DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse;
    describe_transactions: DescribeTransactionsRequest, DescribeTransactionsResponse;
    elect_leaders: ElectLeadersRequest, ElectLeadersResponse;
    end_txn: EndTxnRequest, EndTxnResponse;
    fetch: FetchRequest, FetchResponse;
    find_coordinator: FindCoordinatorRequest, FindCoordinatorResponse;
    heartbeat: HeartbeatRequest, HeartbeatResponse;
    incremental_alter_configs: IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse;
    init_producer_id: InitProducerIdRequest, InitProducerIdResponse;
    join_group: JoinGroupRequest, JoinGroupResponse;
    leave_group: LeaveGroupRequest, LeaveGroupResponse;
    list_config_resources: ListConfigResourcesRequest, ListConfigResourcesResponse;
    list_groups: ListGroupsRequest, ListGroupsResponse;
    list_offsets: ListOffsetsRequest, ListOffsetsResponse;
    list_transactions: ListTransactionsRequest, ListTransactionsResponse;
    metadata: MetadataRequest, MetadataResponse;
    offset_commit: OffsetCommitRequest, OffsetCommitResponse;
    offset_delete: OffsetDeleteRequest, OffsetDeleteResponse;
    offset_fetch: OffsetFetchRequest, OffsetFetchResponse;
    offset_for_leader_epoch: OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse;
    produce: ProduceRequest, ProduceResponse;
    sasl_authenticate: SaslAuthenticateRequest, SaslAuthenticateResponse;
    sasl_handshake: SaslHandshakeRequest, SaslHandshakeResponse;
    share_group_describe: ShareGroupDescribeRequest, ShareGroupDescribeResponse;
    sync_group: SyncGroupRequest, SyncGroupResponse;
    txn_offset_commit: TxnOffsetCommitRequest, TxnOffsetCommitResponse;
    write_txn_markers: WriteTxnMarkersRequest, WriteTxnMarkersResponse;

    @without_reference
    streams_group_describe: StreamsGroupDescribeRequest, StreamsGroupDescribeResponse;
}

impl Case {
    pub(super) fn versions(&self) -> std::ops::RangeInclusive<i16> {
        let range = self.api.range();
        range.min_served..=range.max
    }

    /// Whether clients can ask for it, rather than only that its messages are known.
    pub(super) fn is_served(&self) -> bool {
        ApiKey::from_code(self.api.code()).is_some()
    }
}

/// The frame of some request, without its size.
pub(super) fn arbitrary_request(case: &Case, random: &mut Random, version: i16) -> Vec<u8> {
    let mut frame = Vec::new();
    frame.extend_from_slice(&case.api.code().to_be_bytes());
    frame.extend_from_slice(&version.to_be_bytes());
    frame.extend_from_slice(&random.bytes::<4>());
    frame.extend_from_slice(&[0, 2, b'm', b'e']);
    if case.api.is_flexible(version) {
        frame.push(0);
    }
    frame.extend((case.arbitrary)(random, version).0);
    frame
}
