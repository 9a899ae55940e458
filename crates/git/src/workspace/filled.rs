//! Filled submodules of a workspace, and whether an agent has changed anything in them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::checkout::filled::{Filled, listed};
use crate::checkout::submodules::Filling;
use crate::error::{Error, Result};
use crate::files::delete::names;
use crate::files::openat;
use crate::repository::Repository;
use crate::types::oid::Oid;
use crate::types::paths::{fields, path_of};
use crate::workspace::Workspace;
use crate::workspace::agent_refs::AgentRefs;
use crate::workspace::fetch_objects::ObjectsView;
use crate::workspace::snapshot::new_index;

/// The folder beside a workspace with the indexes of its submodules.
const FOLDER: &str = "submodules";

/// The submodules of a workspace that crew filled.
pub(crate) fn filled(workspace: &Workspace) -> Vec<Filled> {
    listed(&workspace.beside().join(FOLDER))
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
        let filled = filled(workspace);
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
        self.has_its_files(workspace, one, &one.index, known)
    }

    /// Whether a filled submodule stands as one of its commits, perhaps one that only the workspace has.
    pub(crate) fn stands_at(&self, workspace: &Workspace, one: &Filled, commit: &Oid) -> Result<bool> {
        let filled = filled(workspace);
        let known: BTreeSet<&Path> = filled.iter().map(|one| one.path.as_path()).collect();
        let at = workspace.path().join(&one.path);
        let view = ObjectsView::of(workspace, &at)?;
        let index = new_index(workspace)?;
        let read = self
            .in_submodule(&one.source, &at, &index, "read-tree")
            .alternate(view.path())
            .arg(commit.as_str())
            .run()?;
        Ok(read.code == Some(0) && self.has_its_files(workspace, one, &index, &known)?)
    }

    /// Whether the files of a filled submodule are those of an index.
    fn has_its_files(
        &self,
        workspace: &Workspace,
        one: &Filled,
        index: &Path,
        known: &BTreeSet<&Path>,
    ) -> Result<bool> {
        let at = workspace.path().join(&one.path);
        let listing = one
            .files(self)?
            .put_into(self.in_submodule(&one.source, &at, index, "ls-files"))
            .args(["-m", "-d", "-o", "--exclude-standard", "-z"])
            .output_limit(512 << 20)
            .run()?;
        let is_known = |found: &[u8]| {
            let inner = path_of(found.strip_suffix(b"/").unwrap_or(found));
            known.contains(one.path.join(inner).as_path())
        };
        Ok(listing.code == Some(0) && fields(&listing.stdout).all(is_known))
    }

    /// Whether the user's repository of a submodule has every commit that was made, or is named, in the
    /// workspace's.
    pub(crate) fn has_its_commits(&self, workspace: &Workspace, one: &Filled) -> Result<bool> {
        let tips = AgentRefs::nested(workspace, &one.path)?.all(&self.tags(&one.source)?)?;
        let said = self
            .call_at(&one.source, "rev-list")
            .arg("--max-count=1")
            .args(tips.iter().map(Oid::as_str))
            .args(["--not", "--all", one.commit.as_str()])
            .run()?;
        Ok(said.code == Some(0) && said.stdout.trim_ascii().is_empty())
    }
}
