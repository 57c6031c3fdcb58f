//! A broken promise, and how it is said.

use std::fmt;

/// What the broker promised and did not keep, with the last things that happened before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The promise.
    pub what: String,
    /// The last requests, answers and faults, the newest last.
    pub story: Vec<String>,
}

impl Violation {
    pub(crate) fn new(what: String) -> Self {
        Self { what, story: Vec::new() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.story {
            writeln!(f, "  {line}")?;
        }
        write!(f, "{}", self.what)
    }
}

impl std::error::Error for Violation {}

/// The result of something that may find a broken promise.
pub(crate) type Checked<T = ()> = Result<T, Violation>;

/// Returns a [`Violation`] unless the condition holds.
macro_rules! promise {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err($crate::check::Violation::new(format!($($words)+)));
        }
    };
}

pub(crate) use promise;
