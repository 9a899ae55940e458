//! Comparing a workspace with a commit without git, where that is possible.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr};
use std::ops::Bound;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode as Bits, OFlags, Stat, fstat, openat, readlinkat, statat};
use rustix::process::geteuid;

use crate::files::openat;
use crate::repository::Repository;
use crate::types::change::{Entry as Side, Mode};
use crate::types::oid::Oid;
use crate::types::paths::path_of;
use crate::workspace::Workspace;
use crate::workspace::index::{Index, mode_of};

/// The number of files that are read to be compared, and the greatest size of one.
const COMPARED: usize = 1000;
const COMPARED_BYTES: u64 = 256 << 10;
/// The number of paths in which the commit may differ from the index.
const CHANGED: usize = 500;
/// The deepest nesting of folders.
const DEPTH: usize = 100;

impl Repository {
    /// Whether the workspace's files are those of `parent` and no others, ignored ones included. `false`:
    /// they are not, or git has to look. This starts from the index that crew made or checked at its last
    /// look: files that are untouched since are not read again, and everything else is compared with its
    /// blob.
    pub(crate) fn stands_as(&self, workspace: &Workspace, parent: &Oid) -> bool {
        self.look(workspace, parent).is_some()
    }

    fn look(&self, workspace: &Workspace, parent: &Oid) -> Option<()> {
        let index = Index::read(&workspace.index(), self.format())?;
        let changes = self.changes(&index.tree, parent).ok()?;
        if changes.len() > CHANGED {
            return None;
        }
        let changed: BTreeMap<&[u8], &Side> = changes
            .iter()
            .map(|change| (change.path.as_os_str().as_bytes(), &change.new))
            .collect();
        let has_under = |folder: &[u8]| {
            let mut later = changed.range::<[u8], _>((Bound::Included(folder), Bound::Unbounded));
            later
                .find(|(_, new)| new.is_some())
                .is_some_and(|(path, _)| path.starts_with(folder))
                || index.has_under(folder)
        };
        let root = workspace.open().ok()?;
        let mut compared: Vec<(PathBuf, &Oid)> = Vec::new();
        let mut seen = 0;
        let folder = openat::folder(&root, Path::new("")).ok()?;
        let own = Own::of(&folder)?;
        walk(&folder, &mut Vec::new(), 0, &mut |place| {
            // git leaves such a file as it is, and no other workspace may be made of it.
            if !own.has(place.stat) {
                return None;
            }
            if let FileType::Directory = FileType::from_raw_mode(place.stat.st_mode) {
                return has_under(&[place.path, b"/"].concat()).then_some(());
            }
            let (mode, oid) = match (changed.get(place.path), index.get(place.path)) {
                (Some(Some((mode, oid))), _) => (*mode, oid),
                (Some(None), _) | (None, None) => return None,
                (None, Some(entry)) => {
                    seen += 1;
                    if index.is_untouched(entry, place.stat) {
                        return Some(());
                    }
                    seen -= 1;
                    (entry.mode, &entry.oid)
                }
            };
            let small = u64::try_from(place.stat.st_size).is_ok_and(|size| size <= COMPARED_BYTES);
            if mode_of(place.stat) != Some(mode) || !small || compared.len() >= COMPARED {
                return None;
            }
            seen += 1;
            compared.push((path_of(place.path).to_owned(), oid));
            Some(())
        })?;
        let gone = |(path, new): (&&[u8], &&Side)| new.is_none() && index.get(path).is_some();
        let new = |(path, new): (&&[u8], &&Side)| new.is_some() && index.get(path).is_none();
        let expected = index.len() + changed.iter().filter(|one| new(*one)).count()
            - changed.iter().filter(|one| gone(*one)).count();
        if seen != expected {
            return None;
        }
        let blobs = self.objects_of(compared.iter().map(|(_, oid)| *oid))?;
        for ((path, _), (_, content)) in compared.iter().zip(blobs) {
            if content_of(&root, path)? != content {
                return None;
            }
        }
        Some(())
    }
}

/// Reads a file's content, or the target of a symbolic link.
fn content_of(root: &OwnedFd, path: &Path) -> Option<Vec<u8>> {
    let folder = openat::folder(root, path.parent()?).ok()?;
    let name = path.file_name()?;
    let stat = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    match mode_of(&stat)? {
        Mode::Symlink => Some(readlinkat(&folder, name, Vec::new()).ok()?.into_bytes()),
        _ => openat::read(root, path, COMPARED_BYTES).ok()?,
    }
}

/// The owner of all that crew can delete in a workspace: a user, and the file system on which the workspace
/// stands.
pub(crate) struct Own {
    user: u32,
    device: u64,
}

impl Own {
    /// Takes user and file system from a folder of crew's.
    pub(crate) fn of(folder: &OwnedFd) -> Option<Self> {
        let device = fstat(folder).ok()?.st_dev;
        let user = geteuid().as_raw();
        Some(Self { user, device })
    }

    /// Whether a file belongs to them: it does not if another user put it there, or if it is on another file
    /// system that is mounted there.
    pub(crate) fn has(&self, stat: &Stat) -> bool {
        (stat.st_uid, stat.st_dev) == (self.user, self.device)
    }
}

/// Something in a folder.
pub(crate) struct Place<'a> {
    /// The path from the root of the walk.
    pub(crate) path: &'a [u8],
    pub(crate) stat: &'a Stat,
}

/// Shows everything under a folder to `see`, except the `.git` at its top. Enters the folders that it has
/// shown, and follows no link. Ends with the first `None`.
pub(crate) fn walk(
    folder: &OwnedFd,
    path: &mut Vec<u8>,
    depth: usize,
    see: &mut dyn FnMut(&Place<'_>) -> Option<()>,
) -> Option<()> {
    if depth > DEPTH {
        return None;
    }
    for entry in Dir::read_from(folder).ok()? {
        let entry = entry.ok()?;
        let name: &CStr = entry.file_name();
        let bytes = name.to_bytes();
        if matches!(bytes, b"." | b"..") || (depth == 0 && bytes == b".git") {
            continue;
        }
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let before = path.len();
        path.extend_from_slice(bytes);
        see(&Place { path, stat: &stat })?;
        if let FileType::Directory = FileType::from_raw_mode(stat.st_mode) {
            path.push(b'/');
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let inner = openat(folder, OsStr::from_bytes(bytes), flags, Bits::empty()).ok()?;
            walk(&inner, path, depth + 1, see)?;
        }
        path.truncate(before);
    }
    Some(())
}
