//! Saving a workspace: uncommitted files become a commit, and work that cannot be in it is kept apart.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::openat;
use crate::refs::kept_refs::{KeptKind, Rescued};
use crate::repository::Repository;
use crate::types::identity::Time;
use crate::types::oid::Oid;
use crate::types::operation::Operation;
use crate::types::paths::path_of;
use crate::types::refusal::{Limits, Refusal};
use crate::types::unsaved::{NestedWork, Unsaved};
use crate::workspace::Workspace;
use crate::workspace::agent_refs::AgentRefs;
use crate::workspace::import::Imported;
use crate::workspace::leftovers::LeftBehind;
use crate::workspace::snapshot::{Excess, Snapshot};

/// The result of [`Repository::save`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The branch as it is now, with the commit of the leftovers.
    pub imported: Imported,
    /// The commit of the leftovers, if there were any.
    pub leftovers: Option<Oid>,
    /// Files and folders that are no work, and were not committed.
    pub left_behind: Vec<LeftBehind>,
    /// Work of repositories that the agent made inside the workspace, kept apart: the branch has no file of
    /// it.
    pub nested: Vec<NestedWork>,
    /// Work in submodules that the branch does not record, kept apart.
    pub submodules: Vec<NestedWork>,
    /// Paths that could not be saved; the workspace must stay.
    pub unsaved: Vec<Unsaved>,
    /// The reason for which the workspace's own HEAD could not be used, if so: the files were then saved on
    /// top of the last import, and later commits of the agent are lost to its branch.
    pub lost_head: Option<String>,
}

/// What was rescued of a workspace, and how it stood.
pub(crate) struct Rescue {
    pub(crate) rescued: Rescued,
    /// Whether the files were those of a commit and nothing else.
    pub(crate) is_plain: bool,
    /// The commit of all of its files.
    pub(crate) work: Oid,
    /// The folders of the repositories and worktrees that its agent has made inside it.
    pub(crate) inside: Vec<PathBuf>,
}

impl Repository {
    /// Imports the workspace's HEAD and commits all modified, staged or untracked files (not ignored ones,
    /// and not those that are [no work](crate::NoWork)) on top of it, by the agent, at `at`. The branch
    /// moves there, and so does the workspace's own, so that the agent goes on from it. A workspace whose
    /// `.git` is gone or broken is saved as files. Repeating this changes nothing.
    ///
    /// An unfinished operation of git's is not saved: its files are half of something, and the agent goes on
    /// with it.
    ///
    /// No process of the agent may be running.
    ///
    /// # Errors
    /// As [`Repository::import`]; an unfinished operation, files in conflict and refused leftovers are
    /// [`Error::Refused`] too, and then nothing moved.
    pub fn save(&self, workspace: &Workspace, message: &str, at: Time, limits: &Limits) -> Result<Saved> {
        let _claim = workspace.claim()?;
        self.finish_move(workspace)?;
        let operation = Operation::of(&workspace.path().join(".git"));
        let refused = |refusals| Error::Refused {
            workspace: workspace.path(),
            refusals,
        };
        let unfinished = |operation| refused(vec![Refusal::Unfinished { operation }]);
        // During an operation, HEAD is somewhere between two branches.
        if let Some(operation @ (Operation::Rebase | Operation::Am)) = operation {
            return Err(unfinished(operation));
        }
        let (parent, before, lost_head) = match self.import_claimed(workspace, limits) {
            Ok(imported) => (imported.tip.clone(), Some(imported), None),
            Err(Error::Refused { refusals, .. }) if is_lost_head(&refusals) => {
                let from = self.made_from(workspace)?;
                let remedy = refusals.iter().find_map(|refusal| refusal.remedy(&from));
                let why = [Some(crate::types::refusal::list(&refusals)), remedy];
                let why = why.into_iter().flatten().collect::<Vec<_>>().join("\n");
                (self.last_known(workspace)?, None, Some(why))
            }
            Err(other) => return Err(other),
        };
        if let Some(operation) = operation {
            return Err(unfinished(operation));
        }
        let snapshot = self.snapshot_of_work(workspace, &parent, limits, Excess::Refused)?;
        let mut leftovers = None;
        let mut tip = parent.clone();
        if let Some(tree) = self.differing_tree(&snapshot, &parent)? {
            let conflicts = self.agents_index(workspace)?.map(|index| index.conflicts);
            let conflicts: Vec<Refusal> = conflicts
                .into_iter()
                .flatten()
                .map(|path| Refusal::InConflict {
                    path: path_of(&path).to_path_buf(),
                })
                .collect();
            if !conflicts.is_empty() {
                return Err(refused(conflicts));
            }
            let commit = self.commit(tree, &[&parent], message, workspace.identity(), at)?;
            failpoint::hit("save.committed");
            let unfiltered = self.unfiltered(workspace, &parent, &commit)?;
            if !unfiltered.is_empty() {
                return Err(refused(unfiltered));
            }
            let large = self.large_leftovers(workspace, &parent, &commit, limits)?;
            if !large.is_empty() {
                return Err(refused(large));
            }
            self.judge(workspace, &commit, limits)?;
            self.check_strictly(workspace, &commit, &parent, limits)?;
            leftovers = Some(commit.clone());
            tip = commit;
        }
        let imported = match before {
            Some(imported) if leftovers.is_none() => imported,
            before => {
                let after = self.advance(workspace, tip.clone())?;
                let replaced = after.replaced.or(before.and_then(|before| before.replaced));
                Imported { replaced, ..after }
            }
        };
        if leftovers.is_some() {
            failpoint::hit("save.imported");
            // The agent's index is replaced by this: work that it alone holds must be kept, or the index
            // stays.
            match self.staged(workspace, &parent, snapshot.tree.as_ref(), limits) {
                Ok(staged) => {
                    if let Some(staged) = staged {
                        self.keep_rescue(workspace.ticket(), &staged)?;
                    }
                    self.update_agents_git_dir(workspace, &parent, &tip, &snapshot);
                }
                Err(error) if error.is_passing() => return Err(error),
                Err(_) => {}
            }
            failpoint::hit("save.settled");
        }
        let nested = self.keep_nested(workspace, &snapshot, &tip, limits)?;
        let mut unsaved = snapshot.unsaved;
        unsaved.extend(nested.unsaved);
        if let Some(index) = snapshot.index {
            std::fs::rename(index, workspace.index()).ok();
        }
        Ok(Saved {
            imported,
            leftovers,
            left_behind: snapshot.left_behind,
            nested: nested.made,
            submodules: nested.submodules,
            unsaved,
            lost_head,
        })
    }

