//! Making a group that is not there, at chosen places: a reset of a group that has committed nothing.

use super::offsets::{OffsetPlan, Presence};
use super::reset::{Destination, Facts, Metadata};
use crate::reason::Reason;

/// Plans it.
///
/// # Errors
/// When there is such a group already, or that cannot be said.
pub fn plan(facts: &Facts, destination: &Destination) -> Result<OffsetPlan, Reason> {
    match &facts.presence {
        Presence::Absent if facts.committed.is_empty() => {
            Ok(super::reset::plan(facts, destination, Metadata::Cleared))
        }
        Presence::Unknown(reason) => Err(reason.clone()),
        Presence::Absent | Presence::Empty | Presence::Members { .. } => {
            Err(Reason::other(format!("the group {} exists already; reset moves it", facts.group)))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn only_a_group_that_is_not_there_is_made() {
        let mut facts = Facts {
            group: "g".to_owned(),
            presence: Presence::Absent,
            committed: BTreeMap::new(),
            left_out: BTreeMap::new(),
            scope: BTreeSet::new(),
            logs: BTreeMap::new(),
        };
        assert!(plan(&facts, &Destination::Start).is_ok());
        facts.presence = Presence::Empty;
        assert!(plan(&facts, &Destination::Start).unwrap_err().words.contains("exists already"));
    }
}
