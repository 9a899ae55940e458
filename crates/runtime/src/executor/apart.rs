//! A child with a workspace of its own: it begins with what is in its parent's, and its work is merged there.

use engine::Report;
use git::{Message, Moved, Outcome, Workspace};
use model::attempt::Shared;
use model::ticket::Ticket;
use model::{AgentName, TicketId};

use super::children::unified;
use super::perform::{could_not, crew};
use super::save::{git_time, refused_by_a_filter, saves, too_large};
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
            let name = format!("{}-{}", parent.agent, parent.of);
            let path = self.workspaces.join(name);
            return Err(git::Error::WorkspaceMissing { path }.into());
        };
        self.end_turns(parent, &parents, by)?;
        let tip = self.save_parent(parent, &parents)?;
        Ok((parents.base().clone(), tip))
    }

    /// Commits what is not committed in the workspace of a parent, and takes its branch over. Returns its
    /// tip.
    pub(super) fn save_parent(&self, parent: &Shared, workspace: &Workspace) -> git::Result<git::Oid> {
        let message = saves(&parent.of);
        let saved = self
            .repository
            .save(workspace, &message, git_time(), &self.limits())?;
        Ok(saved.imported.tip)
    }

    /// Merges the work of a child into the workspace of its parent. Nobody works there meanwhile, but for
    /// other children that are merged.
    pub(super) fn merge_into_parent(
        &self,
        ticket: &Ticket,
        agent: &AgentName,
        number: u32,
        parent: &Shared,
    ) -> Report {
        match self.try_merge_into_parent(ticket, agent, number, parent) {
            Ok(report) => report,
            Err(crate::Error::Git(error @ (git::Error::Refused { .. } | git::Error::Unrelated { .. }))) => {
                Report::NotUnified {
                    why: text::with_causes(&error),
                }
            }
            Err(error) => could_not(error),
        }
    }

    fn try_merge_into_parent(
        &self,
        ticket: &Ticket,
        agent: &AgentName,
        number: u32,
        parent: &Shared,
    ) -> crate::Result<Report> {
        let refused = |why: String| Ok(Report::NotUnified { why });
        let Some(parents) = self.workspace_of(parent)? else {
            return refused(format!("the workspace of {} is gone", parent.of));
        };
        let Some(own) = self.workspace(ticket, agent, number)? else {
            return refused("its workspace is gone".to_owned());
        };
        let tip = if own.exists() {
            let saved = self.save(ticket, &own)?;
            let nested = saved.nested.iter().map(|one| one.refusal().to_string());
            let nested: Vec<String> = nested.collect();
            if let Some(why) = too_large(&saved.unsaved)
                .or_else(|| refused_by_a_filter(&saved.unsaved))
                .or_else(|| (!nested.is_empty()).then(|| nested.join("\n")))
            {
                return refused(why);
            }
            saved.imported.tip
        } else {
            match self.repository.branch_tip(&own.branch())? {
                Some(tip) => tip,
                None => return refused("its workspace is gone".to_owned()),
            }
        };
        if let Some(delegated) = ticket.delegated() {
            self.end_turns(parent, &parents, &delegated.by)?;
        }
        let began = own.started_at()?;
        let done = || -> crate::Result<Report> {
            let work = match &began {
                Some(began) => self.work_between(began, &tip)?,
                None => None,
            };
            Ok(unified(work, self.absent_from(&tip, ticket)?))
        };
        loop {
            let onto = self.save_parent(parent, &parents)?;
            if self.repository.is_ancestor(&tip, &onto)? {
                return done();
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
                .merge_for(&parents, [&onto, &tip], &message, &crew(), git_time())?;
            let merged = match merged {
                Ok(merged) => merged,
                Err(Outcome::Conflict { paths, .. }) => {
                    let paths: Vec<String> =
                        paths.iter().map(|path| shown(&path.to_string_lossy())).collect();
                    return refused(format!(
                        "its work is in conflict with that of {}, in {}; it is commit {tip}: `git merge {tip}` in the workspace of \
                         {} brings it in",
                        parent.of,
                        paths.join(", "),
                        parent.of
                    ));
                }
                Err(Outcome::Candidate(_) | Outcome::NoCommits) => return done(),
            };
            match self.repository.move_workspace(&parents, &onto, &merged)? {
                // The next turn finds the merge there, and takes the branch over.
                Moved::There | Moved::Elsewhere => {}
                Moved::InTheWay { why } => {
                    return refused(format!(
                        "its work, commit {tip}, cannot come into the workspace of {}: {why}; `git merge {tip}` there brings it in",
                        parent.of
                    ));
                }
            }
        }
    }
}
