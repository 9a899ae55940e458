//! The one place that reads clocks: for deadlines of git calls and the age of stale locks, never for facts.

use std::time::{Duration, Instant, SystemTime};

/// A moment by which something must have happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) fn after(time: Duration) -> Self {
        Self(now() + time)
    }

    /// What is left of it, zero when it has passed.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(now())
    }
}

/// How long ago a file was last changed; zero if that is in the future.
pub(crate) fn age(modified: SystemTime) -> Duration {
    wall().duration_since(modified).unwrap_or(Duration::ZERO)
}

/// Seconds since 1970, for the holder's line in a lock.
pub(crate) fn unix_seconds() -> u64 {
    wall()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// Waits before a fact of the file system is looked at again that tells nobody when it changes.
#[expect(
    clippy::disallowed_methods,
    reason = "a lock of another program cannot be waited for but by looking again"
)]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}

#[expect(clippy::disallowed_methods, reason = "a hand that keeps a deadline")]
fn now() -> Instant {
    Instant::now()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the age of a lock file is a fact of the file system's wall clock"
)]
fn wall() -> SystemTime {
    SystemTime::now()
}
