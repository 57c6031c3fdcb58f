//! Which records lie just before and after a position.

use milepost_model::Offset;

use crate::facts::LogFacts;

/// Offsets that are looked at, up to one that is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first.
    pub from: Offset,
    /// Behind the last.
    pub to: Offset,
}

/// What a log has of so many offsets before a position and from it on. A position outside of the log has its nearest end for
/// a neighbour.
#[must_use]
pub fn window(position: Offset, log: &LogFacts, before: i64, after: i64) -> Window {
    let inside = |offset: i64| Offset(offset).clamp(log.start.offset, log.end.offset);
    let near = inside(position.0);
    Window { from: inside(near.0.saturating_sub(before)), to: inside(near.0.saturating_add(after)) }
}

#[cfg(test)]
mod tests {
    use milepost_client::offsets::Found;

    use super::*;

    fn seen(position: i64, before: i64, after: i64) -> (i64, i64) {
        let found = |offset| Found { offset: Offset(offset), timestamp: None, leader_epoch: None };
        let log = LogFacts { start: found(10), end: found(20), stable_end: None };
        let window = window(Offset(position), &log, before, after);
        (window.from.0, window.to.0)
    }

    #[test]
    fn a_window_lies_within_the_log() {
        assert_eq!(seen(15, 2, 3), (13, 18));
        assert_eq!(seen(11, 5, 5), (10, 16));
        assert_eq!(seen(19, 1, i64::MAX), (18, 20));
        assert_eq!(seen(20, 3, 3), (17, 20));
    }

    #[test]
    fn a_position_outside_of_the_log_shows_its_end() {
        assert_eq!(seen(4, 2, 2), (10, 12));
        assert_eq!(seen(30, 2, 2), (18, 20));
        assert_eq!(seen(i64::MIN, i64::MAX, 0), (10, 10));
    }
}
