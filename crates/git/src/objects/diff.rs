//! Differences of two trees.

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::change::{Change, Entry, Mode, Written};
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

    /// The files that these commits write, each with its commit: a later one may have taken them away again.
    /// A merge writes what it has from none of its parents.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub fn written(&self, commits: &[Oid]) -> Result<Vec<Written>> {
        let lines: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
        let said = self
            .call_without_attributes("diff-tree")
            .args(["--stdin", "--root", "-r", "-c", "-z", "--raw", "--no-abbrev"])
            .args([
                "--diff-filter=AMT",
                "--no-renames",
                "--no-ext-diff",
                "--no-textconv",
            ])
            .input(lines.as_bytes())?
            .output_limit(512 << 20)
            .ok()?;
        let bad = |what: &[u8]| Error::unreadable("diff-tree", String::from_utf8_lossy(what));
        let mut fields = said.split(|byte| *byte == 0).filter(|field| !field.is_empty());
        let mut written = Vec::new();
        let mut of = None;
        while let Some(field) = fields.next() {
            if !field.starts_with(b":") {
                of = Some(Oid::from_bytes(field)?);
                continue;
            }
            let (Some(commit), Some(path)) = (&of, fields.next()) else {
                return Err(bad(field));
            };
            let (new, old) = sides(field).ok_or_else(|| bad(field))?;
            let Some((mode, blob)) = new? else { continue };
            if mode == Mode::File || mode == Mode::Executable {
                written.push(Written {
                    commit: commit.clone(),
                    path: path_of(path).to_owned(),
                    old: old.into_iter().flatten().collect(),
                    blob,
                });
            }
        }
        Ok(written)
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

/// The new side of a line of `--raw`, and the blobs of each parent's. A merge has as many colons as parents.
fn sides(head: &[u8]) -> Option<(Result<Entry>, Vec<Option<Oid>>)> {
    let parents = head.iter().take_while(|byte| **byte == b':').count();
    let parts: Vec<&[u8]> = head.get(parents..)?.split(|byte| *byte == b' ').collect();
    let (modes, rest) = parts.split_at_checked(parents + 1)?;
    let blobs = rest.get(..=parents)?;
    let old = modes.iter().zip(blobs).take(parents);
    let old = old.map(|(mode, oid)| match *mode {
        b"100644" | b"100664" | b"100755" => Oid::from_bytes(oid).ok(),
        _ => None,
    });
    let (mode, oid) = (*modes.last()?, *blobs.last()?);
    let new = match mode {
        b"000000" => Ok(None),
        mode => match Mode::parse(mode) {
            Some(mode) => Oid::from_bytes(oid).map(|oid| Some((mode, oid))),
            None => return None,
        },
    };
    Some((new, old.collect()))
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
