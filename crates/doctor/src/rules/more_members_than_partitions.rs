//! A group has more members than partitions to read.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts};
use crate::finding::{Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "more-members-than-partitions",
    severity: Severity::Notice,
    why: "members without a partition do nothing but wait; more of them do not make the group faster",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::groups(facts, hit)
}

fn hit(group: &GroupFacts) -> Option<(String, Fix)> {
    let members = group.members?;
    let read = group.partitions.iter().filter(|one| one.has_reader).count();
    if read == 0 || members <= read {
        return None;
    }
    let says = format!("{members} members read {read} partitions");
    let fix = format!("stop {} members of {}, or add partitions to its topics", members - read, group.group);
    Some((says, Fix::ByHand(fix)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::said;

    #[test]
    fn members_without_work_are_found() {
        assert_eq!(said(&RULE, |facts| facts.groups[0].members = Some(3)), ["3 members read 1 partitions"]);
        assert!(said(&RULE, |facts| facts.groups[0].members = Some(1)).is_empty());
        // Nothing is shared out yet.
        let joining = said(&RULE, |facts| {
            facts.groups[0].members = Some(3);
            facts.groups[0].partitions[0].has_reader = false;
        });
        assert!(joining.is_empty());
    }
}
