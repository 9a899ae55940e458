//! The folder that workspaces stand in.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use crate::beneath;
use crate::error::{IoContext, Result};
use crate::remove::is_aside;
use crate::repository::Repository;
use crate::workspace::{ALTERNATES, MADE};

/// Whether a workspace stands in a folder, or what was [set aside](Repository::set_aside) of one. Anything else there is none of
/// crew's.
///
/// # Errors
/// It cannot be looked into.
pub fn holds_workspaces(root: &Path) -> io::Result<bool> {
    Ok(names(root)?
        .iter()
        .any(|name| is_aside(name) || made(root, name).is_some()))
}

impl Repository {
    /// Lets the workspaces of a folder borrow objects from here: where the repository stood when they were made, it stands no more.
    ///
    /// No process of an agent may be running.
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the folder cannot be looked into. A workspace that its agent has made something else of stays as it is.
    pub fn lend_to_workspaces(&self, root: &Path) -> Result<()> {
        self.clear_spares(root)?;
        let names = names(root).doing("look into", root)?;
        for workspace in names.iter().filter_map(|name| made(root, name)) {
            let lent = beneath::root(&root.join(workspace)).and_then(|folder| {
                beneath::replace(&folder, &Path::new(".git").join(ALTERNATES), &self.alternates())
            });
            // Without it, what there is of files is kept all the same.
            drop(lent);
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

/// The workspace that a record in a hidden folder of this name was made for.
fn made<'n>(root: &Path, name: &'n OsString) -> Option<&'n str> {
    let workspace = name.to_str()?.strip_prefix('.')?;
    root.join(name).join(MADE).is_file().then_some(workspace)
}
