//! Kept refs: `refs/crew/rescue/<ticket>/<n>` and `refs/crew/attempts/<ticket>/<n>` hold work that no branch
//! holds.

use std::time::SystemTime;

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::id::Id;
use crate::types::oid::Oid;
use crate::types::unsaved::{NestedWork, Unsaved};

/// The folder of the refs that hold candidates, each under its ticket and round.
pub(crate) const CANDIDATES: &str = "refs/crew/candidate";

/// Why a commit is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeptKind {
    /// An earlier attempt's tip: the next attempt may start from it.
    Attempt,
    /// Work that would have been lost.
    Rescue,
}

/// A kept commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The reason for which the commit is kept.
    pub kind: KeptKind,
    /// The ticket.
    pub ticket: String,
    /// The number among the kept commits of this ticket and kind, from 1.
    pub number: u32,
    /// The full ref name.
    pub name: String,
    /// The commit.
    pub commit: Oid,
}

/// A ref that holds the base of an attempt's workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The full ref name.
    pub name: String,
    /// The ticket.
    pub ticket: String,
    /// The attempt's number; `None` if the name ends in something else.
    pub attempt: Option<u32>,
    /// The base.
    pub commit: Oid,
}

/// The result of [`Repository::rescue`]: what was kept, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rescued {
    /// Refs that were made by this call.
    pub kept: Vec<Kept>,
    /// The ref that keeps the workspace's HEAD with the files that were not committed; none where the branch
    /// has them.
    pub tip: Option<String>,
    /// The repositories inside the workspace.
    pub nested: Vec<NestedWork>,
    /// Those of them that are of worktrees which the agent made in its workspace.
    pub worktrees: Vec<NestedWork>,
    /// The commits that were made in repositories below ignored folders of the workspace.
    pub hidden: Vec<NestedWork>,
    /// Paths whose content could not be saved.
    pub unsaved: Vec<Unsaved>,
}

impl KeptKind {
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Attempt => "refs/crew/attempts",
            Self::Rescue => "refs/crew/rescue",
        }
    }
}

impl Repository {
    /// Keeps a commit as an attempt's tip; one that is kept so already is not kept twice.
    ///
    /// # Errors
    /// [`Error::RefBusy`], [`Error::Failed`].
    pub fn keep_attempt(&self, ticket: &Id, tip: &Oid) -> Result<Kept> {
        self.keep(KeptKind::Attempt, ticket, tip)
    }

    /// Keeps a commit as a rescue; one that is kept so already is not kept twice.
    ///
    /// # Errors
    /// [`Error::RefBusy`], [`Error::Failed`].
    pub(crate) fn keep_rescue(&self, ticket: &Id, tip: &Oid) -> Result<Kept> {
        self.keep(KeptKind::Rescue, ticket, tip)
    }

    /// All that is kept for one ticket, or for all tickets, by kind, ticket and number.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn kept(&self, ticket: Option<&Id>) -> Result<Vec<Kept>> {
        let mut found = Vec::new();
        for kind in [KeptKind::Attempt, KeptKind::Rescue] {
            let prefix = match ticket {
                Some(ticket) => format!("{}/{ticket}/", kind.folder()),
                None => format!("{}/", kind.folder()),
            };
            for (name, commit) in self.refs_under(&prefix)? {
                let Some(rest) = name
                    .strip_prefix(kind.folder())
                    .and_then(|rest| rest.strip_prefix('/'))
                else {
                    continue;
                };
                let Some((ticket, number)) = rest.split_once('/') else {
                    continue;
                };
                let Ok(number) = number.parse() else { continue };
                found.push(Kept {
                    kind,
                    ticket: ticket.to_owned(),
                    number,
                    name: name.clone(),
                    commit,
                });
            }
        }
        found.sort_by(|a, b| (a.kind, &a.ticket, a.number).cmp(&(b.kind, &b.ticket, b.number)));
        Ok(found)
    }

    /// The time at which a kept ref was last written, by its file; `None` if git has packed the ref since.
    #[must_use]
    pub fn kept_at(&self, kept: &Kept) -> Option<SystemTime> {
        let file = self.common_dir().join(&kept.name);
        file.metadata().and_then(|file| file.modified()).ok()
    }

    /// The pins of workspaces' bases.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn pins(&self) -> Result<Vec<Pin>> {
        let found = self.refs_under("refs/crew/base/")?;
        Ok(found
            .into_iter()
            .filter_map(|(name, commit)| {
                let (ticket, attempt) = name.strip_prefix("refs/crew/base/")?.split_once('/')?;
                Some(Pin {
                    ticket: ticket.to_owned(),
                    attempt: attempt.parse().ok(),
                    name: name.clone(),
                    commit,
                })
            })
            .collect())
    }

    /// Deletes a pin if it is still at the commit that was seen.
    ///
    /// # Errors
    /// [`Error::RefMoved`], [`Error::RefBusy`].
    pub fn forget_pin(&self, pin: &Pin) -> Result<()> {
        self.move_ref(&pin.name, Some(&pin.commit), None, "crew: base no longer needed")
    }

    /// Deletes a kept ref if it is still at the commit that was seen.
    ///
    /// # Errors
    /// [`Error::RefMoved`], [`Error::RefBusy`].
    pub fn forget(&self, kept: &Kept) -> Result<()> {
        self.move_ref(&kept.name, Some(&kept.commit), None, "crew: no longer kept")
    }

    fn keep(&self, kind: KeptKind, ticket: &Id, tip: &Oid) -> Result<Kept> {
        let kept = |name: String, number| Kept {
            kind,
            ticket: ticket.to_string(),
            number,
            name,
            commit: tip.clone(),
        };
        loop {
            let existing: Vec<Kept> = self
                .kept(Some(ticket))?
                .into_iter()
                .filter(|one| one.kind == kind)
                .collect();
            if let Some(same) = existing.iter().find(|one| one.commit == *tip) {
                return Ok(same.clone());
            }
            let number = existing.iter().map(|one| one.number).max().unwrap_or(0) + 1;
            let name = format!("{}/{ticket}/{number}", kind.folder());
            match self.move_ref(&name, None, Some(tip), "crew: kept") {
                Ok(()) => {
                    failpoint::hit("keep.kept");
                    return Ok(kept(name, number));
                }
                // Another process took this number meanwhile.
                Err(Error::RefMoved { .. }) => {}
                Err(other) => return Err(other),
            }
        }
    }
}
