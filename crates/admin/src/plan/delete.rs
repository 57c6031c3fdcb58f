//! Deleting groups.

use crate::facts::GroupFacts;
use crate::plan::Presence;
use crate::reason::Reason;

/// What deleting one group means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doomed {
    /// The group.
    pub group: String,
    /// How many committed offsets go with it.
    pub offsets: usize,
    /// Why nothing of it can be kept and put back, of a kind of group that commits nothing.
    pub not_kept: Option<Reason>,
}

/// Which groups are deleted, and which are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletePlan {
    /// Those that go.
    pub groups: Vec<Doomed>,
    /// Those that were meant and cannot go.
    pub refused: Vec<(String, Reason)>,
}

/// Plans it. A group with members is refused by the cluster too; here it is said before anything else is deleted.
#[must_use]
pub fn plan(groups: &[GroupFacts]) -> DeletePlan {
    let mut plan = DeletePlan::default();
    for group in groups {
        let name = group.group.clone();
        let offsets = group.partitions.iter().filter(|one| one.position.committed().is_some()).count();
        match Presence::of(group.description.as_ref()) {
            Presence::Absent if offsets == 0 => {
                let why = Reason::other(format!("{name}: there is no such group"));
                plan.refused.push((name, why));
            }
            Presence::Members { count, state } => {
                let why =
                    format!("{name}: the group still has {count} members and is {state} [NON_EMPTY_GROUP]");
                plan.refused.push((name, Reason::other(why)));
            }
            Presence::Absent | Presence::Empty | Presence::Unknown(_) => {
                plan.groups.push(Doomed { group: name, offsets, not_kept: group.keeps_no_offsets() });
            }
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use milepost_client::TopicPartition;
    use milepost_client::groups::{Committed, GroupDescription, GroupKind, MemberDescription};
    use milepost_model::{Offset, PartitionIndex};

    use super::*;
    use crate::facts::{PartitionFacts, Position};

    fn group(name: &str, state: &str, members: usize, offset: Option<i64>) -> GroupFacts {
        let member = MemberDescription {
            member_id: "m".to_owned(),
            instance_id: None,
            client_id: "c".to_owned(),
            host: "/h".to_owned(),
            epoch: None,
            subscribed: None,
            assigned: std::collections::BTreeSet::new(),
            target: None,
            work: None,
        };
        let description = GroupDescription {
            kind: GroupKind::Classic,
            state: state.to_owned(),
            protocol_type: "consumer".to_owned(),
            assignor: String::new(),
            epochs: None,
            topology: None,
            members: vec![member; members],
        };
        let partitions = offset.into_iter().map(|offset| PartitionFacts {
            partition: TopicPartition::new("t", PartitionIndex(0)),
            position: Position::Committed(Committed {
                offset: Offset(offset),
                leader_epoch: None,
                metadata: String::new(),
            }),
            log: Err(Reason::other("not asked")),
            member: None,
            next_record: None,
        });
        GroupFacts {
            group: name.to_owned(),
            description: Some(Ok(description)),
            unknown: None,
            partitions: partitions.collect(),
        }
    }

    #[test]
    fn of_a_group_that_commits_nothing_it_is_said_that_it_cannot_be_put_back() {
        let mut shared = group("shared", "Empty", 0, None);
        shared.description.as_mut().unwrap().as_mut().unwrap().kind = GroupKind::Share;
        let plan = plan(&[shared, group("idle", "Empty", 0, Some(3))]);
        let kept: Vec<bool> = plan.groups.iter().map(|one| one.not_kept.is_none()).collect();
        assert_eq!(kept, [false, true]);
    }

    #[test]
    fn a_group_with_members_or_none_at_all_is_refused_and_the_others_go() {
        let groups = [
            group("idle", "Empty", 0, Some(3)),
            group("busy", "Stable", 2, Some(3)),
            group("absent", "Dead", 0, None),
            // Some clusters call a group without members Dead although it keeps offsets.
            group("dead", "Dead", 0, Some(3)),
        ];
        let plan = plan(&groups);
        let doomed: Vec<(&str, usize)> =
            plan.groups.iter().map(|one| (one.group.as_str(), one.offsets)).collect();
        assert_eq!(doomed, [("idle", 1), ("dead", 1)]);
        let refused: Vec<&str> = plan.refused.iter().map(|(_, why)| why.words.as_str()).collect();
        assert_eq!(
            refused,
            [
                "busy: the group still has 2 members and is Stable [NON_EMPTY_GROUP]",
                "absent: there is no such group"
            ]
        );
    }
}
