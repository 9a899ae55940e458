//! The folder of pairing codes and devices: for its owner only, and changed by one process at a time.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use client::error::Doing as _;
use rustix::fs::FlockOperation;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The mode of the folder.
const FOLDER: u32 = 0o700;
/// The mode of its files.
const FILE: u32 = 0o600;

/// The folder of an environment: `$XDG_STATE_HOME/crew/web`, and without that variable below the home.
///
/// # Errors
/// Neither variable has an absolute path.
pub fn state_dir(env: &BTreeMap<String, String>) -> client::Result<PathBuf> {
    let path = |name: &str| {
        let path = env.get(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let state = path("XDG_STATE_HOME").or_else(|| Some(path("HOME")?.join(".local/state")));
    let state = state.ok_or_else(|| {
        client::Error::refused(
            "there is no folder for the devices of the web page: neither XDG_STATE_HOME nor HOME has an absolute path",
            "set HOME to your home folder",
        )
    })?;
    Ok(state.join("crew/web"))
}

/// Makes the folder, where it is missing, and takes it from everybody else.
///
/// # Errors
/// The file system refuses.
pub(crate) fn make(dir: &Path) -> client::Result<()> {
    let made = fs::DirBuilder::new().recursive(true).mode(FOLDER).create(dir);
    made.doing("make", dir)?;
    let mode = fs::metadata(dir).doing("read", dir)?.permissions().mode();
    if mode & 0o777 != FOLDER {
        fs::set_permissions(dir, Permissions::from_mode(FOLDER)).doing("take from others", dir)?;
    }
    Ok(())
}

/// A file of the folder that only the owner can read, opened to be locked.
///
/// # Errors
/// The file system refuses.
pub(crate) fn open(path: &Path) -> client::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.mode(FILE).open(path).doing("open", path)
}

/// The content of a file; none where it is missing.
///
/// # Errors
/// The file cannot be read, or has something else in it.
pub(crate) fn read<T: DeserializeOwned + Default>(path: &Path) -> client::Result<T> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(error).doing("read", path),
    };
    serde_json::from_slice(&bytes).map_err(|error| {
        client::Error::refused(
            format!("{} cannot be read: {error}", path.display()),
            "remove the file, and pair your devices again",
        )
    })
}

/// Changes a file of the folder, while no other process does. The file is replaced as a whole: a reader has
/// the old content or the new one.
///
/// # Errors
/// As [`read`], and those of `change`, after which the file is as it was.
pub(crate) fn change<T, R>(path: &Path, change: impl FnOnce(&mut T) -> client::Result<R>) -> client::Result<R>
where
    T: DeserializeOwned + Default + Serialize + PartialEq + Clone,
{
    let dir = path.parent().unwrap_or(path);
    make(dir)?;
    let lock = open(&dir.join("lock"))?;
    rustix::fs::flock(&lock, FlockOperation::LockExclusive)
        .map_err(io::Error::from)
        .doing("lock", dir)?;
    let before: T = read(path)?;
    let mut after = before.clone();
    let result = change(&mut after)?;
    if after != before {
        write(path, &after)?;
    }
    Ok(result)
}

fn write<T: Serialize>(path: &Path, content: &T) -> client::Result<()> {
    let temporary = path.with_extension("tmp");
    // One that a killed process has left.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).doing("remove", &temporary)?,
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(FILE).open(&temporary);
    let mut file = file.doing("make", &temporary)?;
    let bytes = serde_json::to_vec_pretty(content).map_err(io::Error::from);
    let written = bytes.and_then(|bytes| {
        file.write_all(&bytes)?;
        file.sync_all()
    });
    written.doing("write", &temporary)?;
    fs::rename(&temporary, path).doing("replace", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_follows_the_environment_and_nobody_else_reads_its_files() {
        let env = |pairs: &[(&str, &str)]| {
            let pairs = pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            state_dir(&pairs.collect())
        };
        assert_eq!(
            env(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]).unwrap(),
            Path::new("/s/crew/web")
        );
        assert_eq!(
            env(&[("XDG_STATE_HOME", "s"), ("HOME", "/h")]).unwrap(),
            Path::new("/h/.local/state/crew/web")
        );
        env(&[("HOME", "")]).unwrap_err();

        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("crew/web");
        fs::create_dir_all(&dir).unwrap();
        fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
        change(&dir.join("file"), |lines: &mut Vec<String>| {
            lines.push("one".to_owned());
            Ok(())
        })
        .unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&dir.join("file"))), (FOLDER, FILE));
        assert_eq!(read::<Vec<String>>(&dir.join("file")).unwrap(), ["one"]);
    }
}
