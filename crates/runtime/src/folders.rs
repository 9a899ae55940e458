//! The folders in a folder.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The folders in a folder that are not hidden, by name: a hidden one is being made, or on its way away. None in one that is not
/// there.
///
/// # Errors
/// It cannot be read.
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
