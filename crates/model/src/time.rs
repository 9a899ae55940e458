//! A moment as a value: milliseconds since the epoch, given by a caller that has a clock.

use std::{fmt, ops, time::Duration};

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(pub i64);

impl Time {
    /// The time from `earlier` until this moment; zero when it lies ahead.
    #[must_use]
    pub fn since(self, earlier: Time) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// A day of UTC: days since 1970-01-01.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Day(pub i64);

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

impl Time {
    /// The day that it is in.
    #[must_use]
    pub fn day(self) -> Day {
        Day(self.0.div_euclid(DAY_MS))
    }
}

impl Day {
    /// The midnight that it begins with.
    #[must_use]
    pub fn begins(self) -> Time {
        Time(self.0.saturating_mul(DAY_MS))
    }

    /// The day after it.
    #[must_use]
    pub fn next(self) -> Day {
        Day(self.0.saturating_add(1))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.begins().0) {
            Ok(t) => write!(f, "{}", t.strftime("%Y-%m-%d")),
            Err(_) => write!(f, "day {}", self.0),
        }
    }
}

impl ops::Add<Duration> for Time {
    type Output = Time;
    fn add(self, d: Duration) -> Time {
        Time(
            self.0
                .saturating_add(i64::try_from(d.as_millis()).unwrap_or(i64::MAX)),
        )
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(t) => write!(f, "{t:.0}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}
