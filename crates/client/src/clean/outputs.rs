//! The outputs of steps and checks of tickets that were closed long ago.

use std::path::Path;

use process::Run;
use runtime::Place;

use super::older::Old;
use crate::disk_use::bytes_below;
use crate::error::{Doing as _, Result};

/// The removed folders and their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    /// Folders of steps.
    pub(crate) steps: usize,
    /// Folders of checks.
    pub(crate) checks: usize,
    /// Bytes of their files.
    pub(crate) bytes: u64,
}

/// Removes the outputs of the steps and checks of old tickets. A run that may be alive stays, and so does a
/// run that nobody knows.
pub(super) async fn remove(place: &Place, old: &Old) -> Result<Removed> {
    let mut removed = Removed::default();
    for (runs, count) in [
        (&place.runs_dir, &mut removed.steps),
        (&place.check_runs_dir(), &mut removed.checks),
    ] {
        runtime::finish_taking_away(runs);
        for dir in runtime::folders(runs).unwrap_or_default() {
            let Some(id) = runtime::ticket_of(&dir) else {
                continue;
            };
            if old.has(&id).await? && is_over(&dir) {
                removed.bytes += free(&dir)?;
                *count += 1;
            }
        }
    }
    runtime::forget_passed_checks(place, old.before);
    Ok(removed)
}

fn is_over(dir: &Path) -> bool {
    Run::open(dir).is_ok_and(|run| runtime::ended_at(&run).is_some())
}

/// Removes a folder; how much room that makes.
fn free(dir: &Path) -> Result<u64> {
    let bytes = bytes_below(dir);
    runtime::take_away(dir).doing("remove", dir)?;
    Ok(bytes)
}
