//! Named points at which a test ends this process as SIGKILL would, in the real program.
//!
//! Without the feature `points` they are nothing, and that is how crew is released: only the tests of other crates, and
//! whoever builds crew with its feature `failpoints`, ask for it. With it, nothing happens either until the environment says
//! so:
//!
//! * `CREW_FAILPOINT_AT=<name>` or `<name>:<hit>` (hits count from 1) ends the process that comes by; of several, between commas,
//!   each ends one.
//! * `CREW_FAILPOINT_LOG=<folder>`: hits are counted there, in a file for each point with a byte for each hit, over all processes
//!   that belong together, shims too. Without it, each process counts its own.
//!
//! [`POINTS`] is the list of them all.

#[cfg(feature = "points")]
mod armed;
#[cfg(feature = "points")]
mod table;

#[cfg(feature = "points")]
pub use table::{ABSENT, Absent, POINTS, Point};

/// Whether there are any: without them, what leads to a point need not be worked out.
pub const ARMED: bool = cfg!(feature = "points");

/// Ends the process here if a test asked for it.
#[inline(always)]
pub fn hit(name: &str) {
    #[cfg(feature = "points")]
    armed::pass(name);
    #[cfg(not(feature = "points"))]
    let _ = name;
}

/// As [`hit`], for each `<when>.<what>` of what is about to happen, or has.
#[inline(always)]
pub fn hit_each<'a, I: Iterator<Item = &'a str>>(when: &str, what: impl FnOnce() -> I) {
    #[cfg(feature = "points")]
    what().for_each(|what| armed::pass(&format!("{when}.{}", what.replace(' ', "_"))));
    #[cfg(not(feature = "points"))]
    let _ = (when, what);
}

/// What a process whose environment is otherwise empty needs in it to die where it is asked to.
#[inline(always)]
#[must_use]
pub fn environment() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    #[cfg(feature = "points")]
    return armed::environment();
    #[cfg(not(feature = "points"))]
    Vec::new()
}
