//! The time of day: the one place in the client commands that asks for it.

use std::time::{SystemTime, UNIX_EPOCH};

use milepost_model::Timestamp;

/// Now. A clock before 1970 is taken for 1970.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