    /// Keeps, under `refs/crew/rescue/<ticket>/`, every piece of work in the workspace that no ref of the
    /// user's repository holds: the commits that its refs and HEAD's reflog name, its files as they are,
    /// worktrees that the agent made in it, and repositories inside it. The branch does not move. Repeating
    /// it keeps nothing twice.
    ///
    /// No process of the agent may be running.
    ///
    /// # Errors
    /// [`Error::WorkspaceMissing`], [`Error::Deadline`], [`Error::Failed`].
    pub fn rescue(&self, workspace: &Workspace) -> Result<Rescued> {
        Ok(self.rescue_all(workspace)?.rescued)
    }

    /// As [`Repository::rescue`].
    pub(crate) fn rescue_all(&self, workspace: &Workspace) -> Result<Rescue> {
        let limits = Limits {
            protected: Vec::new(),
            ..Limits::default()
        };
        let _claim = workspace.claim()?;
        self.finish_move(workspace)?;
        let refs = AgentRefs::of(workspace)?;
        let mut rescued = Rescued::default();
        let mut fetched = BTreeSet::new();
        let head = refs.head()?;
        for tip in refs.all(&self.tags(self.common_dir())?)? {
            match self.fetch_objects(workspace, &workspace.path(), &tip, &limits) {
                Ok(()) => {
                    fetched.insert(tip);
                }
                // A reflog may name a commit that is gone; only a commit that a ref holds counts as work.
                Err(Error::Refused { refusals, .. }) => {
                    if head.as_ref() == Ok(&tip) {
                        let why = crate::types::refusal::list(&refusals);
                        rescued.unsaved.push(Unsaved {
                            path: ".git".into(),
                            why,
                        });
                    }
                }
                Err(other) => return Err(other),
            }
        }
        let parent = match head {
            Ok(head) if fetched.contains(&head) => head,
            _ => self.last_known(workspace)?,
        };
        let mut tip = parent.clone();
        let mut snapshot = self.snapshot_of_work(workspace, &parent, &limits, Excess::LeftOut)?;
        rescued.unsaved.extend(snapshot.unsaved.iter().cloned());
        if let Some(tree) = self.differing_tree(&snapshot, &parent)? {
            let at = self.commit_time(&parent)?;
            let message = "Work that was not committed";
            tip = self.commit(tree, &[&parent], message, workspace.identity(), at)?;
            fetched.insert(tip.clone());
        }
        match self.staged(workspace, &parent, snapshot.tree.as_ref(), &limits) {
            Ok(staged) => fetched.extend(staged),
            Err(error) if error.is_passing() => return Err(error),
            Err(error) => rescued.unsaved.push(Unsaved {
                path: ".git/index".into(),
                why: error.to_string(),
            }),
        }
        let worktrees = refs.worktrees(&workspace.path())?;
        let folders: Vec<&Path> = worktrees.iter().map(|(folder, _)| folder.as_path()).collect();
        snapshot
            .nested
            .retain(|folder| !folders.contains(&folder.as_path()));
        let is_plain = snapshot.index.is_none() && worktrees.is_empty();
        let mut of_worktrees = Vec::new();
        for (folder, head) in &worktrees {
            let head = head.as_ref().filter(|head| fetched.contains(head));
            let in_it = self.snapshot(workspace, folder, head, &limits, Excess::LeftOut)?;
            rescued.unsaved.extend(in_it.unsaved.iter().cloned());
            let tree = match head {
                Some(head) => self.differing_tree(&in_it, head)?,
                None => in_it.tree.as_ref(),
            };
            let mut tip = head.cloned();
            if let Some(tree) = tree {
                let parents: Vec<&Oid> = head.into_iter().collect();
                let message = format!("Work that was not committed in {}", folder.to_string_lossy());
                let at = self.commit_time(head.unwrap_or(workspace.base()))?;
                let commit = self.commit(tree, &parents, &message, workspace.identity(), at)?;
                fetched.insert(commit.clone());
                tip = Some(commit);
            }
            of_worktrees.extend(tip.map(|tip| (tip, folder.clone())));
        }
        for tip in &fetched {
            // A path whose content is nowhere is kept as it is.
            self.bring_lfs_objects(workspace, tip, &limits)?;
        }
        self.forget_held(workspace, &mut fetched)?;
        for tip in self.independent(&fetched)? {
            if !self.is_reachable(&tip)? {
                let kept = self.keep_rescue(workspace.ticket(), &tip)?;
                let of_one = of_worktrees.iter().filter(|(of_one, _)| *of_one == tip);
                rescued.worktrees.extend(of_one.map(|(_, folder)| NestedWork {
                    path: folder.clone(),
                    commit: tip.clone(),
                    kept: kept.name.clone(),
                    is_worktree: true,
                }));
                rescued.kept.push(kept);
            }
        }
        if fetched.contains(&tip) {
            rescued.tip = self.rescue_with(workspace, &tip)?;
        }
        // A workspace that stands as its commit has no ignored files.
        if snapshot.index.is_some() {
            let known: Vec<&Path> = folders
                .iter()
                .copied()
                .chain(
                    snapshot
                        .nested
                        .iter()
                        .chain(&snapshot.links)
                        .map(PathBuf::as_path),
                )
                .collect();
            let hidden = self.keep_hidden(workspace, &known, &limits)?;
            rescued.unsaved.extend(hidden.unsaved);
            rescued.hidden = hidden.kept;
        }
        if snapshot.nested.is_empty() && snapshot.links.is_empty() {
            return Ok(Rescue {
                rescued,
                is_plain,
                work: tip,
                inside: of_worktrees.into_iter().map(|(_, folder)| folder).collect(),
            });
        }
        let before: BTreeSet<String> = self
            .kept(Some(workspace.ticket()))?
            .into_iter()
            .map(|kept| kept.name)
            .collect();
        let nested = self.keep_nested(workspace, &snapshot, &tip, &limits)?;
        rescued.unsaved.extend(nested.unsaved);
        let kept = [nested.made, nested.submodules, nested.recorded].concat();
        let names: BTreeSet<&String> = kept
            .iter()
            .map(|one| &one.kept)
            .filter(|name| !before.contains(*name))
            .collect();
        rescued.kept.extend(
            self.kept(Some(workspace.ticket()))?
                .into_iter()
                .filter(|kept| names.contains(&kept.name)),
        );
        rescued.nested = kept;
        let of_worktrees = of_worktrees.into_iter().map(|(_, folder)| folder);
        Ok(Rescue {
            rescued,
            is_plain: false,
            work: tip,
            inside: of_worktrees.chain(snapshot.nested).collect(),
        })
    }

