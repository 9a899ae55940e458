//! Applying a new commit to a checkout: its index first, then its files.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode as Bits, RenameFlags, mkdirat, renameat_with, unlinkat};
use rustix::io::Errno;

use crate::checkout::Checkout;
use crate::checkout::follow::beside::{Siblings, beside};
use crate::checkout::follow::inspect::{Inspected, Inspection, Stamp};
use crate::checkout::follow::users_call::users_call;
use crate::checkout::index_lock::IndexLock;
use crate::error::{Error, IoContext, Result};
use crate::files::delete::delete_tree;
use crate::files::openat;
use crate::repository::Repository;
use crate::types::blocked::{Blocked, Followed, Obstacle};
use crate::types::change::Mode;
use crate::types::oid::Oid;
use crate::types::operation::Operation;

/// The staging folder, which the folder of one try becomes when the branch has moved: new files wait in it
/// and old ones go there. It may outlive a killed engine, with a person's edit in it.
const STAGING: &str = "crew-follow";
/// The folders of new and of old files in it.
const NEW: &str = "new";
const OLD: &str = "old";

/// A checkout that is about to follow: it was inspected, and the new files and the next index are written
/// beside it. Nothing that git or a person looks at has changed yet.
pub(crate) struct Ready<'a> {
    transfer: Transfer<'a>,
    inspection: Inspection,
    lock: IndexLock,
}

impl Repository {
    /// Makes a checkout ready under its lock. `looked`: the state that was seen under this very lock a moment
    /// ago. The index cannot have changed since, and a file that has is noticed by its stamp when it is
    /// replaced.
    pub(crate) fn ready_to_follow<'a>(
        &'a self,
        checkout: &'a Checkout,
        old: &'a Oid,
        new: &'a Oid,
        lock: IndexLock,
        looked: Option<Inspection>,
    ) -> Result<Ready<'a>> {
        let transfer = Transfer::new(self, checkout, old, new)?;
        let inspection = match looked {
            // The branch has not moved, so this landing has replaced nothing yet.
            Some(inspection) => {
                transfer.keep_others_apart()?;
                inspection
            }
            None => {
                transfer.return_caught(&self.changes(old, new)?)?;
                Inspection::of(self, checkout, old, new)?
            }
        };
        transfer.next_index(&inspection)?;
        transfer.stage(&inspection)?;
        failpoint::hit("follow.staged");
        Ok(Ready {
            transfer,
            inspection,
            lock,
        })
    }
}

impl Ready<'_> {
    /// Lets a failure leave the index locked (see [`IndexLock::keep`]), because the branch is about to move,
    /// or has.
    pub(crate) fn keep_locked(&mut self) {
        self.lock.keep();
    }

    /// Removes what was made ready, because the branch does not move.
    pub(crate) fn give_up(self) -> Result<()> {
        crate::files::atomic_write::remove_if_there(self.transfer.own.index())?;
        delete_tree(self.transfer.own.ready())
    }

    /// Moves index and files to the new commit. The index goes first, in one rename: `git commit` reads HEAD
    /// and index before it locks the index, and a commit from the new HEAD and the old index would take back
    /// what landed.
    pub(crate) fn follow(mut self) -> Result<Followed> {
        let (transfer, inspection) = (&self.transfer, &self.inspection);
        // An operation that began under the lock has not touched the index, and HEAD is still the branch: an
        // index that stayed behind would take back what landed. A rebase that has left the branch is another
        // matter.
        if let Some(operation) = Operation::of(&transfer.checkout.git_dir)
            && !transfer.is_at_new()?
        {
            let obstacle = Obstacle::Operation(operation);
            let left = vec![Blocked {
                checkout: transfer.checkout.root.clone(),
                path: None,
                obstacle,
            }];
            self.lock.release();
            return Ok(Followed { updated: 0, left });
        }
        self.lock.keep();
        std::fs::rename(transfer.own.ready(), &transfer.staging).doing("make", &transfer.staging)?;
        transfer.put_index()?;
        failpoint::hit("follow.index");
        let mut followed = Followed {
            updated: 0,
            left: inspection.blocked(),
        };
        let ready = |path: &&Inspected| path.obstacles.is_empty() && !path.file_new && !path.skipped;
        let mut late = Vec::new();
        for path in inspection
            .paths
            .iter()
            .rev()
            .filter(ready)
            .filter(|path| path.change.new.is_none())
        {
            followed.updated += 1;
            late.extend(transfer.delete(path)?);
            failpoint::hit("follow.deleted");
        }
        for path in inspection
            .paths
            .iter()
            .filter(ready)
            .filter(|path| path.change.new.is_some())
        {
            followed.updated += 1;
            late.extend(transfer.write(path)?);
            failpoint::hit("follow.written");
        }
        followed.updated -= late.len();
        followed.left.extend(late);
        // Those that the inspection found, too: an engine that was killed may have moved the branch.
        let unwritable = followed
            .left
            .iter()
            .filter(|left| left.obstacle == Obstacle::Unwritable);
        let unwritable = unwritable.filter_map(|left| left.path.as_deref());
        transfer.note_behind(unwritable.map(|path| (path, inspection.deletes(path))))?;
        failpoint::hit("follow.files");
        transfer.refresh_index()?;
        failpoint::hit("follow.refreshed");
        delete_tree(&transfer.staging)?;
        failpoint::hit("follow.cleaned");
        self.lock.release();
        Ok(followed)
    }
}

