//! The turns of children in the workspace of their parent: what a child leaves undone is taken out of it
//! again.
//!
//! A turn is noted when it begins, with the tip of the branch. It counts, or it is given up: then what the
//! child did is kept apart, and the workspace is as it was. Whoever works there next gives up a turn that a
//! killed engine, or one that was slower, has left: no order between the tickets' effects is needed.

use std::path::PathBuf;
use std::sync::PoisonError;

use engine::Report;
use git::{Moved, Turn, Workspace};
use model::TicketId;
use model::attempt::{ChildWork, Shared, StartPoint};
use model::ticket::{KeptWork, Ticket};

use super::perform::could_not;
use crate::Error;
use crate::executor::Executor;
use crate::undeletable::shown;

impl Executor {
    /// Begins the turn of a child in a workspace that it shares, with the work of an earlier attempt of it.
    /// Returns whether there is any. It begins with a folder that can be saved: what is refused later is the
    /// child's doing, and not that of whoever was there before.
    pub(super) fn begin_turn(
        &self,
        ticket: &Ticket,
        (made_for, workspace): (&Shared, &Workspace),
        number: u32,
        from: &StartPoint,
    ) -> crate::Result<bool> {
        let begun = |turns: &[Turn]| {
            let last = turns.last().filter(|turn| is_of(turn, ticket, number));
            last.map(|turn| turn.start.clone())
        };
        if let Some(parent) = ticket.delegated()
            && begun(&workspace.turns()?).is_none()
        {
            self.give_up_turns(made_for, workspace, &parent.by)?;
        }
        let _one = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let mut turns = workspace.turns()?;
        let start = match begun(&turns) {
            Some(start) => start,
            None => {
                // What stands there is its parent's agent's, and is saved in that name.
                let parents = self.workspace_of(made_for)?;
                let start = self.start_there(made_for, parents.as_ref().unwrap_or(workspace))?;
                let turn = Turn {
                    ticket: git::Id::parse(ticket.id.as_str())?,
                    attempt: number,
                    start: start.clone(),
                };
                self.repository.note_settings(workspace, &turn)?;
                turns.push(turn);
                workspace.note_turns(&turns)?;
                start
            }
        };
        let earlier = self.start_of(ticket, &start, from)?;
        let goes_on = earlier != start && self.repository.is_ancestor(&start, &earlier)?;
        Ok(goes_on && self.repository.move_workspace(workspace, &start, &earlier)? == Moved::There)
    }

    /// The tip with which a child begins, with what is not committed in its parent's workspace.
    pub(super) fn start_there(&self, made_for: &Shared, workspace: &Workspace) -> crate::Result<git::Oid> {
        let of = &made_for.of;
        if !workspace.exists() {
            let why = format!("the workspace of {of} is gone");
            return Err(Error::NotBegun { why });
        }
        let saved = self.save_whole(of, workspace)?;
        let saved = saved.map_err(|why| Error::NotBegun {
            why: format!("the workspace of {of} cannot be saved as it is:\n{why}"),
        })?;
        let tip = saved.imported.tip;
        // Its agent may have left it on a branch of its own: what is saved there is on none.
        if !self.repository.has_checked_out(workspace, &tip)? {
            self.repository
                .clear_workspace(workspace, workspace.ticket(), &tip)?;
        }
        Ok(tip)
    }

    /// Counts the turn of a child whose agent is done; `tip`: the branch as it is now. Returns what the child
    /// did, unless its turn was over before; or the reason for which it cannot count.
    pub(super) fn count_turn(
        &self,
        ticket: &Ticket,
        workspace: &Workspace,
        number: u32,
        tip: &git::Oid,
    ) -> git::Result<Result<Option<ChildWork>, String>> {
        let _one = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let mut turns = workspace.turns()?;
        let Some(turn) = turns.pop_if(|turn| is_of(turn, ticket, number)) else {
            return Ok(Ok(None));
        };
        if !workspace.exists() && turn.start == *tip {
            return Ok(Err("the workspace is gone, with all that it did there".to_owned()));
        }
        if !self.repository.is_ancestor(&turn.start, tip)? {
            return Ok(Err(format!(
                "it has taken commits of others out of the branch: {}, with which it began, is not in {tip}",
                turn.start
            )));
        }
        let work = self.work_between(&turn.start, tip)?;
        // Its work counts, whatever it has made of the folder.
        if let Err(error) = self.hand_on(workspace, &turn, tip) {
            tracing::warn!(
                "{} has left the workspace of its parent as nobody can go on in it: {}",
                turn.ticket,
                text::with_causes(&error)
            );
        }
        workspace.note_turns(&turns)?;
        Ok(Ok(work))
    }

    /// Lets whoever works there next have the settings of before, and a git that knows where it stands.
    fn hand_on(&self, workspace: &Workspace, turn: &Turn, tip: &git::Oid) -> git::Result<()> {
        if !workspace.exists() {
            return Ok(());
        }
        workspace.restore_settings(turn)?;
        match self.repository.has_checked_out(workspace, tip)? {
            true => Ok(()),
            false => self.repository.clear_workspace(workspace, &turn.ticket, tip),
        }
    }

    /// Gives up the turns inside of that of `holder`; all of them for the ticket whose workspace it is.
    pub(super) fn give_up_turns(
        &self,
        made_for: &Shared,
        workspace: &Workspace,
        holder: &TicketId,
    ) -> crate::Result<()> {
        let is_holders = |turn: &Turn| turn.ticket.as_str() == holder.as_str();
        let turns = workspace.turns()?;
        let first = match turns.iter().position(is_holders) {
            Some(place) => place + 1,
            None if made_for.of == *holder => 0,
            None => return Ok(()),
        };
        match turns.get(first) {
            Some(outermost) => self.give_up_from(made_for, workspace, outermost),
            None => Ok(()),
        }
    }

