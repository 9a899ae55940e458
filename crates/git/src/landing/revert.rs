//! A revert: a commit that takes a landed merge back, made without a checkout.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::Result;
use crate::landing::candidate::{Candidate, Message, Outcome};
use crate::repository::Repository;
use crate::types::identity::{Identity, Time};
use crate::types::oid::{Oid, Tree};

impl Repository {
    /// Whether a commit is a merge that `target` contains, so that it can be taken back.
    ///
    /// # Errors
    /// [`Error::Failed`](crate::Error::Failed) and the like.
    pub fn is_landed_merge(&self, commit: &Oid, target: &Oid) -> Result<bool> {
        let second = self.rev_parse(&format!("{commit}^2"))?;
        Ok(second.is_some() && self.is_ancestor(commit, target)?)
    }

    /// Whether a merge has the same files as its first parent: all that it brought was there before.
    ///
    /// # Errors
    /// [`Error::NoSuchCommit`](crate::Error::NoSuchCommit), [`Error::Failed`](crate::Error::Failed).
    pub fn changes_nothing(&self, merge: &Oid) -> Result<bool> {
        let before = self.resolve(&format!("{merge}^1"))?;
        Ok(self.tree_of(merge)? == self.tree_of(&before)?)
    }

    /// Whether a commit has nothing of what was done from one commit to another: to take it back would change
    /// nothing. What was edited again since is there.
    ///
    /// # Errors
    /// [`Error::NoSuchCommit`](crate::Error::NoSuchCommit), [`Error::Failed`](crate::Error::Failed).
    pub fn has_nothing_of(&self, [from, to]: [&Oid; 2], commit: &Oid) -> Result<bool> {
        let there = self.tree_of(commit)?;
        Ok(match self.merge(Some(to), commit, from)? {
            Ok(without) => Tree(without) == there,
            Err(_conflict) => false,
        })
    }

    /// Whether the merge with which `merged` came to the first-parent line of `tip` has left out all that was
    /// done from `from` to it, and nobody has brought in any of it: the files that it changed are as they
    /// were on that line before, and none is as it has it.
    ///
    /// # Errors
    /// [`Error::NoSuchCommit`](crate::Error::NoSuchCommit), [`Error::Failed`](crate::Error::Failed).
    pub fn has_left_out(&self, [from, merged]: [&Oid; 2], tip: &Oid) -> Result<bool> {
        let Some(before) = self.before_merge_of(merged, tip)? else {
            return Ok(false);
        };
        let paths = |from: &Oid, to: &Oid| -> Result<BTreeSet<PathBuf>> {
            let changes = self.changes(from, to)?;
            Ok(changes.into_iter().map(|change| change.path).collect())
        };
        let done = paths(from, merged)?;
        Ok(done.is_disjoint(&paths(&before, tip)?) && done.is_subset(&paths(merged, tip)?))
    }

    /// Makes a commit on `target` that takes a merge back: what the merge has brought is undone, and what
    /// came after it stays. The same input gives the same commit.
    ///
    /// # Errors
    /// [`Error::NoSuchCommit`](crate::Error::NoSuchCommit), [`Error::Failed`](crate::Error::Failed).
    pub fn revert(
        &self,
        merge: &Oid,
        target: &Oid,
        message: &Message,
        author: &Identity,
        at: Time,
    ) -> Result<Outcome> {
        let before = self.resolve(&format!("{merge}^1"))?;
        let tree = match self.merge(Some(merge), target, &before)? {
            Ok(tree) => tree,
            Err(conflict) => return Ok(conflict),
        };
        let changes = self.changes(target, &tree)?;
        if changes.is_empty() {
            return Ok(Outcome::NoCommits);
        }
        let commit = self
            .call("commit-tree")
            .author(author, at)
            .committer(author, Some(at))
            .args(["-p", target.as_str(), "-F", "-"])
            .arg(tree.as_str())
            .input(message.text().as_bytes())?
            .ok_oid()?;
        Ok(Outcome::Candidate(Candidate {
            commit,
            tree: Tree(tree),
            changes,
        }))
    }
}
