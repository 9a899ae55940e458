//! The folders in a folder, and how one is made.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// The folders in a folder that are not hidden, by name: a hidden folder is being made, or is being removed.
/// None in a folder that is not there.
///
/// # Errors
/// The folder cannot be read.
pub fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?.collect::<Result<Vec<_>, _>>()?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !is_hidden && entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Makes a folder that only its owner can enter, with its parents, so that the folder is there also after a
/// power cut.
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    for parent in missing.iter().filter_map(|made| made.parent()) {
        File::open(parent)?.sync_all()?;
    }
    Ok(())
}
