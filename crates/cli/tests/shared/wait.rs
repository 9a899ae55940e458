//! Waiting for facts.

use std::time::{Duration, Instant};

/// Longer than anything here takes on a slow and busy machine: passing it is a failure.
const PATIENCE: Duration = Duration::from_secs(120);

/// What `look` finds, as soon as it finds something.
#[track_caller]
pub(crate) fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    match within(look) {
        Some(found) => found,
        None => panic!("not within {} s: {what}", PATIENCE.as_secs()),
    }
}

/// What `look` finds, as soon as it finds something; `None` when it takes too long.
pub(crate) fn within<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    #[expect(clippy::disallowed_methods, reason = "a test's deadline")]
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if begun.elapsed() > PATIENCE {
            return None;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "between two looks at a fact, never as proof of one"
        )]
        std::thread::sleep(Duration::from_millis(10));
    }
}
