//! Many empty groups look as if a tool had made them for one run.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts};
use crate::finding::{Fix, Severity};

/// What Kafka's console consumer and the like call their groups, before a number.
const PREFIXES: [&str; 2] = ["console-consumer-", "perf-consumer-"];
/// How many of them are worth a word.
const GROUPS_MIN: usize = 10;

pub(super) const RULE: Rule = Rule {
    id: "ephemeral-groups",
    severity: Severity::Notice,
    why: "groups that a tool made for one run stay until they expire, and fill every list and every metric",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let is_litter = |group: &&GroupFacts| {
        let is_empty = group.state.as_deref() == Some("Empty");
        is_empty
            && PREFIXES.iter().any(|prefix| {
                let rest = group.group.strip_prefix(prefix);
                rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
            })
    };
    let litter: Vec<&str> = facts.groups.iter().filter(is_litter).map(|group| group.group.as_str()).collect();
    if litter.len() < GROUPS_MIN {
        return Vec::new();
    }
    let says = format!("{} empty groups look made for one run, such as {}", litter.len(), litter[0]);
    let fix = Fix::milepost("group delete", &litter);
    vec![Hit::cluster(says, fix)]
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::facts::GroupFacts;
    use crate::testing::said;

    #[test]
    fn many_groups_of_console_consumers_are_found() {
        let with = |count: usize, state: &str| {
            said(&RULE, |facts| {
                let group = |index| GroupFacts {
                    group: format!("console-consumer-{index}"),
                    state: Some(state.to_owned()),
                    ..GroupFacts::default()
                };
                facts.groups = (0..count).map(group).collect();
            })
        };
        assert_eq!(with(10, "Empty"), ["10 empty groups look made for one run, such as console-consumer-0"]);
        assert!(with(9, "Empty").is_empty());
        assert!(with(10, "Stable").is_empty());
    }
}
