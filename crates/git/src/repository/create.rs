//! Making a repository: for the demonstration, never for a user.

use std::path::Path;

use crate::command::git::Git;
use crate::error::Result;
use crate::repository::Repository;
use crate::types::id::Branch;
use crate::types::identity::{Identity, Time};

impl Repository {
    /// Makes a repository in the folder `root` (absolute, there already) and commits everything in it on
    /// `branch`. Nothing of the caller's git counts: no template, no hook, no signature, no identity.
    ///
    /// # Errors
    /// [`crate::Error::Failed`] and the like; what was made so far stays.
    pub fn create(
        git: &Git,
        root: &Path,
        branch: &Branch,
        by: &Identity,
        when: Time,
        message: &str,
    ) -> Result<Self> {
        let git_dir = root.join(".git");
        git.call("init")
            .cwd(root)
            .args(["--quiet", "--template="])
            .arg(format!("--initial-branch={}", branch.short()))
            .ok()?;
        git.call("add")
            .git_dir(&git_dir)
            .work_tree(root)
            .arg("--all")
            .ok()?;
        git.call("commit")
            .git_dir(&git_dir)
            .work_tree(root)
            .committer(by, Some(when))
            .author(by, when)
            .arg("--quiet")
            .arg(format!("--message={message}"))
            .ok()?;
        Self::open(git, root)
    }
}
