//! Additions: the files in a check checkout that are not of its commit, made by set-up or by a check.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::error::{IoContext, Result};
use crate::types::paths::path_of;

/// Whether a set of paths has one in a folder.
pub(super) fn has_below(paths: &BTreeSet<Vec<u8>>, folder: &[u8]) -> bool {
    let inside = [folder, b"/"].concat();
    let mut from = paths.range::<[u8], _>((Bound::Included(&inside[..]), Bound::Unbounded));
    from.next().is_some_and(|path| path.starts_with(&inside))
}

/// Whether a folder is one of those to keep, which are named by their path from the root or, without a `/`,
/// by their name alone.
pub(super) fn is_kept(folder: &[u8], kept: &[String]) -> bool {
    let name = folder.rsplit(|byte| *byte == b'/').next().unwrap_or(folder);
    kept.iter().any(|kept| match kept.contains('/') {
        true => folder == kept.as_bytes(),
        false => name == kept.as_bytes(),
    })
}

/// Whether a file lies in a folder that is to be kept.
pub(super) fn is_in_kept(file: &[u8], kept: &[String]) -> bool {
    let ends = file.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    ends.map(|(end, _)| &file[..end])
        .any(|folder| is_kept(folder, kept))
}

/// Calls `visit` with every file and folder in `tree` that has nothing of `tracked`: with its path from the
/// root, and whether it is a folder. A folder's entries follow where `visit` gives true. Links are not
/// followed, and git's own folder is left out, as are folders that `tracked` has.
pub(super) fn walk(
    tree: &Path,
    tracked: &BTreeSet<Vec<u8>>,
    visit: &mut dyn FnMut(&[u8], bool) -> Result<bool>,
) -> Result<()> {
    // A check may nest folders deeper than calls can be nested.
    let mut open = vec![Vec::new()];
    while let Some(folder) = open.pop() {
        let at = tree.join(path_of(&folder));
        for entry in std::fs::read_dir(&at).doing("read", &at)? {
            let entry = entry.doing("read", &at)?;
            let name = entry.file_name();
            let path = match folder.is_empty() {
                true if name == ".git" => continue,
                true => name.as_bytes().to_vec(),
                false => [&folder[..], b"/", name.as_bytes()].concat(),
            };
            let is_folder = entry.file_type().doing("look at", entry.path())?.is_dir();
            let goes_on = match is_folder {
                true if tracked.contains(&path) => false,
                true => has_below(tracked, &path) || visit(&path, true)?,
                false if tracked.contains(&path) => false,
                false => visit(&path, false)?,
            };
            if is_folder && goes_on {
                open.push(path);
            }
        }
    }
    Ok(())
}

/// The additions of a tree: its files, and its folders without files.
pub(super) fn list(tree: &Path, tracked: &BTreeSet<Vec<u8>>) -> Result<BTreeSet<Vec<u8>>> {
    let mut found = BTreeSet::new();
    walk(tree, tracked, &mut |path, is_folder| {
        let at = tree.join(path_of(path));
        if !is_folder || std::fs::read_dir(&at).doing("read", &at)?.next().is_none() {
            found.insert(path.to_vec());
        }
        Ok(is_folder)
    })?;
    Ok(found)
}