    /// Gives up the turn of a child that ends without its work counting.
    pub(super) fn give_up_turn(&self, ticket: &Ticket, made_for: &Shared, number: u32) -> Report {
        let given_up = || -> crate::Result<Report> {
            let workspace = self.workspace_of(made_for)?;
            if let Some(workspace) = &workspace
                && let turns = workspace.turns()?
                && let Some(turn) = turns.iter().find(|turn| is_of(turn, ticket, number))
            {
                self.give_up_from(made_for, workspace, turn)?;
            }
            // Whoever worked there next may have done it.
            let mut work: Vec<KeptWork> = self.last_attempt(ticket)?.into_iter().collect();
            if !workspace.as_ref().is_some_and(Workspace::exists) {
                work.extend(self.archived_of(made_for)?);
            }
            Ok(match work.is_empty() {
                true => Report::Done,
                false => Report::WorkKept { work },
            })
        };
        given_up().unwrap_or_else(could_not)
    }

    /// The folders of a workspace that were set aside.
    fn archived_of(&self, made_for: &Shared) -> git::Result<Vec<KeptWork>> {
        let beginning = format!("{}-{}~", made_for.agent, made_for.of);
        let is_of_it = |path: &&PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&beginning)
        };
        let aside = git::Repository::archived_workspaces(&self.workspaces)?;
        let folder = |path: &PathBuf| KeptWork::Folder {
            path: shown(&path.to_string_lossy()),
        };
        Ok(aside.iter().filter(is_of_it).map(folder).collect())
    }

    /// Gives up a turn, after those inside of it.
    fn give_up_from(&self, made_for: &Shared, workspace: &Workspace, outermost: &Turn) -> crate::Result<()> {
        let _one = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let mut turns = workspace.turns()?;
        while turns.contains(outermost)
            && let Some(turn) = turns.last()
        {
            if !workspace.exists() {
                self.end_without_workspace(workspace, &turns)?;
                return Ok(workspace.note_turns(&[])?);
            }
            if let Err(error) = self.put_back(made_for, workspace, turn) {
                return match cannot_be_kept(&error) {
                    true => self.archive(workspace, &turns, &error),
                    false => Err(error),
                };
            }
            turns.pop();
            workspace.note_turns(&turns)?;
        }
        Ok(())
    }

    /// Keeps what a child did in its turn, and takes it out of the workspace: also what cannot be in a
    /// branch, such as half a merge, and what the child has set for the git there. What is left after that
    /// would land as somebody else's.
    fn put_back(&self, made_for: &Shared, workspace: &Workspace, turn: &Turn) -> crate::Result<()> {
        let repository = &self.repository;
        repository.expect_no_mounts(workspace)?;
        workspace.restore_settings(turn)?;
        match self.save_whole(&made_for.of, workspace) {
            Ok(Ok(saved)) if saved.imported.tip != turn.start => {
                let tip = saved.imported.tip;
                repository.keep_attempt(&turn.ticket, &tip)?;
                repository.put_back(workspace, &tip, &turn.start)?;
            }
            // A person who looks at the branch in a checkout of theirs keeps nobody from ending a turn.
            Ok(Ok(_) | Err(_)) | Err(git::Error::BranchInUse { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        if repository.shows_start(workspace, turn)? {
            return Ok(());
        }
        repository.clear_workspace(workspace, &turn.ticket, &turn.start)?;
        match repository.shows_start(workspace, turn)? {
            true => Ok(()),
            false => Err(Error::Git(git::Error::Unsaved {
                workspace: workspace.path(),
                left: vec![git::Unsaved {
                    path: ".".into(),
                    why: "what a child has left there cannot be taken out".to_owned(),
                }],
            })),
        }
    }

    /// The folder holds something of a child that git cannot keep. It is set aside as it is, for people, and
    /// the ticket whose workspace it was goes on from its branch.
    fn archive(&self, workspace: &Workspace, turns: &[Turn], error: &Error) -> crate::Result<()> {
        self.end_without_workspace(workspace, turns)?;
        let aside = self.repository.archive_workspace(workspace)?;
        tracing::warn!(
            "what a child has left in the workspace of {} cannot be kept, and the workspace is set aside as {}: {}",
            workspace.ticket(),
            shown(&aside.to_string_lossy()),
            text::with_causes(error)
        );
        Ok(())
    }

    /// Ends all turns of a workspace that is gone, or will be: its branch is all that there is.
    fn end_without_workspace(&self, workspace: &Workspace, turns: &[Turn]) -> git::Result<()> {
        for turn in turns.iter().rev() {
            let tip = self.repository.branch_tip(&workspace.branch())?;
            if let Some(tip) = tip.filter(|tip| *tip != turn.start) {
                self.repository.keep_attempt(&turn.ticket, &tip)?;
                self.repository.move_branch(workspace, &tip, &turn.start)?;
            }
        }
        Ok(())
    }
}

/// Whether a folder could not be cleared for what is in it, and not for the machine's moment or a person's
/// doing.
fn cannot_be_kept(error: &Error) -> bool {
    let Error::Git(of_git) = error else { return false };
    let is_of_folder = matches!(
        of_git,
        git::Error::Unsaved { .. }
            | git::Error::Unreadable { .. }
            | git::Error::Io { .. }
            | git::Error::Failed { .. }
    );
    is_of_folder && !error.is_passing()
}

fn is_of(turn: &Turn, ticket: &Ticket, number: u32) -> bool {
    turn.ticket.as_str() == ticket.id.as_str() && turn.attempt == number
}
