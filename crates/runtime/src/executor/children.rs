//! Children: the files of tickets that an agent delegates, and their work in its workspace.

use engine::Report;
use jiff::Timestamp;
use model::attempt::{Child, StartPoint};
use model::policy::delegation::{LEADER_TAG, may_delegate};
use model::ticket::Ticket;
use model::{AgentName, TicketId};
use process::Run;
use tickets::{Folder, Id, New};

use super::perform::{could_not, model_oid};
use crate::executor::Executor;
use crate::{Error, Result};

/// The file in a child's run folder that holds its instructions: those beside the workspace are its parent's.
const INSTRUCTIONS: &str = "instructions.md";

impl Executor {
    /// Writes the file of a child, unless it is there.
    pub(super) fn create_child(&self, parent: &TicketId, child: &Child) -> Report {
        match self.write_child(parent, child) {
            Ok(()) => Report::Done,
            Err(error) => could_not(error),
        }
    }

    fn write_child(&self, parent: &TicketId, child: &Child) -> Result<()> {
        let folder = Folder::at(&self.place.tickets_dir)?;
        let id = Id::new(child.id.as_str())?;
        let new = New {
            title: child.title.clone(),
            description: Some(child.task.clone()).filter(|task| !task.is_empty()),
            acceptance: child.acceptance.clone(),
            assignee: child.agent.as_ref().map(ToString::to_string),
            parent: Some(Id::new(parent.as_str())?),
            tags: child
                .is_leader
                .then(|| LEADER_TAG.to_owned())
                .into_iter()
                .collect(),
            made_by: Some(child.by.to_string()),
            delegated_by: Some(parent.to_string()),
            ..New::default()
        };
        let at = Timestamp::from_millisecond(child.at.0).unwrap_or_else(|_| Timestamp::now());
        if folder.create_as(&id, &new, at)? {
            return Ok(());
        }
        // Written before, by this engine or by one that was killed.
        let there = folder.read(&id)?;
        match there.delegated_by.as_deref() == Some(parent.as_str()) {
            true => Ok(()),
            false => Err(Error::ChildTaken {
                child: child.id.to_string(),
                parent: parent.to_string(),
            }),
        }
    }

    /// The workspace of another ticket is there for a child of that one.
    pub(super) fn prepare_shared(
        &self,
        ticket: &Ticket,
        agent: &AgentName,
        number: u32,
        from: &StartPoint,
    ) -> Report {
        let gone = || Report::WorkspaceFailed {
            why: "the workspace of its parent is gone".to_owned(),
        };
        let Some(shared) = ticket.shared_workspace() else {
            return gone();
        };
        let workspace = match self.workspace(ticket, agent, number) {
            Ok(Some(workspace)) if workspace.exists() => workspace,
            Ok(_) => return gone(),
            Err(error) => return could_not(error),
        };
        let earlier_work = match self.begin_turn(ticket, (shared, &workspace), number, from) {
            Ok(earlier_work) => earlier_work,
            Err(error) => return could_not(error),
        };
        match model_oid(workspace.base()) {
            Ok(base) => Report::WorkspaceReady { base, earlier_work },
            Err(why) => Report::WorkspaceFailed { why },
        }
    }

    /// Brings the work of a child into the branch of its parent: commits what its agent has not committed.
    pub(super) fn unify(&self, ticket: &Ticket, agent: &AgentName, number: u32) -> Report {
        if let Some(delegated) = ticket.delegated().filter(|it| it.is_apart) {
            return self.merge_into_parent(ticket, agent, number, &delegated.workspace);
        }
        let workspace = match self.workspace(ticket, agent, number) {
            Ok(workspace) => workspace.filter(git::Workspace::exists),
            Err(error) => return could_not(error),
        };
        // Its parent finds out that the workspace is gone, and what of the branch is refused.
        let Some((workspace, shared)) = workspace.zip(ticket.shared_workspace()) else {
            return Report::Unified;
        };
        let unified = self
            .end_turns(shared, &workspace, &ticket.id)
            .and_then(|()| self.save(ticket, &workspace))
            .and_then(|saved| self.finish_turn(ticket, &workspace, number, &saved.imported.tip));
        match unified {
            Ok(None) | Err(git::Error::Refused { .. }) => Report::Unified,
            Ok(Some(why)) => Report::NotUnified { why },
            Err(error) => could_not(error),
        }
    }

    /// The instructions of a step: a child's stand in the folder of its run.
    pub(super) fn instructions_of(
        &self,
        ticket: &Ticket,
        workspace: &git::Workspace,
        run: &std::path::Path,
    ) -> std::path::PathBuf {
        match ticket.shared_workspace() {
            Some(_) => run.join(INSTRUCTIONS),
            None => workspace.instructions(),
        }
    }

    /// Writes the instructions of a child's step, however often.
    pub(super) fn write_instructions(
        &self,
        ticket: &Ticket,
        agent: &AgentName,
        step: u32,
        run: &Run,
    ) -> Result<()> {
        if ticket.shared_workspace().is_none() {
            return Ok(());
        }
        let text = self.prompts.instructions(&self.facts(ticket, agent, step))?;
        let path = run.dir().join(INSTRUCTIONS);
        std::fs::write(&path, text).map_err(|source| Error::Io {
            doing: "write",
            path,
            source,
        })
    }

    /// Whom the agent of a ticket reports to: the agent that has delegated it, or crew.
    pub(super) fn leader_of(&self, ticket: &Ticket) -> String {
        let by = ticket
            .spec
            .made_by
            .as_ref()
            .filter(|_| ticket.delegated().is_some());
        by.map_or_else(|| "crew".to_owned(), |by| text::sanitise::line(by))
    }

    /// Whether the agent of a ticket may delegate, as the settings stand.
    pub(crate) fn is_leader(&self, ticket: &Ticket, agent: &AgentName) -> bool {
        may_delegate(&self.settings.agents.leaders, ticket, agent)
    }
}