/// One try to move a checkout from the old commit to the new one.
pub(super) struct Transfer<'a> {
    pub(super) repository: &'a Repository,
    pub(super) checkout: &'a Checkout,
    pub(super) old: &'a Oid,
    pub(super) new: &'a Oid,
    root: OwnedFd,
    pub(super) own: Siblings,
    pub(super) staging: PathBuf,
}

impl<'a> Transfer<'a> {
    pub(super) fn new(
        repository: &'a Repository,
        checkout: &'a Checkout,
        old: &'a Oid,
        new: &'a Oid,
    ) -> Result<Self> {
        let root = openat::root(&checkout.root).doing("open", &checkout.root)?;
        Ok(Self {
            repository,
            checkout,
            old,
            new,
            root,
            own: Siblings::of(checkout)?,
            staging: beside(checkout, STAGING)?,
        })
    }

    /// Whether the checkout's HEAD is the new commit.
    fn is_at_new(&self) -> Result<bool> {
        let head = users_call(self.repository, self.checkout, "rev-parse")
            .args(["--verify", "--quiet", "HEAD"])
            .run()?;
        Ok(head.stdout.trim_ascii() == self.new.as_str().as_bytes())
    }

    pub(super) fn new_files(&self) -> PathBuf {
        self.staging.join(NEW)
    }

    /// The folder in which new files are being written: a file that git had half written when it was killed
    /// is nobody's edit.
    fn half_files(&self) -> PathBuf {
        self.own.ready().join("half")
    }

    pub(super) fn old_files(&self) -> PathBuf {
        self.staging.join(OLD)
    }

    /// Writes every new file, with the user's filters and line endings, by the attributes of the new commit.
    /// They are entries of the next index.
    fn stage(&self, inspection: &Inspection) -> Result<()> {
        let mut names = Vec::new();
        for path in inspection
            .paths
            .iter()
            .filter(|path| path.obstacles.is_empty() && !path.file_new && !path.skipped)
        {
            let Some((mode, _)) = &path.change.new else {
                continue;
            };
            if *mode == Mode::Submodule {
                continue;
            }
            names.extend(path.change.path.as_os_str().as_bytes());
            names.push(0);
        }
        let ready = self.own.ready();
        std::fs::create_dir_all(ready.join(OLD)).doing("make", ready)?;
        std::fs::create_dir_all(self.half_files()).doing("make", ready)?;
        if !names.is_empty() {
            self.check_out(&names)?;
        }
        failpoint::hit("follow.written_out");
        let new = ready.join(NEW);
        std::fs::rename(self.half_files(), &new).doing("make", &new)
    }

    fn check_out(&self, names: &[u8]) -> Result<()> {
        let mut prefix = std::ffi::OsString::from("--prefix=");
        prefix.push(self.half_files());
        prefix.push("/");
        users_call(self.repository, self.checkout, "checkout-index")
            .index(self.own.index())
            .attributes_from(self.new.as_str())
            .arg(prefix)
            .args(["-z", "--stdin"])
            .deadline(std::time::Duration::from_secs(600))
            .input(names)?
            .ok()
            .map_err(|error| match error {
                // The folder has another name each time, and the same failure would look like a new one.
                Error::Failed {
                    status,
                    stderr,
                    lacking,
                    ..
                } => Error::Failed {
                    command: "checkout-index".to_owned(),
                    status,
                    stderr,
                    lacking,
                },
                other => other,
            })?;
        Ok(())
    }

