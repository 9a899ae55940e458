//! Filled submodules of a workspace, and whether an agent has changed anything in them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::checkout::filled::{Filled, listed};
use crate::checkout::submodules::Filling;
use crate::error::{Error, Result};
use crate::files::delete::names;
use crate::files::openat;
use crate::repository::Repository;
use crate::types::paths::{fields, path_of};
use crate::workspace::Workspace;
use crate::workspace::agent_refs::AgentRefs;

/// The folder beside a workspace with the indexes of its submodules.
const FOLDER: &str = "submodules";

/// The submodules of a workspace that crew filled.
pub(crate) fn filled_folders(workspace: &Workspace) -> Vec<PathBuf> {
    let filled = listed(&workspace.beside().join(FOLDER));
    filled.into_iter().map(|one| one.path).collect()
}

impl Repository {
    /// Fills the submodules of a workspace that is being made in `tree`.
    pub(crate) fn fill_workspace_submodules(&self, workspace: &Workspace, tree: &Path) -> Result<()> {
        let folder = workspace.beside().join(FOLDER);
        crate::files::delete::delete_tree(&folder)?;
        self.fill_submodules(Filling {
            tree,
            folder: &folder,
            commit: &workspace.start,
            base: &workspace.base,
            identity: &workspace.identity,
        })
    }

    /// The repositories inside a workspace that hold work: those of `folders`, and those in them, without
    /// submodules that are as crew filled them.
    pub(crate) fn with_work(&self, workspace: &Workspace, folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let filled = listed(&workspace.beside().join(FOLDER));
        let known: BTreeSet<&Path> = filled.iter().map(|one| one.path.as_path()).collect();
        let unknown = folders.iter().filter(|folder| !known.contains(folder.as_path()));
        let mut found: Vec<PathBuf> = unknown.cloned().collect();
        for one in &filled {
            let is_asked = folders.iter().any(|folder| one.path.starts_with(folder));
            // Those in a changed one are found with it.
            let is_found = found.iter().any(|folder| one.path.starts_with(folder));
            if is_asked && !is_found && !self.is_as_filled(workspace, one, &known)? {
                found.push(one.path.clone());
            }
        }
        Ok(found)
    }

    fn is_as_filled(&self, workspace: &Workspace, one: &Filled, known: &BTreeSet<&Path>) -> Result<bool> {
        let at = workspace.path().join(&one.path);
        match openat::folder(&workspace.open()?, &one.path) {
            Ok(folder) if names(&folder).is_ok_and(|names| names.is_empty()) => return Ok(true),
            Ok(_) => {}
            // A file or a link in its place is the outer repository's change.
            Err(error) if openat::is_by_its_writer(&error) => return Ok(true),
            Err(error) => return Err(Error::io("look into", &at, error)),
        }
        let tips = AgentRefs::nested(workspace, &one.path)?.all(&self.tags(&one.source)?)?;
        if tips.iter().any(|tip| *tip != one.commit) {
            return Ok(false);
        }
        let listing = one
            .files(self)?
            .put_into(self.in_submodule(&one.source, &at, &one.index, "ls-files"))
            .args(["-m", "-d", "-o", "--exclude-standard", "-z"])
            .output_limit(512 << 20)
            .run()?;
        let is_known = |found: &[u8]| {
            let inner = path_of(found.strip_suffix(b"/").unwrap_or(found));
            known.contains(one.path.join(inner).as_path())
        };
        Ok(listing.code == Some(0) && fields(&listing.stdout).all(is_known))
    }
}
