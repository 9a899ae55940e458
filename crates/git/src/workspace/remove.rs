//! Removing workspaces, once their work is kept.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::{Error, IoContext, Result};
use crate::files::delete::delete_tree;
use crate::refs::kept_refs::Rescued;
use crate::refs::proof::Proof;
use crate::repository::Repository;
use crate::types::id::{Branch, Id};
use crate::types::oid::Oid;
use crate::workspace::{Workspace, base_ref};

/// The separator before the number of an archived workspace; no id contains it, so no workspace's name does.
pub(crate) const ARCHIVED: char = '~';
/// The name of a workspace that is being deleted, beside the place where it stood.
const TRASH: &str = "trash";

impl Repository {
    /// Removes a workspace after keeping all of its work that no ref has yet (see [`Repository::rescue`]);
    /// returns what this call kept. A workspace that does not exist is no error. The branch, the base's pin
    /// and all kept refs stay. Files that may not be deleted stay too, for a person who may
    /// ([`Repository::undeletable`]).
    ///
    /// No process of the agent may be running.
    ///
    /// # Errors
    /// [`Error::Unsaved`] when something cannot be kept: then nothing is removed.
    pub fn remove(&self, workspace: &Workspace) -> Result<Rescued> {
        let (rescued, plain) = if workspace.exists() {
            let rescue = self.rescue_all(workspace)?;
            (rescue.rescued, rescue.is_plain)
        } else {
            (Rescued::default(), false)
        };
        if !rescued.unsaved.is_empty() {
            return Err(Error::Unsaved {
                workspace: workspace.path(),
                left: rescued.unsaved,
            });
        }
        failpoint::hit("remove.rescued");
        if !workspace.exists() && !workspace.beside().exists() {
            return Ok(rescued);
        }
        let _claim = workspace.claim()?;
        let trash = workspace.beside().join(TRASH);
        self.delete_or_part(workspace.root(), &trash, &workspace.name())?;
        match std::fs::rename(workspace.path(), &trash) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("remove", workspace.path(), error));
            }
            _ => {}
        }
        failpoint::hit("remove.renamed");
        // One with build results and the like in it is not worth it.
        if plain && self.pool_size > 0 {
            self.pool_checkout(workspace, &trash)?;
        }
        failpoint::hit("remove.half");
        self.clear_beside(workspace)?;
        failpoint::hit("remove.removed");
        Ok(rescued)
    }

    /// Archives a workspace that [`Error::Unsaved`] keeps from being removed, so that its agent may work on
    /// the ticket again; returns its new place, `<agent>-<ticket>~<n>`, a name that no workspace has.
    ///
    /// No process of the agent may be running.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn archive_workspace(&self, workspace: &Workspace) -> Result<PathBuf> {
        let _claim = workspace.claim()?;
        let mut archived = workspace.path();
        for n in 1_u32.. {
            archived = workspace
                .path()
                .with_file_name(format!("{}{ARCHIVED}{n}", workspace.name()));
            if archived.symlink_metadata().is_err() {
                break;
            }
        }
        std::fs::rename(workspace.path(), &archived).doing("archive", workspace.path())?;
        self.clear_beside(workspace)?;
        Ok(archived)
    }

    /// Removes what crew has beside a workspace that is gone.
    fn clear_beside(&self, workspace: &Workspace) -> Result<()> {
        // The folders that an agent could write go first: files in them may belong to others.
        for name in [TRASH, "tree", "pooled"] {
            let folder = workspace.beside().join(name);
            self.delete_or_part(workspace.root(), &folder, &workspace.name())?;
        }
        delete_tree(&workspace.beside())
    }

    /// The [archived](Repository::archive_workspace) workspaces of a folder; none if there is no such folder.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn archived_workspaces(root: &Path) -> Result<Vec<PathBuf>> {
        let entries = match std::fs::read_dir(root) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.doing("list", root)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.doing("list", root)?;
            if is_archived(&entry.file_name()) {
                found.push(entry.path());
            }
        }
        found.sort();
        Ok(found)
    }

    /// Removes the branch of a workspace that is gone, and then the pin of its base, which is the last trace
    /// of it. Somebody may have committed to the branch meanwhile: commits that `target` (`None`: there is no
    /// such branch now) lacks are kept as an attempt first. A branch that a person has checked out stays,
    /// because their checkout would show an unknown branch.
    ///
    /// # Errors
    /// [`Error::RefMoved`], [`Error::RefBusy`], [`Error::Failed`].
    pub fn forget_workspace(&self, workspace: &Workspace, target: Option<&Oid>) -> Result<()> {
        let (branch, pin) = (workspace.branch(), workspace.base_ref());
        let (tip, base) = (self.branch_tip(&branch)?, self.ref_at(&pin)?);
        if tip.is_some() && !self.checkouts_of(&branch)?.is_empty() {
            return self.unpin(workspace);
        }
        let proof = match &tip {
            Some(tip) => Some(match Proof::of_nothing(tip, base.as_ref()) {
                Some(proof) => proof,
                None => self.prove(workspace.ticket(), tip, target)?,
            }),
            None => None,
        };
        if let (Some(proof), Some(base)) = (&proof, &base) {
            let moves = [(branch.full(), proof.commit()), (pin, base)];
            let moves = moves
                .each_ref()
                .map(|(name, at)| (name.as_str(), Some(*at), None));
            if self.move_refs(&moves, "crew: workspace no longer needed")? {
                failpoint::hit("remove.forgotten");
                return Ok(());
            }
        }
        match proof {
            Some(proof) => self.delete_branch(&branch, &proof)?,
            None => self.clear_lock_of_gone(&branch.full())?,
        }
        self.unpin(workspace)
    }

    /// Removes the locks that a git left which was killed as it forgot a workspace: the refs are gone, their
    /// locks are not.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn forget_locks(&self, agent: &Id, ticket: &Id, attempt: u32) -> Result<()> {
        self.clear_lock_of_gone(&Branch::of_agent(agent, ticket).full())?;
        self.clear_lock_of_gone(&base_ref(ticket, attempt))
    }

    /// Removes the pin of a workspace's base, once its ticket is done.
    ///
    /// # Errors
    /// [`Error::RefBusy`], [`Error::Failed`].
    pub fn unpin(&self, workspace: &Workspace) -> Result<()> {
        let name = workspace.base_ref();
        match self.ref_at(&name)? {
            Some(now) => self.move_ref(&name, Some(&now), None, "crew: base no longer needed"),
            None => self.clear_lock_of_gone(&name),
        }
    }
}

/// Whether a folder's name is one that [`Repository::archive_workspace`] gives.
pub(crate) fn is_archived(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.rsplit_once(ARCHIVED).is_some_and(|(workspace, number)| {
        !workspace.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}
