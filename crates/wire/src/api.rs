//! The table of APIs: what is advertised, what is served, from which version on messages are flexible.

use std::fmt;

use crate::errors::DecodeError;
use crate::messages::{
    add_offsets_to_txn::AddOffsetsToTxnRequest, add_partitions_to_txn::AddPartitionsToTxnRequest,
    alter_configs::AlterConfigsRequest, api_versions::ApiVersionsRequest,
    consumer_group_describe::ConsumerGroupDescribeRequest,
    consumer_group_heartbeat::ConsumerGroupHeartbeatRequest, create_partitions::CreatePartitionsRequest,
    create_topics::CreateTopicsRequest, delete_groups::DeleteGroupsRequest,
    delete_records::DeleteRecordsRequest, delete_topics::DeleteTopicsRequest,
    describe_cluster::DescribeClusterRequest, describe_configs::DescribeConfigsRequest,
    describe_groups::DescribeGroupsRequest, describe_log_dirs::DescribeLogDirsRequest,
    describe_producers::DescribeProducersRequest, describe_topic_partitions::DescribeTopicPartitionsRequest,
    describe_transactions::DescribeTransactionsRequest, elect_leaders::ElectLeadersRequest,
    end_txn::EndTxnRequest, fetch::FetchRequest, find_coordinator::FindCoordinatorRequest,
    heartbeat::HeartbeatRequest, incremental_alter_configs::IncrementalAlterConfigsRequest,
    init_producer_id::InitProducerIdRequest, join_group::JoinGroupRequest, leave_group::LeaveGroupRequest,
    list_config_resources::ListConfigResourcesRequest, list_groups::ListGroupsRequest,
    list_offsets::ListOffsetsRequest, list_transactions::ListTransactionsRequest, metadata::MetadataRequest,
    offset_commit::OffsetCommitRequest, offset_delete::OffsetDeleteRequest, offset_fetch::OffsetFetchRequest,
    offset_for_leader_epoch::OffsetForLeaderEpochRequest, produce::ProduceRequest,
    sync_group::SyncGroupRequest, txn_offset_commit::TxnOffsetCommitRequest,
    write_txn_markers::WriteTxnMarkersRequest,
};
use crate::reader::Reader;
use crate::schema::Message;

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiVersionRange {
    /// The API.
    pub key: ApiKey,
    /// The lowest version that ApiVersions names.
    pub min_advertised: i16,
    /// The lowest version that is served.
    pub min_served: i16,
    /// The highest version, advertised and served.
    pub max: i16,
    /// The first version with compact lengths and tag sections, if there is one.
    pub flexible_from: Option<i16>,
}

// The versions that Kafka 4.4 advertises. Produce is advertised from 0 because older releases of librdkafka
// switch compression off when the range does not reach that version (KAFKA-18659); its versions 0 to 2 are
// refused like any other version that is not served.
//
// What stands after `@known` has messages and no server yet: it is not advertised, and a request of it is one of an
// unknown API. Whoever serves it moves the line up.
macro_rules! apis {
    ($($api:ident = $key:literal, advertised $advertised:literal, served $min:literal - $max:literal,
        flexible $flexible:expr, $request:ty;)+
    @known
    $($known:ident = $known_key:literal, known $known_min:literal - $known_max:literal,
        flexible $known_flexible:expr;)*) => {
        /// An API by its number on the wire: one that is served, or one whose messages are known.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i16)]
        pub enum ApiKey {
            $(
                #[doc = concat!("API key ", $key, ".")]
                $api = $key,
            )+
            $(
                #[doc = concat!("API key ", $known_key, ". Its messages are known; it is not served.")]
                $known = $known_key,
            )*
        }

        /// Every API that is served, in ascending order of keys.
        pub const ADVERTISED: &[ApiVersionRange] = &[$(ApiVersionRange {
            key: ApiKey::$api,
            min_advertised: $advertised,
            min_served: $min,
            max: $max,
            flexible_from: $flexible,
        },)+];

        /// Every API that is not served, but whose messages can be written and read, in ascending order of keys.
        pub const KNOWN: &[ApiVersionRange] = &[$(*ApiKey::$known.range(),)*];

        impl ApiKey {
            /// The API with this number, if it is served.
            #[must_use]
            pub const fn from_code(code: i16) -> Option<Self> {
                match code {
                    $($key => Some(Self::$api),)+
                    _ => None,
                }
            }

            /// The line of the table for this API.
            #[must_use]
            pub const fn range(self) -> &'static ApiVersionRange {
                match self {
                    $(Self::$api => &ApiVersionRange {
                        key: Self::$api,
                        min_advertised: $advertised,
                        min_served: $min,
                        max: $max,
                        flexible_from: $flexible,
                    },)+
                    $(Self::$known => &ApiVersionRange {
                        key: Self::$known,
                        min_advertised: $known_min,
                        min_served: $known_min,
                        max: $known_max,
                        flexible_from: $known_flexible,
                    },)*
                }
            }
        }

        /// The body of a request of any API.
        #[derive(Clone, Debug, PartialEq)]
        pub enum RequestBody<'a> {
            $(
                #[doc = concat!("A request of API key ", $key, ".")]
                $api($request),
            )+
        }

        impl<'a> RequestBody<'a> {
            /// Reads the body of a request of this API and version.
            pub(crate) fn decode(
                api: ApiKey,
                reader: &mut Reader<'a>,
                version: i16,
            ) -> Result<Self, DecodeError> {
                match api {
                    $(ApiKey::$api => Message::decode(reader, version).map(Self::$api),)+
                    $(ApiKey::$known => Err(DecodeError::UnsupportedVersion),)*
                }
            }

            /// The API that this is a request of.
            #[must_use]
            pub const fn api(&self) -> ApiKey {
                match self {
                    $(Self::$api(_) => ApiKey::$api,)+
                }
            }
        }
    };
}

