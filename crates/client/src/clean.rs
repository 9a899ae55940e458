//! Cleaning: crew's journal, agents and workspaces are removed, and nobody's work is lost.

mod attempts;
mod begun;
mod folder;
mod kept;
mod loss;
mod older;
mod outputs;
mod reopen;

use std::path::PathBuf;

use git::{Branch, Undeletable};
use runtime::Place;

use crate::documents::Kept;
use crate::error::{Error, Result};
use crate::follow;
use crate::repository::{hold, journal, settings};

pub use attempts::KeptBranch;
pub use loss::{Loss, loss};
pub use older::older;

/// The remains after a clean.
#[derive(Debug)]
pub struct Cleaned {
    /// Commits that no branch has, each kept under a ref.
    pub kept: Vec<Kept>,
    /// Folders that stay as they are: git cannot save all of them, or they are none of crew's.
    pub kept_folders: Vec<PathBuf>,
    /// Branches that stay although they have the name of an attempt's.
    pub kept_branches: Vec<KeptBranch>,
    /// The checkouts of reviews that were removed, by gatekeeper and ticket.
    pub reviews: Vec<String>,
    /// The error about parts that may not be deleted; all else is gone.
    pub undeletable: Option<Error>,
}

/// Removes everything of crew's. Work that has not landed is kept under refs. `warn` is called with a message
/// when another process holds the repository for long.
///
/// # Errors
/// [`runtime::Error::Held`] while an engine runs.
pub async fn everything(place: Place, warn: impl Fn(&str)) -> Result<Cleaned> {
    if let Some(by) = place.lasting_holder(warn).await? {
        return Err(runtime::Error::Held { by }.into());
    }
    // Before the journal is read: decisions that rest on it must not change any more.
    let (place, _lock) = hold(place)?;
    let ledger = journal(&place).await?;
    let crew = follow::present(ledger.as_ref()).await?;
    let made = attempts::Made::of(ledger.as_ref(), &crew).await?;
    if let Some(ledger) = ledger {
        ledger.close().await;
    }
    let repository = &place.repository;
    let settings = settings(&place)?;
    let workspaces = place.workspaces_dir(&settings)?;
    begun::begin(&place, &crew, &workspaces)?;
    failpoint::hit("clean.begun");
    runtime::end_all_runs(&place)?;
    let target = repository.branch_tip(&Branch::parse(&settings.project.target)?)?;
    let kept_branches = made.remove(repository, &workspaces, target.as_ref())?;
    failpoint::hit("clean.put_away");
    reopen::reopen_files(&place, &crew)?;
    failpoint::hit("clean.reopened");
    // The journal goes last: until then, everything above can be done again.
    let attempts::Left {
        kept_folders,
        undeletable,
    } = made.sweep(repository, &workspaces)?;
    failpoint::hit("clean.swept");
    folder::remove_checks(&place)?;
    let reviews = folder::remove_reviews(&place)?;
    folder::remove(&place)?;
    repository.unlock_root()?;
    folder::remove_workspaces(&workspaces)?;
    let kept = repository.kept(None)?;
    Ok(Cleaned {
        kept: kept.into_iter().filter_map(Kept::of).collect(),
        kept_folders,
        kept_branches,
        reviews,
        undeletable: undeletable_of(&undeletable),
    })
}

fn undeletable_of(left: &[Undeletable]) -> Option<Error> {
    if left.is_empty() {
        return None;
    }
    let (says, hints): (Vec<String>, Vec<String>) = left.iter().map(runtime::undeletable::said).unzip();
    Some(Error::refused(
        says.join("\n"),
        format!("{}\nthen clean again, and nothing is left", hints.join("\n")),
    ))
}
