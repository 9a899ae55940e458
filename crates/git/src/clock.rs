//! Clocks: the one place that reads them, for deadlines of git calls and for how long a lock is seen, never
//! for facts.

use std::time::{Duration, Instant, SystemTime};

/// A moment by which something must have happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) fn after(time: Duration) -> Self {
        Self(now() + time)
    }

    /// The time that is left, zero when the moment has passed.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(now())
    }
}

/// A moment since which something is the case, whatever the wall clock is set to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since(Instant);

impl Since {
    pub(crate) fn now() -> Self {
        Self(now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        now().saturating_duration_since(self.0)
    }
}

/// The time since the machine started: `/proc` counts the starts of processes from there, and no setting of
/// the clock changes it.
pub(crate) fn uptime() -> Duration {
    let up = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(up.tv_sec), u32::try_from(up.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanos.unwrap_or_default())
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

/// Waits before the next look at a fact of the file system whose changes nobody announces.
#[expect(
    clippy::disallowed_methods,
    reason = "a lock of another program cannot be waited for but by looking again"
)]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}

#[expect(clippy::disallowed_methods, reason = "an adapter keeps a deadline")]
fn now() -> Instant {
    Instant::now()
}
