//! The one place that reads clocks: for deadlines of git calls and how long a lock is seen, never for facts.

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

/// A moment since which something is so, whatever the wall clock is set to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since(Instant);

impl Since {
    pub(crate) fn now() -> Self {
        Self(now())
    }

    /// So long ago, or as long as this machine's clock goes back.
    pub(crate) fn ago(time: Duration) -> Self {
        let now = now();
        Self(now.checked_sub(time).unwrap_or(now))
    }

    pub(crate) fn elapsed(self) -> Duration {
        now().saturating_duration_since(self.0)
    }
}

/// Milliseconds since this machine was started, which no setting of the clock changes: two processes can compare them.
pub(crate) fn uptime() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec
        .saturating_mul(1000)
        .saturating_add(now.tv_nsec / 1_000_000)
}

/// Seconds since 1970, for the holder's line in a lock.
#[expect(
    clippy::disallowed_methods,
    reason = "for people to read, and nothing is decided by it"
)]
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now()
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
