//! The resolution of a conflict: whether a branch holds nothing else on top of a commit than the merges that
//! a conflict with the target made necessary.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::candidate::real_path;
use crate::error::{Error, IoContext, Result};
use crate::repository::Repository;
use crate::types::change::{Change, Mode};
use crate::types::oid::Oid;
use crate::types::paths::path_of;

/// The most merges on top of a commit that are looked at.
const MOST_MERGES: usize = 20;

/// A path in conflict: the sides of the merge that have it, with what they have there.
#[derive(Debug, Default)]
pub(super) struct Sides {
    ours: Option<Mode>,
    theirs: Option<Mode>,
}

impl Repository {
    /// The paths in which `tip` resolves conflicts of `before` with the target, where that is all that it
    /// adds to `before`. Each commit in between is then a merge of one commit of the target's history, and
    /// outside of the paths in conflict its tree is what git makes of that merge.
    ///
    /// None where anything else was changed, where a file in conflict still holds conflict markers, has
    /// become something that neither side has there, or was removed although both sides have it.
    ///
    /// # Errors
    /// [`Error::NoSuchCommit`], [`Error::Failed`], [`Error::Io`].
    pub fn only_resolves(&self, before: &Oid, tip: &Oid, target: &Oid) -> Result<Option<BTreeSet<PathBuf>>> {
        let mut resolved = BTreeSet::new();
        let mut merge = tip.clone();
        for _ in 0..MOST_MERGES {
            if merge == *before {
                return Ok(Some(resolved));
            }
            let parents = self.parents(&merge)?;
            let [ours, theirs] = parents.as_slice() else {
                return Ok(None);
            };
            if !self.is_ancestor(theirs, target)? {
                return Ok(None);
            }
            let Some(paths) = self.resolution(&merge, ours, theirs)? else {
                return Ok(None);
            };
            resolved.extend(paths);
            merge = ours.clone();
        }
        Ok(None)
    }

    /// The paths in which the parents of a merge are in conflict, where it differs from what git makes of
    /// them in these alone.
    fn resolution(&self, merge: &Oid, ours: &Oid, theirs: &Oid) -> Result<Option<BTreeSet<PathBuf>>> {
        let Some((tree, conflicts)) = self.merge_of(ours, theirs)? else {
            return Ok(None);
        };
        let differs = self.changes(&tree, &self.tree_of(merge)?.0)?;
        let is_resolution = |change: &Change| {
            conflicts
                .get(&change.path)
                .is_some_and(|sides| sides.may_become(change))
        };
        if !differs.iter().all(is_resolution) {
            return Ok(None);
        }
        // A file that is as git left it may hold both sides.
        let mut changes = self.changes(ours, merge)?;
        changes.retain(|change| conflicts.contains_key(&change.path));
        if !self.conflict_markers(&changes).is_empty() {
            return Ok(None);
        }
        let known = |path: &PathBuf| real_path(path, &[ours, theirs]);
        Ok(Some(conflicts.keys().map(known).collect()))
    }

    /// The tree that git makes of two commits, and the paths in it that are in conflict; none where it cannot
    /// merge them at all.
    pub(super) fn merge_of(
        &self,
        ours: &Oid,
        theirs: &Oid,
    ) -> Result<Option<(Oid, BTreeMap<PathBuf, Sides>)>> {
        // A merge driver has its files in the folder in which git runs.
        let folder = tempfile::tempdir().doing("make a folder in", tempfile::env::temp_dir())?;
        let said = self
            .call_to_merge(&self.below_candidates(theirs)?)?
            .cwd(folder.path())
            .args(["--write-tree", "-z", "--no-messages"])
            .args(["--end-of-options", ours.as_str(), theirs.as_str()])
            .run()?;
        if !matches!(said.code, Some(0 | 1)) {
            self.require_commits(&[ours, theirs])?;
            return match self.fork(ours, theirs)? {
                Some(_) => Err(said.failed()),
                None => Ok(None),
            };
        }
        let mut fields = said.stdout.split(|byte| *byte == 0);
        let tree = Oid::from_bytes(fields.next().unwrap_or_default())?;
        let mut conflicts: BTreeMap<PathBuf, Sides> = BTreeMap::new();
        for field in fields.filter(|field| !field.is_empty()) {
            let (path, mode, stage) = entry(field)
                .ok_or_else(|| Error::unreadable("merge-tree", String::from_utf8_lossy(field)))?;
            let sides = conflicts.entry(path.to_owned()).or_default();
            match stage {
                b'2' => sides.ours = mode,
                b'3' => sides.theirs = mode,
                _ => {}
            }
        }
        Ok(Some((tree, conflicts)))
    }

    /// The parents of a commit, in their order.
    fn parents(&self, commit: &Oid) -> Result<Vec<Oid>> {
        let said = self
            .call("rev-list")
            .args(["--parents", "--no-walk", "--end-of-options", commit.as_str()])
            .ok()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        said.split_whitespace().skip(1).map(Oid::parse).collect()
    }
}

impl Sides {
    /// Whether the path may be resolved in this way: to a file as one of the sides has it there, or to none
    /// where one of them has none. A link or a submodule says nothing by its content, so a person or a
    /// gatekeeper looks at that.
    fn may_become(&self, change: &Change) -> bool {
        match &change.new {
            None => self.ours.is_none() || self.theirs.is_none(),
            Some((mode @ (Mode::File | Mode::Executable), _)) => {
                [self.ours, self.theirs].contains(&Some(*mode))
            }
            Some((Mode::Symlink | Mode::Submodule, _)) => false,
        }
    }
}

/// Reads `<mode> <oid> <stage>\t<path>`.
fn entry(field: &[u8]) -> Option<(&Path, Option<Mode>, u8)> {
    let tab = field.iter().position(|byte| *byte == b'\t')?;
    let mut words = field[..tab].split(|byte| *byte == b' ');
    let mode = words.next()?;
    let stage = words.nth(1)?.first()?;
    let path = &field[tab + 1..];
    (!path.is_empty()).then(|| (path_of(path), Mode::parse(mode), *stage))
}
