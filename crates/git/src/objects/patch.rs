//! Changes as people read them: patches, and the counts of each file.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::oid::Oid;
use crate::types::paths::path_of;

/// The largest patch that is shown, in bytes.
const PATCH_BYTES: u64 = 64 << 20;

/// One file of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the repository's root; any bytes but NUL. The new path, where it was moved.
    pub path: PathBuf,
    /// The path that it was moved from.
    pub moved_from: Option<PathBuf>,
    /// What became of it.
    pub kind: FileChangeKind,
    /// Its modes before and after, such as `100644` and `100755`; none where it has the same one, or is new
    /// or gone.
    pub modes: Option<(String, String)>,
    /// Lines that are added and removed; none of a binary file.
    pub lines: Option<(u64, u64)>,
    /// True if it is a submodule, before or after.
    pub is_submodule: bool,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// Its content or its mode is another one.
    Modified,
    /// It is at another path.
    Renamed,
    /// It is of another type: a link in place of a file, for example.
    Type,
}

/// The form of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchForm {
    /// For reading: of a binary file only that it differs.
    Read,
    /// For `git apply`: with the content of binary files.
    Apply,
}

/// The arguments of every such call. Nothing that an agent writes chooses a program: attributes are not read,
/// and neither external diffs nor text conversions run.
const SAFE: [&str; 4] = ["-r", "--no-ext-diff", "--no-textconv", "--find-renames"];

impl Repository {
    /// The change from one commit or tree to another as a patch.
    ///
    /// # Errors
    /// [`Error::OutputTooLarge`] where it is larger than 64 MiB; [`Error::Failed`] when one of them does not
    /// exist.
    pub fn patch_for_people(&self, old: &Oid, new: &Oid, form: PatchForm) -> Result<Vec<u8>> {
        let form: &[&str] = match form {
            PatchForm::Read => &["--submodule=short"],
            PatchForm::Apply => &["--binary", "--full-index", "--submodule=short"],
        };
        self.call_without_attributes("diff-tree")
            .args(SAFE)
            .arg("--patch")
            .args(form)
            .args(["--end-of-options", old.as_str(), new.as_str()])
            .output_limit(PATCH_BYTES)
            .ok()
    }

    /// The files in which two commits or trees differ, in git's order.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub fn files_changed(&self, old: &Oid, new: &Oid) -> Result<Vec<FileChange>> {
        let said = self
            .call_without_attributes("diff-tree")
            .args(SAFE)
            .args(["-z", "--raw", "--numstat"])
            .args(["--end-of-options", old.as_str(), new.as_str()])
            .output_limit(512 << 20)
            .ok()?;
        read(&said)
    }
}

/// Reads `--raw --numstat -z`: all files in the one form, then all of them in the other.
fn read(output: &[u8]) -> Result<Vec<FileChange>> {
    let bad = |what: &[u8]| Error::unreadable("diff-tree", String::from_utf8_lossy(what));
    let mut fields = output.split(|byte| *byte == 0).peekable();
    let mut files = Vec::new();
    while let Some(head) = fields.next_if(|field| field.starts_with(b":")) {
        let mut parts = head[1..].split(|byte| *byte == b' ');
        let modes = [parts.next(), parts.next()];
        let letter = parts.nth(2).and_then(|status| status.first());
        let kind = match letter {
            Some(b'A') => FileChangeKind::Added,
            Some(b'D') => FileChangeKind::Deleted,
            Some(b'R') => FileChangeKind::Renamed,
            Some(b'T') => FileChangeKind::Type,
            Some(b'M') => FileChangeKind::Modified,
            Some(_) | None => return Err(bad(head)),
        };
        let first = fields.next().ok_or_else(|| bad(head))?;
        let (path, moved_from) = match kind {
            FileChangeKind::Renamed => (fields.next().ok_or_else(|| bad(head))?, Some(first)),
            FileChangeKind::Added
            | FileChangeKind::Deleted
            | FileChangeKind::Modified
            | FileChangeKind::Type => (first, None),
        };
        files.push(FileChange {
            path: path_of(path).to_owned(),
            moved_from: moved_from.map(|path| path_of(path).to_owned()),
            kind,
            modes: changed(modes),
            lines: None,
            is_submodule: modes.contains(&Some(b"160000")),
        });
    }
    let mut of = files.iter_mut();
    while let Some(counts) = fields.next().filter(|field| !field.is_empty()) {
        let mut parts = counts.splitn(3, |byte| *byte == b'\t');
        let mut number = || {
            let part = std::str::from_utf8(parts.next()?).ok()?;
            Some(part.parse::<u64>().ok())
        };
        let (added, removed) = (number(), number());
        let (Some(added), Some(removed), Some(path)) = (added, removed, parts.next()) else {
            return Err(bad(counts));
        };
        // Both paths of one that was moved stand behind it.
        if path.is_empty() {
            fields.nth(1).ok_or_else(|| bad(counts))?;
        }
        of.next().ok_or_else(|| bad(counts))?.lines = added.zip(removed);
    }
    match of.next() {
        None => Ok(files),
        Some(_) => Err(bad(output)),
    }
}

/// Both modes of a file that has another one now.
fn changed([old, new]: [Option<&[u8]>; 2]) -> Option<(String, String)> {
    let (old, new) = old.zip(new)?;
    let is_there = |mode: &[u8]| mode.iter().any(|digit| *digit != b'0');
    let text = |mode: &[u8]| String::from_utf8_lossy(mode).into_owned();
    (old != new && is_there(old) && is_there(new)).then(|| (text(old), text(new)))
}
