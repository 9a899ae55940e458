//! The folder that workspaces stand in.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use crate::error::{IoContext, Result};
use crate::files::openat;
use crate::repository::Repository;
use crate::repository::git_dir::ALTERNATES;
use crate::workspace::MADE;
use crate::workspace::remove::is_archived;

/// Whether a workspace or an [archived](Repository::archive_workspace) one stands in a folder. Anything else
/// in that folder is not crew's.
///
/// # Errors
/// It cannot be looked into.
pub fn holds_workspaces(root: &Path) -> io::Result<bool> {
    for name in names(root)? {
        if is_archived(&name) || made(root, &name)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Repository {
    /// Lets the workspaces of a folder borrow objects from here, after the repository was moved. This may be
    /// done while agents are at work: each of their gits sees the one place or the other.
    ///
    /// # Errors
    /// [`crate::Error::Io`]. A workspace that its agent has made something else of stays as it is.
    pub fn lend_to_workspaces(&self, root: &Path) -> Result<()> {
        self.clear_pool(root)?;
        let names = names(root).doing("look into", root)?;
        for name in &names {
            let Some(workspace) = made(root, name).doing("look into", root)? else {
                continue;
            };
            let folder = root.join(workspace);
            let lent = openat::root(&folder).and_then(|opened| {
                openat::replace(&opened, &Path::new(".git").join(ALTERNATES), &self.alternates())
            });
            match lent {
                // Even without the objects, the files of that workspace can be kept.
                Err(error) if openat::is_by_its_writer(&error) => {}
                lent => lent.doing("lend objects to", &folder)?,
            }
        }
        Ok(())
    }
}

fn names(root: &Path) -> io::Result<Vec<OsString>> {
    match std::fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.file_name())).collect(),
    }
}

/// The workspace for which the record in a hidden folder of this name was made.
fn made<'n>(root: &Path, name: &'n OsString) -> io::Result<Option<&'n str>> {
    let Some(workspace) = name.to_str().and_then(|name| name.strip_prefix('.')) else {
        return Ok(None);
    };
    match root.join(name).join(MADE).symlink_metadata() {
        Ok(made) => Ok(made.is_file().then_some(workspace)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        // Without the workspace there is nothing to find out: other programs have such folders too.
        Err(_) if root.join(workspace).symlink_metadata().is_err() => Ok(None),
        Err(error) => Err(error),
    }
}
