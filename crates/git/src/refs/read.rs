//! Reading refs: which commit a branch, HEAD or any revision is.

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::id::Branch;
use crate::types::oid::Oid;

impl Repository {
    /// The commit of the branch that work lands on.
    ///
    /// # Errors
    /// [`Error::TargetMissing`].
    pub fn target(&self, branch: &Branch) -> Result<Oid> {
        self.branch_tip(branch)?.ok_or_else(|| Error::TargetMissing {
            branch: branch.short().to_owned(),
            path: self.root().to_owned(),
        })
    }

    /// The branch that moves when this one does: the one to which a symbolic ref leads, else the branch
    /// itself.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub fn followed(&self, branch: &Branch) -> Result<Branch> {
        if self.ref_file(&branch.full()).is_some() {
            return Ok(branch.clone());
        }
        let call = self.call("symbolic-ref").args(["--quiet", &branch.full()]);
        let said = call.run()?;
        let name = String::from_utf8_lossy(said.stdout.trim_ascii()).into_owned();
        match name.strip_prefix("refs/heads/") {
            Some(short) if said.code == Some(0) => Ok(short.parse()?),
            Some(_) | None => Ok(branch.clone()),
        }
    }

    /// The commit a branch is at; `None` if there is no such branch.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub fn branch_tip(&self, branch: &Branch) -> Result<Option<Oid>> {
        self.commit_named(&branch.full())
    }

    /// The commit that a revision (`HEAD`, a branch, an abbreviated id …) means.
    ///
    /// # Errors
    /// [`Error::NoSuchCommit`].
    pub fn resolve(&self, revision: &str) -> Result<Oid> {
        self.commit_named(revision)?
            .ok_or_else(|| self.no_such_commit(revision))
    }

    /// The local branches that contain a commit. Those of agents do not count.
    ///
    /// # Errors
    /// There is no such commit; [`Error::Failed`] and the like.
    pub fn branches_with(&self, commit: &Oid) -> Result<Vec<Branch>> {
        let contains = format!("--contains={commit}");
        let said = self
            .call("for-each-ref")
            .args(["--format=%(refname)", contains.as_str(), "refs/heads/"])
            .ok()?;
        Ok(String::from_utf8_lossy(&said)
            .lines()
            .filter(|name| !name.starts_with("refs/heads/agent/"))
            .filter_map(|name| Branch::parse(name).ok())
            .collect())
    }

    /// The object that a ref is at now; `None` if there is no such ref.
    pub(crate) fn ref_at(&self, name: &str) -> Result<Option<Oid>> {
        match self.ref_file(name) {
            Some(known) => Ok(known),
            None => self.rev_parse(name),
        }
    }

    pub(crate) fn commit_named(&self, name: &str) -> Result<Option<Oid>> {
        // Branches and crew's own refs name commits and nothing else.
        if let Some(known) = self.ref_file(name) {
            return Ok(known);
        }
        self.rev_parse(&format!("{name}^{{commit}}"))
    }
}
