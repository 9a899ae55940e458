//! The end of an attempt's workspace: what it holds is kept first.

use engine::Report;
use git::Workspace;
use model::AgentName;
use model::ticket::Ticket;

use super::perform::could_not;
use crate::executor::Executor;
use crate::undeletable::shown;

impl Executor {
    /// Keeps the attempt's tip for the next one, then removes workspace and branch.
    pub(super) fn keep_work(&self, ticket: &Ticket, agent: &AgentName, number: u32) -> Report {
        self.end_workspace(ticket, agent, number, |workspace| {
            let tip = match workspace.exists().then(|| self.save(ticket, workspace)) {
                Some(Ok(saved)) => Some(saved.imported.tip),
                // Work that may not land may be kept: `remove` rescues it from the workspace as it is.
                Some(Err(git::Error::Refused { .. })) | None => {
                    self.repository.branch_tip(&workspace.branch())?
                }
                Some(Err(error)) => return Err(error),
            };
            if let Some(tip) = tip
                && tip != *workspace.base()
            {
                self.repository.keep_attempt(workspace.ticket(), &tip)?;
            }
            Ok(())
        })
    }

    /// The work has landed.
    pub(super) fn remove_workspace(&self, ticket: &Ticket, agent: &AgentName, number: u32) -> Report {
        self.end_workspace(ticket, agent, number, |_| Ok(()))
    }

    fn end_workspace(
        &self,
        ticket: &Ticket,
        agent: &AgentName,
        number: u32,
        keep: impl FnOnce(&Workspace) -> git::Result<()>,
    ) -> Report {
        if let Err(error) = self.discard_half_set_up(ticket, agent, number) {
            return could_not(error);
        }
        let ended = self.workspace(ticket, agent, number).and_then(|workspace| {
            // Without its pin there never was a workspace, or all of this was done before: perhaps by a git
            // that was killed.
            let Some(workspace) = workspace else {
                let (agent, ticket) = (git::Id::parse(agent.as_str())?, git::Id::parse(ticket.id.as_str())?);
                return self.repository.forget_locks(&agent, &ticket, number);
            };
            keep(&workspace)?;
            match self.repository.remove(&workspace) {
                Ok(rescued) => {
                    for hidden in rescued.hidden {
                        tracing::warn!(
                            "{}: the repository {} in its workspace, which git ignores, held commits of its own, kept as {}",
                            ticket.id,
                            shown(&hidden.path.to_string_lossy()),
                            hidden.kept
                        );
                    }
                    for worktree in rescued.worktrees {
                        tracing::warn!(
                            "{}: the worktree {} in its workspace held work that is in no branch; it is kept as {}",
                            ticket.id,
                            shown(&worktree.path.to_string_lossy()),
                            worktree.kept
                        );
                    }
                }
                // In its place it would be in the way of the next attempt.
                Err(git::Error::Unsaved { left, .. }) => {
                    let aside = self.repository.archive_workspace(&workspace)?;
                    let left: Vec<_> = left.iter().map(|one| shown(&one.path.to_string_lossy())).collect();
                    tracing::warn!(
                        "{}: its workspace is set aside as {}\n  git cannot save {} of it: take out what you need, and delete the folder",
                        ticket.id,
                        aside.display(),
                        left.join(", ")
                    );
                }
                Err(error) => return Err(error),
            }
            // A target that somebody deleted keeps nothing, and nothing waits for it here.
            let target = self.repository.branch_tip(&self.target)?;
            self.repository.forget_workspace(&workspace, target.as_ref())?;
            if ticket.is_done() {
                self.repository.forget_named(workspace.ticket())?;
            }
            Ok(())
        });
        if ticket.candidate().is_none() {
            self.unpin(ticket);
        }
        self.tell_undeletable();
        match ended {
            Ok(()) => Report::Done,
            Err(error) => could_not(error),
        }
    }
}
