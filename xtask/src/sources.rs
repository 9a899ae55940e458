//! The Rust files of a crate.

use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust file below a folder, in order.
pub(crate) fn below(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut sources = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?;
            let kind = entry
                .file_type()
                .map_err(|error| format!("{}: {error}", entry.path().display()))?;
            let path = entry.path();
            if kind.is_dir() && path.file_name().is_some_and(|name| name != "target") {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(path);
            }
        }
    }
    sources.sort();
    Ok(sources)
}
