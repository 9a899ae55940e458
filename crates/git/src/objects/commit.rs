//! Commits: writing one, and asking for its tree, time and ancestors.

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::identity::{Identity, Time};
use crate::types::oid::{Oid, Tree};

impl Repository {
    /// The tree of a commit.
    ///
    /// # Errors
    /// [`Error::NoSuchCommit`].
    pub fn tree_of(&self, commit: &Oid) -> Result<Tree> {
        if let Some(tree) = self.tree_from_cat_file(commit) {
            return Ok(Tree(tree));
        }
        let said = self.rev_parse(&format!("{commit}^{{tree}}"))?;
        said.map(Tree).ok_or_else(|| self.no_such_commit(commit.as_str()))
    }

    /// The first parent of a commit; none where it has no parent, or there is no such commit.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub(crate) fn first_parent(&self, commit: &Oid) -> Result<Option<Oid>> {
        match self.parents_from_cat_file(commit) {
            Some(parents) => Ok(parents.into_iter().next()),
            None => self.rev_parse(&format!("{commit}^1")),
        }
    }

    /// Whether `ancestor` is `descendant` or one of its ancestors.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub fn is_ancestor(&self, ancestor: &Oid, descendant: &Oid) -> Result<bool> {
        if self.is_near(ancestor, descendant) {
            return Ok(true);
        }
        let known = &self.memories().ancestors;
        if known.find(ancestor, descendant).is_some() {
            return Ok(true);
        }
        let is_one = self.ask_for_ancestor(ancestor, descendant)?;
        // What a shallow repository does not have may come later.
        if is_one {
            known.keep(ancestor, descendant, ());
        }
        Ok(is_one)
    }

    fn ask_for_ancestor(&self, ancestor: &Oid, descendant: &Oid) -> Result<bool> {
        let said = self
            .call("merge-base")
            .arg("--is-ancestor")
            .arg("--end-of-options")
            .args([ancestor.as_str(), descendant.as_str()])
            .run()?;
        match said.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(said.failed()),
        }
    }

    /// The last commit that is in the history of both; none where they have no common ancestor.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub fn fork(&self, one: &Oid, other: &Oid) -> Result<Option<Oid>> {
        let said = self
            .call("merge-base")
            .arg("--end-of-options")
            .args([one.as_str(), other.as_str()])
            .run()?;
        match said.code {
            Some(0) => Oid::parse(String::from_utf8_lossy(&said.stdout).trim()).map(Some),
            Some(1) => Ok(None),
            _ => Err(said.failed()),
        }
    }

    /// Checks in one call that all of these are commits.
    pub(crate) fn require_commits(&self, commits: &[&Oid]) -> Result<()> {
        let list: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
        let said = self
            .call("cat-file")
            .arg("--batch-check=%(objecttype)")
            .input(list.as_bytes())?
            .ok()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        match commits
            .iter()
            .zip(said.lines())
            .find(|(_, kind)| *kind != "commit")
        {
            Some((commit, _)) => Err(self.no_such_commit(commit.as_str())),
            None => Ok(()),
        }
    }

    pub(crate) fn commit(
        &self,
        tree: &Oid,
        parents: &[&Oid],
        message: &str,
        who: &Identity,
        at: Time,
    ) -> Result<Oid> {
        let mut call = self.call("commit-tree").author(who, at).committer(who, Some(at));
        for parent in parents {
            call = call.arg("-p").arg(parent.as_str());
        }
        let text: String = message.chars().filter(|c| *c != '\0').collect();
        call.args(["-F", "-"])
            .arg(tree.as_str())
            .input(format!("{}\n", text.trim_end()).as_bytes())?
            .ok_oid()
    }

    pub(crate) fn commit_time(&self, commit: &Oid) -> Result<Time> {
        let said = self
            .call("log")
            .args(["-1", "--format=%ct", "--end-of-options", commit.as_str()])
            .ok()?;
        let text = String::from_utf8_lossy(&said).trim().to_owned();
        text.parse().map(Time).map_err(|_| Error::unreadable("log", text))
    }
}
