//! A disk under one folder of a world, that a test fills, frees, and takes the writing from.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::faults::mounts::must;
use testkit::wait;

/// What it holds when it is not full.
const ROOM: &str = "size=256m";

/// What is on it, whatever else is.
pub(crate) const BALLAST: &str = ".ballast";

/// A file system of its own, mounted over a folder with what that folder had.
pub(crate) struct Disk {
    at: PathBuf,
}

impl Disk {
    /// Mounts one over this folder, which is made when it is not there. Nothing may be open in it.
    pub(crate) fn over(folder: &Path) -> Self {
        fs::create_dir_all(folder).unwrap();
        let disk = Self {
            at: folder.to_owned(),
        };
        let aside = tempfile::tempdir().unwrap();
        copy(folder, aside.path());
        // Whoever the folder was private to, it still is.
        let mode = std::os::unix::fs::MetadataExt::mode(&folder.metadata().unwrap()) & 0o777;
        let options = format!("{ROOM},mode={mode:o}");
        must(
            "mount",
            &[
                OsStr::new("-t"),
                OsStr::new("tmpfs"),
                OsStr::new("-o"),
                OsStr::new(&options),
                OsStr::new("crew-matrix"),
                folder.as_os_str(),
            ],
        );
        copy(aside.path(), folder);
        // A file system of no size is of any size.
        fs::write(folder.join(BALLAST), [0; 4096]).unwrap();
        disk
    }

    /// Leaves no room for a further byte: the disk becomes as small as what is on it.
    pub(crate) fn fill(&self) {
        wait::until("the disk is full", || {
            let stat = rustix::fs::statvfs(&self.at).unwrap();
            let used = (stat.f_blocks - stat.f_bfree) * stat.f_frsize;
            let size = format!("remount,size={used}");
            let made = crate::faults::mounts::program("mount")
                .args(["-o", &size])
                .arg(&self.at)
                .output()
                .unwrap();
            let is_full = rustix::fs::statvfs(&self.at).unwrap().f_bavail == 0;
            // Somebody wrote in between.
            (made.status.success() && is_full).then_some(())
        });
    }

    /// Makes room again.
    pub(crate) fn free(&self) {
        let options = format!("remount,{ROOM}");
        must(
            "mount",
            &[OsStr::new("-o"), OsStr::new(&options), self.at.as_os_str()],
        );
    }
}

/// Makes a folder read-only until the value is dropped; what is open stays open.
pub(crate) struct ReadOnly {
    at: PathBuf,
}

impl ReadOnly {
    pub(crate) fn over(folder: &Path) -> Self {
        let at = folder.as_os_str();
        must("mount", &[OsStr::new("--bind"), at, at]);
        must("mount", &[OsStr::new("-o"), OsStr::new("remount,bind,ro"), at]);
        Self {
            at: folder.to_owned(),
        }
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        // Whoever is in it now does not matter: it is gone for everyone who comes.
        must("umount", &[OsStr::new("-l"), self.at.as_os_str()]);
    }
}

fn copy(from: &Path, to: &Path) {
    must(
        "cp",
        &[OsStr::new("-a"), from.join(".").as_os_str(), to.as_os_str()],
    );
}
