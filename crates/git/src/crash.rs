//! Named points at which a test ends this process as SIGKILL would. Only the crate's own tests are built with them.

/// Ends the process here if a test asked for it, by `CREW_CRASH_AT=<name>` or `<name>:<hit>` (hits count from 1).
#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the test's way to tell its child process where to die"
)]
pub(crate) fn point(name: &str) {
    use std::sync::atomic::{AtomicU32, Ordering};
    static HITS: AtomicU32 = AtomicU32::new(0);
    let Ok(wanted) = std::env::var("CREW_CRASH_AT") else {
        return;
    };
    let (at, hit) = wanted
        .split_once(':')
        .map_or((wanted.as_str(), 1), |(at, hit)| (at, hit.parse().unwrap_or(1)));
    if at == name && HITS.fetch_add(1, Ordering::SeqCst) + 1 == hit {
        let myself = rustix::process::getpid();
        rustix::process::kill_process(myself, rustix::process::Signal::KILL).ok();
    }
}

/// Nothing, outside this crate's own tests.
#[cfg(not(test))]
pub(crate) fn point(_name: &str) {}
