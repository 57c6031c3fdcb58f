//! The rules, one in a file.

mod below_log_start;
mod beyond_log_end;
mod commit_storm;
mod commit_without_epoch;
mod commits_without_progress;
mod connector_not_running;
mod constant_lag_of_one;
mod ephemeral_groups;
mod epoch_newer_than_log;
mod explicit_expiry;
mod hot_offsets_partition;
mod member_behind;
mod metadata_near_limit;
mod more_members_than_partitions;
mod near_expiry;
mod never_committed;
mod offset_retention_below_topic_retention;
mod offsets_topic_below_min_in_sync;
mod offsets_topic_not_cleaned;
mod offsets_topic_not_compacted;
mod offsets_topic_one_replica;
mod offsets_topic_partitions_changed;
mod offsets_topic_under_replicated;
mod pending_transaction;
mod rare_commits;
mod reader_without_membership;
mod rebalances_without_progress;
mod rewinds;
mod shrinking_margin;
mod stuck_rebalance;
mod topic_gone;
mod undecodable_records;
mod unmoved_between_looks;
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
    offsets_topic_not_cleaned::RULE,
    undecodable_records::RULE,
    hot_offsets_partition::RULE,
    offset_retention_below_topic_retention::RULE,
    near_expiry::RULE,
    explicit_expiry::RULE,
    below_log_start::RULE,
    shrinking_margin::RULE,
    beyond_log_end::RULE,
    topic_gone::RULE,
    unread_topic::RULE,
    never_committed::RULE,
    commit_without_epoch::RULE,
    epoch_newer_than_log::RULE,
    stuck_rebalance::RULE,
    member_behind::RULE,
    connector_not_running::RULE,
    rewinds::RULE,
    commits_without_progress::RULE,
    rebalances_without_progress::RULE,
    rare_commits::RULE,
    unmoved_between_looks::RULE,
    commit_storm::RULE,
    reader_without_membership::RULE,
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
    use crate::finding::Command;
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
        assert_eq!(found[0].fix, Fix::from(Command::new("group reset", &["g", "earliest"]).of_topic("t:2")));
    }

    #[test]
    fn the_readme_has_the_same_rules() {
        let readme = include_str!("../../../../README.md");
        let table = readme.lines().skip_while(|line| *line != "| rule | severity | what it finds |").skip(2);
        let said = table.take_while(|line| line.starts_with('|')).map(|line| {
            let mut cells = line.split('|').skip(1).map(str::trim);
            let name = cells.next().and_then(|cell| cell.split('`').nth(1)).unwrap_or_default();
            (name, cells.next().unwrap_or_default())
        });
        let rules: Vec<(&str, &str)> = RULES.iter().map(|rule| (rule.id, rule.severity.word())).collect();
        assert_eq!(said.collect::<Vec<_>>(), rules);
    }

    #[test]
    fn no_two_rules_have_one_name() {
        let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), RULES.len());
    }
}
