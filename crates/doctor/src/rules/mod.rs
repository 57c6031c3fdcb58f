//! The rules, one in a file.

mod below_log_start;
mod beyond_log_end;
mod commit_without_epoch;
mod constant_lag_of_one;
mod ephemeral_groups;
mod epoch_newer_than_log;
mod metadata_near_limit;
mod more_members_than_partitions;
mod never_committed;
mod offset_retention_below_topic_retention;
mod offsets_topic_below_min_in_sync;
mod offsets_topic_not_compacted;
mod offsets_topic_one_replica;
mod offsets_topic_partitions_changed;
mod offsets_topic_under_replicated;
mod pending_transaction;
mod topic_gone;
mod unread_topic;

use crate::facts::{Facts, GroupFacts, PartitionFacts};
use crate::finding::{Finding, Fix, Severity, Subject};

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name, which never changes.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Why it is bad.
    pub why: &'static str,
    check: fn(&Facts) -> Vec<Hit>,
}

/// All rules.
pub const RULES: &[Rule] = &[
    offsets_topic_one_replica::RULE,
    offsets_topic_below_min_in_sync::RULE,
    offsets_topic_under_replicated::RULE,
    offsets_topic_not_compacted::RULE,
    offsets_topic_partitions_changed::RULE,
    offset_retention_below_topic_retention::RULE,
    below_log_start::RULE,
    beyond_log_end::RULE,
    topic_gone::RULE,
    unread_topic::RULE,
    never_committed::RULE,
    commit_without_epoch::RULE,
    epoch_newer_than_log::RULE,
    pending_transaction::RULE,
    metadata_near_limit::RULE,
    more_members_than_partitions::RULE,
    constant_lag_of_one::RULE,
    ephemeral_groups::RULE,
];

/// Looks for everything. The worst comes first, then in the order of the rules.
#[must_use]
pub fn examine(facts: &Facts) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES.iter().flat_map(|rule| rule.find(facts)).collect();
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found
}

impl Rule {
    pub(crate) fn find(&self, facts: &Facts) -> Vec<Finding> {
        let finding = |hit: Hit| Finding {
            rule: self.id,
            severity: self.severity,
            subject: hit.subject,
            says: hit.says,
            why: self.why,
            fix: hit.fix,
        };
        (self.check)(facts).into_iter().map(finding).collect()
    }
}

/// What a rule has to say; the rest of a finding is the rule's own.
pub(crate) struct Hit {
    subject: Subject,
    says: String,
    fix: Fix,
}

impl Hit {
    fn cluster(says: String, fix: Fix) -> Self {
        Self { subject: Subject::default(), says, fix }
    }

    fn topic(topic: &str, says: String, fix: Fix) -> Self {
        Self { subject: Subject { topic: Some(topic.to_owned()), ..Subject::default() }, says, fix }
    }

    fn offsets_topic(says: String, fix: Fix) -> Self {
        Self::topic("__consumer_offsets", says, fix)
    }
}

/// Looks at each group.
fn groups(facts: &Facts, hit: impl Fn(&GroupFacts) -> Option<(String, Fix)>) -> Vec<Hit> {
    let of_one = |group: &GroupFacts| {
        let (says, fix) = hit(group)?;
        Some(Hit { subject: Subject { group: Some(group.group.clone()), ..Subject::default() }, says, fix })
    };
    facts.groups.iter().filter_map(of_one).collect()
}

/// Looks at each partition of each group.
fn partitions(
    facts: &Facts,
    hit: impl Fn(&GroupFacts, &PartitionFacts) -> Option<(String, Fix)>,
) -> Vec<Hit> {
    let of_group = |group| {
        let hit = &hit;
        let of_one = move |one: &PartitionFacts| {
            let (says, fix) = hit(group, one)?;
            let subject = Subject {
                group: Some(group.group.clone()),
                topic: Some(one.topic.clone()),
                partition: Some(one.partition),
            };
            Some(Hit { subject, says, fix })
        };
        group.partitions.iter().filter_map(of_one)
    };
    facts.groups.iter().flat_map(of_group).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use milepost_model::Offset;

    use super::*;
    use crate::facts::{Log, Position};
    use crate::testing::{partition, well};

    #[test]
    fn of_a_cluster_that_is_well_there_is_nothing_to_say() {
        assert_eq!(examine(&well()), []);
        assert_eq!(examine(&Facts::default()), []);
    }

    #[test]
    fn the_worst_comes_first_and_each_says_whom_it_is_about() {
        let mut facts = well();
        let committed = |offset| Position::Committed {
            offset: Offset(offset),
            leader_epoch: None,
            metadata: String::new(),
        };
        facts.groups[0].partitions = vec![
            PartitionFacts { position: Position::Never, ..partition(0, 0) },
            PartitionFacts { log: Log::Gone, ..partition(1, 5) },
            PartitionFacts { position: committed(1), ..partition(2, 0) },
        ];
        let found = examine(&facts);
        let rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["below-log-start", "topic-gone", "never-committed"]);
        assert_eq!(found[0].subject.group.as_deref(), Some("g"));
        assert_eq!(found[0].fix, Fix::milepost(&["group", "reset", "g", "earliest", "--topic", "t:2"]));
    }

    #[test]
    fn no_two_rules_have_one_name() {
        let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), RULES.len());
    }
}
