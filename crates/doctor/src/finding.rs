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
    /// This command of our own.
    Milepost(Command),
    /// This command of Kafka's tools, without the flag that names the cluster.
    Kafka(Vec<String>),
    /// No command does; this has to be done.
    ByHand(String),
}

/// A command of our own, in parts: of names that others chose a shell and the command must be told that they are names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Its name, such as `group reset`.
    pub name: &'static str,
    /// What it is about, in order.
    pub operands: Vec<String>,
    /// Its flags, without those that name the cluster, and what each is given.
    pub flags: Vec<(&'static str, Option<String>)>,
}

impl Command {
    pub(crate) fn new(name: &'static str, operands: &[&str]) -> Self {
        let operands = operands.iter().map(|operand| (*operand).to_owned()).collect();
        Self { name, operands, flags: Vec::new() }
    }

    /// The same with one more flag.
    pub(crate) fn flag(mut self, flag: &'static str) -> Self {
        self.flags.push((flag, None));
        self
    }

    /// The same with one more flag, and what it is given.
    pub(crate) fn with(mut self, flag: &'static str, value: impl Into<String>) -> Self {
        self.flags.push((flag, Some(value.into())));
        self
    }

    /// The same of this topic only, or of this partition of it.
    pub(crate) fn of_topic(self, topic: impl Into<String>) -> Self {
        self.with("--topic", topic)
    }
}

impl From<Command> for Fix {
    fn from(command: Command) -> Self {
        Self::Milepost(command)
    }
}

impl Fix {
    /// A command of our own without flags.
    pub(crate) fn milepost(name: &'static str, operands: &[&str]) -> Self {
        Self::Milepost(Command::new(name, operands))
    }

    /// Another commit of where a group is already. What stands beside the offsets belongs to the position, and stays with it.
    pub(crate) fn commit_again(group: &str) -> Command {
        Command::new("group reset", &[group, "+0"]).flag("--keep-metadata")
    }

    /// A setting of a topic, given with Kafka's tool.
    pub(crate) fn topic_setting(topic: &str, setting: &str) -> Self {
        let topic = format!("--entity-name={topic}");
        let words = ["kafka-configs", "--alter", "--entity-type", "topics", &topic, "--add-config", setting];
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
