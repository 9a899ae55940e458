//! Commits of a branch that take back what the target has changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::{IoContext as _, Result};
use crate::repository::Repository;
use crate::types::oid::Oid;
use crate::types::refusal::Refusal;

/// The most merges of a branch that are looked at, the newest first.
const MOST_MERGES: usize = 50;

impl Repository {
    /// The commits of `tip` that take back what a commit of `target` has changed where the branch was not in
    /// conflict with it, each as a [`Refusal::TakesBack`]. Such a commit is
    ///
    /// * a merge that has a path as the branch had it, where git's own merge of the same commits makes
    ///   another version without a conflict, or one with the target's changes outside of the conflicts; or
    /// * a commit that is put on one of the target's that is newer than `base`, the commit from which the
    ///   work began, and that has the path as `base` has it: `git reset --soft` moves a branch without its
    ///   files.
    ///
    /// A path does not count where the branch has another version now, where the target has the old one
    /// again, or where a later commit of the branch that is no merge has changed it.
    ///
    /// # Errors
    /// [`crate::Error::NoSuchCommit`], [`crate::Error::Failed`], [`crate::Error::Io`].
    pub fn takes_back(&self, base: &Oid, target: &Oid, tip: &Oid) -> Result<Vec<Refusal>> {
        // Most work is a few commits on the commit from which it began.
        if let Some(line) = self.straight_line(base, tip) {
            let is_on_base = match line.last() {
                Some(first) if target != base => !self.is_ancestor(first, target)?,
                Some(_) | None => true,
            };
            if is_on_base {
                return Ok(Vec::new());
            }
        }
        let said = self
            .call("rev-list")
            .arg("--parents")
            .args(["--end-of-options", tip.as_str(), &format!("^{target}")])
            .ok()?;
        let commits: Vec<Vec<Oid>> = String::from_utf8_lossy(&said)
            .lines()
            .map(|line| line.split(' ').map(Oid::parse).collect())
            .collect::<Result<_>>()?;
        let own: BTreeSet<&Oid> = commits.iter().filter_map(|commit| commit.first()).collect();
        let mut refusals = Vec::new();
        let mut merges = 0;
        for commits in &commits {
            let Some((commit, parents)) = commits.split_first() else {
                continue;
            };
            let is_merge = parents.len() > 1;
            merges += usize::from(is_merge);
            if is_merge && merges > MOST_MERGES {
                continue;
            }
            // What is not the branch's own is the target's.
            for theirs in parents.iter().filter(|parent| !own.contains(parent)) {
                let mut paths = if is_merge {
                    self.taken_back_by(commit, theirs, parents)?
                } else {
                    self.left_behind_by(commit, theirs, base)?
                };
                self.retain_standing(&mut paths, commit, target, tip)?;
                if !paths.is_empty() {
                    refusals.push(Refusal::TakesBack {
                        commit: commit.clone(),
                        is_merge,
                        of: theirs.clone(),
                        paths: paths.into_iter().collect(),
                    });
                }
            }
        }
        Ok(refusals)
    }

    /// The paths that the target has changed between `base` and `theirs`, and that the commit on `theirs` has
    /// as they were in `base`.
    fn left_behind_by(&self, commit: &Oid, theirs: &Oid, base: &Oid) -> Result<BTreeSet<PathBuf>> {
        if theirs == base || !self.is_ancestor(base, theirs)? {
            return Ok(BTreeSet::new());
        }
        let mut paths = self.changed_paths(base, theirs)?;
        if !paths.is_empty() {
            let changed = self.changed_paths(base, commit)?;
            paths.retain(|path| !changed.contains(path));
        }
        Ok(paths)
    }

    /// The paths that a merge has as its other parents have them, where git's own merge of the same commits
    /// has no conflict and makes another version. With several other parents, that must hold for each.
    fn taken_back_by(&self, merge: &Oid, theirs: &Oid, parents: &[Oid]) -> Result<BTreeSet<PathBuf>> {
        let mut taken: Option<BTreeSet<PathBuf>> = None;
        for ours in parents.iter().filter(|parent| *parent != theirs) {
            let Some((tree, conflicts)) = self.merge_of(ours, theirs)? else {
                return Ok(BTreeSet::new());
            };
            let mut paths = self.changed_paths(&tree, merge)?;
            if let Some(before) = &taken {
                paths.retain(|path| before.contains(path));
            }
            if !paths.is_empty() {
                let own = self.changed_paths(ours, merge)?;
                let in_conflict: BTreeSet<PathBuf> = conflicts.into_keys().collect();
                paths.retain(|path| !own.contains(path));
                for path in paths.clone() {
                    let is_whole = in_conflict.contains(&path) && self.is_all_of_ours(&path, ours, theirs)?;
                    if is_whole {
                        paths.remove(&path);
                    }
                }
            }
            taken = Some(paths);
        }
        Ok(taken.unwrap_or_default())
    }

    /// Whether the version of `ours` is all that is left of a path in conflict where each conflict in it is
    /// resolved by that side: outside of the conflicts, the other side has changed nothing.
    fn is_all_of_ours(&self, path: &Path, ours: &Oid, theirs: &Oid) -> Result<bool> {
        let [base] = &self.forks(ours, theirs)?[..] else {
            return Ok(true);
        };
        let folder = tempfile::tempdir().doing("make a folder in", tempfile::env::temp_dir())?;
        let mut content = None;
        for (name, commit) in [("ours", ours), ("base", base), ("theirs", theirs)] {
            // A path that one side does not have, a link or a submodule: there are no lines to look at.
            let Some(bytes) = self.text_at(commit, path)? else {
                return Ok(true);
            };
            let file = folder.path().join(name);
            std::fs::write(&file, &bytes).doing("write", file)?;
            content.get_or_insert(bytes);
        }
        let said = self
            .call("merge-file")
            .cwd(folder.path())
            .args(["-p", "-q", "--ours", "ours", "base", "theirs"])
            .run()?;
        // Content that is no text has no lines either.
        Ok(said.code != Some(0) || Some(said.stdout) == content)
    }

    /// Leaves the paths that are still as the commit left them, and not as the target has them.
    fn retain_standing(
        &self,
        paths: &mut BTreeSet<PathBuf>,
        commit: &Oid,
        target: &Oid,
        tip: &Oid,
    ) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let changed = self.changed_paths(commit, tip)?;
        let differs = self.changed_paths(target, tip)?;
        paths.retain(|path| !changed.contains(path) && differs.contains(path));
        for path in paths.clone() {
            let said = self
                .call("rev-list")
                .args(["--no-merges", "--full-history", "--max-count=1", tip.as_str()])
                .args([&format!("^{commit}"), &format!("^{target}"), "--"])
                .arg(&path)
                .ok()?;
            if !said.is_empty() {
                paths.remove(&path);
            }
        }
        Ok(())
    }

    /// The content of a path of a commit; none where it has no file there.
    fn text_at(&self, commit: &Oid, path: &Path) -> Result<Option<Vec<u8>>> {
        let mut name = std::ffi::OsString::from(format!("{commit}:"));
        name.push(path);
        let said = self.call("cat-file").arg("blob").arg(name).run()?;
        Ok((said.code == Some(0)).then_some(said.stdout))
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
