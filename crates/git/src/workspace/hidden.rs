//! Hidden repositories: those that an agent made in ignored folders of its workspace.
//!
//! Ignored folders go with the workspace, and package managers make repositories in them. Only commits that
//! were made in such a repository are work.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags, openat};

use crate::error::{Error, IoContext, Result};
use crate::files::openat;
use crate::repository::Repository;
use crate::types::oid::Oid;
use crate::types::refusal::Limits;
use crate::types::unsaved::{NestedWork, Unsaved};
use crate::workspace::Workspace;
use crate::workspace::agent_refs::AgentRefs;
use crate::workspace::fetch_objects::ObjectsView;
use crate::workspace::filled::filled;

/// The deepest folder in which a repository is found, and the number of folders that are looked into. The
/// nearest come first.
const DEPTH: usize = 8;
const FOLDERS: usize = 20_000;
/// The number of hidden repositories whose commits are looked at.
const REPOSITORIES: usize = 200;

/// The work of hidden repositories.
#[derive(Default)]
pub(crate) struct Hidden {
    pub(crate) kept: Vec<NestedWork>,
    pub(crate) unsaved: Vec<Unsaved>,
}

impl Repository {
    /// Keeps the commits that were made in hidden repositories, those outside of `known` folders. Files that
    /// are not committed there are ignored ones, and stay out.
    pub(crate) fn keep_hidden(
        &self,
        workspace: &Workspace,
        known: &[&Path],
        limits: &Limits,
    ) -> Result<Hidden> {
        let mut hidden = Hidden::default();
        let filled = filled(workspace);
        let known: Vec<&Path> = filled
            .iter()
            .map(|one| one.path.as_path())
            .chain(known.iter().copied())
            .collect();
        for folder in repositories(workspace)? {
            if known.iter().any(|known| folder.starts_with(known)) {
                continue;
            }
            for tip in self.made_in(workspace, &folder, limits)? {
                match self.fetch_objects(workspace, &workspace.path().join(&folder), &tip, limits) {
                    Ok(()) => {}
                    Err(Error::Refused { refusals, .. }) => {
                        hidden.unsaved.push(Unsaved {
                            path: folder.clone(),
                            why: crate::types::refusal::list(&refusals),
                        });
                        continue;
                    }
                    Err(other) => return Err(other),
                }
                if !self.is_reachable(&tip)? {
                    hidden.kept.push(NestedWork {
                        path: folder.clone(),
                        kept: self.keep_rescue(workspace.ticket(), &tip)?.name,
                        commit: tip,
                        is_worktree: false,
                    });
                }
            }
        }
        Ok(hidden)
    }

    /// The last of the commits that were made in a repository: neither its remotes have them nor the user's
    /// repository. Where git cannot tell (a shallow clone), every end of a branch that no remote has.
    fn made_in(&self, workspace: &Workspace, folder: &Path, limits: &Limits) -> Result<Vec<Oid>> {
        let refs = AgentRefs::nested(workspace, folder)?;
        let theirs = refs.of_remotes()?;
        let mut own = refs.of_branches()?;
        own.retain(|tip| !theirs.contains(tip) && tip != workspace.base());
        if own.is_empty() {
            return Ok(Vec::new());
        }
        let view = ObjectsView::of(workspace, &workspace.path().join(folder))?;
        let mut made = Vec::new();
        for tip in own {
            let listed = self
                .call("rev-list")
                .alternate(view.path())
                .deadline(limits.deadline)
                .args(["--max-count=1", "--ignore-missing", tip.as_str()])
                .args(theirs.iter().map(|oid| format!("^{oid}")))
                .args(["--not", "--all"])
                .ok();
            match listed {
                Ok(listed) if listed.is_empty() => {}
                Ok(_) | Err(Error::Failed { .. }) => made.push(tip),
                Err(other) => return Err(other),
            }
        }
        Ok(made)
    }
}

/// The folders of a workspace with a git directory in them, but for its own. Follows no link, and looks
/// neither into git directories nor into `node_modules`.
fn repositories(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let root = workspace.open()?;
    let mut found = Vec::new();
    let mut open = VecDeque::from([(PathBuf::new(), 0)]);
    let mut looked = 0;
    while let Some((path, depth)) = open.pop_front() {
        looked += 1;
        if looked > FOLDERS || found.len() >= REPOSITORIES {
            break;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat::folder(&root, &path)
            .and_then(|folder| Ok(openat(&folder, c".", flags, Mode::empty())?))
            .and_then(|folder| Ok(Dir::read_from(&folder)?));
        let entries = match folder {
            Ok(entries) => entries,
            Err(error) if openat::is_by_its_writer(&error) => continue,
            Err(error) => return Err(Error::io("look into", workspace.path().join(&path), error)),
        };
        for entry in entries {
            let entry = entry.doing("list", workspace.path().join(&path))?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b".." | b"node_modules") || entry.file_type() != FileType::Directory {
                continue;
            }
            if name == b".git" {
                if depth > 0 {
                    found.push(path.clone());
                }
            } else if depth < DEPTH {
                open.push_back((path.join(OsStr::from_bytes(name)), depth + 1));
            }
        }
    }
    Ok(found)
}

impl AgentRefs {
    /// The commits that HEAD, the branches and the last stash name.
    fn of_branches(&self) -> Result<BTreeSet<Oid>> {
        let mut found: BTreeSet<Oid> = self.head()?.into_iter().collect();
        let named = self.named(|name| name.starts_with("refs/heads/") || name == "refs/stash")?;
        found.extend(named);
        Ok(found)
    }

    /// The commits that came from elsewhere: the branches and tags of remotes, what was fetched last, and
    /// the ends of a shallow history.
    fn of_remotes(&self) -> Result<BTreeSet<Oid>> {
        let mut found = self.named(|name| name.starts_with("refs/remotes/"))?;
        for list in ["FETCH_HEAD", "shallow"] {
            let content = self.content(list)?.unwrap_or_default();
            let ids = content
                .split(|byte| *byte == b'\n')
                .filter_map(|line| line.split(|byte| *byte == b'\t').next());
            found.extend(ids.filter_map(|id| Oid::from_bytes(id).ok()));
        }
        Ok(found)
    }
}
