//! The next index of a checkout: made beside it, and put in its place in one rename.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::checkout::follow::apply::Transfer;
use crate::checkout::follow::inspect::Inspection;
use crate::checkout::follow::users_call::users_call;
use crate::command::call::Call;
use crate::error::{Error, IoContext, Result};

impl Transfer<'_> {
    /// Moves the entries of the changed paths to the new commit, in a copy of the index.
    pub(super) fn next_index(&self, inspection: &Inspection) -> Result<()> {
        let null = self.new.null_like();
        let (mut deletions, mut entries, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        for path in inspection.paths.iter().filter(|path| path.index_known) {
            let name = path.change.path.as_os_str().as_bytes();
            let (list, line) = match &path.change.new {
                Some((mode, oid)) => (&mut entries, format!("{} {oid}\t", mode.octal())),
                None => (&mut deletions, format!("0 {null}\t")),
            };
            list.extend(line.bytes());
            list.extend(name);
            list.push(0);
            if path.skipped && path.change.new.is_some() {
                skipped.extend(name);
                skipped.push(0);
            }
        }
        self.copy_index()?;
        deletions.extend(entries);
        self.update_index()
            .args(["-z", "--index-info"])
            .input(&deletions)?
            .ok()?;
        if !skipped.is_empty() {
            self.update_index()
                .args(["--skip-worktree", "-z", "--stdin"])
                .input(&skipped)?
                .ok()?;
        }
        Ok(())
    }

    fn update_index(&self) -> Call {
        users_call(self.repository, self.checkout, "update-index")
            .index(self.own.index())
            .attributes_from(self.new.as_str())
            .deadline(std::time::Duration::from_secs(600))
    }

    /// Copies the present index, if there is one.
    fn copy_index(&self) -> Result<()> {
        let (current, next) = (self.index(), self.own.index());
        crate::files::atomic_write::remove_if_there(next)?;
        match std::fs::copy(&current, next) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("copy", current, error));
            }
            _ => {}
        }
        crate::files::atomic_write::remove_if_there(&next.with_extension("lock"))
    }

    pub(super) fn put_index(&self) -> Result<()> {
        let current = self.index();
        std::fs::rename(self.own.index(), &current).doing("replace", &current)
    }

    /// Gives the index the times of the files that stand now, so that git need not read them again.
    pub(super) fn refresh_index(&self) -> Result<()> {
        self.copy_index()?;
        let refreshed = self.update_index().args(["-q", "--refresh"]).run()?;
        if !matches!(refreshed.code, Some(0 | 1)) {
            return Err(refreshed.failed());
        }
        failpoint::hit("follow.index_built");
        self.put_index()
    }

    fn index(&self) -> PathBuf {
        self.checkout.git_dir.join("index")
    }
}
