//! The present files of a workspace, for people: they look at it while its agent works, and nothing of what
//! is read is kept.

use crate::error::{Error, IoContext, Result};
use crate::repository::Repository;
use crate::types::oid::Oid;
use crate::types::refusal::Limits;
use crate::types::unsaved::Unsaved;
use crate::workspace::Workspace;
use crate::workspace::agent_refs::AgentRefs;

/// The files of a workspace at one moment.
#[derive(Debug)]
pub struct Present {
    /// The repository with the objects of these files beside its own.
    pub repository: Repository,
    /// The commit that the work is compared with: the last one that the agent's HEAD and the target have in
    /// common; the base of the work, where that cannot be found out.
    pub base: Oid,
    /// The agent's HEAD; none where it names no commit. The repository need not have it.
    pub head: Option<Oid>,
    /// The tree of all files that would be committed.
    pub tree: Oid,
    /// True if some of them are in no commit of the agent's; none where its HEAD cannot be read.
    pub has_uncommitted: Option<bool>,
    /// Files that cannot be read, and that the tree does not have.
    pub unread: Vec<Unsaved>,
    /// The new objects, for as long as somebody looks at them.
    _objects: tempfile::TempDir,
}

impl Repository {
    /// Reads the files of a workspace as they are now. Processes of the agent may be at work meanwhile.
    /// Neither the workspace nor this repository changes: new objects go to a temporary folder.
    ///
    /// # Errors
    /// [`Error::WorkspaceMissing`], [`Error::Io`], [`Error::Deadline`], [`Error::Failed`].
    pub fn present(&self, workspace: &Workspace, target: &Oid, limits: &Limits) -> Result<Present> {
        if !workspace.exists() {
            return Err(Error::WorkspaceMissing {
                path: workspace.path(),
            });
        }
        let objects = tempfile::tempdir().doing("make a folder in", tempfile::env::temp_dir())?;
        let repository = self.writing_to(objects.path())?;
        let parent = repository.last_known(workspace)?;
        let snapshot = repository.snapshot_to_look(workspace, &parent, limits)?;
        let tree = match snapshot.tree {
            Some(tree) => tree,
            None => repository.tree_of(&parent)?.0,
        };
        let head = AgentRefs::of(workspace)?.head()?.ok();
        // Its commits are read and not believed: they choose what the files are compared with, and no more.
        let seen = head
            .as_ref()
            .and_then(|head| repository.seen_from(workspace, head, target).ok());
        let (fork, committed) = seen.unwrap_or_default();
        Ok(Present {
            base: fork.unwrap_or_else(|| workspace.base().clone()),
            has_uncommitted: committed.map(|committed| committed != tree),
            head,
            tree,
            unread: snapshot.unsaved,
            repository,
            _objects: objects,
        })
    }

    /// The last commit that the agent's HEAD and the target have in common, and the tree of that HEAD.
    fn seen_from(
        &self,
        workspace: &Workspace,
        head: &Oid,
        target: &Oid,
    ) -> Result<(Option<Oid>, Option<Oid>)> {
        let view = self.agents_objects(workspace)?;
        let said = self
            .call("merge-base")
            .alternate(view.path())
            .args(["--end-of-options", head.as_str(), target.as_str()])
            .run()?;
        let fork = match said.code {
            Some(0) => Some(Oid::from_bytes(said.stdout.trim_ascii())?),
            Some(1) => None,
            _ => return Err(said.failed()),
        };
        let tree = self
            .call("rev-parse")
            .alternate(view.path())
            .args(["--quiet", "--verify", "--end-of-options"])
            .arg(format!("{head}^{{tree}}"))
            .ok_oid()?;
        Ok((fork, Some(tree)))
    }
}
