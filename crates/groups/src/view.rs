//! A group as it is right now: what the records say, and over that the rebalance being formed. Read only.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use milepost_model::Generation;
use milepost_records::consumer_protocol;

use crate::hard::HardGroup;
use crate::rebalance::{Phase, Rebalance, metadata_for};
use crate::soft::SoftGroup;
use crate::{ClassicGroup, GroupError, Member};

/// The protocol type of consumers. Only of them is it known what their bytes mean.
pub(crate) const CONSUMER: &str = "consumer";

/// The state of a group, under Kafka's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupState {
    /// No members; there may be offsets.
    Empty,
    /// Members are joining.
    PreparingRebalance,
    /// Members have joined and wait for the leader's assignment.
    CompletingRebalance,
    /// Every member has its assignment.
    Stable,
    /// A consumer group changed, and has no new target assignment yet.
    Assigning,
    /// Some members of a consumer group do not have their target assignment yet.
    Reconciling,
}

impl GroupState {
    /// Every state.
    pub const ALL: [Self; 6] = [
        Self::Empty,
        Self::PreparingRebalance,
        Self::CompletingRebalance,
        Self::Stable,
        Self::Assigning,
        Self::Reconciling,
    ];

    /// Kafka's name of it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::PreparingRebalance => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Stable => "Stable",
            Self::Assigning => "Assigning",
            Self::Reconciling => "Reconciling",
        }
    }
}

impl fmt::Display for GroupState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Hard and soft state of one group, laid over each other.
#[derive(Clone, Copy)]
pub(crate) struct GroupView<'a> {
    classic: Option<&'a ClassicGroup>,
    soft: Option<&'a SoftGroup>,
    rebalance: Option<&'a Rebalance>,
}

/// Which topics a group's members subscribe to.
pub(crate) enum Subscription<'a> {
    /// These.
    Known(BTreeSet<&'a str>),
    /// It cannot be known: another protocol type, or bytes that are not what they should be (KAFKA-20570).
    Unknown,
}

impl<'a> GroupView<'a> {
    pub(crate) fn new(hard: Option<&'a HardGroup>, soft: Option<&'a SoftGroup>) -> Self {
        Self {
            classic: hard.and_then(|hard| hard.classic()).map(Arc::as_ref),
            soft,
            rebalance: soft.and_then(|soft| soft.rebalance.as_ref()),
        }
    }

    pub(crate) fn state(&self) -> GroupState {
        let has_members = match self.rebalance {
            Some(rebalance) => !rebalance.members.is_empty(),
            None => !self.recorded_members().is_empty(),
        };
        match self.rebalance.map(|rebalance| &rebalance.phase) {
            Some(Phase::Joining(_)) => GroupState::PreparingRebalance,
            Some(Phase::Syncing) => GroupState::CompletingRebalance,
            Some(Phase::Settled) | None if has_members => GroupState::Stable,
            Some(Phase::Settled) | None => GroupState::Empty,
        }
    }

