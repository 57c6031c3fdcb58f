//! What must always be true of consumer groups, read off their records alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_groups::{ConsumerChange, ConsumerRecord, CurrentAssignment, Epoch};

/// What members have, by group and member, and the highest epochs ever seen.
#[derive(Default)]
pub(crate) struct ConsumerGroups {
    groups: BTreeMap<Arc<str>, Group>,
}

#[derive(Default)]
struct Group {
    epoch: i32,
    target_epoch: i32,
    currents: BTreeMap<Arc<str>, Arc<CurrentAssignment>>,
}

impl ConsumerGroups {
    /// Epochs of a group never go back, and a member never owns what it must give up beside what replaced it.
    pub(crate) fn check(&mut self, record: &ConsumerRecord) {
        let group = self.groups.entry(Arc::clone(&record.group)).or_default();
        match &record.change {
            ConsumerChange::Group(Some(value)) => {
                assert!(
                    value.epoch.0 > group.epoch,
                    "the group epoch {} after {}",
                    value.epoch.0,
                    group.epoch
                );
                group.epoch = value.epoch.0;
            }
            ConsumerChange::TargetEpoch(Some(value)) => {
                let (now, before) = (value.epoch.0, group.target_epoch);
                assert!(now > before, "the target epoch {now} after {before}");
                group.target_epoch = now;
            }
            ConsumerChange::Current(id, Some(current)) => {
                check_replaced(group.currents.get(id).map(Arc::as_ref), current);
                group.currents.insert(Arc::clone(id), Arc::clone(current));
            }
            ConsumerChange::Current(id, None) => drop(group.currents.remove(id)),
            ConsumerChange::Group(None) => drop(self.groups.remove(&record.group)),
            _ => {}
        }
    }

    /// A partition has at most one owner, whoever must still give it up included.
    pub(crate) fn check_owners(&self) {
        for (group_id, group) in &self.groups {
            let mut owners = BTreeMap::new();
            for (member, current) in &group.currents {
                let all = [&current.assigned, &current.pending_revocation];
                let partitions = all.into_iter().flat_map(|owned| owned.partitions().0);
                for (topic, partition) in
                    partitions.flat_map(|(topic, all)| all.into_iter().map(move |one| (topic, one)))
                {
                    if let Some(other) = owners.insert((topic, partition), member) {
                        panic!("{topic}:{partition} of {group_id} belongs to {other} and {member}");
                    }
                }
            }
        }
    }
}

/// While a member must give something up it gets nothing new.
fn check_replaced(before: Option<&CurrentAssignment>, now: &CurrentAssignment) {
    // A static member that is replaced leaves what it had to give up to the one that takes its place.
    let takes_place = before.is_none() && now.epoch == Epoch::JOINING;
    if now.pending_revocation.is_empty() || takes_place {
        return;
    }
    let before = before.map(|before| before.assigned.partitions()).unwrap_or_default();
    for (topic, partitions) in now.assigned.partitions().0 {
        let had = before.0.get(&topic).is_some_and(|had| partitions.is_subset(had));
        assert!(had, "a member got {topic}:{partitions:?} before it gave up what it had to");
    }
}
