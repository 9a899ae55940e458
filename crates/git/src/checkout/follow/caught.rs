//! Caught edits: an edit of a person's that a killed engine had just swapped out of a checkout goes back, or
//! is kept.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{RenameFlags, renameat_with};

use crate::checkout::follow::apply::Transfer;
use crate::checkout::follow::inspect::Stamp;
use crate::checkout::follow::users_call::users_call;
use crate::error::{IoContext, Result};
use crate::files::delete::delete_tree;
use crate::files::openat;
use crate::types::change::Change;

/// The folder for an edit that was caught between two renames and cannot go back.
const CAUGHT: &str = "crew-caught";

impl Transfer<'_> {
    /// Looks through the staging folder of a killed engine: a file there that is neither the old nor the new
    /// content is an edit of a person that was just swapped out. It goes back.
    pub(super) fn return_caught(&self, changes: &[Change]) -> Result<()> {
        for change in changes {
            let staged = self.new_files().join(&change.path);
            let gone = self.old_files().join(&change.path);
            if self.is_edit(&staged, change)? {
                // The file came here by an exchange: the checkout holds the new content.
                self.give_back(&staged, &change.path)?;
            }
            if self.is_edit(&gone, change)? {
                self.give_back(&gone, &change.path)?;
            }
        }
        // The branch may have moved on since, and a path may be as it was before: then no change of ours
        // leads to an edit that was caught there.
        let ours: BTreeSet<&Path> = changes.iter().map(|change| change.path.as_path()).collect();
        let are_ours = [self.new_files(), self.old_files()]
            .iter()
            .all(|folder| has_only(folder, Path::new(""), &ours));
        match are_ours {
            true => delete_tree(&self.staging),
            false => self.keep_apart(&self.staging),
        }
    }

    /// Keeps the staging folder of another landing apart, which was not carried on (the branch was taken
    /// back, for example): it may hold a person's edit, and nobody knows any more where that belongs.
    pub(super) fn keep_others_apart(&self) -> Result<()> {
        match self.staging.exists() {
            true => self.keep_apart(&self.staging),
            false => Ok(()),
        }
    }

    fn is_edit(&self, file: &Path, change: &Change) -> Result<bool> {
        let Ok(meta) = file.symlink_metadata() else {
            return Ok(false);
        };
        if meta.is_symlink() {
            let target = std::fs::read_link(file).doing("read", file)?;
            for (_, oid) in [&change.old, &change.new].into_iter().flatten() {
                if self
                    .repository
                    .call("cat-file")
                    .args(["blob", oid.as_str()])
                    .ok()?
                    == target.as_os_str().as_bytes()
                {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        if !meta.is_file() {
            return Ok(false);
        }
        for (commit, side) in [(self.old, &change.old), (self.new, &change.new)] {
            let Some((_, oid)) = side else { continue };
            let mut path = std::ffi::OsString::from("--path=");
            path.push(&change.path);
            let hashed = users_call(self.repository, self.checkout, "hash-object")
                .attributes_from(commit.as_str())
                .arg(path)
                .arg("--")
                .arg(file)
                .ok_oid()?;
            if hashed == *oid {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn give_back(&self, file: &Path, path: &Path) -> Result<()> {
        let (folder, name) = self.place(path)?;
        let staged_folder = openat::root(file.parent().unwrap_or(Path::new("/"))).doing("open", file)?;
        let staged_name = file.file_name().unwrap_or_default();
        let flags = match Stamp::of(&folder, name) {
            Some(_) => RenameFlags::EXCHANGE,
            None => RenameFlags::NOREPLACE,
        };
        let exchanged = flags == RenameFlags::EXCHANGE;
        renameat_with(&staged_folder, staged_name, &folder, name, flags)
            .doing("give back", self.checkout.root.join(path))?;
        if exchanged && self.is_unknown(file, path)? {
            self.keep_apart(file)?;
        }
        Ok(())
    }

    /// Whether a file that came out of the checkout is neither version of the path.
    fn is_unknown(&self, file: &Path, path: &Path) -> Result<bool> {
        let changes = self.repository.changes(self.old, self.new)?;
        changes
            .iter()
            .find(|change| change.path == path)
            .map_or(Ok(true), |change| self.is_edit(file, change))
    }

    fn keep_apart(&self, file: &Path) -> Result<()> {
        let folder = tempfile::Builder::new()
            .prefix(CAUGHT)
            .tempdir_in(self.staging.parent().unwrap_or(&self.checkout.git_dir))
            .doing("make in", &self.checkout.git_dir)?
            .keep();
        let target = folder.join(file.file_name().unwrap_or_default());
        std::fs::rename(file, &target).doing("keep", target)
    }
}

/// Whether a folder holds no files but those at these paths. A file that cannot be read counts as another
/// one.
fn has_only(folder: &Path, below: &Path, paths: &BTreeSet<&Path>) -> bool {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return error.kind() == std::io::ErrorKind::NotFound,
    };
    entries.into_iter().all(|entry| {
        entry.is_ok_and(|entry| {
            let path = below.join(entry.file_name());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            paths.contains(path.as_path()) || (is_folder && has_only(&entry.path(), &path, paths))
        })
    })
}
