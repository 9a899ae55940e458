//! Steps and checks of which no journal knows: they are ended, so that what is begun anew is at work alone.

use std::path::{Path, PathBuf};

use process::{Run, Status};

use crate::folders::folders;
use crate::{Error, Place, Result};

/// Ends every step and every check, whoever started it, and whatever they left alive. One that was not started never will be.
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
        // Of one that has ended, its shim proved that nothing was left.
        if !matches!(run.status(), Ok(Status::Ended(_))) {
            end_run(&run)?;
        }
    }
    Ok(())
}

/// Where the runs of checks are, and of what sets up their checkout.
///
/// # Errors
/// A folder cannot be read.
pub fn check_runs(place: &Place) -> Result<Vec<PathBuf>> {
    let checks = listed(&place.check_runs_dir())?;
    let mut dirs = Vec::new();
    for check in &checks {
        dirs.extend(listed(check)?);
    }
    // Setting up is a run beside those of the checks.
    dirs.extend(checks);
    Ok(dirs)
}

/// Ends a run: with its grace, then by force, then every straggler. A run that was not started never will be.
///
/// # Errors
/// As the run's own end and sweep.
pub fn end_run(run: &Run) -> Result<()> {
    match run.status() {
        // A shim may be on its way to one that has not started.
        Ok(Status::NotStarted | Status::Running { .. }) => {
            let ended = run.end()?;
            if ended.by_force {
                tracing::warn!("{}", forced(&run.dir().display().to_string()));
            }
            return Ok(());
        }
        Ok(Status::Ended(_) | Status::Lost { .. }) => {}
        // Its end cannot be watched; what is left of it can be seen.
        Err(process::Error::Damaged { .. }) => match run.stop() {
            Ok(()) | Err(process::Error::Damaged { .. }) => {}
            Err(error) => return Err(error.into()),
        },
        Err(error) => return Err(error.into()),
    }
    run.sweep()?;
    Ok(())
}

/// What a person is told of a run, called `what`, that its shim did not end.
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