apis! {
    Produce              =  0, advertised 0, served 3 - 13, flexible Some(9), ProduceRequest<'a>;
    Fetch                =  1, advertised 4, served 4 - 18, flexible Some(12), FetchRequest<'a>;
    ListOffsets          =  2, advertised 1, served 1 - 11, flexible Some(6), ListOffsetsRequest<'a>;
    Metadata             =  3, advertised 0, served 0 - 13, flexible Some(9), MetadataRequest<'a>;
    OffsetCommit         =  8, advertised 2, served 2 - 10, flexible Some(8), OffsetCommitRequest<'a>;
    OffsetFetch          =  9, advertised 1, served 1 - 10, flexible Some(6), OffsetFetchRequest<'a>;
    FindCoordinator      = 10, advertised 0, served 0 - 6,  flexible Some(3), FindCoordinatorRequest<'a>;
    JoinGroup            = 11, advertised 0, served 0 - 9,  flexible Some(6), JoinGroupRequest<'a>;
    Heartbeat            = 12, advertised 0, served 0 - 4,  flexible Some(4), HeartbeatRequest<'a>;
    LeaveGroup           = 13, advertised 0, served 0 - 5,  flexible Some(4), LeaveGroupRequest<'a>;
    SyncGroup            = 14, advertised 0, served 0 - 5,  flexible Some(4), SyncGroupRequest<'a>;
    DescribeGroups       = 15, advertised 0, served 0 - 6,  flexible Some(5), DescribeGroupsRequest<'a>;
    ListGroups           = 16, advertised 0, served 0 - 5,  flexible Some(3), ListGroupsRequest<'a>;
    ApiVersions          = 18, advertised 0, served 0 - 5,  flexible Some(3), ApiVersionsRequest<'a>;
    CreateTopics         = 19, advertised 2, served 2 - 7,  flexible Some(5), CreateTopicsRequest<'a>;
    DeleteTopics         = 20, advertised 1, served 1 - 6,  flexible Some(4), DeleteTopicsRequest<'a>;
    DeleteRecords        = 21, advertised 0, served 0 - 2,  flexible Some(2), DeleteRecordsRequest<'a>;
    InitProducerId       = 22, advertised 0, served 0 - 5,  flexible Some(2), InitProducerIdRequest<'a>;
    OffsetForLeaderEpoch = 23, advertised 2, served 2 - 4,  flexible Some(4), OffsetForLeaderEpochRequest<'a>;
    AddPartitionsToTxn   = 24, advertised 0, served 0 - 5,  flexible Some(3), AddPartitionsToTxnRequest<'a>;
    AddOffsetsToTxn      = 25, advertised 0, served 0 - 4,  flexible Some(3), AddOffsetsToTxnRequest<'a>;
    EndTxn               = 26, advertised 0, served 0 - 5,  flexible Some(3), EndTxnRequest<'a>;
    WriteTxnMarkers      = 27, advertised 1, served 1 - 2,  flexible Some(1), WriteTxnMarkersRequest<'a>;
    TxnOffsetCommit      = 28, advertised 0, served 0 - 6,  flexible Some(3), TxnOffsetCommitRequest<'a>;
    DescribeConfigs      = 32, advertised 1, served 1 - 4,  flexible Some(4), DescribeConfigsRequest<'a>;
    AlterConfigs         = 33, advertised 0, served 0 - 2,  flexible Some(2), AlterConfigsRequest<'a>;
    DescribeLogDirs      = 35, advertised 1, served 1 - 5,  flexible Some(2), DescribeLogDirsRequest<'a>;
    CreatePartitions     = 37, advertised 0, served 0 - 3,  flexible Some(2), CreatePartitionsRequest<'a>;
    DeleteGroups         = 42, advertised 0, served 0 - 3,  flexible Some(2), DeleteGroupsRequest<'a>;
    ElectLeaders         = 43, advertised 0, served 0 - 2,  flexible Some(2), ElectLeadersRequest<'a>;
    IncrementalAlterConfigs = 44, advertised 0, served 0 - 1, flexible Some(1), IncrementalAlterConfigsRequest<'a>;
    OffsetDelete         = 47, advertised 0, served 0 - 0,  flexible None,    OffsetDeleteRequest<'a>;
    DescribeCluster      = 60, advertised 0, served 0 - 2,  flexible Some(0), DescribeClusterRequest;
    DescribeProducers    = 61, advertised 0, served 0 - 0,  flexible Some(0), DescribeProducersRequest<'a>;
    DescribeTransactions = 65, advertised 0, served 0 - 0,  flexible Some(0), DescribeTransactionsRequest<'a>;
    ListTransactions     = 66, advertised 0, served 0 - 2,  flexible Some(0), ListTransactionsRequest<'a>;
    ConsumerGroupHeartbeat = 68, advertised 0, served 0 - 1, flexible Some(0), ConsumerGroupHeartbeatRequest<'a>;
    ConsumerGroupDescribe = 69, advertised 0, served 0 - 1, flexible Some(0), ConsumerGroupDescribeRequest<'a>;
    ListConfigResources  = 74, advertised 0, served 0 - 1,  flexible Some(0), ListConfigResourcesRequest;
    DescribeTopicPartitions = 75, advertised 0, served 0 - 0, flexible Some(0), DescribeTopicPartitionsRequest<'a>;

    @known
    SaslHandshake        = 17, known 0 - 1, flexible None;
    SaslAuthenticate     = 36, known 0 - 2, flexible Some(2);
    ShareGroupDescribe   = 77, known 1 - 1, flexible Some(0);
    StreamsGroupDescribe = 89, known 0 - 1, flexible Some(0);
    DescribeShareGroupOffsets = 90, known 0 - 1, flexible Some(0);
}

impl ApiKey {
    /// The number on the wire.
    #[must_use]
    pub const fn code(self) -> i16 {
        self as i16
    }

    /// Whether messages of this version can be read and written, and requests of it are answered if the API is served.
    #[must_use]
    pub fn serves(self, version: i16) -> bool {
        let range = self.range();
        (range.min_served..=range.max).contains(&version)
    }

    /// Whether messages of this version have compact lengths and tag sections.
    #[must_use]
    pub fn is_flexible(self, version: i16) -> bool {
        self.range().flexible_from.is_some_and(|from| version >= from)
    }

    /// The version of the header before requests of this version: 2 when flexible, else 1.
    #[must_use]
    pub fn request_header_version(self, version: i16) -> i16 {
        if self.is_flexible(version) { 2 } else { 1 }
    }

    /// The version of the header before responses of this version: 1 when flexible, else 0. Responses of
    /// ApiVersions always have 0, since they are read by clients that do not know yet what the server speaks
    /// (KIP-511).
    #[must_use]
    pub fn response_header_version(self, version: i16) -> i16 {
        i16::from(self != Self::ApiVersions && self.is_flexible(version))
    }
}

impl fmt::Display for ApiKey {
    /// Kafka's name of the API.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
