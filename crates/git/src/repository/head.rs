//! HEAD: the branch that a checkout shows.

use std::path::Path;

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::id::Branch;

impl Repository {
    /// The branch checked out [`here`](Self::here); `None` when HEAD is detached.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub fn current_branch(&self) -> Result<Option<Branch>> {
        self.branch_of(&self.git_dir)
    }

    /// The branch that HEAD of a checkout's git directory names.
    pub(super) fn branch_of(&self, git_dir: &Path) -> Result<Option<Branch>> {
        let call = self.git.call("symbolic-ref").git_dir(git_dir);
        let said = call.args(["--quiet", "HEAD"]).run()?;
        Ok(short_branch(&said.stdout))
    }

    /// The branch checked out here, for callers that need one.
    ///
    /// # Errors
    /// [`Error::Detached`].
    pub fn require_branch(&self) -> Result<Branch> {
        self.current_branch()?.ok_or_else(|| Error::Detached {
            path: self.here.clone(),
        })
    }
}

/// The branch that HEAD names, by what `git symbolic-ref` has printed.
fn short_branch(printed: &[u8]) -> Option<Branch> {
    let name = String::from_utf8_lossy(printed);
    let short = name.trim().strip_prefix("refs/heads/")?;
    Branch::parse(short).ok()
}
