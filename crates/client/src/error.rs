//! Why a cluster could not be asked, or what it refused, in words for people.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use milepost_batch::BatchError;
use milepost_wire::{ApiKey, DecodeError, EncodeError, ErrorCode};

use crate::address::Address;

/// What went wrong. Cheap to clone, since one cause may keep many things from being done.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ClientError {
    /// An address that is none.
    #[error("{said:?} is no address (HOST:PORT): {why}")]
    BadAddress {
        /// What was said.
        said: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// No connection could be made.
    #[error("cannot connect to {address}: {source}")]
    Connect {
        /// Where to.
        address: Address,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// The connection broke while an answer was awaited.
    #[error("the connection to {address} broke: {source}")]
    Broken {
        /// Who was at its other end.
        address: Address,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// The answer did not come in time.
    #[error("{address} did not answer within {} s", .after.as_secs_f32())]
    TimedOut {
        /// Who was asked.
        address: Address,
        /// How long it was waited for.
        after: Duration,
    },
    /// The caller's [`Stop`](crate::Stop) was set while waiting.
    #[error("stopped")]
    Stopped,
    /// A frame that is negative or larger than is believed.
    #[error(
        "{address} announces an answer of {announced} bytes, which is not believed; is it a Kafka broker, \
         and does it speak TLS where you do not, or the other way round?"
    )]
    FrameSize {
        /// Who said so.
        address: Address,
        /// The length it announced.
        announced: i32,
    },
    /// An answer to something that was not asked next.
    #[error("{address} answers out of order: {found} instead of {expected}")]
    OutOfOrder {
        /// Who answered.
        address: Address,
        /// The correlation id that came.
        found: i32,
        /// The one that was due.
        expected: i32,
    },
    /// An answer that cannot be read.
    #[error("the answer to {api} cannot be read: {source}")]
    Decode {
        /// What was asked.
        api: ApiKey,
        /// What is wrong with the bytes.
        source: DecodeError,
    },
    /// A request that has no bytes in the version that both sides speak.
    #[error("{api} cannot be asked: {source}")]
    Encode {
        /// What was to be asked.
        api: ApiKey,
        /// What does not fit.
        source: EncodeError,
    },
    /// The two sides have no version of an API in common.
    #[error("{address} speaks {api} in {theirs}, and this program in versions {} to {}", .ours.0, .ours.1)]
    NoVersion {
        /// Who was asked.
        address: Address,
        /// The API.
        api: ApiKey,
        /// Our lowest and highest version.
        ours: (i16, i16),
        /// What the other side speaks, in words.
        theirs: String,
    },
    /// The cluster refused.
    #[error("{what}: {}", explain(*.code, .message.as_deref()))]
    Refused {
        /// What was asked for.
        what: String,
        /// Kafka's code.
        code: ErrorCode,
        /// What the server says about it.
        message: Option<String>,
    },
    /// Records that cannot be read.
    #[error("{partition} at offset {offset}: {source}")]
    Records {
        /// The partition, as TOPIC-NUMBER.
        partition: String,
        /// Where in it.
        offset: i64,
        /// What is wrong.
        source: BatchError,
    },
    /// A batch whose bytes are not those that were written.
    #[error("{partition} at offset {offset}: the batch does not have the checksum it was written with")]
    Damaged {
        /// The partition, as TOPIC-NUMBER.
        partition: String,
        /// The batch's first offset.
        offset: i64,
    },
    /// An offset that a partition does not have.
    #[error("offset {asked} is outside of {partition}, which has {start} to {end}")]
    OutOfRange {
        /// The partition, as TOPIC-NUMBER.
        partition: String,
        /// What was asked for.
        asked: i64,
        /// The first offset.
        start: i64,
        /// The offset after the last.
        end: i64,
    },
    /// The answer lacks something that it must have.
    #[error("the answer to {what} lacks {lacks}")]
    Incomplete {
        /// What was asked.
        what: String,
        /// What is not there.
        lacks: String,
    },
    /// A record larger than any batch that is sent.
    #[error("a record of {bytes} bytes is larger than the largest that is sent ({max} bytes)")]
    RecordTooLarge {
        /// How large it is.
        bytes: usize,
        /// The bound.
        max: usize,
    },
    /// What was said of certificates or keys cannot be used.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// The broker and the user do not believe each other.
    #[error("{address}: {why}")]
    Authentication {
        /// Who was asked.
        address: Address,
        /// What is wrong.
        why: String,
    },
}

