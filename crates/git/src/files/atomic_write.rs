//! Atomic writes: files of crew's own, replaced as a whole.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::{Error, IoContext, Result};

/// Replaces a file's content by one rename, after the new content is durable; makes the folder if need be.
/// Only for folders that no agent can write.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder).doing("make the folder", folder)?;
    let file = temporary_file(folder, ".crew-")?;
    if let Ok(old) = path.metadata() {
        file.as_file()
            .set_permissions(old.permissions())
            .doing("write", path)?;
    } else {
        use std::os::unix::fs::PermissionsExt;
        file.as_file()
            .set_permissions(std::fs::Permissions::from_mode(0o644))
            .doing("write", path)?;
    }
    file.as_file()
        .write_all(content)
        .and_then(|()| file.as_file().sync_all())
        .doing("write", path)?;
    file.persist(path)
        .map_err(|error| Error::io("write", path, error.error))?;
    Ok(())
}

/// Makes a file under a temporary name. Errors name the folder only: with another file name in it each time,
/// the same failure would look like a new one.
pub(crate) fn temporary_file(folder: &Path, prefix: &str) -> Result<NamedTempFile<File>> {
    let mut flags = File::options();
    flags.write(true).create_new(true).mode(0o600);
    tempfile::Builder::new()
        .prefix(prefix)
        .make_in(folder, |path| flags.open(path))
        .doing("write in", folder)
}

/// Removes a file; one that does not exist is no error.
pub(crate) fn remove_if_there(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path, error)),
        _ => Ok(()),
    }
}
