//! New repository: a folder's files become the first commit of one.

use std::ffi::OsString;
use std::path::Path;

use git::{Branch, Git, Identity, Repository, Surroundings};

use crate::clock;
use crate::error::Result;

/// The first commit.
#[derive(Clone, Copy, Debug)]
pub struct FirstCommit<'a> {
    /// The branch that it is on.
    pub branch: &'a str,
    /// The name of its author.
    pub author: &'a str,
    /// The author's address.
    pub email: &'a str,
    /// Its message.
    pub message: &'a str,
}

/// Makes a repository of the files below `root`. `path` is where git is looked for; no settings of the user's
/// have a part in it. Blocks.
///
/// # Errors
/// There is no git, or the repository cannot be made.
pub fn create(root: &Path, path: impl Into<OsString>, first: FirstCommit<'_>) -> Result<()> {
    let git = Git::find(Surroundings {
        path: path.into(),
        ..Surroundings::default()
    })?;
    let by = Identity::new(first.author, first.email);
    let when = git::Time(u64::try_from(clock::now().0 / 1000).unwrap_or_default());
    let branch = Branch::parse(first.branch)?;
    Repository::create(&git, root, &branch, &by, when, first.message)?;
    Ok(())
}
