//! The settings and the journal of a repository, opened for a frontend.

use git::Lock;
use model::Oid;
use model::settings::Settings;
use runtime::Place;
use store::Ledger;

use crate::error::{Error, Result};

/// The settings.
pub fn settings(place: &Place) -> Result<Settings> {
    place.settings().map_err(|error| lift(place, error))
}

/// The settings for a command that only shows, which is needed most when something is wrong: the defaults
/// stand for a file that cannot be used, beside its fault. An engine that runs goes on with the last good
/// settings then, and none starts.
pub fn settings_or_default(place: &Place) -> (Settings, Option<Rejected>) {
    match settings(place) {
        Ok(settings) => (settings, None),
        Err(error) => (Settings::default(), Some(Rejected::of(&error))),
    }
}

/// The first fault of a settings file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The fault, with its place in the file, in a line.
    pub why: String,
}

impl Rejected {
    /// The fault that an error of reading the settings is about.
    #[must_use]
    pub fn of(error: &Error) -> Self {
        let first = match error {
            // Its hint is in the lines below the first, which the doctor shows.
            Error::Settings { diagnostics, .. } => diagnostics.first().map(ToString::to_string),
            _ => None,
        };
        let why = first.unwrap_or_else(|| text::with_causes(error));
        Self {
            why: text::sanitise::line(why.lines().next().unwrap_or_default()),
        }
    }

    /// It in a sentence, below what a command shows.
    #[must_use]
    pub fn words(&self) -> String {
        format!(
            "the settings file cannot be used, and the last good settings stand where an engine runs: {}; `crew doctor` \
             shows all",
            self.why
        )
    }
}

/// The runtime's error, with the settings' diagnostics kept apart: they are shown with their lines.
pub fn lift(place: &Place, error: runtime::Error) -> Error {
    match error {
        runtime::Error::Settings(diagnostics) => Error::Settings {
            file: place.settings_path.clone(),
            diagnostics,
        },
        other => Error::Runtime(other),
    }
}

/// The error, with the process that keeps the journal locked where nobody else would find that out: an engine
/// that a signal has stopped as it wrote.
pub fn locked_by(place: &Place, error: Error) -> Error {
    match error {
        Error::Store(store::Error::Busy) | Error::Runtime(runtime::Error::Store(store::Error::Busy)) => {}
        other => return other,
    }
    let holder = place.holder().ok().flatten();
    match holder.and_then(|holder| Some((runtime::stopped(&holder)?, holder.to_string()))) {
        Some((pid, holder)) => Error::Stopped { holder, pid },
        None => error,
    }
}

/// The journal to read; none before anything was ever asked or run here.
pub async fn journal(place: &Place) -> Result<Option<Ledger>> {
    match place.read_journal().await {
        Ok(ledger) => Ok(Some(ledger)),
        Err(runtime::Error::Store(store::Error::Missing { .. })) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Holds the repository for a command that changes it, until the lock is dropped. The place that is returned
/// works under the lock.
///
/// # Errors
/// [`git::Error::Held`] where another process holds it.
pub fn hold(place: Place) -> Result<(Place, Lock)> {
    let lock = Lock::take_for_command(&place.repository.lock_path())?;
    let repository = place.repository.clone().locked(&lock);
    Ok((Place { repository, ..place }, lock))
}

/// The branch that is checked out, for work to land on.
///
/// # Errors
/// HEAD is detached, or the branch has no commit.
pub fn checked_out_branch(place: &Place) -> Result<String> {
    let branch = place.repository.require_branch()?;
    place.repository.target(&branch)?;
    Ok(branch.short().to_owned())
}

/// The commit at which the target of the settings is now; none where git has no such branch.
#[must_use]
pub fn target(place: &Place, settings: &Settings) -> Option<Oid> {
    let branch = settings.project.target.parse().ok()?;
    let tip = place.repository.branch_tip(&branch).ok()??;
    Oid::new(tip.as_str()).ok()
}

/// The files of the checkout that git tracks or would add: those that a fresh checkout can have.
///
/// # Errors
/// git cannot list them.
pub fn unignored_files(place: &Place) -> Result<Vec<String>> {
    Ok(place.repository.unignored_files()?)
}

/// Those of these folders of the checkout that git does not ignore.
///
/// # Errors
/// git cannot be asked.
pub fn unignored(place: &Place, folders: &[String]) -> Result<Vec<String>> {
    let mut unignored = Vec::new();
    for folder in folders {
        if !is_ignored(place, &format!("{folder}/"))? {
            unignored.push(folder.clone());
        }
    }
    Ok(unignored)
}

/// Whether crew has begun here, and git has its settings, such as on another branch.
#[must_use]
pub fn has_settings_elsewhere(place: &Place) -> bool {
    let file = std::path::Path::new(model::settings::FILE_NAME);
    place.journal.exists() && !place.repository.past_contents(file).is_empty()
}

/// Whether git ignores a path of the checkout. One that ends in `/` is a folder.
///
/// # Errors
/// git cannot be asked.
pub fn is_ignored(place: &Place, path: &str) -> Result<bool> {
    Ok(place.repository.is_ignored(std::path::Path::new(path))?)
}
