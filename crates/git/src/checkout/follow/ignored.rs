//! Obstacles that git ignores.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::checkout::Checkout;
use crate::checkout::follow::inspect::Inspected;
use crate::checkout::follow::users_call::users_call;
use crate::error::Result;
use crate::repository::Repository;
use crate::types::blocked::Obstacle;
use crate::types::paths::{fields, path_of};

/// Marks untracked obstacles that are ignored as such: nobody would miss those until too late.
pub(super) fn tell_ignored(
    repository: &Repository,
    checkout: &Checkout,
    paths: &mut [Inspected],
) -> Result<()> {
    let mut names = Vec::new();
    let untracked = paths
        .iter()
        .flat_map(|path| &path.obstacles)
        .filter(|(_, what)| *what == Obstacle::Untracked);
    for (path, _) in untracked {
        // A leading colon would be pathspec magic, which this command takes even where it is switched
        // off.
        names.extend_from_slice(b"./");
        names.extend_from_slice(path.as_os_str().as_bytes());
        names.push(0);
    }
    if names.is_empty() {
        return Ok(());
    }
    let said = users_call(repository, checkout, "check-ignore")
        .env("GIT_LITERAL_PATHSPECS", "0")
        .args(["--no-index", "-z", "--stdin"])
        .input(&names)?
        .run()?;
    if !matches!(said.code, Some(0 | 1)) {
        return Err(said.failed());
    }
    let ignored: BTreeSet<PathBuf> = fields(&said.stdout)
        .map(|path| path_of(path.strip_prefix(b"./").unwrap_or(path)).to_owned())
        .collect();
    for (path, what) in paths.iter_mut().flat_map(|path| &mut path.obstacles) {
        if *what == Obstacle::Untracked && ignored.contains(path) {
            *what = Obstacle::Ignored;
        }
    }
    Ok(())
}
