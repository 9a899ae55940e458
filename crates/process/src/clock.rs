//! The clock of shims and of waits for processes: the one adapter that keeps deadlines of its own.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, for records only: nothing is decided by it.
#[expect(
    clippy::disallowed_methods,
    reason = "the shim runs without an engine that could hand it the time"
)]
pub(crate) fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A point of monotonic time, at which a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// `after` from now; a wait that overflows the clock is a day.
    #[expect(
        clippy::disallowed_methods,
        reason = "a deadline on the system's own calls, not a decision of crew's"
    )]
    pub(crate) fn after(after: Duration) -> Self {
        let now = Instant::now();
        Self(
            now.checked_add(after)
                .unwrap_or_else(|| now + Duration::from_secs(86_400)),
        )
    }

    pub(crate) fn after_ms(ms: u64) -> Self {
        Self::after(Duration::from_millis(ms))
    }

    /// The time that is left until then; zero when it has passed.
    #[expect(
        clippy::disallowed_methods,
        reason = "a deadline on the system's own calls, not a decision of crew's"
    )]
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    pub(crate) fn passed(self) -> bool {
        self.left().is_zero()
    }
}
