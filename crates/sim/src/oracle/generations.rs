//! Generations of classic groups: one that is known to be recorded never comes back, nor does one below it.

use std::collections::BTreeMap;

use crate::check::{Checked, promise};

#[derive(Debug, Default)]
struct Known {
    /// The highest generation that is recorded: a SyncGroup or a commit under it was answered.
    recorded: Option<i32>,
    /// The leader of each generation that a JoinGroup answered.
    leaders: BTreeMap<i32, String>,
    /// What the members of a recorded generation were assigned.
    assignments: BTreeMap<(i32, String), Vec<u8>>,
}

/// All groups.
#[derive(Debug, Default)]
pub(crate) struct Generations {
    groups: BTreeMap<usize, Known>,
}

impl Generations {
    pub(crate) fn recorded(&self, group: usize) -> Option<i32> {
        self.groups.get(&group)?.recorded
    }

    /// JoinGroup answered; `floor` is what was recorded when it was admitted. `keeps_leader`: members keep their ids.
    pub(crate) fn joined(
        &mut self,
        group: usize,
        generation: i32,
        leader: &str,
        floor: Option<i32>,
        keeps_leader: bool,
    ) -> Checked {
        let known = self.groups.entry(group).or_default();
        promise!(
            floor.is_none_or(|floor| generation >= floor),
            "group {group}: generation {generation}, and {floor:?} is recorded"
        );
        if keeps_leader
            && floor == Some(generation)
            && let Some(former) = known.leaders.get(&generation)
        {
            promise!(
                former == leader,
                "group {group}: generation {generation} is led by {leader}, and was led by {former}"
            );
        }
        known.leaders.insert(generation, leader.to_owned());
        Ok(())
    }

    /// SyncGroup answered: the generation is recorded, with what the member got.
    pub(crate) fn synced(
        &mut self,
        group: usize,
        generation: i32,
        member: &str,
        assignment: &[u8],
    ) -> Checked {
        self.commit_accepted(group, generation);
        let known = self.groups.entry(group).or_default();
        let place = known.assignments.entry((generation, member.to_owned()));
        let former = place.or_insert_with(|| assignment.to_vec());
        promise!(
            former == assignment,
            "group {group}, generation {generation}: {member} is assigned {assignment:?}, and was {former:?}"
        );
        Ok(())
    }

    /// A commit under this generation was accepted.
    pub(crate) fn commit_accepted(&mut self, group: usize, generation: i32) {
        let known = self.groups.entry(group).or_default();
        known.recorded = known.recorded.max(Some(generation));
    }
}
