//! Failpoints: named places in the code at which a test ends this process as SIGKILL would, in the real
//! program.
//!
//! Without the feature `points` a failpoint does nothing, and crew is released without it: only the tests of
//! other crates ask for the feature, and the feature `failpoints` of the crate `crew`. With it, a failpoint
//! does nothing either until the environment says so:
//!
//! * `CREW_FAILPOINT_AT=<name>` or `<name>:<hit>` (hits count from 1) ends the process that reaches that
//!   point. Of several points, separated by commas, each ends the process that reaches it.
//! * `CREW_FAILPOINT_LOG=<folder>` counts hits in that folder, in a file for each point with a byte for each
//!   hit, over all processes that share it, shims too. Without it, each process counts its own hits.
//!
//! [`POINTS`] lists them all.

#[cfg(feature = "points")]
mod armed;
#[cfg(feature = "points")]
mod table;

#[cfg(feature = "points")]
pub use table::{POINTS, Point};

/// Whether failpoints can do anything. If not, a caller need not work out their names.
pub const ARMED: bool = cfg!(feature = "points");

/// Ends the process here if a test asked for it.
#[inline(always)]
pub fn hit(name: &str) {
    #[cfg(feature = "points")]
    armed::pass(name);
    #[cfg(not(feature = "points"))]
    let _ = name;
}

/// As [`hit`], for each `<when>.<what>`: `when` is a moment such as `decided`, `what` gives the names of the
/// decisions or effects that it is the moment of.
#[inline(always)]
pub fn hit_each<'a, I: Iterator<Item = &'a str>>(when: &str, what: impl FnOnce() -> I) {
    #[cfg(feature = "points")]
    what().for_each(|what| armed::pass(&format!("{when}.{}", what.replace(' ', "_"))));
    #[cfg(not(feature = "points"))]
    let _ = (when, what);
}

/// The variables that arm failpoints, for a process that is started with an otherwise empty environment.
#[inline(always)]
#[must_use]
pub fn environment() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    #[cfg(feature = "points")]
    return armed::environment();
    #[cfg(not(feature = "points"))]
    Vec::new()
}
