//! The group is one record behind in every partition.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, PartitionFacts};
use crate::finding::{Fix, Severity};

/// In how many partitions it is no accident.
const PARTITIONS_MIN: usize = 3;

pub(super) const RULE: Rule = Rule {
    id: "constant-lag-of-one",
    severity: Severity::Notice,
    why: "whoever commits the offset of the last record instead of the one after it reads that record again at every start; markers of transactions look the same",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::groups(facts, hit)
}

fn hit(group: &GroupFacts) -> Option<(String, Fix)> {
    let lags: Option<Vec<i64>> = group.partitions.iter().map(PartitionFacts::lag).collect();
    let lags = lags.filter(|lags| lags.len() >= PARTITIONS_MIN && lags.iter().all(|lag| *lag == 1))?;
    let says = format!("the group is exactly 1 record behind in all {} partitions", lags.len());
    let fix = "commit the offset of the last record that was processed plus one";
    Some((says, Fix::ByHand(fix.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::partition;
    use crate::testing::said;

    #[test]
    fn one_record_in_every_partition_is_found() {
        let with = |offsets: &[i64]| {
            said(&RULE, |facts| {
                facts.groups[0].partitions =
                    (0..).zip(offsets).map(|(index, offset)| partition(index, *offset)).collect();
            })
        };
        assert_eq!(with(&[9, 9, 9]), ["the group is exactly 1 record behind in all 3 partitions"]);
        assert!(with(&[9, 10, 9]).is_empty());
        assert!(with(&[9, 9]).is_empty());
    }
}
