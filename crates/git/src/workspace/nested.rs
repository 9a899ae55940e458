//! Nested repositories: those in folders of a workspace that no rule ignores. A commit of the workspace has
//! none of their files.

use std::path::{Path, PathBuf};

use crate::checkout::filled::Filled;
use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::oid::Oid;
use crate::types::refusal::Limits;
use crate::types::unsaved::{NestedWork, Unsaved};
use crate::workspace::Workspace;
use crate::workspace::agent_refs::AgentRefs;
use crate::workspace::filled::filled;
use crate::workspace::snapshot::{Excess, Snapshot};

/// The work of the nested repositories of a workspace, kept apart.
#[derive(Default)]
pub(crate) struct Nested {
    /// That of repositories and worktrees that no commit records: the agent made them.
    pub(crate) made: Vec<NestedWork>,
    /// That of submodules, and of repositories inside them.
    pub(crate) submodules: Vec<NestedWork>,
    /// That of submodules which stand as the workspace's commit records them, at a commit that the user does
    /// not have.
    pub(crate) recorded: Vec<NestedWork>,
    pub(crate) unsaved: Vec<Unsaved>,
}

/// A folder that is still to be looked at.
struct Open {
    folder: PathBuf,
    in_submodule: bool,
}

impl Repository {
    /// Keeps the files of each nested repository of a snapshot (and of those in it) on top of its own
    /// history, where `tip`, the workspace's commit, does not have them. An empty repository has no work.
    pub(crate) fn keep_nested(
        &self,
        workspace: &Workspace,
        snapshot: &Snapshot,
        tip: &Oid,
        limits: &Limits,
    ) -> Result<Nested> {
        let mut found = Nested::default();
        let mut open = self.with_work_of(workspace, snapshot, false)?;
        if open.is_empty() {
            return Ok(found);
        }
        let worktrees = AgentRefs::of(workspace)?.worktrees(&workspace.path())?;
        let recorded = self.recorded(workspace, &open, tip)?;
        while let Some(Open { folder, in_submodule }) = open.pop() {
            let as_recorded = recorded.iter().find(|one| one.path == folder);
            if let Some(one) = as_recorded
                && self.has_its_commits(workspace, one)?
            {
                continue;
            }
            let worktree = worktrees.iter().find(|(at, _)| *at == folder);
            let head = match worktree {
                Some((_, Some(head))) => self.fetch_head(workspace, Path::new(""), head.clone(), limits)?,
                Some((_, None)) => None,
                None => match AgentRefs::nested(workspace, &folder)?.head()? {
                    Ok(head) => self.fetch_head(workspace, &folder, head, limits)?,
                    Err(_) => None,
                },
            };
            let snapshot = self.snapshot(workspace, &folder, head.as_ref(), limits, Excess::LeftOut)?;
            found.unsaved.extend(snapshot.unsaved.iter().cloned());
            open.extend(self.with_work_of(workspace, &snapshot, in_submodule)?);
            let is_clean = match &head {
                Some(head) => self.differing_tree(&snapshot, head)?.is_none(),
                None => false,
            };
            let commit = match (head, &snapshot.tree) {
                (Some(head), _) if is_clean => head,
                (_, None) => continue,
                (head, Some(tree)) => {
                    let parents: Vec<&Oid> = head.iter().collect();
                    let message = format!("Repository inside the workspace: {}", folder.to_string_lossy());
                    // The time is the same at every repetition, so that nothing is kept twice.
                    let at = self.commit_time(head.as_ref().unwrap_or(workspace.base()))?;
                    self.commit(tree, &parents, &message, workspace.identity(), at)?
                }
            };
            if self.is_ancestor(&commit, tip)? {
                continue;
            }
            let kept = self.keep_rescue(workspace.ticket(), &commit)?.name;
            let list = match in_submodule {
                _ if as_recorded.is_some() => &mut found.recorded,
                true => &mut found.submodules,
                false => &mut found.made,
            };
            list.push(NestedWork {
                path: folder,
                commit,
                kept,
                is_worktree: worktree.is_some(),
            });
        }
        for list in [&mut found.made, &mut found.submodules] {
            list.sort_by(|one, other| one.path.cmp(&other.path));
        }
        Ok(found)
    }

    /// The filled submodules that stand at the commit which `tip` records for them.
    fn recorded(&self, workspace: &Workspace, open: &[Open], tip: &Oid) -> Result<Vec<Filled>> {
        if open.iter().all(|one| !one.in_submodule) {
            return Ok(Vec::new());
        }
        let recorded = self.submodules(tip)?;
        let mut found = Vec::new();
        for one in filled(workspace) {
            let Some(of_tip) = recorded.iter().find(|of_tip| of_tip.path == one.path) else {
                continue;
            };
            let head = AgentRefs::nested(workspace, &one.path)?.head()?;
            if head.as_ref() == Ok(&of_tip.commit) && self.stands_at(workspace, &one, &of_tip.commit)? {
                found.push(one);
            }
        }
        Ok(found)
    }

    /// The folders of a snapshot that hold work.
    fn with_work_of(
        &self,
        workspace: &Workspace,
        snapshot: &Snapshot,
        in_submodule: bool,
    ) -> Result<Vec<Open>> {
        let mut open = Vec::new();
        for (folders, is_link) in [(&snapshot.nested, false), (&snapshot.links, true)] {
            let folders = self.with_work(workspace, folders)?;
            open.extend(folders.into_iter().map(|folder| Open {
                folder,
                in_submodule: in_submodule || is_link,
            }));
        }
        Ok(open)
    }

    /// Fetches the commit of a nested repository's HEAD; `None` if it may not come in.
    fn fetch_head(
        &self,
        workspace: &Workspace,
        folder: &Path,
        head: Oid,
        limits: &Limits,
    ) -> Result<Option<Oid>> {
        let limits = limits.for_kept_work();
        match self.fetch_objects(workspace, &workspace.path().join(folder), &head, &limits) {
            Ok(()) => Ok(Some(head)),
            // A history that takes too long or is too large would be so at every try: the files are saved
            // without it.
            Err(Error::Refused { .. } | Error::Deadline { .. } | Error::OutputTooLarge { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }
}
