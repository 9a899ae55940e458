//! The end of an attempt's workspace: what it holds is kept first.

use engine::Report;
use git::Workspace;
use model::AgentName;
use model::attempt::Shared;
use model::ticket::{KeptWork, Ticket};

use super::perform::could_not;
use crate::Error;
use crate::executor::Executor;
use crate::undeletable::shown;

impl Executor {
    /// Keeps the attempt's tip for the next one, then removes workspace and branch.
    pub(super) fn keep_work(&self, ticket: &Ticket, agent: &AgentName, number: u32) -> Report {
        self.end_workspace(ticket, agent, number, |workspace| {
            let Some(workspace) = workspace else {
                return Ok(self.last_attempt(ticket)?);
            };
            let made_for = Shared {
                of: ticket.id.clone(),
                agent: agent.clone(),
                number,
            };
            let saved = workspace.exists().then(|| {
                self.give_up_turns(&made_for, workspace, &ticket.id)?;
                Ok(self.save(&ticket.id, workspace)?)
            });
            let tip = match saved {
                Some(Ok(saved)) => Some(saved.imported.tip),
                // A person looks at the branch, which is left where it is.
                Some(Err(Error::Git(git::Error::BranchInUse { .. }))) => {
                    match self.repository.work_as_it_is(workspace) {
                        Err(git::Error::Unsaved { .. }) => self.repository.branch_tip(&workspace.branch())?,
                        work => Some(work?),
                    }
                }
                // Work that may not land may be kept: `remove` rescues it from the workspace as it is.
                Some(Err(Error::Git(git::Error::Refused { .. }))) | None => {
                    self.repository.branch_tip(&workspace.branch())?
                }
                Some(Err(error)) => return Err(error),
            };
            let Some(tip) = tip.filter(|tip| tip != workspace.base()) else {
                return Ok(None);
            };
            let reference = self.repository.keep_attempt(workspace.ticket(), &tip)?.name;
            // An attempt that added nothing ends where the one before it did.
            Ok(Some(KeptWork::Attempt { reference }).filter(|work| !ticket.kept.contains(work)))
        })
    }

    /// The work has landed.
    pub(super) fn remove_workspace(&self, ticket: &Ticket, agent: &AgentName, number: u32) -> Report {
        // The settings may have landed it without the pull request that it had.
        if ticket.pull_request.is_some() {
            self.forget_proposal(ticket);
        }
        self.end_workspace(ticket, agent, number, |_| Ok(None))
    }

    fn end_workspace(
        &self,
        ticket: &Ticket,
        agent: &AgentName,
        number: u32,
        keep: impl FnOnce(Option<&Workspace>) -> crate::Result<Option<KeptWork>>,
    ) -> Report {
        if let Err(error) = self.discard_half_set_up(ticket, agent, number) {
            return could_not(error);
        }
        let workspace = self.workspace(ticket, agent, number).map_err(Error::from);
        let ended = workspace.and_then(|workspace| {
            // Without its pin there never was a workspace, or all of this was done before: perhaps by a git
            // that was killed.
            let Some(workspace) = workspace else {
                let (agent, ticket) = (
                    git::Id::parse(agent.as_str())?,
                    git::Id::parse(ticket.id.as_str())?,
                );
                self.repository.forget_locks(&agent, &ticket, number)?;
                return Ok(keep(None)?.into_iter().collect());
            };
            let stands = workspace.exists();
            let mut kept: Vec<KeptWork> = keep(Some(&workspace))?.into_iter().collect();
            kept.extend(match self.repository.remove(&workspace) {
                Ok(rescued) if stands => kept_work(rescued),
                // An engine that was killed removed it, and could not say what it had kept.
                Ok(_) => self.unknown_rescues(ticket, &workspace)?,
                // In its place it would be in the way of the next attempt.
                Err(git::Error::Unsaved { left, .. }) => {
                    let aside = self.repository.archive_workspace(&workspace)?;
                    let left: Vec<_> = left
                        .iter()
                        .map(|one| shown(&one.path.to_string_lossy()))
                        .collect();
                    tracing::warn!(
                        "{}: git cannot save {} of its workspace, which is set aside",
                        ticket.id,
                        left.join(", ")
                    );
                    let path = shown(&aside.to_string_lossy());
                    vec![KeptWork::Folder { path }]
                }
                Err(error) => return Err(error.into()),
            });
            // A target that somebody deleted keeps nothing, and nothing waits for it here.
            let target = self.repository.branch_tip(&self.target)?;
            self.repository.forget_workspace(&workspace, target.as_ref())?;
            if ticket.is_done() {
                self.repository.forget_named(workspace.ticket())?;
                self.repository.forget_pushing(workspace.ticket())?;
            }
            Ok(kept)
        });
        if ticket.candidate().is_none() {
            self.unpin(&ticket.id);
        }
        self.tell_undeletable();
        match ended {
            Ok(work) if work.is_empty() => Report::Done,
            Ok(work) => Report::WorkKept { work },
            Err(error) => could_not(error),
        }
    }

    /// The last commit that is kept of the ticket's attempts, where its record does not know of it and the
    /// target does not have it: an engine that was killed could not say that it had kept it.
    pub(super) fn last_attempt(&self, ticket: &Ticket) -> git::Result<Option<KeptWork>> {
        let kept = self.repository.kept(Some(&git::Id::parse(ticket.id.as_str())?))?;
        let mut latest_first = kept.into_iter().rev();
        let Some(last) = latest_first.find(|one| one.kind == git::KeptKind::Attempt) else {
            return Ok(None);
        };
        let has_landed = match self.repository.branch_tip(&self.target)? {
            Some(target) => self.repository.is_ancestor(&last.commit, &target)?,
            None => false,
        };
        let work = KeptWork::Attempt { reference: last.name };
        Ok(Some(work).filter(|work| !has_landed && !ticket.kept.contains(work)))
    }

    /// The refs of the ticket's rescued work of which its record does not know.
    fn unknown_rescues(&self, ticket: &Ticket, workspace: &Workspace) -> git::Result<Vec<KeptWork>> {
        let kept = self.repository.kept(Some(workspace.ticket()))?.into_iter();
        let rescues = kept.filter(|one| one.kind == git::KeptKind::Rescue);
        let unknown = rescues.filter(|one| ticket.kept.iter().all(|known| known.place() != one.name));
        let work = unknown.map(|one| KeptWork::Workspace { reference: one.name });
        Ok(work.collect())
    }
}

/// The work that is kept of a workspace that was removed.
fn kept_work(rescued: git::Rescued) -> Vec<KeptWork> {
    let of_tip = rescued.tip.map(|reference| KeptWork::Workspace { reference });
    let inside = rescued
        .nested
        .into_iter()
        .chain(rescued.worktrees)
        .chain(rescued.hidden);
    let inside = inside.map(|one| KeptWork::Nested {
        folder: shown(&one.path.to_string_lossy()),
        reference: one.kept,
    });
    of_tip.into_iter().chain(inside).collect()
}
