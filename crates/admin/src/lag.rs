//! How far a group is behind, said honestly: a number is given only where it is known.

use milepost_model::Offset;

use crate::facts::{LogFacts, Position};
use crate::reason::Reason;

/// The distance between a commit and an end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lag {
    /// This many offsets behind; 0 when nothing is left to read.
    Behind(i64),
    /// This many offsets beyond the end: the log was cut, or the topic was deleted and made anew.
    BeyondEnd(i64),
    /// Nothing was committed, or a share group has not read yet.
    Never,
    /// It cannot be said, for this reason.
    Unknown(Reason),
}

impl Lag {
    /// Between a position and an end.
    #[must_use]
    pub fn between(position: &Position, end: Result<Offset, &Reason>) -> Self {
        match (position, end) {
            (Position::Unknown(reason), _) => Self::Unknown(reason.clone()),
            (_, Err(reason)) => Self::Unknown(reason.clone()),
            (Position::Never | Position::Share(None), Ok(_)) => Self::Never,
            // The broker's count: of the records in between some are done with.
            (Position::Share(Some(start)), Ok(_)) => start.lag.map_or_else(
                || Self::Unknown(Reason::other("the broker does not say how many records are not done with")),
                Self::Behind,
            ),
            (Position::Committed(committed), Ok(end)) => {
                let behind = end.0.saturating_sub(committed.offset.0);
                if behind >= 0 { Self::Behind(behind) } else { Self::BeyondEnd(-behind) }
            }
        }
    }

    /// How many offsets behind, if it is behind or even.
    #[must_use]
    pub fn behind(&self) -> Option<i64> {
        if let Self::Behind(count) = self { Some(*count) } else { None }
    }
}

/// What is to be thought of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It lies in the log.
    Inside,
    /// Records between it and the first that is still there are gone.
    BelowStart,
    /// It lies behind the end of the log.
    BeyondEnd,
    /// There is none.
    NeverCommitted,
    /// There is none because the share group has not read there yet.
    NotBegun,
    /// The topic or partition is not there.
    Gone,
    /// It cannot be said.
    Unknown,
}

impl Standing {
    pub(crate) fn of(position: &Position, log: Result<&LogFacts, &Reason>) -> Self {
        match (position, log) {
            (_, Err(reason)) if reason.is_gone() => Self::Gone,
            (Position::Unknown(_), _) | (_, Err(_)) => Self::Unknown,
            (Position::Never, Ok(_)) => Self::NeverCommitted,
            (Position::Share(None), Ok(_)) => Self::NotBegun,
            (Position::Committed(committed), Ok(log)) => Self::at(committed.offset, log),
            (Position::Share(Some(start)), Ok(log)) => Self::at(start.offset, log),
        }
    }

    fn at(offset: Offset, log: &LogFacts) -> Self {
        if offset > log.end.offset {
            Self::BeyondEnd
        } else if offset < log.start.offset {
            Self::BelowStart
        } else {
            Self::Inside
        }
    }

    /// In a word or two.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Inside => "ok",
            Self::BelowStart => "below start",
            Self::BeyondEnd => "beyond end",
            Self::NeverCommitted => "never committed",
            Self::NotBegun => "not begun",
            Self::Gone => "gone",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
#[path = "lag_tests.rs"]
mod tests;
