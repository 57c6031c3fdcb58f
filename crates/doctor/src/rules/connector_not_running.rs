//! A sink connector of Kafka Connect does not read, though there are workers.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupKind, PartitionFacts};
use crate::finding::{Fix, Severity};

/// What Connect puts before a sink connector's name to make its group.
const PREFIX: &str = "connect-";

pub(super) const RULE: Rule = Rule {
    id: "connector-not-running",
    severity: Severity::Warning,
    why: "a connector whose tasks have failed leaves its group without members, and nobody starts them again by themselves; its offsets are changed through Connect while it is stopped, not behind its back",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let mut workers = facts.groups.iter().filter(|group| group.kind == Some(GroupKind::Connect));
    let Some(workers) = workers.find(|group| group.members.is_some_and(|members| members > 0)) else {
        return Vec::new();
    };
    super::groups(facts, |group| {
        let name = group.group.strip_prefix(PREFIX)?;
        let lag: i64 = group.partitions.iter().filter_map(PartitionFacts::waiting).sum();
        if group.kind != Some(GroupKind::Classic) || group.members? > 0 || lag == 0 {
            return None;
        }
        let says = format!(
            "no task of the connector {name} reads, {lag} records wait, and {} has workers",
            workers.group
        );
        let fix = format!(
            "ask a worker how it is (GET /connectors/{name}/status), and start what has failed \
             (POST /connectors/{name}/restart?includeTasks=true&onlyFailed=true)"
        );
        Some((says, Fix::ByHand(fix)))
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::facts::{GroupFacts, GroupKind};
    use crate::testing::said;

    #[test]
    fn a_connector_without_tasks_is_found_beside_workers() {
        let with = |members: usize, workers: usize| {
            said(&RULE, |facts| {
                facts.groups[0].group = "connect-sink".to_owned();
                facts.groups[0].members = Some(members);
                facts.groups.push(GroupFacts {
                    group: "the-workers".to_owned(),
                    kind: Some(GroupKind::Connect),
                    members: Some(workers),
                    ..GroupFacts::default()
                });
            })
        };
        assert_eq!(
            with(0, 2),
            ["no task of the connector sink reads, 5 records wait, and the-workers has workers"]
        );
        assert!(with(1, 2).is_empty());
        assert!(with(0, 0).is_empty());
    }
}
