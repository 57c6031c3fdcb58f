//! Settings of Kafka's group coordinator that do nothing here. Where one asks for what this server does not do it is
//! refused, so that nobody believes otherwise; where it only tunes what is built differently here it is accepted, and the
//! log says that it has no effect.

/// What becomes of such a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unserved {
    /// The server does not start.
    Refused,
    /// It is accepted and does nothing.
    WithoutEffect,
}

/// One such setting.
#[derive(Debug)]
pub struct UnservedSetting {
    /// Its name in Kafka. Where it ends with a dot, every name that begins so is meant.
    pub name: &'static str,
    /// What becomes of it.
    pub treatment: Unserved,
    /// Why, for people.
    pub why: &'static str,
}

const fn refused(name: &'static str, why: &'static str) -> UnservedSetting {
    UnservedSetting { name, treatment: Unserved::Refused, why }
}

const fn without_effect(name: &'static str, why: &'static str) -> UnservedSetting {
    UnservedSetting { name, treatment: Unserved::WithoutEffect, why }
}

/// All of them, sorted by name.
pub const UNSERVED_SETTINGS: &[UnservedSetting] = &[
    refused("errors.deadletterqueue.", "it is for share groups, which are not served"),
    without_effect(
        "group.consumer.assignor.offload.enable",
        "assignors run at once; there are no threads to hand them to",
    ),
    without_effect("group.coordinator.background.threads", "one thread does the work of all coordinators"),
    without_effect(
        "group.coordinator.cached.buffer.max.bytes",
        "a batch of records is bounded by the max.message.bytes of __consumer_offsets, and no buffer is kept",
    ),
    without_effect("group.coordinator.threads", "one thread does the work of all coordinators"),
    refused("group.share.", "share groups are not served"),
    refused("group.streams.", "streams groups (KIP-1071) are not served; Kafka Streams uses classic groups"),
    refused(
        "offsets.commit.required.acks",
        "Kafka 4.0 removed it; a commit is acknowledged when the disk has it",
    ),
];

/// The entry that a name falls under.
pub(super) fn unserved(name: &str) -> Option<&'static UnservedSetting> {
    UNSERVED_SETTINGS
        .iter()
        .find(|entry| entry.name == name || (entry.name.ends_with('.') && name.starts_with(entry.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BROKER_SETTINGS;

    #[test]
    fn the_table_is_sorted_and_names_nothing_that_is_served() {
        assert!(UNSERVED_SETTINGS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for setting in BROKER_SETTINGS {
            assert!(unserved(setting.name).is_none(), "{}", setting.name);
        }
    }

    #[test]
    fn a_name_with_a_dot_at_its_end_stands_for_all_that_begin_so() {
        assert!(unserved("group.share.max.size").is_some());
        assert!(unserved("group.sharing").is_none());
        assert!(unserved("group.coordinator.threads").is_some());
        assert!(unserved("group.coordinator.threads.more").is_none());
    }
}
