//! Import: an agent's commits come into the user's repository as objects that were checked, without running
//! git in the agent's git directory.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::repository::memory::Ahead;
use crate::types::change::{Change, Mode};
use crate::types::oid::Oid;
use crate::types::refusal::{Limits, Refusal};
use crate::workspace::Workspace;
use crate::workspace::agent_refs::AgentRefs;

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The agent's HEAD, now the tip of the branch in the user's repository.
    pub tip: Oid,
    /// Commits that are in the tip and not in the base.
    pub commits: u32,
    /// Paths in which the tip differs from the base.
    pub changes: Vec<Change>,
    /// The tip that the branch had, if the agent rewrote it away; it is kept under this ref.
    pub replaced: Option<String>,
}

impl Repository {
    /// Imports the commits of the workspace's HEAD into the repository and moves the branch there, by
    /// compare-and-swap. Uncommitted work stays where it is ([`Repository::save`] takes it along). Repeating
    /// an import changes nothing.
    ///
    /// # Errors
    /// [`Error::Refused`]: nothing moved; [`Error::WorkspaceMissing`]; [`Error::RefMoved`] when somebody else
    /// moved the branch meanwhile; [`Error::BranchInUse`]; [`Error::Deadline`].
    pub fn import(&self, workspace: &Workspace, limits: &Limits) -> Result<Imported> {
        let _claim = workspace.claim()?;
        self.import_claimed(workspace, limits)
    }

    pub(crate) fn import_claimed(&self, workspace: &Workspace, limits: &Limits) -> Result<Imported> {
        let refused = |refusal| Error::Refused {
            workspace: workspace.path(),
            refusals: vec![refusal],
        };
        let head = AgentRefs::of(workspace)?
            .head()?
            .map_err(|why| refused(Refusal::Head { why }))?;
        self.fetch_objects(workspace, &workspace.path(), &head, limits)?;
        self.judge(workspace, &head, limits)?;
        self.advance(workspace, head)
    }

    /// Moves the branch; keeps a former tip first that the new one does not contain.
    pub(crate) fn advance(&self, workspace: &Workspace, tip: Oid) -> Result<Imported> {
        let branch = workspace.branch();
        let old = self.branch_tip(&branch)?;
        let ahead = self.ahead(workspace.base(), &tip)?;
        let mut replaced = None;
        if let Some(old) = &old {
            // At the first import, the branch is where the work began.
            let contained = if old == workspace.base() {
                ahead.contains_base
            } else {
                *old == tip || self.is_ancestor(old, &tip)?
            };
            if !contained {
                replaced = Some(self.keep_rescue(workspace.ticket(), old)?.name);
            }
        }
        if old.as_ref() == Some(&tip) {
            self.sync_folder_of(&branch.full())?;
        } else {
            if let Some(shown) = self.checkouts_of(&branch)?.into_iter().next() {
                return Err(Error::BranchInUse {
                    branch: branch.short().to_owned(),
                    checkout: shown.root,
                });
            }
            self.move_ref(&branch.full(), old.as_ref(), Some(&tip), "crew: import")?;
            failpoint::hit("import.branch_moved");
        }
        let changes = self.changes(workspace.base(), &tip)?;
        Ok(Imported {
            tip,
            commits: ahead.commits,
            changes,
            replaced,
        })
    }

    /// Checks whether the tip's difference from the base may land at all, and brings the LFS objects that it
    /// points to.
    pub(crate) fn judge(&self, workspace: &Workspace, tip: &Oid, limits: &Limits) -> Result<()> {
        let changes = self.changes(workspace.base(), tip)?;
        let of_target = self.recorded_in_target(&changes, tip, limits)?;
        let mut refusals: Vec<Refusal> = changes
            .iter()
            .filter(|change| !of_target.contains(change))
            .filter_map(|change| judge(change, limits))
            .take(100)
            .collect();
        if changes.len() > limits.paths {
            let (found, limit) = (changes.len() as u64, limits.paths as u64);
            refusals.push(Refusal::TooMuch {
                what: "paths",
                found,
                limit,
                most: fullest_folder(&changes),
            });
        }
        if refusals.is_empty() {
            refusals = self.bring_lfs_objects(workspace, tip, limits)?;
        }
        if refusals.is_empty() {
            Ok(())
        } else {
            Err(Error::Refused {
                workspace: workspace.path(),
                refusals,
            })
        }
    }