    /// A ref of the ticket's rescued work that holds this commit.
    fn rescue_with(&self, workspace: &Workspace, commit: &Oid) -> Result<Option<String>> {
        let said = self
            .call("for-each-ref")
            .args(["--count=1", "--format=%(refname)", "--contains", commit.as_str()])
            .arg(format!("{}/{}/", KeptKind::Rescue.folder(), workspace.ticket()))
            .ok()?;
        let name = String::from_utf8_lossy(&said).trim_end().to_owned();
        Ok((!name.is_empty()).then_some(name))
    }

    /// The snapshot's tree, if it differs from the parent's.
    pub(crate) fn differing_tree<'s>(&self, snapshot: &'s Snapshot, parent: &Oid) -> Result<Option<&'s Oid>> {
        let Some(tree) = &snapshot.tree else {
            return Ok(None);
        };
        Ok((self.tree_of(parent)?.0 != *tree).then_some(tree))
    }

    /// Removes the commits from the set that the workspace's own refs in the user's repository hold: base,
    /// branch, and the commits between them.
    fn forget_held(&self, workspace: &Workspace, commits: &mut BTreeSet<Oid>) -> Result<()> {
        let base_held = self.ref_at(&workspace.base_ref())?.as_ref() == Some(workspace.base());
        if base_held {
            commits.remove(workspace.base());
        }
        let Some(tip) = self.branch_tip(&workspace.branch())? else {
            return Ok(());
        };
        commits.remove(&tip);
        if commits.is_empty() {
            return Ok(());
        }
        let between = self
            .call("rev-list")
            .args([
                "--end-of-options",
                tip.as_str(),
                &format!("^{}", workspace.base()),
            ])
            .ok()?;
        for line in String::from_utf8_lossy(&between).lines() {
            commits.remove(&Oid::parse(line)?);
        }
        Ok(())
    }

    /// The branch's tip in the user's repository, else the start.
    pub(crate) fn last_known(&self, workspace: &Workspace) -> Result<Oid> {
        Ok(self
            .branch_tip(&workspace.branch())?
            .unwrap_or_else(|| workspace.start().clone()))
    }

    /// Writes the workspace's own branch and index, as files, so that they show the saved commit. A git
    /// directory that is not as crew made it is left alone: the agent then sees its work as not committed.
    fn update_agents_git_dir(&self, workspace: &Workspace, parent: &Oid, tip: &Oid, snapshot: &Snapshot) {
        let update = || -> Option<()> {
            let refs = AgentRefs::of(workspace).ok()?;
            let branch = refs
                .branch()
                .filter(|branch| *branch == workspace.branch().full())?;
            if refs.head().ok()?.ok()? != *parent {
                return None;
            }
            let root = workspace.open().ok()?;
            let own = self.agents_index_at(workspace, tip);
            let index = own.or_else(|| std::fs::read(snapshot.index.as_ref()?).ok())?;
            openat::replace(&root, Path::new(".git/index"), &index).ok()?;
            {
                let file = Path::new(".git").join(branch);
                // `git pack-refs` leaves no folder behind.
                openat::made_folder(&root, file.parent()?).ok()?;
                openat::replace(
                    &root,
                    &file,
                    format!(
                        "{tip}
"
                    )
                    .as_bytes(),
                )
                .ok()
            }
        };
        update();
    }

    /// The commits that no other commit of the set contains.
    fn independent(&self, commits: &BTreeSet<Oid>) -> Result<Vec<Oid>> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        let said = self
            .call("merge-base")
            .args(["--independent", "--end-of-options"])
            .args(commits.iter().map(Oid::as_str))
            .ok()?;
        String::from_utf8_lossy(&said).lines().map(Oid::parse).collect()
    }

    /// Whether a branch, tag or kept ref contains the commit.
    pub(crate) fn is_reachable(&self, commit: &Oid) -> Result<bool> {
        let said = self
            .call("for-each-ref")
            .args(["--count=1", "--format=1", "--contains", commit.as_str()])
            .ok()?;
        Ok(!said.is_empty())
    }
}

fn is_lost_head(refusals: &[Refusal]) -> bool {
    refusals
        .iter()
        .all(|refusal| matches!(refusal, Refusal::Head { .. } | Refusal::Objects { .. }))
}
