//! The fixes of `crew doctor --fix`: each is an act that loses nothing, and doing it again changes nothing.

use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use git::{Branch, Oid, Repository};
use model::{AgentName, TicketId};
use process::Run;
use runtime::Place;

use client::error::{Doing as _, Error, Result};
use client::workspaces;

/// An act that mends a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Makes a folder.
    MakeFolder(PathBuf),
    /// Makes a folder readable by its owner only.
    MakePrivate(PathBuf),
    /// Ignores crew's own folder.
    Exclude,
    /// Ends a run that nothing waits for, and whatever it started.
    EndRun(PathBuf),
    /// Removes a workspace that no attempt uses, after keeping what it holds.
    RemoveWorkspace {
        /// The folder that the workspaces stand in.
        root: PathBuf,
        /// The agent that had it.
        agent: AgentName,
        /// The ticket that it was for.
        ticket: TicketId,
    },
    /// Removes the checkout of a review that is over. No work is ever taken from one.
    RemoveReview(PathBuf),
    /// Removes a branch that no attempt uses, after keeping what the target does not have.
    RemoveBranch {
        /// The branch, by its short name.
        branch: String,
        /// Its tip when it was seen.
        tip: String,
        /// The ticket that its work is for.
        ticket: TicketId,
        /// The target.
        target: String,
    },
    /// Gives back the lock of a checkout's index, if a killed engine left it.
    ReleaseLock(PathBuf),
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fix::MakeFolder(path) => write!(f, "makes {}", path.display()),
            Fix::MakePrivate(path) => write!(f, "makes {} readable by you only", path.display()),
            Fix::Exclude => f.write_str("adds /.crew/ to .git/info/exclude"),
            Fix::EndRun(_) => f.write_str("ends it"),
            Fix::RemoveWorkspace { .. } => f.write_str("keeps its work under refs/crew/ and removes it"),
            Fix::RemoveReview(_) => f.write_str("removes it"),
            Fix::RemoveBranch { .. } => f.write_str("keeps its work under refs/crew/ and deletes it"),
            Fix::ReleaseLock(_) => f.write_str("gives it back, if it is an engine's"),
        }
    }
}

impl Fix {
    /// Carries it out. The place's repository is held by the caller.
    pub(crate) fn carry_out(&self, place: &Place) -> Result<()> {
        let repository = &place.repository;
        match self {
            Fix::MakeFolder(path) => std::fs::create_dir_all(path).doing("make", path),
            Fix::MakePrivate(path) => {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).doing("change", path)
            }
            Fix::Exclude => Ok(place.exclude()?),
            Fix::EndRun(dir) => Ok(runtime::end_run(&Run::open(dir)?)?),
            Fix::RemoveWorkspace { root, agent, ticket } => {
                // Its attempt is over, so there is no pin to be taken away.
                let base = workspaces::base_of(repository, ticket, None)?;
                let workspace = workspaces::workspace_of(root, (agent, ticket), 0, &base)?;
                workspaces::workspace(repository, &workspace)
            }
            Fix::RemoveReview(folder) => Ok(git::delete_tree(folder)?),
            Fix::RemoveBranch {
                branch,
                tip,
                ticket,
                target,
            } => {
                let (branch, tip) = (Branch::parse(branch)?, Oid::parse(tip)?);
                let target = repository.branch_tip(&Branch::parse(target)?)?;
                workspaces::branch(repository, (&branch, &tip), ticket, target.as_ref())
            }
            Fix::ReleaseLock(lock) => release(repository, lock),
        }
    }
}

fn release(repository: &Repository, lock: &Path) -> Result<()> {
    repository.release_left_behind()?;
    if lock.exists() {
        return Err(Error::refused(
            "the lock is another git's",
            format!("if no git runs here, remove {} by hand", lock.display()),
        ));
    }
    Ok(())
}