    /// Opens the folder of a path in the checkout, made if need be, and gives the path's name in it.
    pub(super) fn place<'p>(&self, path: &'p Path) -> Result<(OwnedFd, &'p OsStr)> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let fd = openat::made_folder(&self.root, folder).doing("make", self.checkout.root.join(folder))?;
        Ok((fd, path.file_name().unwrap_or_default()))
    }

    fn late(&self, path: &Inspected, obstacle: Obstacle) -> Option<Blocked> {
        Some(Blocked {
            checkout: self.checkout.root.clone(),
            path: Some(path.change.path.clone()),
            obstacle,
        })
    }

    /// A path that could not be written or removed. What passes by itself (a full disk) is an error, and the
    /// caller repeats the call; a path that nobody lets crew write stays as it is, and the others go on.
    fn refused(&self, path: &Inspected, error: Error) -> Result<Option<Blocked>> {
        match error.is_passing() {
            true => Err(error),
            false => Ok(self.late(path, Obstacle::Unwritable)),
        }
    }

    /// Removes the old file. It is moved, looked at, and moved back if it is not the one that was inspected.
    fn delete(&self, path: &Inspected) -> Result<Option<Blocked>> {
        let relative = &path.change.path;
        let parent = relative.parent().unwrap_or(Path::new(""));
        let shown = self.checkout.root.join(relative);
        let Ok(folder) = openat::folder(&self.root, parent) else {
            return Ok(None);
        };
        let name = relative.file_name().unwrap_or_default();
        if matches!(path.change.old, Some((Mode::Submodule, _))) {
            unlinkat(&folder, name, AtFlags::REMOVEDIR).ok();
            self.prune(parent);
            return Ok(None);
        }
        let old = self.old_folder(parent)?;
        match renameat_with(&folder, name, &old, name, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return self.refused(path, Error::io("remove", shown, errno)),
        }
        failpoint::hit("follow.moved_aside");
        if Stamp::of(&old, name) != path.stamp {
            renameat_with(&old, name, &folder, name, RenameFlags::NOREPLACE).doing("give back", shown)?;
            return Ok(self.late(path, Obstacle::Edited));
        }
        self.prune(parent);
        Ok(None)
    }

    fn old_folder(&self, parent: &Path) -> Result<OwnedFd> {
        let root = openat::root(&self.old_files()).doing("open", self.old_files())?;
        openat::made_folder(&root, parent).doing("make", self.old_files().join(parent))
    }

    /// Puts the new file in place. An old one is exchanged, looked at, and exchanged back if it is not the
    /// one that was inspected.
    fn write(&self, path: &Inspected) -> Result<Option<Blocked>> {
        let relative = &path.change.path;
        let shown = self.checkout.root.join(relative);
        let (folder, name) = match self.place(relative) {
            Ok(place) => place,
            Err(error) => return self.refused(path, error),
        };
        if matches!(path.change.new, Some((Mode::Submodule, _))) {
            if path.stamp.is_some() {
                let old = self.old_folder(relative.parent().unwrap_or(Path::new("")))?;
                if let Err(errno) = renameat_with(&folder, name, &old, name, RenameFlags::NOREPLACE) {
                    return self.refused(path, Error::io("remove", shown, errno));
                }
            }
            return match mkdirat(&folder, name, Bits::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => Ok(None),
                Err(errno) => self.refused(path, Error::io("make", shown, errno)),
            };
        }
        let staged = self.new_files().join(relative.parent().unwrap_or(Path::new("")));
        let staged = openat::root(&staged).doing("open", staged)?;
        if path.stamp.is_none() {
            self.remove_empty(relative);
            return match renameat_with(&staged, name, &folder, name, RenameFlags::NOREPLACE) {
                Ok(()) => Ok(None),
                Err(Errno::EXIST) => Ok(self.late(path, Obstacle::Untracked)),
                Err(errno) => self.refused(path, Error::io("write", shown, errno)),
            };
        }
        match renameat_with(&staged, name, &folder, name, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(self.late(path, Obstacle::Edited)),
            Err(errno) => return self.refused(path, Error::io("write", shown, errno)),
        }
        failpoint::hit("follow.exchanged");
        if Stamp::of(&staged, name) != path.stamp {
            renameat_with(&staged, name, &folder, name, RenameFlags::EXCHANGE).doing("give back", shown)?;
            return Ok(self.late(path, Obstacle::Edited));
        }
        Ok(None)
    }

    /// Removes folders that a deletion left empty, upwards, as git does.
    fn prune(&self, folder: &Path) {
        for folder in folder.ancestors().filter(|folder| !folder.as_os_str().is_empty()) {
            let Ok(parent) = openat::folder(&self.root, folder.parent().unwrap_or(Path::new(""))) else {
                return;
            };
            if unlinkat(
                &parent,
                folder.file_name().unwrap_or_default(),
                AtFlags::REMOVEDIR,
            )
            .is_err()
            {
                return;
            }
        }
    }

    /// Removes a folder that stands in the place of a new file, if it holds nothing but folders.
    fn remove_empty(&self, path: &Path) {
        let Ok(folder) = openat::folder(&self.root, path) else {
            return;
        };
        if let Ok(entries) = rustix::fs::Dir::read_from(&folder) {
            for entry in entries.flatten() {
                let name = entry.file_name().to_bytes();
                if !matches!(name, b"." | b"..") {
                    self.remove_empty(&path.join(OsStr::from_bytes(name)));
                }
            }
        }
        if let Ok(parent) = openat::folder(&self.root, path.parent().unwrap_or(Path::new(""))) {
            unlinkat(&parent, path.file_name().unwrap_or_default(), AtFlags::REMOVEDIR).ok();
        }
    }
}
