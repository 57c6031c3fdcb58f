//! Time as a value. Nothing below the broker asks a clock; it is told what time it is.

/// Monotonic time in microseconds since an arbitrary start. Deadlines use it, because it never jumps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub u64);

impl Instant {
    /// The instant `ms` milliseconds later. Saturates, so that "for ever" can be written as a large number.
    #[must_use]
    pub const fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms.saturating_mul(1000)))
    }

    /// Microseconds from `earlier` to here, 0 if `earlier` lies later.
    #[must_use]
    pub const fn us_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Milliseconds from `earlier` to here, 0 if `earlier` lies later.
    #[must_use]
    pub const fn ms_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0) / 1000
    }
}

/// Wall-clock time in milliseconds since the Unix epoch. Record times and retention use it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The time `ms` milliseconds later.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

/// Both clocks, read together at the edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// For deadlines.
    pub monotonic: Instant,
    /// For record times and retention.
    pub wall: Timestamp,
}

impl Now {
    /// By how many milliseconds the two clocks moved apart since `earlier`. A wall clock that was set does not tell how
    /// long ago something was, so whoever deletes by it looks at this first.
    #[must_use]
    pub fn clock_drift_ms(self, earlier: Self) -> u128 {
        let monotonic_ms = i128::from(self.monotonic.ms_since(earlier.monotonic));
        let wall_ms = i128::from(self.wall.0) - i128::from(earlier.wall.0);
        (wall_ms - monotonic_ms).unsigned_abs()
    }
}