    fn recorded_members(&self) -> &'a [Member] {
        self.classic.map_or(&[], |classic| &classic.members)
    }

    /// The generation members have to name.
    pub(crate) fn generation(&self) -> Generation {
        match (self.rebalance, self.classic) {
            (Some(rebalance), _) => rebalance.generation,
            (None, Some(classic)) => classic.generation,
            (None, None) => Generation::default(),
        }
    }

    /// Whether no record holds the generation yet, so that a restart would hand it out again.
    pub(crate) fn is_generation_unrecorded(&self) -> bool {
        self.rebalance.is_some_and(|rebalance| rebalance.is_unrecorded)
    }

    pub(crate) fn protocol_type(&self) -> Option<&'a Arc<str>> {
        match self.rebalance {
            Some(rebalance) => rebalance.protocol_type.as_ref(),
            None => self.classic.and_then(|classic| classic.protocol_type.as_ref()),
        }
    }

    pub(crate) fn protocol(&self) -> Option<&'a Arc<str>> {
        match self.rebalance {
            Some(rebalance) => rebalance.protocol.as_ref(),
            None => self.classic.and_then(|classic| classic.protocol.as_ref()),
        }
    }

    /// The members, by id.
    pub(crate) fn members(&self) -> Vec<&'a Member> {
        match self.rebalance {
            Some(rebalance) => rebalance.members.values().map(|joiner| &joiner.member).collect(),
            None => self.recorded_members().iter().collect(),
        }
    }

    pub(crate) fn member(&self, member_id: &str) -> Option<&'a Member> {
        match self.rebalance {
            Some(rebalance) => rebalance.members.get(member_id).map(|joiner| &joiner.member),
            None => self.classic.and_then(|classic| classic.member(member_id)),
        }
    }

    pub(crate) fn static_member(&self, group_instance_id: &str) -> Option<&'a Member> {
        let uses_it = |member: &&Member| member.group_instance_id.as_deref() == Some(group_instance_id);
        match self.rebalance {
            Some(rebalance) => rebalance.members.values().map(|joiner| &joiner.member).find(uses_it),
            None => self.recorded_members().iter().find(uses_it),
        }
    }

    /// That the member is in the group, and that no other member took over its group instance id.
    pub(crate) fn validate_member(
        &self,
        member_id: &str,
        group_instance_id: Option<&str>,
    ) -> Result<&'a Member, GroupError> {
        let member = self.member(member_id);
        if let Some(instance) = group_instance_id {
            let is_owner = member.is_some_and(|known| known.group_instance_id.as_deref() == Some(instance));
            if !is_owner {
                return Err(match self.static_member(instance) {
                    Some(_) => GroupError::FencedInstanceId,
                    None => GroupError::UnknownMemberId,
                });
            }
        }
        member.ok_or(GroupError::UnknownMemberId)
    }

    /// Whether the group's members understand the consumer protocol.
    pub(crate) fn is_of_consumers(&self) -> bool {
        self.protocol_type().is_some_and(|protocol_type| **protocol_type == *CONSUMER)
    }

    /// What the members of the last handed-out generation subscribe to.
    pub(crate) fn subscription(&self) -> Subscription<'a> {
        let topics = match (self.state(), self.soft, self.rebalance) {
            (GroupState::CompletingRebalance, Some(soft), Some(rebalance)) if self.is_of_consumers() => {
                let protocol = rebalance.protocol.as_deref().unwrap_or_default();
                let metadata = |member_id| metadata_for(&soft.sessions, member_id, protocol);
                union(rebalance.members.keys().filter_map(|member_id| metadata(member_id)))
            }
            (GroupState::CompletingRebalance, _, _) => None,
            _ => self.recorded_subscription(),
        };
        topics.map_or(Subscription::Unknown, Subscription::Known)
    }

    fn recorded_subscription(&self) -> Option<BTreeSet<&'a str>> {
        let classic = self.classic.filter(|classic| classic.protocol_type.as_deref() == Some(CONSUMER))?;
        union(classic.members.iter().map(|member| &member.subscription))
    }
}

/// What the members of a group of either kind subscribe to.
pub(crate) fn subscription_of<'a>(view: &GroupView<'a>, group: &'a HardGroup) -> Subscription<'a> {
    match group.consumer() {
        None => view.subscription(),
        Some(consumer) => {
            Subscription::Known(consumer.subscribed_topics().into_iter().map(AsRef::as_ref).collect())
        }
    }
}

impl Subscription<'_> {
    /// Whether a topic is subscribed to, if that is known.
    pub(crate) fn contains(&self, topic: &str) -> Option<bool> {
        match self {
            Self::Known(topics) => Some(topics.contains(topic)),
            Self::Unknown => None,
        }
    }
}

fn union<'a>(subscriptions: impl Iterator<Item = &'a Arc<[u8]>>) -> Option<BTreeSet<&'a str>> {
    let mut topics = BTreeSet::new();
    for subscription in subscriptions {
        topics.extend(consumer_protocol::subscribed_topics(subscription).ok()?);
    }
    Some(topics)
}
