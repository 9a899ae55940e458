//! Fingerprint of a workspace: the same as long as its files do not change.

use std::path::Path;

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::refusal::Limits;
use crate::workspace::Workspace;
use crate::workspace::agent_refs::AgentRefs;
use crate::workspace::snapshot::Excess;

impl Repository {
    /// The files of the workspace that are not ignored, and the way in which its HEAD is broken, if it is, as
    /// one text. A commit alone changes nothing: what is committed is a file too. No process of the agent may
    /// be running. Nothing is saved or imported.
    ///
    /// # Errors
    /// [`Error::WorkspaceMissing`], [`Error::Deadline`], [`Error::Failed`].
    pub fn fingerprint(&self, workspace: &Workspace, limits: &Limits) -> Result<String> {
        // The claim would make the folder that holds all workspaces, and nobody would see that it is away.
        if !workspace.exists() {
            return Err(Error::WorkspaceMissing {
                path: workspace.path(),
            });
        }
        let _claim = workspace.claim()?;
        let broken = AgentRefs::of(workspace)?.head()?.err();
        let parent = self.last_known(workspace)?;
        let snapshot = self.snapshot(workspace, Path::new(""), Some(&parent), limits, Excess::LeftOut)?;
        let nested = [snapshot.nested, snapshot.links].concat();
        let tree = snapshot
            .tree
            .map_or_else(|| self.tree_of(&parent).map(|tree| tree.0), Ok)?;
        Ok(format!("{broken:?} {tree} {nested:?}"))
    }
}