impl ClientError {
    /// A refusal.
    pub(crate) fn refused(what: impl Into<String>, code: ErrorCode, message: Option<&str>) -> Self {
        Self::Refused { what: what.into(), code, message: message.map(str::to_owned) }
    }

    /// What a code says of something: that it was done, or why not.
    pub(crate) fn of_code(
        what: impl Into<String>,
        code: ErrorCode,
        message: Option<&str>,
    ) -> Result<(), Self> {
        if code == ErrorCode::None { Ok(()) } else { Err(Self::refused(what, code, message)) }
    }

    /// Kafka's code, if the cluster refused.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        if let Self::Refused { code, .. } = self { Some(*code) } else { None }
    }

    /// Whether the cluster could not be reached or did not answer, as opposed to having refused.
    #[must_use]
    pub fn is_connection(&self) -> bool {
        matches!(self, Self::Connect { .. } | Self::Broken { .. } | Self::TimedOut { .. })
    }

    /// Whether the same question may be answered a moment later. An unknown topic is not counted among these, though
    /// Kafka calls it retriable: whoever asks for a topic that is not there wants to be told.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Refused {
                code: ErrorCode::UnknownTopicOrPartition | ErrorCode::UnknownTopicId, ..
            } => false,
            Self::Refused { code, .. } => code.is_retriable(),
            other => other.is_connection(),
        }
    }
}

/// Kafka's code in words, with its name for whoever searches for it, and what the server adds.
#[must_use]
pub fn explain(code: ErrorCode, message: Option<&str>) -> String {
    let words = match code {
        ErrorCode::UnknownTopicOrPartition => "there is no such topic or partition",
        ErrorCode::UnknownTopicId => "there is no topic of that id",
        ErrorCode::TopicAlreadyExists => "a topic of that name exists already",
        ErrorCode::InvalidTopicException => "the name is none that a topic can have",
        ErrorCode::InvalidPartitions => "the number of partitions is refused",
        ErrorCode::InvalidReplicationFactor => "the number of replicas is refused",
        ErrorCode::InvalidConfig => "a setting is refused",
        ErrorCode::PolicyViolation => "a rule of the cluster forbids it",
        ErrorCode::TopicDeletionDisabled => "the cluster does not let topics be deleted",
        ErrorCode::GroupSubscribedToTopic => "a member of the group reads that topic",
        ErrorCode::TopicAuthorizationFailed => "no permission for that topic",
        ErrorCode::GroupAuthorizationFailed => "no permission for that group",
        ErrorCode::ClusterAuthorizationFailed => "no permission in this cluster",
        ErrorCode::MessageTooLarge | ErrorCode::RecordListTooLarge => {
            "larger than the topic takes (max.message.bytes)"
        }
        ErrorCode::InvalidRecord => "the topic does not take such a record",
        ErrorCode::InvalidTimestamp => "the record's time is too far off the broker's clock",
        ErrorCode::LeaderNotAvailable | ErrorCode::NotLeaderOrFollower => "the partition has no leader now",
        ErrorCode::CoordinatorNotAvailable | ErrorCode::NotCoordinator => "the group has no coordinator now",
        ErrorCode::CoordinatorLoadInProgress => "the group's coordinator is still loading",
        ErrorCode::NotEnoughReplicas | ErrorCode::NotEnoughReplicasAfterAppend => {
            "too few replicas are in sync"
        }
        ErrorCode::KafkaStorageError => "the broker cannot use its disk",
        ErrorCode::RequestTimedOut => "the broker did not finish in time",
        ErrorCode::OffsetOutOfRange => "the partition has no such offset",
        ErrorCode::GroupMaxSizeReached => "the group is full",
        ErrorCode::InconsistentGroupProtocol => "the group's other members speak another protocol",
        ErrorCode::InvalidGroupId => "the name is none that a group can have",
        ErrorCode::InvalidSessionTimeout => "the broker refuses that session timeout",
        ErrorCode::UnknownMemberId => "the group has put this member out",
        ErrorCode::IllegalGeneration => "the group has gone on without this member",
        ErrorCode::RebalanceInProgress => "the group is rebalancing",
        ErrorCode::NonEmptyGroup => "the group still has members",
        ErrorCode::GroupIdNotFound => "there is no such group",
        ErrorCode::UnsupportedVersion => "the broker does not speak that version",
        _ => "",
    };
    let name = code.name();
    let said = if words.is_empty() { format!("[{name}]") } else { format!("{words} [{name}]") };
    match message.filter(|message| !message.is_empty()) {
        Some(message) => format!("{said}: {message}"),
        None => said,
    }
}
