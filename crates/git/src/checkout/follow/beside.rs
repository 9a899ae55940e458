//! Files beside a checkout that one try to follow writes, under names that no other try has: a git that
//! outlived a killed engine may still write into its own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use tempfile::TempDir;

use crate::checkout::Checkout;
use crate::error::{IoContext, Result};
use crate::files::delete::delete_tree;

/// The folder in which new files wait until the branch has moved, on the file system of the checkout. Nothing
/// of a person's ever gets there, so the remains of a killed engine's try are of no use to anybody.
const READY: &str = "crew-ready";
/// The next index. It stands beside the real one, because a split index names its shared part relative to it.
pub(super) const INDEX: &str = "crew-index";

/// The names of one try. The folder is removed when this is dropped.
pub(super) struct Siblings {
    ready: TempDir,
    index: PathBuf,
}

impl Siblings {
    /// Takes new names for a try, under the checkout's lock, and removes the remains of earlier tries.
    pub(super) fn of(checkout: &Checkout) -> Result<Self> {
        let folder = folder(checkout)?;
        let hidden = if is_inside(checkout, &folder) { "" } else { "." };
        let ready = format!("{hidden}{READY}");
        forget(&folder, &ready);
        forget(&checkout.git_dir, INDEX);
        let ready = tempfile::Builder::new()
            .prefix(&format!("{ready}-"))
            .tempdir_in(&folder)
            .doing("make a folder in", &folder)?;
        let own = ready.path().file_name().and_then(OsStr::to_str);
        let own = own.and_then(|name| name.rsplit('-').next()).unwrap_or_default();
        let index = checkout.git_dir.join(format!("{INDEX}-{own}"));
        Ok(Self { ready, index })
    }

    /// Its folder.
    pub(super) fn ready(&self) -> &Path {
        self.ready.path()
    }

    /// Its next index.
    pub(super) fn index(&self) -> &Path {
        &self.index
    }
}

/// The path of this name beside a checkout, on its file system: a rename must not cross two, and a linked
/// worktree may stand on another one than the repository.
pub(super) fn beside(checkout: &Checkout, name: &str) -> Result<PathBuf> {
    let folder = folder(checkout)?;
    Ok(match is_inside(checkout, &folder) {
        true => folder.join(name),
        false => folder.join(format!(".{name}")),
    })
}

fn folder(checkout: &Checkout) -> Result<PathBuf> {
    let mount = |path: &Path| mount(path).doing("look at", path);
    Ok(match mount(&checkout.root)? == mount(&checkout.git_dir)? {
        true => checkout.git_dir.clone(),
        false => checkout.root.clone(),
    })
}

/// Whether files can be renamed between a folder of the checkout and the place where new files wait.
pub(super) fn is_on_one_mount(path: &Path, checkout: &Checkout) -> bool {
    mount(path).is_ok_and(|there| mount(&checkout.root).is_ok_and(|root| root == there))
}

/// The device of a folder and its mount: a rename crosses neither, and two mounts may show one device.
fn mount(path: &Path) -> rustix::io::Result<(u32, u32, u64)> {
    let flags = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let stat = statx(CWD, path, AtFlags::empty(), flags)?;
    Ok((stat.stx_dev_major, stat.stx_dev_minor, stat.stx_mnt_id))
}

fn is_inside(checkout: &Checkout, folder: &Path) -> bool {
    folder == checkout.git_dir
}

/// Whether the rest of a name is not a person's making: nothing, or a dash with six letters and digits,
/// perhaps with git's `.lock` behind.
fn is_of_a_try(rest: &str) -> bool {
    let rest = rest.strip_suffix(".lock").unwrap_or(rest);
    let is_own = |own: &str| own.len() == 6 && own.bytes().all(|byte| byte.is_ascii_alphanumeric());
    rest.is_empty() || rest.strip_prefix('-').is_some_and(is_own)
}

/// Removes the remains of killed engines' tries. If a git of such a try still writes, something may come
/// back; that harms no try, and the next one removes it.
fn forget(folder: &Path, name: &str) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.file_name();
        let rest = found.to_str().and_then(|found| found.strip_prefix(name));
        if !rest.is_some_and(is_of_a_try) {
            continue;
        }
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let removed = match is_folder {
            true => delete_tree(&entry.path()),
            false => crate::files::atomic_write::remove_if_there(&entry.path()),
        };
        drop(removed);
    }
}
