//! Waiting for facts.

use std::time::{Duration, Instant};

/// Longer than anything here takes on the slowest machine: passing it is a failure.
pub(crate) const LONG: Duration = Duration::from_secs(240);

/// What `look` finds, as soon as it finds something; panics, saying what was waited for, when it takes too long.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LONG;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited {LONG:?} in vain until {what}");
        pause(Duration::from_millis(10));
    }
}

/// Lets time pass: for the moment of a fault, which is chance, and between two looks. Never a proof.
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}
