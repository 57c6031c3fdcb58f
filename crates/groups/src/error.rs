//! Why a request about a group was refused, by meaning. The edge turns them into Kafka's codes.

use thiserror::Error;

/// A refusal. Each has one code of Kafka's, which the edge knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GroupError {
    /// The group id is empty where one is needed.
    #[error("the group id is not valid")]
    InvalidGroupId,
    /// The session timeout is outside what the settings allow.
    #[error("the session timeout is outside the allowed range")]
    InvalidSessionTimeout,
    /// A name is longer than a record can hold.
    #[error("a name in the request is too long")]
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
    /// A transaction that may change this offset is still open.
    #[error("a transaction that commits this offset is still open")]
    UnstableOffsetCommit,
}
