//! A child with a workspace of its own: it begins with what is in its parent's, and its work is merged there.

use engine::Report;
use git::{Message, Moved, Outcome, Workspace};
use model::attempt::Shared;
use model::ticket::Ticket;
use model::{AgentName, TicketId};

use super::perform::crew;
use super::save::git_time;
use crate::Error;
use crate::executor::Executor;
use crate::undeletable::shown;

impl Executor {
    /// Where the work of a child begins that has a workspace of its own: the commit of the target that its
    /// parent's work is compared with, and the tip of its parent, with what is not committed there.
    pub(super) fn start_in_parent(
        &self,
        begun: Option<&Workspace>,
        (by, parent): (&TicketId, &Shared),
    ) -> crate::Result<(git::Oid, git::Oid)> {
        if let Some(begun) = begun
            && let Some(start) = self.repository.branch_tip(&begun.branch())?
        {
            return Ok((begun.base().clone(), start));
        }
        let Some(parents) = self.workspace_of(parent)? else {
            let why = format!("the workspace of {} is gone", parent.of);
            return Err(Error::NotBegun { why });
        };
        self.give_up_turns(parent, &parents, by)?;
        let tip = self.start_there(parent, &parents)?;
        Ok((parents.base().clone(), tip))
    }

    /// Merges the work of a child into the workspace of its parent. Nobody works there meanwhile, but for
    /// other children that are merged.
    pub(super) fn merge_into_parent(
        &self,
        ticket: &Ticket,
        agent: &AgentName,
        number: u32,
        parent: &Shared,
    ) -> crate::Result<Report> {
        let not_unified = |why: String| Ok(Report::NotUnified { why });
        let Some(parents) = self.workspace_of(parent)? else {
            return not_unified(format!("the workspace of {} is gone", parent.of));
        };
        let Some(own) = self.workspace(ticket, agent, number)? else {
            return not_unified("its workspace is gone".to_owned());
        };
        let tip = if own.exists() {
            match self.save_whole(&ticket.id, &own)? {
                Ok(saved) => saved.imported.tip,
                Err(why) => return Ok(Report::ImportRefused { why }),
            }
        } else {
            match self.repository.branch_tip(&own.branch())? {
                Some(tip) if own.started_at()?.as_ref() != Some(&tip) => tip,
                Some(_) | None => {
                    return not_unified("its workspace is gone, with all that it did there".to_owned());
                }
            }
        };
        if let Some(delegated) = ticket.delegated() {
            self.give_up_turns(parent, &parents, &delegated.by)?;
        }
        let began = own.started_at()?;
        let done = |unmerged: Option<String>| -> crate::Result<Report> {
            let work = match &began {
                Some(began) => self.work_between(began, &tip)?,
                None => None,
            };
            match unmerged {
                // Nobody could tell later whether its parent's agent has merged it.
                Some(why) if work.is_none() => not_unified(why),
                unmerged => Ok(Report::Unified {
                    work: work.map(Box::new),
                    unmerged,
                    absent: self.absent_from(&tip, ticket)?,
                }),
            }
        };
        loop {
            let onto = match self.tip_of_parent(parent, &parents)? {
                Ok(onto) => onto,
                Err(why) => return not_unified(format!("its work is commit {tip}, and {why}")),
            };
            if self.repository.is_ancestor(&tip, &onto)? {
                return done(None);
            }
            let message = Message {
                subject: format!(
                    "Merge {}: {}",
                    ticket.id,
                    text::checked(&text::sanitise::line(&ticket.spec.title))
                ),
                body: String::new(),
                trailers: vec![
                    ("Ticket".to_owned(), ticket.id.to_string()),
                    ("Agent".to_owned(), agent.to_string()),
                ],
            };
            let merged = self
                .repository
                .merge_for(&parents, [&onto, &tip], &message, &crew(), git_time());
            let merged = match merged {
                Ok(Ok(merged)) => merged,
                // Its agent did that, and can undo it.
                Err(error @ git::Error::Unrelated { .. }) => {
                    let why = self.unrelated(ticket, agent, number, &error);
                    return Ok(Report::ImportRefused { why });
                }
                Err(error) => return Err(error.into()),
                Ok(Err(Outcome::Conflict { paths, .. })) => {
                    let paths: Vec<String> =
                        paths.iter().map(|path| shown(&path.to_string_lossy())).collect();
                    return done(Some(format!(
                        "its work is in conflict with that of {}, in {}",
                        parent.of,
                        paths.join(", "),
                    )));
                }
                Ok(Err(Outcome::Candidate(_) | Outcome::NoCommits)) => return done(None),
            };
            if !parents.exists() {
                self.repository.move_branch(&parents, &onto, &merged)?;
                continue;
            }
            match self.repository.move_workspace(&parents, &onto, &merged)? {
                // The next turn finds the merge there, and takes the branch over.
                Moved::There | Moved::Elsewhere => {}
                Moved::InTheWay { why } => {
                    return done(Some(format!(
                        "its work cannot come into the workspace of {}: {why}",
                        parent.of
                    )));
                }
            }
        }
    }

    /// The tip of a parent's branch, with what is not committed in its workspace: its branch is what counts
    /// where the workspace is gone. Or the reason for which nothing can be merged there.
    fn tip_of_parent(&self, parent: &Shared, workspace: &Workspace) -> git::Result<Result<git::Oid, String>> {
        let of = &parent.of;
        if !workspace.exists() {
            let tip = self.repository.branch_tip(&workspace.branch())?;
            return Ok(tip.ok_or_else(|| format!("the workspace of {of} is gone")));
        }
        match self.save(of, workspace) {
            Ok(saved) => Ok(Ok(saved.imported.tip)),
            Err(git::Error::Refused { refusals, .. }) => Ok(Err(format!(
                "nothing can be merged into the workspace of {of}, which cannot be saved as it is:\n{}",
                self.refused((of, workspace), &refusals)
            ))),
            Err(error) => Err(error),
        }
    }
}
