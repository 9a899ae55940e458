//! The set-up of a workspace: what is done in it before the first step, noted beside it.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, IoContext, Result};
use crate::files::openat;
use crate::repository::Repository;
use crate::types::paths::{fields, path_of};
use crate::workspace::{MADE, Workspace};

/// The note on how far the set-up is.
const NOTE: &str = "set-up";
const BEGUN: &str = "begun\n";
const DONE: &str = "done\n";
/// The patterns for the files that the set-up has made.
const EXCLUDES: &str = "excludes";
/// The most files of which that list is made.
const MADE_FILES: usize = 1000;
/// The most folders that are named where there are more.
const NAMED: usize = 3;
/// A folder is not named if it has less than this part of them.
const FEW: usize = 20;

/// How far the set-up of a workspace is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetUp {
    /// It was begun, and may have been broken off: no step was started in the workspace yet.
    Begun,
    /// It has ended well.
    Done,
}

impl Workspace {
    /// How far the set-up is; nothing where none was begun.
    #[must_use]
    pub fn set_up(&self) -> Option<SetUp> {
        match std::fs::read_to_string(self.beside().join(NOTE)).ok()?.as_str() {
            DONE => Some(SetUp::Done),
            _ => Some(SetUp::Begun),
        }
    }

    /// Notes that the set-up begins.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn begin_set_up(&self) -> Result<()> {
        crate::files::atomic_write::replace(&self.beside().join(NOTE), BEGUN.as_bytes())
    }

    /// The file with patterns for what the set-up has made, where there is one.
    pub(crate) fn set_up_excludes(&self) -> Option<PathBuf> {
        Some(self.beside().join(EXCLUDES)).filter(|file| file.exists())
    }
}

impl Repository {
    /// Notes that the set-up of a workspace has ended. Files that it has made are no work of the agent: they
    /// are ignored in this workspace from now on, whatever the repository's own rules become.
    ///
    /// # Errors
    /// [`Error::SetUpMade`] when those that no rule ignores are too many to be listed.
    pub fn finish_set_up(&self, workspace: &Workspace) -> Result<()> {
        let files = self.files_of(workspace.base())?;
        let list = |how: &[&str]| {
            self.call_for_files("ls-files", &files)
                .work_tree(&workspace.path())
                .throwaway_index(&workspace.index())
                .args(["--others", "--exclude-standard", "-z"])
                .args(how)
                .output_limit(512 << 20)
                .ok()
        };
        let (made, ignored) = (list(&[])?, list(&["--ignored", "--directory"])?);
        let mut made: Vec<&[u8]> = fields(&made).collect();
        if made.len() > MADE_FILES {
            let tops = list(&["--directory"])?;
            return Err(Error::SetUpMade {
                count: made.len(),
                most: MADE_FILES,
                folders: fullest(fields(&tops), &made),
            });
        }
        // What a rule of the repository ignores would be the agent's work once it takes the rule out.
        made.extend(fields(&ignored));
        if !made.is_empty() {
            let patterns: Vec<u8> = made.iter().flat_map(|path| pattern(path)).collect();
            crate::files::atomic_write::replace(&workspace.beside().join(EXCLUDES), &patterns)?;
            let root = workspace.open()?;
            let file = Path::new(".git/info/exclude");
            let mut own = openat::read(&root, file, 1 << 20)
                .ok()
                .flatten()
                .unwrap_or_default();
            own.extend(patterns);
            openat::replace(&root, file, &own).doing("write", workspace.path().join(file))?;
        }
        crate::files::atomic_write::replace(&workspace.beside().join(NOTE), DONE.as_bytes())
    }

    /// Deletes a workspace whose set-up has not ended: no agent has worked in it yet, so there is nothing to
    /// keep. Any other workspace stays as it is.
    ///
    /// No process of the set-up may be running.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn discard_half_set_up(&self, workspace: &Workspace) -> Result<()> {
        if workspace.set_up() != Some(SetUp::Begun) {
            return Ok(());
        }
        let _claim = workspace.claim()?;
        self.delete_or_part(workspace.root(), &workspace.path(), &workspace.name())?;
        for name in [MADE, EXCLUDES, NOTE] {
            crate::files::atomic_write::remove_if_there(&workspace.beside().join(name))?;
        }
        Ok(())
    }
}

/// The folders of `tops`, in which nothing is tracked, with the number of the files that were made in each:
/// the fullest first, and none that has few of them.
fn fullest<'a>(tops: impl Iterator<Item = &'a [u8]>, made: &[&[u8]]) -> Vec<(PathBuf, usize)> {
    let folders = tops.filter(|top| top.ends_with(b"/"));
    let mut counted: Vec<(&[u8], usize)> = folders
        .map(|top| (top, made.iter().filter(|path| path.starts_with(top)).count()))
        .filter(|(_, number)| number * FEW > made.len())
        .collect();
    counted.sort_by(|(a, more), (b, fewer)| (fewer, a).cmp(&(more, b)));
    let named = |(top, number): &(&[u8], usize)| {
        let folder = top.strip_suffix(b"/").unwrap_or(top);
        (path_of(folder).to_owned(), *number)
    };
    counted.iter().take(NAMED).map(named).collect()
}

/// The ignore pattern for exactly one file; none for a name that no pattern can hold.
fn pattern(path: &[u8]) -> Vec<u8> {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    if path.contains(&b'\n') {
        return Vec::new();
    }
    let mut pattern = vec![b'/'];
    for byte in path_of(path).as_os_str().as_bytes() {
        if b"\\*?[ ".contains(byte) {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
    pattern.push(b'\n');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_one_file_only() {
        assert_eq!(pattern(b"a/b.txt"), b"/a/b.txt\n");
        assert_eq!(pattern(b"!x*[y] \\"), b"/!x\\*\\[y]\\ \\\\\n");
        assert!(pattern(b"a\nb").is_empty());
    }
}
