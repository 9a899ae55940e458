//! The one place that reads the clock.

use std::sync::atomic::{AtomicI64, Ordering};

use model::Time;

/// Now. The time of one engine never goes back, and goes on when the machine's clock is set back: a moment
/// for which a ticket waits comes all the same. A clock that is set forward is followed.
pub(crate) fn now() -> Time {
    static STEADY: Steady = Steady(AtomicI64::new(i64::MIN));
    STEADY.at(jiff::Timestamp::now().as_millisecond(), since_boot())
}

/// The most by which the clock was ahead of the milliseconds since the machine was started.
struct Steady(AtomicI64);

impl Steady {
    fn at(&self, clock: i64, running: i64) -> Time {
        let ahead = clock - running;
        let most = self.0.fetch_max(ahead, Ordering::Relaxed).max(ahead);
        Time(running + most)
    }
}

/// Milliseconds since the machine was started, also those in which it slept.
fn since_boot() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

/// A duration, for measurements. Taking it costs no more than a look at the clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// Begins to count.
    #[expect(
        clippy::disallowed_methods,
        reason = "measuring, and waiting for a git to end"
    )]
    pub(crate) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// The time since it began, whatever was done to the wall clock.
    pub(crate) fn elapsed(self) -> std::time::Duration {
        self.0.elapsed()
    }

    /// Microseconds since it began.
    pub(crate) fn micros(self) -> u64 {
        u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_back_goes_on_from_where_it_was_and_one_that_is_set_forward_is_followed() {
        const HOUR: i64 = 3_600_000;
        let steady = Steady(AtomicI64::new(i64::MIN));
        assert_eq!(steady.at(10 * HOUR, 5_000), Time(10 * HOUR));
        assert_eq!(steady.at(9 * HOUR + 2_000, 7_000), Time(10 * HOUR + 2_000));
        assert_eq!(steady.at(12 * HOUR, 8_000), Time(12 * HOUR));
        assert_eq!(steady.at(12 * HOUR + 500, 8_500), Time(12 * HOUR + 500));
    }
}
