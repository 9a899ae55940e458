//! HEAD of the checkout that was opened.

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
        let name = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        Ok(name
            .strip_prefix("refs/heads/")
            .and_then(|short| Branch::parse(short).ok()))
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
