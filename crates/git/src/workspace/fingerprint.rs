//! Fingerprint of a workspace: the same as long as neither its commit nor its files change.

use std::path::Path;

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::refusal::Limits;
use crate::workspace::Workspace;
use crate::workspace::agent_refs::AgentRefs;
use crate::workspace::snapshot::Excess;

impl Repository {
    /// The commit that is checked out in the workspace and its files that are not ignored, as one text. No
    /// process of the agent may be running. Nothing is saved or imported.
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
        let head = AgentRefs::of(workspace)?.head()?;
        let parent = self.last_known(workspace)?;
        let snapshot = self.snapshot(workspace, Path::new(""), Some(&parent), limits, Excess::LeftOut)?;
        let (tree, nested) = (snapshot.tree, snapshot.nested);
        Ok(format!("{head:?} {parent:?} {tree:?} {nested:?}"))
    }
}
