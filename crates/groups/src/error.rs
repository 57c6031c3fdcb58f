//! Why a request about a group was refused, by meaning. The edge turns them into Kafka's codes.

use milepost_model::Generation;
use thiserror::Error;

use crate::OffsetRefused;

/// A refusal. Each has one code of Kafka's, which the edge knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GroupError {
    /// The group id is empty where one is needed.
    #[error("the group id is not valid")]
    InvalidGroupId,
    /// The session timeout is outside what the settings allow.
    #[error("the session timeout is outside the allowed range")]
    InvalidSessionTimeout,
    /// A name is longer than a record can hold, or something is missing that must be said.
    #[error("the request lacks something, or a name in it is empty or too long")]
    InvalidRequest,
    /// The member is not (or no longer) in the group, or a group of members was used without naming one.
    #[error("the group does not know this member")]
    UnknownMemberId,
    /// Another member took over this group instance id.
    #[error("another member has taken over this group instance id")]
    FencedInstanceId,
    /// The generation is not the group's.
    #[error("the generation is not the group's")]
    IllegalGeneration,
    /// The group is rebalancing; join again.
    #[error("the group is rebalancing")]
    RebalanceInProgress,
    /// No protocol is supported by every member, or the protocol type differs.
    #[error("the member's protocols do not fit the group")]
    InconsistentGroupProtocol,
    /// Join again with the member id that comes with this answer (KIP-394).
    #[error("join again with the member id given")]
    MemberIdRequired,
    /// The group has as many members as the settings allow.
    #[error("the group is full")]
    GroupMaxSizeReached,
    /// There is no such group.
    #[error("there is no such group")]
    GroupIdNotFound,
    /// The group still has members.
    #[error("the group has members")]
    NonEmptyGroup,
    /// The group's members subscribe to this topic.
    #[error("the group is subscribed to the topic")]
    GroupSubscribedToTopic,
    /// The metadata of a commit is too long.
    #[error("the metadata of the commit is too long")]
    OffsetMetadataTooLarge,
    /// The member is not in this epoch (any more): it gives up everything and joins again.
    #[error("the member is not in this epoch; it must give up all its partitions and join again")]
    FencedMemberEpoch,
    /// The member's epoch is not the one it is in, or it did not have the partition in it.
    #[error("the member epoch is stale")]
    StaleMemberEpoch,
    /// The static member's predecessor has not left.
    #[error("another member still uses this group instance id")]
    UnreleasedInstanceId,
    /// The settings do not name this assignor.
    #[error("the coordinator does not have this assignor")]
    UnsupportedAssignor,
    /// It is not RE2's syntax, or too large.
    #[error("the regular expression is not valid in the syntax of RE2, or too large")]
    InvalidRegularExpression,
    /// Members of consumer groups need a newer version of this API.
    #[error("members of consumer groups need a newer version of this request")]
    UnsupportedVersion,
    /// A transaction that may change this offset is still open.
    #[error("a transaction that commits this offset is still open")]
    UnstableOffsetCommit,
}

/// Why a request of the embedded library was refused. Nothing was written. None of it ever reaches the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EmbeddedRefusal {
    /// The group id is empty, or longer than a record can hold.
    #[error("the group id is not valid")]
    InvalidGroupId,
    /// The generation is lower than the present one: somebody took the group over since.
    #[error("the generation is stale, the group is at {}", current.0)]
    StaleGeneration {
        /// The present one.
        current: Generation,
    },
    /// The generation is higher than the present one, or the group has none: it was never handed out, or the group
    /// was forgotten since.
    #[error("the group never had this generation")]
    UnknownGeneration {
        /// The present one, if there is one.
        current: Option<Generation>,
    },
    /// The group has members, which a server wrote down. A rebalance takes it over from them.
    #[error("the group has members")]
    NonEmptyGroup,
    /// One of the offsets cannot be stored.
    #[error("offset {} of the commit is refused: {}", .0.index, .0.error)]
    Offset(OffsetRefused),
}