    /// Those changes of submodules that are the target's: it records the same commit, now or where the branch
    /// has merged it.
    fn recorded_in_target(&self, changes: &[Change], tip: &Oid, limits: &Limits) -> Result<Vec<Change>> {
        let is_link = |change: &&Change| matches!(change.new, Some((Mode::Submodule, _)));
        let links: Vec<&Change> = changes.iter().filter(is_link).collect();
        let Some(branch) = limits.target.as_ref().filter(|_| !links.is_empty()) else {
            return Ok(Vec::new());
        };
        let Some(target) = self.branch_tip(branch)? else {
            return Ok(Vec::new());
        };
        let mut commits = vec![target.clone()];
        commits.extend(self.fork(&target, tip)?);
        let mut found = Vec::new();
        for commit in commits {
            let differs = self.changes(&commit, tip)?;
            let is_same = |change: &&&Change| differs.iter().all(|other| other.path != change.path);
            found.extend(links.iter().filter(is_same).map(|change| (**change).clone()));
        }
        Ok(found)
    }

    /// How far a tip is ahead of the base of its work.
    fn ahead(&self, base: &Oid, tip: &Oid) -> Result<Ahead> {
        if base == tip {
            return Ok(Ahead {
                commits: 0,
                contains_base: true,
            });
        }
        if let Some(known) = self.memories().ahead.find(base, tip) {
            return Ok(known);
        }
        let said = self
            .call("rev-list")
            .args([
                "--count",
                "--left-right",
                "--end-of-options",
                &format!("{base}...{tip}"),
            ])
            .ok()?;
        let text = String::from_utf8_lossy(&said).trim().to_owned();
        let counts = text
            .split_once('\t')
            .and_then(|(left, right)| Some((left.parse::<u64>().ok()?, right.parse().ok()?)));
        let (behind, commits) = counts.ok_or_else(|| Error::unreadable("rev-list", text))?;
        let ahead = Ahead {
            commits,
            contains_base: behind == 0,
        };
        self.memories().ahead.keep(base, tip, ahead);
        Ok(ahead)
    }
}

/// The deepest folder that more than half of the changes are in, else the folder of the root that most are
/// in, with their number.
fn fullest_folder(changes: &[Change]) -> Option<(PathBuf, u64)> {
    let mut numbers: BTreeMap<&Path, u64> = BTreeMap::new();
    for change in changes {
        for folder in change.path.ancestors().skip(1) {
            *numbers.entry(folder).or_default() += 1;
        }
    }
    numbers.remove(Path::new(""));
    let depth = |folder: &Path| folder.components().count();
    let half = changes.len() as u64 / 2;
    let full = numbers.iter().filter(|(_, number)| **number > half);
    let found = full.max_by_key(|(folder, _)| depth(folder)).or_else(|| {
        let of_root = numbers.iter().filter(|(folder, _)| depth(folder) == 1);
        of_root.max_by_key(|(_, number)| **number)
    });
    found.map(|(folder, number)| (folder.to_path_buf(), *number))
}

/// Whether no imported commit may contain this change.
pub(crate) fn is_refused(change: &Change, limits: &Limits) -> bool {
    judge(change, limits).is_some()
}

fn judge(change: &Change, limits: &Limits) -> Option<Refusal> {
    let path = || change.path.clone();
    let parts: Vec<String> = change
        .path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().to_ascii_lowercase())
        .collect();
    let sound = change
        .path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !sound || parts.iter().any(|part| matches!(part.as_str(), ".git" | "git~1")) {
        return Some(Refusal::DotGit { path: path() });
    }
    let first = parts.first()?;
    if limits
        .protected
        .iter()
        .any(|name| name.to_ascii_lowercase() == *first)
    {
        return Some(Refusal::Protected { path: path() });
    }
    match (&change.old, &change.new) {
        (Some((Mode::Submodule, recorded)), Some((Mode::Submodule, _))) => Some(Refusal::Submodule {
            path: path(),
            recorded: Some(recorded.clone()),
        }),
        (_, Some((Mode::Submodule, _))) => Some(Refusal::Submodule {
            path: path(),
            recorded: None,
        }),
        _ => None,
    }
}
