//! Files of a run's directory: private, and never half there.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

pub(crate) const SPEC: &str = "spec.json";
pub(crate) const ENV: &str = "env.json";
pub(crate) const STDIN: &str = "stdin";
pub(crate) const LOCK: &str = "lock";
pub(crate) const SHIM: &str = "shim.json";
pub(crate) const STOP: &str = "stop";
pub(crate) const BEAT: &str = "beat.json";
pub(crate) const EXIT: &str = "exit.json";

/// Whether a write must survive a power cut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    /// A later reader on this boot sees it: enough for what is worthless after a reboot.
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
    options()
        .create(true)
        .truncate(true)
        .open(path)
        .map_err(Error::file("create", path))
}

/// A file that is opened or made, its content kept.
pub(crate) fn kept(path: &Path) -> Result<File> {
    options()
        .read(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(Error::file("open", path))
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

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

/// What `dir/name` holds; `None` when there is no such file.
pub(crate) fn read<T: DeserializeOwned>(dir: &Path, name: &str) -> Result<Option<T>> {
    let path = dir.join(name);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::file("read", &path)(error)),
    };
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|source| Error::Damaged { path, source })
}

/// Whether `dir/name` is there.
pub(crate) fn is_there(dir: &Path, name: &str) -> Result<bool> {
    let path = dir.join(name);
    path.try_exists().map_err(Error::file("look for", &path))
}
