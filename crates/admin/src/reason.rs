//! Why something is not known or was not done, as a value that can be compared and kept.

use std::fmt;

use milepost_client::ClientError;

/// What kind of reason it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The cluster refused, with Kafka's name of the error.
    Refused(&'static str),
    /// A broker was not reached or did not answer.
    Unreachable,
    /// Neither.
    Other,
}

/// A reason, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// For people. Kafka's name of the error stands in brackets in it.
    pub words: String,
    /// For programs.
    pub cause: Cause,
}

impl Reason {
    /// One that no broker gave.
    #[must_use]
    pub fn other(words: impl Into<String>) -> Self {
        Self { words: words.into(), cause: Cause::Other }
    }

    /// That a group is not there.
    #[must_use]
    pub fn no_such_group(group: &str) -> Self {
        Self {
            words: format!("{group}: there is no such group [GROUP_ID_NOT_FOUND]"),
            cause: Cause::Refused("GROUP_ID_NOT_FOUND"),
        }
    }

    /// The same, saying what is not known because of it. A refusal says that by itself; who does not answer says nothing.
    #[must_use]
    pub fn of(self, what: &str) -> Self {
        match self.cause {
            Cause::Unreachable => Self { words: format!("{what}: {}", self.words), cause: self.cause },
            Cause::Refused(_) | Cause::Other => self,
        }
    }

    /// Kafka's name of the error, if the cluster refused.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self.cause {
            Cause::Refused(code) => Some(code),
            Cause::Unreachable | Cause::Other => None,
        }
    }

    /// Whether the topic or partition is not there.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self.code(), Some("UNKNOWN_TOPIC_OR_PARTITION" | "UNKNOWN_TOPIC_ID"))
    }
}

impl From<&ClientError> for Reason {
    fn from(error: &ClientError) -> Self {
        let cause = match error.code() {
            Some(code) => Cause::Refused(code.name()),
            None if error.is_connection() => Cause::Unreachable,
            None => Cause::Other,
        };
        Self { words: error.to_string(), cause }
    }
}

impl From<ClientError> for Reason {
    fn from(error: ClientError) -> Self {
        Self::from(&error)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}
