//! HEAD: the branch that a checkout shows.

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::id::Branch;

impl Repository {
    /// The branch checked out [`here`](Self::here); `None` when HEAD is detached.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub fn current_branch(&self) -> Result<Option<Branch>> {
        let said = self
            .git
            .call("symbolic-ref")
            .git_dir(&self.git_dir)
            .args(["--quiet", "HEAD"])
            .run()?;
        Ok(short_branch(&said.stdout))
    }

    /// The branch that the main checkout shows; `None` when its HEAD is detached.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub fn branch_of_root(&self) -> Result<Option<Branch>> {
        let said = self.call("symbolic-ref").args(["--quiet", "HEAD"]).run()?;
        Ok(short_branch(&said.stdout))
    }

    /// Whether a git, or crew, is changing the main checkout's index at the moment.
    #[must_use]
    pub fn is_index_locked(&self) -> bool {
        self.common_dir().join("index.lock").exists()
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
