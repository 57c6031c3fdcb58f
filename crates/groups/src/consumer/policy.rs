//! Which way a group with members may change from one group protocol to the other.

/// The values of `group.consumer.migration.policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationPolicy {
    /// Both ways.
    Bidirectional,
    /// Classic groups become consumer groups.
    Upgrade,
    /// Consumer groups become classic groups.
    Downgrade,
    /// Neither, and no member of a consumer group may speak the classic protocol.
    Disabled,
}

impl MigrationPolicy {
    /// All of them; the first is the default.
    pub const ALL: [Self; 4] = [Self::Bidirectional, Self::Upgrade, Self::Downgrade, Self::Disabled];

    /// Kafka's name of it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bidirectional => "bidirectional",
            Self::Upgrade => "upgrade",
            Self::Downgrade => "downgrade",
            Self::Disabled => "disabled",
        }
    }

    pub(crate) const fn allows_upgrade(self) -> bool {
        matches!(self, Self::Bidirectional | Self::Upgrade)
    }

    pub(crate) const fn allows_downgrade(self) -> bool {
        matches!(self, Self::Bidirectional | Self::Downgrade)
    }
}
