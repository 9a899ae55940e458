//! Children: the files of tickets that an agent delegates, and their work in its workspace.

use std::collections::BTreeSet;

use engine::Report;
use jiff::Timestamp;
use model::attempt::{Child, ChildResult, ChildWork, Prompt, StartPoint};
use model::policy::delegation::{LEADER_TAG, may_delegate};
use model::ticket::{Listed, Ticket};
use model::{AgentName, TicketId};
use process::Run;
use tickets::{Folder, Id, New};

use super::perform::{could_not, git_oid, model_oid};
use super::turns::TurnEnd;
use crate::executor::Executor;
use crate::prompt::ChildWords;
use crate::undeletable::shown;
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
            return unified(None, BTreeSet::new());
        };
        let ended = || -> Result<Report> {
            self.end_turns(shared, &workspace, &ticket.id)?;
            let tip = self.save(ticket, &workspace)?.imported.tip;
            Ok(match self.finish_turn(ticket, &workspace, number, &tip)? {
                TurnEnd::Over(work) => unified(work, self.absent_from(&tip, ticket)?),
                TurnEnd::TookAway { why } => Report::NotUnified { why },
            })
        };
        match ended() {
            Ok(report) => report,
            Err(Error::Git(git::Error::Refused { .. })) => unified(None, BTreeSet::new()),
            Err(error) => could_not(error),
        }
    }

    /// What a child did to a branch that was at `from` before and is at `tip` now.
    pub(super) fn work_between(&self, from: &git::Oid, tip: &git::Oid) -> git::Result<Option<ChildWork>> {
        /// Commits that are counted.
        const MOST: usize = 10_000;
        let (Ok(before), Ok(after)) = (model_oid(from), model_oid(tip)) else {
            return Ok(None);
        };
        let changes = self.repository.changes(from, tip)?;
        let paths = changes.iter().map(|change| shown(&change.path.to_string_lossy()));
        Ok(Some(ChildWork {
            from: before,
            tip: after,
            commits: self.repository.commits(from, tip, MOST)?.len(),
            files: Listed::of(paths),
        }))
    }

    /// The children of a ticket that are done, for a session that knows nothing of them: those of which the
    /// prompt itself tells are left out.
    pub(super) fn done_before(
        &self,
        ticket: &Ticket,
        prompt: &Prompt,
        workspace: &git::Workspace,
    ) -> git::Result<Vec<ChildWords>> {
        let told = if let Prompt::Unify { results } = prompt {
            results.as_slice()
        } else {
            &[]
        };
        let Some(tip) = self.repository.branch_tip(&workspace.branch())? else {
            return Ok(Vec::new());
        };
        let mut words = Vec::new();
        for child in &ticket.unified {
            if told.iter().any(|one| one.id == child.id) {
                continue;
            }
            let kept = self.kept_of_absent(child, &tip)?;
            words.push(ChildWords::of(child, kept.as_deref()));
        }
        Ok(words)
    }

    /// The children of a ticket whose work a branch has not any more. Their commits are kept.
    pub(super) fn absent_from(&self, tip: &git::Oid, ticket: &Ticket) -> git::Result<BTreeSet<TicketId>> {
        let mut absent = BTreeSet::new();
        for child in &ticket.unified {
            if self.kept_of_absent(child, tip)?.is_some() {
                absent.insert(child.id.clone());
            }
        }
        Ok(absent)
    }

    /// The ref under which the commits of a child are kept, where a branch has its work not any more.
    fn kept_of_absent(&self, child: &ChildResult, tip: &git::Oid) -> git::Result<Option<String>> {
        let Some(work) = child.work.as_ref().filter(|work| !work.is_nothing()) else {
            return Ok(None);
        };
        if self.has_work_of(work, tip)? {
            return Ok(None);
        }
        let id = git::Id::parse(child.id.as_str())?;
        Ok(Some(
            self.repository.keep_attempt(&id, &git_oid(&work.tip)?)?.name,
        ))
    }

    /// Whether a branch has what a child did: its commits, or each file that it changed as it left it, as
    /// after a squash.
    fn has_work_of(&self, work: &ChildWork, tip: &git::Oid) -> git::Result<bool> {
        let (from, done) = (git_oid(&work.from)?, git_oid(&work.tip)?);
        if self.repository.is_ancestor(&done, tip)? {
            return Ok(true);
        }
        let own = self.repository.changes(&from, &done)?;
        let since = self.repository.changes(&done, tip)?;
        let own: BTreeSet<_> = own.iter().map(|change| &change.path).collect();
        Ok(!since.iter().any(|change| own.contains(&change.path)))
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
        may_delegate(&self.settings, ticket, agent)
    }
}

/// The work of a child is its parent's.
pub(super) fn unified(work: Option<ChildWork>, absent: BTreeSet<TicketId>) -> Report {
    Report::Unified {
        work: work.map(Box::new),
        absent,
    }
}
