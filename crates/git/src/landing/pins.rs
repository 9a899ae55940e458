//! Candidate pins: `refs/crew/candidate/<ticket>/<round>` keeps a candidate until it has landed.
//!
//! A candidate is a merge that no branch holds: without a ref, a garbage collection in the user's repository
//! deletes it.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::refs::kept_refs::CANDIDATES;
use crate::repository::Repository;
use crate::types::id::Id;
use crate::types::oid::Oid;

/// The folder of commits of the target that were named to an agent, each under its ticket.
const NAMED: &str = "refs/crew/named";

/// A ref that holds a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidatePin {
    /// The full ref name.
    pub name: String,
    /// The ticket.
    pub ticket: String,
    /// The candidate.
    pub commit: Oid,
}

impl Repository {
    /// Pins a candidate, and removes every other pin of its ticket. Safe to repeat after a kill at any point:
    /// the new pin is there before an old one goes.
    ///
    /// # Errors
    /// [`Error::RefBusy`], [`Error::Failed`]: the candidate may not be pinned.
    pub fn pin_candidate(&self, ticket: &Id, round: u32, commit: &Oid) -> Result<()> {
        let name = format!("{CANDIDATES}/{ticket}/{round}");
        self.pin(&name, commit, "crew: candidate")?;
        failpoint::hit("candidate.pinned");
        self.remove_pins(ticket, |pin| pin != name)
    }

    /// Removes every pin of a ticket's candidates. A ticket without one is no error.
    ///
    /// # Errors
    /// [`Error::RefBusy`], [`Error::Failed`]: repeat it.
    pub fn unpin_candidates(&self, ticket: &Id) -> Result<()> {
        self.remove_pins(ticket, |_| true)
    }

    /// Notes that a commit of the target was named to a ticket's agent, who may merge it. Without a reflog
    /// nothing else tells later that the target once held it.
    ///
    /// # Errors
    /// [`Error::RefBusy`], [`Error::Failed`].
    pub fn note_named(&self, ticket: &Id, commit: &Oid) -> Result<()> {
        self.pin(
            &format!("{NAMED}/{ticket}/{commit}"),
            commit,
            "crew: named to an agent",
        )
    }

    /// The commits that were named to a ticket's agent.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub(crate) fn named(&self, ticket: &Id) -> Result<Vec<Oid>> {
        let refs = self.refs_in_folder(&format!("{NAMED}/{ticket}/"))?;
        Ok(refs.into_iter().map(|(_, commit)| commit).collect())
    }

    /// Forgets which commits were named to a ticket's agent, once the ticket is over.
    ///
    /// # Errors
    /// [`Error::RefBusy`], [`Error::Failed`]: repeat it.
    pub fn forget_named(&self, ticket: &Id) -> Result<()> {
        for (name, commit) in self.refs_in_folder(&format!("{NAMED}/{ticket}/"))? {
            self.move_ref(&name, Some(&commit), None, "crew: the ticket is over")?;
        }
        Ok(())
    }

    /// Every pin of a candidate.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn candidate_pins(&self) -> Result<Vec<CandidatePin>> {
        let found = self.refs_under(&format!("{CANDIDATES}/"))?;
        let pin = |(name, commit): (String, Oid)| {
            let rest = name.strip_prefix(CANDIDATES)?.strip_prefix('/')?;
            let (ticket, _) = rest.split_once('/')?;
            let ticket = ticket.to_owned();
            Some(CandidatePin { name, ticket, commit })
        };
        Ok(found.into_iter().filter_map(pin).collect())
    }

    /// Deletes a candidate's pin if it is still at the commit that was seen.
    ///
    /// # Errors
    /// [`Error::RefMoved`], [`Error::RefBusy`].
    pub fn forget_candidate_pin(&self, pin: &CandidatePin) -> Result<()> {
        self.move_ref(
            &pin.name,
            Some(&pin.commit),
            None,
            "crew: candidate no longer needed",
        )
    }

    /// The first of a commit and its first parents that is no candidate: in the train, candidates stand on
    /// others, whose attributes agents have written.
    pub(crate) fn below_candidates(&self, commit: &Oid) -> Result<Oid> {
        let pins = self.refs_in_folder(&format!("{CANDIDATES}/"))?;
        let pinned: BTreeSet<Oid> = pins.into_iter().map(|(_, commit)| commit).collect();
        let mut below = commit.clone();
        while pinned.contains(&below) {
            let Some(parent) = self.first_parent(&below)? else {
                break;
            };
            below = parent;
        }
        Ok(below)
    }

    /// Checks that a candidate and its tree are still in the repository. A git of its own looks, because one
    /// that stays up may still have a pack open that is deleted.
    ///
    /// # Errors
    /// [`Error::CandidateGone`]; [`Error::Failed`] and the like.
    pub fn require_candidate(&self, commit: &Oid) -> Result<()> {
        let said = self
            .call("cat-file")
            .arg("--batch-check=%(objecttype)")
            .input(format!("{commit}\n{commit}^{{tree}}\n").as_bytes())?
            .ok()?;
        if said == b"commit\ntree\n" {
            return Ok(());
        }
        Err(Error::CandidateGone {
            commit: commit.clone(),
            path: self.root().to_owned(),
        })
    }

    fn remove_pins(&self, ticket: &Id, which: impl Fn(&str) -> bool) -> Result<()> {
        for (name, commit) in self.refs_in_folder(&format!("{CANDIDATES}/{ticket}/"))? {
            if which(&name) {
                self.move_ref(&name, Some(&commit), None, "crew: candidate no longer needed")?;
                failpoint::hit("candidate.unpinned");
            }
        }
        Ok(())
    }
}
