//! What a rule found.

use milepost_model::PartitionIndex;

/// How bad it is, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Notice,
    /// It will hurt when something else happens.
    Warning,
    /// Records are being lost or read twice, or would be at the next start.
    Critical,
}

impl Severity {
    /// In a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// What it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The group, if it is about one.
    pub group: Option<String>,
    /// The topic, if it is about one.
    pub topic: Option<String>,
    /// The partition, if it is about one.
    pub partition: Option<PartitionIndex>,
}

/// What mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// This command of our own, without the flags that name the cluster.
    Milepost(Vec<String>),
    /// This command of Kafka's tools, without the flag that names the cluster.
    Kafka(Vec<String>),
    /// No command does; this has to be done.
    ByHand(String),
}

impl Fix {
    /// A command of our own.
    pub(crate) fn milepost(words: &[&str]) -> Self {
        Self::Milepost(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// A setting of a topic, given with Kafka's tool.
    pub(crate) fn topic_setting(topic: &str, setting: &str) -> Self {
        let words = [
            "kafka-configs",
            "--alter",
            "--entity-type",
            "topics",
            "--entity-name",
            topic,
            "--add-config",
            setting,
        ];
        Self::Kafka(words.iter().map(|word| (*word).to_owned()).collect())
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it is about.
    pub subject: Subject,
    /// What was found.
    pub says: String,
    /// Why that is bad.
    pub why: &'static str,
    /// What mends it.
    pub fix: Fix,
}
