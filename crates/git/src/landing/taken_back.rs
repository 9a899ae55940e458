//! Merges of a branch that take back what the target has changed.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::Result;
use crate::repository::Repository;
use crate::types::oid::Oid;
use crate::types::refusal::Refusal;

/// The most merges of a branch that are looked at, the newest first.
const MOST_MERGES: usize = 50;

impl Repository {
    /// The merges of `tip` that take back what a commit of `target` has changed where the branch had changed
    /// nothing, each as a [`Refusal::TakesBack`]. Git's own merge of the same commits has no conflict at such
    /// a path, and takes the target's version of it; the merge has that of the commit below both.
    ///
    /// A path does not count where the branch has another version now, where the target has the old one
    /// again, or where a later commit of the branch that is no merge has changed it. `base`: the commit from
    /// which the work began.
    ///
    /// # Errors
    /// [`crate::Error::NoSuchCommit`], [`crate::Error::Failed`], [`crate::Error::Io`].
    pub fn takes_back(&self, base: &Oid, target: &Oid, tip: &Oid) -> Result<Vec<Refusal>> {
        // Most work is a few commits on a commit of the target's.
        if self.straight_line(base, tip).is_some() {
            return Ok(Vec::new());
        }
        let said = self
            .call("rev-list")
            .args(["--merges", "--parents"])
            .arg(format!("--max-count={MOST_MERGES}"))
            .args(["--end-of-options", tip.as_str(), &format!("^{target}")])
            .ok()?;
        let mut refusals = Vec::new();
        for line in String::from_utf8_lossy(&said).lines() {
            let commits: Vec<Oid> = line.split(' ').map(Oid::parse).collect::<Result<_>>()?;
            let Some((merge, parents)) = commits.split_first() else {
                continue;
            };
            for theirs in parents {
                if !self.is_ancestor(theirs, target)? {
                    continue;
                }
                let mut paths = self.taken_back_by(merge, theirs, parents)?;
                self.retain_standing(&mut paths, merge, target, tip)?;
                if !paths.is_empty() {
                    refusals.push(Refusal::TakesBack {
                        merge: merge.clone(),
                        of: theirs.clone(),
                        paths: paths.into_iter().collect(),
                    });
                }
            }
        }
        Ok(refusals)
    }

    /// The paths in which a merge has the version below it, although of its parents `theirs` alone changed
    /// them. With several commits below, or several other parents, that must hold for each of them.
    fn taken_back_by(&self, merge: &Oid, theirs: &Oid, parents: &[Oid]) -> Result<BTreeSet<PathBuf>> {
        let mut taken: Option<BTreeSet<PathBuf>> = None;
        for ours in parents.iter().filter(|parent| *parent != theirs) {
            for base in self.forks(ours, theirs)? {
                let mut paths = self.changed_paths(&base, theirs)?;
                if let Some(before) = &taken {
                    paths.retain(|path| before.contains(path));
                }
                for side in [ours, merge] {
                    if paths.is_empty() {
                        return Ok(paths);
                    }
                    let changed = self.changed_paths(&base, side)?;
                    paths.retain(|path| !changed.contains(path));
                }
                taken = Some(paths);
            }
        }
        let mut taken = taken.unwrap_or_default();
        // Git follows a file into a folder that one side has renamed, so paths alone say too much.
        for ours in parents.iter().filter(|parent| *parent != theirs) {
            if taken.is_empty() {
                break;
            }
            let Some((tree, conflicts)) = self.merge_of(ours, theirs)? else {
                return Ok(BTreeSet::new());
            };
            let other = self.changed_paths(theirs, &tree)?;
            taken.retain(|path| !other.contains(path) && !conflicts.contains_key(path));
        }
        Ok(taken)
    }

    /// Leaves the paths that are still as the merge left them, and not as the target has them.
    fn retain_standing(
        &self,
        paths: &mut BTreeSet<PathBuf>,
        merge: &Oid,
        target: &Oid,
        tip: &Oid,
    ) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let changed = self.changed_paths(merge, tip)?;
        let differs = self.changed_paths(target, tip)?;
        paths.retain(|path| !changed.contains(path) && differs.contains(path));
        for path in paths.clone() {
            let said = self
                .call("rev-list")
                .args(["--no-merges", "--full-history", "--max-count=1", tip.as_str()])
                .args([&format!("^{merge}"), &format!("^{target}"), "--"])
                .arg(&path)
                .ok()?;
            if !said.is_empty() {
                paths.remove(&path);
            }
        }
        Ok(())
    }

    fn changed_paths(&self, old: &Oid, new: &Oid) -> Result<BTreeSet<PathBuf>> {
        let changes = self.changes(old, new)?;
        Ok(changes.into_iter().map(|change| change.path).collect())
    }

    /// The best common ancestors of two commits: several where each side has merged the other.
    fn forks(&self, one: &Oid, other: &Oid) -> Result<Vec<Oid>> {
        let said = self
            .call("merge-base")
            .args(["--all", "--end-of-options", one.as_str(), other.as_str()])
            .run()?;
        match said.code {
            Some(0) => String::from_utf8_lossy(&said.stdout)
                .lines()
                .map(Oid::parse)
                .collect(),
            Some(1) => Ok(Vec::new()),
            _ => Err(said.failed()),
        }
    }
}
