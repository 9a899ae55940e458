//! Children: the files of tickets that an agent delegates, and their work in its workspace.

use std::collections::BTreeSet;

use engine::Report;
use jiff::Timestamp;
use model::attempt::{Child, ChildEnd, ChildResult, ChildWork, Prompt, StartPoint};
use model::policy::delegation::{LEADER_TAG, may_delegate};
use model::ticket::{Listed, Ticket};
use model::{AgentName, TicketId};
use process::Run;
use tickets::{Folder, Id, New};

use super::perform::{could_not, git_oid, model_oid};
use super::prepare::not_prepared;
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
        let prepared = || -> Result<Report> {
            let shared = ticket.shared_workspace();
            let Some((shared, workspace)) = shared.zip(self.workspace(ticket, agent, number)?) else {
                let why = "the workspace of its parent is gone".to_owned();
                return Err(Error::NotBegun { why });
            };
            let earlier_work = self.begin_turn(ticket, (shared, &workspace), number, from)?;
            Ok(match model_oid(workspace.base()) {
                Ok(base) => Report::WorkspaceReady { base, earlier_work },
                Err(why) => Report::WorkspaceFailed { why },
            })
        };
        prepared().unwrap_or_else(not_prepared)
    }

    /// Brings the work of a child into the branch of its parent: commits what its agent has not committed.
    /// What is refused goes back to its agent, as for any ticket.
    pub(super) fn unify(&self, ticket: &Ticket, agent: &AgentName, number: u32) -> Report {
        let unified = || match ticket.delegated().filter(|it| it.is_apart) {
            Some(delegated) => self.merge_into_parent(ticket, agent, number, &delegated.workspace),
            None => self.unify_in_parent(ticket, agent, number),
        };
        unified().unwrap_or_else(could_not)
    }

    fn unify_in_parent(&self, ticket: &Ticket, agent: &AgentName, number: u32) -> Result<Report> {
        let gone = || Report::NotUnified {
            why: "the workspace of its parent is gone".to_owned(),
        };
        let shared = ticket.shared_workspace();
        let Some((shared, workspace)) = shared.zip(self.workspace(ticket, agent, number)?) else {
            return Ok(gone());
        };
        self.give_up_turns(shared, &workspace, &ticket.id)?;
        let tip = if workspace.exists() {
            match self.save_whole(&ticket.id, &workspace)? {
                Ok(saved) => saved.imported.tip,
                Err(why) => return Ok(Report::ImportRefused { why }),
            }
        } else {
            match self.repository.branch_tip(&workspace.branch())? {
                Some(tip) => tip,
                None => return Ok(gone()),
            }
        };
        Ok(match self.count_turn(ticket, &workspace, number, &tip)? {
            Ok(work) => unified(work, self.absent_from(&tip, ticket)?),
            Err(why) => Report::NotUnified { why },
        })
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

    /// The children of a ticket that are over, for a session that knows nothing of them: those of which the
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
        let is_told = |child: &ChildResult| told.iter().any(|one| one.id == child.id);
        let over = ticket.unified.iter().chain(&ticket.undone);
        let untold = over.filter(|child| !is_told(child));
        self.words_of(untold, workspace)
    }

    /// What these children of a ticket came to, with the commits of theirs that its branch has not.
    pub(super) fn words_of<'a>(
        &self,
        children: impl Iterator<Item = &'a ChildResult>,
        workspace: &git::Workspace,
    ) -> git::Result<Vec<ChildWords>> {
        let tip = self.repository.branch_tip(&workspace.branch())?;
        let mut left: Option<Vec<String>> = None;
        let words = children.map(|child| {
            let missing = match (&child.end, &tip) {
                (ChildEnd::Unified | ChildEnd::Unmerged { .. }, None) => None,
                (ChildEnd::Unified | ChildEnd::Unmerged { .. }, Some(tip)) => {
                    self.kept_of_absent(child, tip)?
                }
                (ChildEnd::GivenUp { .. } | ChildEnd::Ended { .. }, _) => self.last_kept(&child.id)?,
            };
            let left = match child.end {
                ChildEnd::GivenUp { .. } | ChildEnd::Ended { .. } => {
                    left.get_or_insert_with(|| self.secrets_in(workspace)).as_slice()
                }
                ChildEnd::Unified | ChildEnd::Unmerged { .. } => &[],
            };
            let missing = missing.as_ref().map(|kept| kept.commit.as_str());
            Ok(ChildWords::of(child, missing, left))
        });
        words.collect()
    }

    /// The files with secrets that stand in a workspace and that crew does not commit: they stay when the
    /// turn of a child is given up, as nobody knows whose they are.
    fn secrets_in(&self, workspace: &git::Workspace) -> Vec<String> {
        let found = match workspace.exists() {
            true => self.repository.left_behind(workspace, &self.limits()),
            false => Ok(Vec::new()),
        };
        let found = found.unwrap_or_else(|error| {
            tracing::debug!(%error, "which files crew does not commit in a workspace is not known");
            Vec::new()
        });
        let secrets = found.iter().filter(|one| one.why == git::NoWork::Secret);
        secrets.map(|one| shown(&one.path.to_string_lossy())).collect()
    }

    /// The last commit that is kept of a child.
    fn last_kept(&self, child: &TicketId) -> git::Result<Option<git::Kept>> {
        let kept = self.repository.kept(Some(&git::Id::parse(child.as_str())?))?;
        // Only what did not come into a branch is rescued: an attempt's last commit is more than that.
        let is_attempt = |kept: &&git::Kept| kept.kind == git::KeptKind::Attempt;
        let last = kept.iter().rfind(is_attempt).or(kept.last());
        Ok(last.cloned())
    }

    /// The children of a ticket whose work a branch has not. Their commits are kept.
    pub(super) fn absent_from(&self, tip: &git::Oid, ticket: &Ticket) -> git::Result<BTreeSet<TicketId>> {
        let mut absent = BTreeSet::new();
        for child in &ticket.unified {
            if self.kept_of_absent(child, tip)?.is_some() {
                absent.insert(child.id.clone());
            }
        }
        Ok(absent)
    }

    /// The commits of a child, kept, where a branch has its work not.
    fn kept_of_absent(&self, child: &ChildResult, tip: &git::Oid) -> git::Result<Option<git::Kept>> {
        let Some(work) = child.work.as_ref().filter(|work| !work.is_nothing()) else {
            return Ok(None);
        };
        if self.has_work_of(child, work, tip)? {
            return Ok(None);
        }
        let id = git::Id::parse(child.id.as_str())?;
        Ok(Some(self.repository.keep_attempt(&id, &git_oid(&work.tip)?)?))
    }

    /// Whether a branch has what a child did: its commits, or, as after a squash, anything of what they
    /// changed.
    ///
    /// Others may have edited that again, and the leader answers for what it makes of it. So a child has only
    /// not landed where all that it did is undone: to have it done again, and those wait that depend on it,
    /// would be the worse error. Of a child that did not merge its commits count too: that its lines are not
    /// as they were before it can be another's work, and its leader's merge can leave all of them out.
    fn has_work_of(&self, child: &ChildResult, work: &ChildWork, tip: &git::Oid) -> git::Result<bool> {
        let (from, done) = (git_oid(&work.from)?, git_oid(&work.tip)?);
        let is_merged = self.repository.is_ancestor(&done, tip)?;
        let has_some = || Ok(!self.repository.has_nothing_of([&from, &done], tip)?);
        match child.end {
            ChildEnd::Unmerged { .. } if !is_merged => Ok(false),
            ChildEnd::Unmerged { .. } if self.repository.has_left_out([&from, &done], tip)? => Ok(false),
            ChildEnd::Unmerged { .. } => has_some(),
            ChildEnd::Unified | ChildEnd::GivenUp { .. } | ChildEnd::Ended { .. } if is_merged => Ok(true),
            ChildEnd::Unified | ChildEnd::GivenUp { .. } | ChildEnd::Ended { .. } => has_some(),
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
        may_delegate(&self.settings, ticket, agent)
    }
}

/// The work of a child is its parent's.
fn unified(work: Option<ChildWork>, absent: BTreeSet<TicketId>) -> Report {
    Report::Unified {
        work: work.map(Box::new),
        unmerged: None,
        absent,
    }
}
