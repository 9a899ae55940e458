//! Differences of two trees.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::change::{Change, Entry, Mode};
use crate::types::oid::Oid;
use crate::types::paths::path_of;

/// A difference of more paths than this is not remembered.
const REMEMBERED_PATHS: usize = 1000;

impl Repository {
    /// The paths in which a commit differs from the one before it; none for a merge, which brings what others
    /// changed.
    ///
    /// # Errors
    /// [`Error::Failed`] when it does not exist.
    pub fn changes_of(&self, commit: &Oid) -> Result<Vec<Change>> {
        let is_merge = self.rev_parse(&format!("{commit}^2"))?.is_some();
        match self.first_parent(commit)?.filter(|_| !is_merge) {
            Some(before) => self.changes(&before, commit),
            None => Ok(Vec::new()),
        }
    }

    /// The paths in which two commits or trees differ, renames as deletion and addition, in git's order.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub fn changes(&self, old: &Oid, new: &Oid) -> Result<Vec<Change>> {
        if old == new {
            return Ok(Vec::new());
        }
        if let Some(known) = self.memories().changes.find(old, new) {
            return Ok(known);
        }
        if let Some(changes) = self.tree_changes(old, new) {
            self.remember_changes(old, new, &changes);
            return Ok(changes);
        }
        let said = self
            .call_without_attributes("diff-tree")
            .args([
                "-r",
                "-z",
                "--raw",
                "--no-abbrev",
                "--no-renames",
                "--no-ext-diff",
                "--no-textconv",
            ])
            .args(["--end-of-options", old.as_str(), new.as_str()])
            .output_limit(512 << 20)
            .ok()?;
        let changes = parse_raw(&said)?;
        self.remember_changes(old, new, &changes);
        Ok(changes)
    }

    /// The paths that these commits add, each with its commit: a later one may have taken them away again. A
    /// merge adds what none of its parents has.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub fn added(&self, commits: &[Oid]) -> Result<Vec<(Oid, PathBuf)>> {
        let lines: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
        let said = self
            .call_without_attributes("diff-tree")
            .args(["--stdin", "--root", "-r", "-c", "-z", "--raw", "--diff-filter=A"])
            .args(["--no-renames", "--no-ext-diff", "--no-textconv"])
            .input(lines.as_bytes())?
            .output_limit(512 << 20)
            .ok()?;
        let mut fields = said.split(|byte| *byte == 0).filter(|field| !field.is_empty());
        let mut added = Vec::new();
        let mut of = None;
        while let Some(field) = fields.next() {
            if !field.starts_with(b":") {
                of = Some(Oid::from_bytes(field)?);
                continue;
            }
            let (Some(commit), Some(path)) = (&of, fields.next()) else {
                return Err(Error::unreadable("diff-tree", String::from_utf8_lossy(field)));
            };
            added.push((commit.clone(), path_of(path).to_owned()));
        }
        Ok(added)
    }

    /// The change from one commit to another as a patch, for people.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist; a patch that is larger than 8 MiB.
    pub fn patch(&self, old: &Oid, new: &Oid) -> Result<Vec<u8>> {
        self.call_without_attributes("diff-tree")
            .args(["-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv"])
            .args(["--end-of-options", old.as_str(), new.as_str()])
            .output_limit(8 << 20)
            .ok()
    }

    /// The number of lines that the change from one commit to another adds and removes. Every file is read
    /// as text: nothing that an agent writes into a file or its attributes keeps its lines out of the count.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub fn lines_changed(&self, old: &Oid, new: &Oid) -> Result<u64> {
        let said = self
            .call_without_attributes("diff-tree")
            // Without it, git counts no lines of a file with a NUL byte, even with --text.
            .config("diff.default.binary=false")
            .args(["-r", "-z", "--numstat"])
            .args(["--no-renames", "--no-ext-diff", "--no-textconv"])
            .args(["--end-of-options", old.as_str(), new.as_str()])
            .output_limit(512 << 20)
            .ok()?;
        let bad = |what: &[u8]| Error::unreadable("diff-tree", String::from_utf8_lossy(what));
        let mut lines = 0_u64;
        for file in said.split(|byte| *byte == 0).filter(|file| !file.is_empty()) {
            for count in file.splitn(3, |byte| *byte == b'\t').take(2) {
                let count = std::str::from_utf8(count).ok();
                let count: Option<u64> = count.and_then(|count| count.parse().ok());
                lines = lines.saturating_add(count.ok_or_else(|| bad(file))?);
            }
        }
        Ok(lines)
    }

    /// Remembers a difference; also for another name of the same tree.
    pub(crate) fn remember_changes(&self, old: &Oid, new: &Oid, changes: &[Change]) {
        if changes.len() <= REMEMBERED_PATHS {
            self.memories().changes.keep(old, new, changes.to_vec());
        }
    }
}

pub(crate) fn parse_raw(output: &[u8]) -> Result<Vec<Change>> {
    let bad = |what: &[u8]| Error::unreadable("diff-tree", String::from_utf8_lossy(what));
    let mut fields = output.split(|byte| *byte == 0);
    let mut changes = Vec::new();
    while let Some(head) = fields.next().filter(|field| !field.is_empty()) {
        let path = fields.next().ok_or_else(|| bad(head))?;
        let parts: Vec<&[u8]> = head
            .strip_prefix(b":")
            .ok_or_else(|| bad(head))?
            .split(|byte| *byte == b' ')
            .collect();
        let [old_mode, new_mode, old, new, _status] = parts[..] else {
            return Err(bad(head));
        };
        let side = |mode: &[u8], oid: &[u8]| -> Result<Entry> {
            if mode == b"000000" {
                return Ok(None);
            }
            Ok(Some((
                Mode::parse(mode).ok_or_else(|| bad(head))?,
                Oid::from_bytes(oid)?,
            )))
        };
        changes.push(Change {
            path: path_of(path).to_owned(),
            old: side(old_mode, old)?,
            new: side(new_mode, new)?,
        });
    }
    Ok(changes)
}
