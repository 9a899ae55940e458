//! Landing: a candidate that passed becomes the target, here or at a remote.

use std::path::Path;
use std::sync::PoisonError;

use engine::Report;
use model::TicketId;
use model::ticket::{Batch, Candidate, InTheWay, Obstacle, Ticket};

use super::perform::{could_not, git_oid};
use crate::executor::Executor;
use crate::undeletable::shown;

impl Executor {
    pub(super) fn land(&self, ticket: &Ticket, candidate: &Candidate, batch: Option<&Batch>) -> Report {
        let moved = moved(candidate, batch);
        let landed = match self.remote() {
            Ok(Some(remote)) if self.settings.land.proposes().is_some() => {
                Ok(self.propose(ticket, candidate, &remote))
            }
            Ok(Some(remote)) => Ok(self.land_at_remote(ticket, &moved, batch, &remote)),
            Ok(None) => self.try_land(&moved),
            Err(error) => Err(error),
        };
        let landed = landed.and_then(|report| match (report, batch) {
            (Report::CheckoutEdited { paths }, Some(batch)) if batch.entries.len() > 1 => {
                Ok(Report::BatchInTheWay {
                    entry: self.first_blocked(batch, &paths)?,
                    paths,
                })
            }
            (report, _) => Ok(report),
        });
        match landed {
            Ok(report) => {
                if let Report::Landed { .. } = report {
                    self.unpin(&ticket.id);
                    let entries = batch.into_iter().flat_map(|batch| &batch.entries);
                    entries.for_each(|entry| self.unpin(&entry.ticket));
                }
                report
            }
            Err(git::Error::CandidateGone { .. }) if self.is_gone(candidate) => Report::TargetMoved,
            Err(error) => could_not(error),
        }
    }

    /// Leaves nothing of a landing that is not wanted any more in the checkouts of the user's.
    pub(super) fn end_landing(
        &self,
        ticket: &Ticket,
        candidate: &Candidate,
        batch: Option<&Batch>,
    ) -> Report {
        let candidate = &moved(candidate, batch);
        if let Some(report) = self.end_landing_at_remote(ticket, candidate, batch) {
            return report;
        }
        let ended = self
            .intent(candidate)
            .and_then(|intent| self.repository.end_landing(&intent));
        match ended {
            Ok(true) => Report::Landed {
                commit: candidate.commit.clone(),
            },
            Ok(false) => Report::NotLanded,
            Err(error) => could_not(error),
        }
    }

    pub(super) fn intent(&self, candidate: &Candidate) -> git::Result<git::Intent> {
        Ok(git::Intent {
            target: self.target.clone(),
            old: git_oid(&candidate.target)?,
            new: git_oid(&candidate.commit)?,
        })
    }

    /// Names what a checkout that followed the target has left as it was.
    pub(super) fn warn_of_left(&self, left: &[git::Blocked]) {
        for blocked in left {
            tracing::warn!(
                "{} moved on, and a checkout did not follow everywhere: {}",
                self.target.short(),
                shown(&blocked.to_string())
            );
        }
    }

    fn try_land(&self, candidate: &Candidate) -> git::Result<Report> {
        let _one_at_a_time = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match self.repository.land(&self.intent(candidate)?)? {
            git::Landing::Landed { left } => {
                self.warn_of_left(&left);
                Report::Landed {
                    commit: candidate.commit.clone(),
                }
            }
            git::Landing::TargetMoved { .. } => Report::TargetMoved,
            git::Landing::InTheWay(blocked) => Report::CheckoutEdited {
                paths: blocked.iter().map(|one| self.in_the_way(one)).collect(),
            },
        })
    }

    /// The first entry of a batch that changes a path which is in the way. Where the whole checkout is, that
    /// is the first entry of all.
    fn first_blocked(&self, batch: &Batch, blocked: &[InTheWay]) -> git::Result<TicketId> {
        let mut before = git_oid(&batch.base)?;
        for entry in &batch.entries {
            let commit = git_oid(&entry.commit)?;
            let changes = self.repository.changes(&before, &commit)?;
            let is_in_the_way = |path: &Path| {
                let mut paths = blocked.iter().map(|one| Path::new(&one.path));
                paths.any(|blocked| blocked.ends_with(path) || path.starts_with(blocked))
            };
            if changes.iter().any(|change| is_in_the_way(&change.path)) {
                return Ok(entry.ticket.clone());
            }
            before = commit;
        }
        Ok(batch.entries[0].ticket.clone())
    }

    pub(super) fn in_the_way(&self, blocked: &git::Blocked) -> InTheWay {
        let path = match &blocked.path {
            Some(path) if blocked.checkout == self.place.root => path.clone(),
            Some(path) => blocked.checkout.join(path),
            None => blocked.checkout.clone(),
        };
        InTheWay {
            path: path.to_string_lossy().into_owned(),
            what: obstacle(blocked.obstacle),
        }
    }
}

fn obstacle(seen: git::Obstacle) -> Obstacle {
    match seen {
        git::Obstacle::Edited => Obstacle::Edited,
        git::Obstacle::Staged => Obstacle::Staged,
        git::Obstacle::Unmerged => Obstacle::Unmerged,
        git::Obstacle::Untracked => Obstacle::Untracked,
        git::Obstacle::Ignored => Obstacle::Ignored,
        git::Obstacle::Hidden => Obstacle::Hidden,
        git::Obstacle::Submodule => Obstacle::Submodule,
        git::Obstacle::Unwritable => Obstacle::Unwritable,
        git::Obstacle::IndexLocked => Obstacle::IndexLocked,
        git::Obstacle::Git { command, process } => Obstacle::Git {
            command: command.to_owned(),
            process,
        },
        git::Obstacle::Operation(git::Operation::Merge) => Obstacle::Merge,
        git::Obstacle::Operation(git::Operation::Rebase) => Obstacle::Rebase,
        git::Obstacle::Operation(git::Operation::Am) => Obstacle::Am,
        git::Obstacle::Operation(git::Operation::CherryPick) => Obstacle::CherryPick,
        git::Obstacle::Operation(git::Operation::Revert) => Obstacle::Revert,
    }
}

/// The candidate as the one move of the target sees it: a batch begins where its first entry does.
fn moved(candidate: &Candidate, batch: Option<&Batch>) -> Candidate {
    let target = batch.map_or(&candidate.target, |batch| &batch.base);
    Candidate {
        target: target.clone(),
        ..candidate.clone()
    }
}
