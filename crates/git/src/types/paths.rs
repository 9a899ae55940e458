//! Paths in the output and the input of git.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::types::quote;

/// A path of any bytes.
pub(crate) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The entries of a list in which a NUL ends each.
pub(crate) fn fields(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|field| !field.is_empty())
}

/// Paths as input for `--stdin-paths`, which reads lines.
pub(crate) fn lines_of<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Vec<u8> {
    let mut lines = Vec::new();
    for path in paths {
        lines.extend(quote::c_style(path));
        lines.push(b'\n');
    }
    lines
}
