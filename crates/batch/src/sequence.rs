//! Arithmetic on producer sequence numbers, which run from 0 to 2147483647 and then start at 0 again.

/// How many sequence numbers there are.
const SEQUENCES: i64 = i32::MAX as i64 + 1;

/// The sequence number `count` further on. `sequence` is at least 0.
#[must_use]
pub fn sequence_plus(sequence: i32, count: i32) -> i32 {
    wrap(i64::from(sequence) + i64::from(count))
}

/// The sequence number `count` earlier. `sequence` is at least 0.
#[must_use]
pub fn sequence_minus(sequence: i32, count: i32) -> i32 {
    wrap(i64::from(sequence) - i64::from(count))
}

/// The sequence number that must follow `last`.
#[must_use]
pub fn sequence_after(last: i32) -> i32 {
    sequence_plus(last, 1)
}

fn wrap(sequence: i64) -> i32 {
    i32::try_from(sequence.rem_euclid(SEQUENCES)).expect("the remainder is below 2^31")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_follows_the_largest() {
        assert_eq!(sequence_after(i32::MAX), 0);
        assert_eq!(sequence_after(0), 1);
        assert_eq!(sequence_plus(i32::MAX - 1, 3), 1);
        assert_eq!(sequence_plus(7, i32::MAX), 6);
        assert_eq!(sequence_minus(1, 3), i32::MAX - 1);
        assert_eq!(sequence_minus(5, 5), 0);
    }
}
