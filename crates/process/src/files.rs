//! The files of a run's directory: private, and never half written.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};

use crate::error::{Error, Result};

pub(crate) const SPEC: &str = "spec.json";
pub(crate) const ENV: &str = "env.json";
pub(crate) const STDIN: &str = "stdin";
pub(crate) const LOCK: &str = "lock";
pub(crate) const SHIM: &str = "shim.json";
pub(crate) const STOP: &str = "stop";
pub(crate) const BEAT: &str = "beat.json";
pub(crate) const SAID: &str = "said.json";
pub(crate) const EXIT: &str = "exit.json";

/// Bytes of a record that is read: more than any that crew writes. A step runs as the same user, and can put
/// anything in its place.
pub(crate) const LIMIT: u64 = 64 << 20;

/// Whether a write must survive a power cut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    /// A later reader on this boot sees it: enough for a file that is worthless after a reboot.
    Boot,
    /// File and directory are on disk when this returns.
    Disk,
}

/// Makes a directory that only its owner can enter; its parents too.
pub(crate) fn private_dir(path: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(Error::file("create", path))
}

/// A new or emptied file that only its owner can read.
pub(crate) fn private(path: &Path) -> Result<File> {
    regular(path, OpenOptions::new().write(true).create(true).truncate(true))
        .map_err(Error::file("create", path))
}

/// A file that is opened or made, its content kept.
pub(crate) fn kept(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    regular(path, &mut options).map_err(Error::file("open", path))
}

/// A file that is there, to be read.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    regular(path, OpenOptions::new().read(true))
}

/// Opens a regular file and nothing else, and never waits: a pipe would wait for the process at its other
/// end.
fn regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = options.mode(0o600).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other(NOT_REGULAR));
    }
    // A program that inherits the descriptor must not get EAGAIN from it.
    let left = rustix::fs::fcntl_getfl(&file)? - OFlags::NONBLOCK;
    rustix::fs::fcntl_setfl(&file, left)?;
    Ok(file)
}

const NOT_REGULAR: &str = "it is not a regular file";

/// Replaces `dir/name` as a whole: a reader sees the old or the new.
pub(crate) fn replace(dir: &Path, name: &str, value: &impl Serialize, sync: Sync) -> Result<()> {
    let path = dir.join(name);
    let temporary = dir.join(format!(".{name}.new"));
    let text = serde_json::to_vec(value).map_err(|source| Error::Damaged {
        path: path.clone(),
        source,
    })?;
    let written = private(&temporary)?;
    (|| {
        (&written).write_all(&text)?;
        if sync == Sync::Disk {
            written.sync_all()?;
        }
        fs::rename(&temporary, &path)?;
        if sync == Sync::Disk {
            File::open(dir)?.sync_all()?;
        }
        io::Result::Ok(())
    })()
    .map_err(Error::file("write", &path))
}

/// Reads `dir/name`; `None` when there is no such file.
pub(crate) fn read<T: DeserializeOwned>(dir: &Path, name: &str) -> Result<Option<T>> {
    let path = dir.join(name);
    let damaged = |source| Error::Damaged {
        path: path.clone(),
        source,
    };
    let file = match open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) if is_other(&path) => return Err(damaged(serde_json::Error::custom(NOT_REGULAR))),
        Err(error) => return Err(Error::file("read", &path)(error)),
    };
    let mut text = Vec::new();
    file.take(LIMIT + 1)
        .read_to_end(&mut text)
        .map_err(Error::file("read", &path))?;
    if text.len() as u64 > LIMIT {
        return Err(damaged(serde_json::Error::custom("it is larger than any record")));
    }
    serde_json::from_slice(&text).map(Some).map_err(damaged)
}

/// Whether something else than a regular file has this name: nothing that crew has made.
fn is_other(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| !meta.is_file())
}

/// Whether `dir/name` is there.
pub(crate) fn is_there(dir: &Path, name: &str) -> Result<bool> {
    let path = dir.join(name);
    path.try_exists().map_err(Error::file("look for", &path))
}
