//! The one place that reads the clock.

use model::Time;

/// Now.
pub(crate) fn now() -> Time {
    Time(jiff::Timestamp::now().as_millisecond())
}

/// A duration, for measurements. Taking it costs no more than a look at the clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// Begins to count.
    #[expect(clippy::disallowed_methods, reason = "measuring decides nothing")]
    pub(crate) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// Microseconds since it began.
    pub(crate) fn micros(self) -> u64 {
        u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}
