//! The outputs of steps and checks of tickets that were closed long ago.

use std::path::{Path, PathBuf};

use model::TicketId;
use model::journal::Stream;
use process::Run;
use runtime::Place;
use store::Ledger;

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
    runtime::finish_taking_away(&place.runs_dir);
    for dir in runtime::folders(&place.runs_dir).unwrap_or_default() {
        let Some(id) = runtime::ticket_of(&dir) else {
            continue;
        };
        if old.has(&id).await? && is_over(&dir) {
            removed.bytes += free(&dir)?;
            removed.steps += 1;
        }
    }
    runtime::finish_taking_away(&place.check_runs_dir());
    for dir in runtime::folders(&place.check_runs_dir()).unwrap_or_default() {
        // Setting up a checkout is a run beside those of the checks, and no ticket's.
        if let Ok(set_up) = Run::open(&dir) {
            if runtime::ended_at(&set_up).is_some_and(|at| at <= old.before) {
                removed.bytes += free(&dir)?;
            }
            continue;
        }
        runtime::finish_taking_away(&dir);
        let runs = runtime::folders(&dir).unwrap_or_default();
        if runs.is_empty() {
            runtime::forget_check(&dir, |at| at <= old.before);
        } else if are_old(&runs, old).await? {
            removed.bytes += free(&dir)?;
            removed.checks += 1;
        }
    }
    Ok(removed)
}

/// Returns true if all of these are over, and of tickets that are old.
async fn are_old(runs: &[PathBuf], old: &Old) -> Result<bool> {
    for run in runs {
        let of = whose(&old.ledger, run).await?;
        let Some(id) = of.filter(|_| is_over(run)) else {
            return Ok(false);
        };
        if !old.has(&id).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The event that ordered a check, by which its run is named: `<seq>-<index>`.
fn number(run: &Path) -> Option<u64> {
    run.file_name()?.to_str()?.split_once('-')?.0.parse().ok()
}

/// Whose check a run is.
async fn whose(ledger: &Ledger, run: &Path) -> Result<Option<TicketId>> {
    let Some(number) = number(run) else {
        return Ok(None);
    };
    match ledger.row(number).await {
        Ok(fold) => Ok(match fold.stream {
            Stream::Ticket(id) => Some(id),
            Stream::Project => None,
        }),
        Err(store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_known_by_the_event_that_ordered_it() {
        assert_eq!(number(Path::new("12-0")), Some(12));
        assert_eq!(number(Path::new("12-0-2")), Some(12));
        assert_eq!(number(Path::new("set-up-12-0")), None);
    }
}
