//! The target branch against where it is expected: the commits that somebody but crew has put there, and
//! those that somebody has taken off.

use std::collections::BTreeSet;

use engine::{Expected, TargetMoved};
use git::{CommitInfo, Oid};
use model::moved::{Commit, MOST};

use crate::executor::Executor;
use crate::executor::perform::{git_oid, model_oid};

/// The number of commits that are looked at.
const EXAMINED: usize = 1000;
/// The most characters of a name and of a subject.
const COLUMNS: usize = 100;

impl Executor {
    /// How the target, which is at `to`, is not where it was expected; none where it is.
    pub(crate) fn target_moved(&self, expected: &Expected, to: &Oid) -> git::Result<Option<TargetMoved>> {
        let Some(seen) = &expected.seen else {
            return Ok(Some(TargetMoved {
                since: None,
                by_hand: Vec::new(),
                from_remote: Vec::new(),
                lost: Vec::new(),
            }));
        };
        if expected.landed.last().unwrap_or(seen).as_str() == to.as_str() {
            return Ok(None);
        }
        let repository = &self.repository;
        let known = std::iter::once(seen)
            .chain(&expected.landed)
            .map(git_oid)
            .collect::<git::Result<Vec<Oid>>>()?;
        let at_remote = match self.remote()? {
            Some(remote) => repository.known_at_remote(&remote, &self.target)?,
            None => None,
        };
        // Work may have landed at the remote, and the branch here not have followed yet.
        let mut lost = repository.not_in(to, &known)?;
        if let (Some(remote), false) = (&at_remote, lost.is_empty()) {
            lost = repository.not_in(remote, &Vec::from_iter(lost))?;
        }
        let new = repository.foreign_moves(&known, to, EXAMINED)?;
        let ids: Vec<Oid> = new.iter().map(|commit| commit.commit.clone()).collect();
        let made_here: BTreeSet<Oid> = match &at_remote {
            Some(remote) if !ids.is_empty() => repository.not_in(remote, &ids)?,
            Some(_) | None => ids.into_iter().collect(),
        };
        let (by_hand, from_remote): (Vec<&CommitInfo>, Vec<&CommitInfo>) =
            new.iter().partition(|commit| made_here.contains(&commit.commit));
        Ok(Some(TargetMoved {
            since: expected.seen.clone(),
            by_hand: by_hand.into_iter().filter_map(commit).collect(),
            from_remote: from_remote.into_iter().filter_map(commit).collect(),
            lost: lost
                .iter()
                .take(MOST)
                .filter_map(|oid| model_oid(oid).ok())
                .collect(),
        }))
    }
}

fn commit(of: &CommitInfo) -> Option<Commit> {
    let words = |text: &str| text::sanitise::fit(&text::sanitise::line(text), COLUMNS);
    Some(Commit {
        commit: model_oid(&of.commit).ok()?,
        author: words(&of.author),
        subject: words(&of.subject),
    })
}
