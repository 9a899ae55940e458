//! Orphans: steps and checks that run though no journal knows of them. They are ended before new work begins.

use std::path::{Path, PathBuf};

use process::{Run, Status};

use crate::folders::folders;
use crate::{Error, Place, Result};

/// Ends every step and every check, whichever engine has started it, with every process that it has left. A
/// run that has not been started never will be.
///
/// # Errors
/// A folder cannot be read; [`process::Error::Survivors`], when something cannot be killed.
pub fn end_all_runs(place: &Place) -> Result<()> {
    let mut dirs = listed(&place.runs_dir)?;
    dirs.extend(check_runs(place)?);
    for dir in dirs {
        let run = match Run::open(dir) {
            Ok(run) => run,
            Err(process::Error::NoRun { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        // The shim of a run that has ended has proved that nothing is left of it.
        if !matches!(run.status(), Ok(Status::Ended(_))) {
            end_run(&run)?;
        }
    }
    Ok(())
}

/// The directories of the runs of checks, and of the commands that set up their checkout.
///
/// # Errors
/// A folder cannot be read.
pub fn check_runs(place: &Place) -> Result<Vec<PathBuf>> {
    listed(&place.check_runs_dir())
}

/// Ends a run: with its grace, then by force, then every straggler. A run that was not started never will be.
///
/// # Errors
/// As the run's own end and sweep.
pub fn end_run(run: &Run) -> Result<()> {
    match run.status() {
        // A shim may be on its way to a run that has not started.
        Ok(Status::NotStarted | Status::Running { .. }) => {
            let ended = run.end()?;
            if ended.by_force {
                tracing::warn!("{}", forced(&run.dir().display().to_string()));
            }
            return Ok(());
        }
        Ok(Status::Ended(_) | Status::Lost { .. }) => {}
        // Nobody can watch for its end; a sweep finds what is left of it.
        Err(process::Error::Damaged { .. }) => match run.stop() {
            Ok(()) | Err(process::Error::Damaged { .. }) => {}
            Err(error) => return Err(error.into()),
        },
        Err(error) => return Err(error.into()),
    }
    run.sweep()?;
    Ok(())
}

/// The warning about a run, called `what`, whose shim did not end it.
pub(crate) fn forced(what: &str) -> String {
    format!(
        "{what}: the process that holds it did not answer, and was killed with everything that it had started"
    )
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    folders(folder).map_err(|source| Error::Io {
        doing: "list",
        path: folder.to_owned(),
        source,
    })
}
