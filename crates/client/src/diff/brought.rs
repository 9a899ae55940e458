//! The commits that a change brings to the target, and what is in them alone.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use git::CommitInfo;

use super::{Diff, Of};
use crate::error::Result;

/// The most commits that are looked at.
const MOST: usize = 1000;
/// The most commits and files that are named in words.
const NAMED: usize = 5;

/// The commits that a change brings to the target: all of them land, with their messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brought {
    /// The commits, newest first, without crew's merge; at most 1,000.
    pub commits: Vec<CommitInfo>,
    /// The files that one of them wrote and that are neither in the result nor on the target: their content
    /// stays in the target's history.
    pub passing: Vec<PathBuf>,
}

impl Diff {
    /// The commits that the change brings to the target; none of work that is under way, or did not land.
    ///
    /// # Errors
    /// git fails.
    pub fn brought(&self) -> Result<Brought> {
        match self.of {
            Of::Branch | Of::Candidate | Of::Landed => {}
            Of::Workspace { .. } | Of::Kept { .. } => return Ok(Brought::default()),
        }
        let mut commits = self.repository.commits(&self.old, &self.new, MOST)?;
        if let Of::Candidate | Of::Landed = self.of {
            commits.retain(|commit| commit.commit != self.new);
        }
        // What a single commit writes is in the diff.
        if commits.len() < 2 {
            return Ok(Brought {
                commits,
                passing: Vec::new(),
            });
        }
        let ids: Vec<_> = commits.iter().map(|commit| commit.commit.clone()).collect();
        let mut passing: BTreeSet<PathBuf> = self
            .repository
            .written(&ids)?
            .into_iter()
            .map(|one| one.path)
            .collect();
        for change in self.repository.changes(&self.old, &self.new)? {
            passing.remove(&change.path);
        }
        // What is the same on both sides is there, or was there for a while.
        if !passing.is_empty() {
            for file in self.repository.tree_files(&self.new)? {
                passing.remove(std::path::Path::new(std::ffi::OsStr::from_bytes(&file.path)));
            }
        }
        Ok(Brought {
            commits,
            passing: passing.into_iter().collect(),
        })
    }
}

impl Brought {
    /// The commits in a line, and the files that are in them alone in another; none where a single commit
    /// shows all that it does in the diff. Not sanitised.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        if self.commits.len() < 2 {
            return Vec::new();
        }
        let named = self.commits.iter().take(NAMED);
        let named = named.map(|one| format!("{} {}", one.commit.short(), one.subject));
        let commits = text::counted(self.commits.len(), "commit");
        let mut lines = vec![format!(
            "{commits} of its own: {}",
            listed(&named.collect::<Vec<_>>(), self.commits.len())
        )];
        if !self.passing.is_empty() {
            let named = self.passing.iter().take(NAMED);
            let named = named.map(|path| path.to_string_lossy().into_owned());
            lines.push(format!(
                "written by one of them and gone in the end, but it stays in the history: {}",
                listed(&named.collect::<Vec<_>>(), self.passing.len())
            ));
        }
        lines
    }
}

/// Names, with the number of those that are not named.
fn listed(named: &[String], all: usize) -> String {
    match all - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
