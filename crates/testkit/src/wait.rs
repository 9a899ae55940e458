//! Waiting for facts.

use std::time::{Duration, Instant};

/// Many times what the longest of what is waited for takes on a busy machine: passing it is a hang.
const PATIENCE: Duration = Duration::from_secs(600);
/// The shortest and the longest time between two looks.
const DISTANCE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(100));
/// The time between two looks, in times of what the last one took: a look that opens a journal or starts git
/// would else take the processor from what it waits for.
const REST: u32 = 3;

/// What `look` finds, as soon as it finds something.
#[track_caller]
pub fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    match within(look) {
        Some(found) => found,
        None => panic!("not within {} s: {what}", PATIENCE.as_secs()),
    }
}

/// What `look` finds, as soon as it finds something; `None` when it takes too long.
pub fn within<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = now();
    loop {
        let looked = now();
        if let Some(found) = look() {
            return Some(found);
        }
        if begun.elapsed() > PATIENCE {
            return None;
        }
        pause((looked.elapsed() * REST).clamp(DISTANCE.0, DISTANCE.1));
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test's deadline, and what a look costs"
)]
fn now() -> Instant {
    Instant::now()
}

/// Lets time pass: for the moment or the length of a fault, and between two looks. Never a proof.
pub fn pause(time: Duration) {
    #[expect(
        clippy::disallowed_methods,
        reason = "a fault comes by chance or lasts a while, and looks have a distance"
    )]
    std::thread::sleep(time);
}
