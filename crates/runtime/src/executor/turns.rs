//! The turns of children in the workspace of their parent: what a child leaves undone is taken out of it
//! again.
//!
//! A turn is noted when it begins, with the tip of the branch. It is over when the child's work counts, or
//! when what the child did is kept apart and the workspace is as it was. Whoever works there next finishes a
//! turn that a killed engine, or one that was slower, has left: no order between the tickets' effects is
//! needed.

use std::sync::PoisonError;

use engine::Report;
use git::{Moved, Turn, Workspace};
use model::TicketId;
use model::attempt::{ChildWork, Shared, StartPoint};
use model::ticket::Ticket;

use super::perform::could_not;
use crate::executor::Executor;

/// What the turn of a child whose agent is done comes to.
pub(super) enum TurnEnd {
    /// It is over; with what the child did, unless it was over before.
    Over(Option<ChildWork>),
    /// The child has taken away what was there before it.
    TookAway {
        /// What is missing, in words.
        why: String,
    },
}

impl Executor {
    /// Ends the turns inside of that of `holder`; all of them for the ticket whose workspace it is.
    pub(super) fn end_turns(
        &self,
        made_for: &Shared,
        workspace: &Workspace,
        holder: &TicketId,
    ) -> crate::Result<()> {
        let _one = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let mut turns = workspace.turns()?;
        let is_holders = |turn: &Turn| turn.ticket.as_str() == holder.as_str();
        if made_for.of != *holder && !turns.iter().any(is_holders) {
            return Ok(());
        }
        while let Some(turn) = turns.pop_if(|turn| !is_holders(turn)) {
            self.put_back(made_for, workspace, &turn)?;
            workspace.note_turns(&turns)?;
        }
        Ok(())
    }

    /// Keeps what a child did in its turn, and takes it out of the workspace. While that cannot be done, its
    /// turn is not over: what the child did would land otherwise, and nobody would have said so.
    fn put_back(&self, made_for: &Shared, workspace: &Workspace, turn: &Turn) -> crate::Result<()> {
        let stays = |why: String| {
            Err(crate::Error::NotPutBack {
                child: turn.ticket.to_string(),
                parent: made_for.of.to_string(),
                workspace: workspace.path(),
                why,
            })
        };
        let tip = match self.save_parent(made_for, workspace) {
            Ok(tip) => tip,
            Err(error @ git::Error::Refused { .. }) => return stays(text::with_causes(&error)),
            Err(other) => return Err(other.into()),
        };
        if tip == turn.start {
            return Ok(());
        }
        self.repository.keep_attempt(&turn.ticket, &tip)?;
        match self.repository.put_back(workspace, &tip, &turn.start)? {
            Moved::There => Ok(()),
            Moved::Elsewhere => stays("its HEAD is lost".to_owned()),
            Moved::InTheWay { why } => stays(why),
        }
    }

    /// Begins the turn of a child in a workspace that it shares, with the work of an earlier attempt of it.
    /// Returns whether there is any.
    pub(super) fn begin_turn(
        &self,
        ticket: &Ticket,
        (made_for, workspace): (&Shared, &Workspace),
        number: u32,
        from: &StartPoint,
    ) -> crate::Result<bool> {
        if let Some(parent) = ticket.delegated() {
            let holder = workspace
                .turns()?
                .pop()
                .filter(|turn| is_of(turn, ticket, number));
            if holder.is_none() {
                self.end_turns(made_for, workspace, &parent.by)?;
            }
        }
        let _one = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let mut turns = workspace.turns()?;
        let begun = turns.last().filter(|turn| is_of(turn, ticket, number)).cloned();
        let turn = match begun {
            Some(turn) => turn,
            None => {
                let start = match self.save_parent(made_for, workspace) {
                    Ok(start) => start,
                    // What its parent's agent has left is refused: it begins in that all the same.
                    Err(git::Error::Refused { .. }) => return Ok(false),
                    Err(other) => return Err(other.into()),
                };
                let turn = Turn {
                    ticket: git::Id::parse(ticket.id.as_str())?,
                    attempt: number,
                    start,
                };
                turns.push(turn.clone());
                workspace.note_turns(&turns)?;
                turn
            }
        };
        let earlier = self.start_of(ticket, &turn.start, from)?;
        let goes_on = earlier != turn.start && self.repository.is_ancestor(&turn.start, &earlier)?;
        Ok(goes_on && self.repository.move_workspace(workspace, &turn.start, &earlier)? == Moved::There)
    }

    /// Ends the turn of a child whose agent is done; `tip`: the branch as it is now.
    pub(super) fn finish_turn(
        &self,
        ticket: &Ticket,
        workspace: &Workspace,
        number: u32,
        tip: &git::Oid,
    ) -> git::Result<TurnEnd> {
        let _one = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let mut turns = workspace.turns()?;
        let Some(turn) = turns.pop_if(|turn| is_of(turn, ticket, number)) else {
            return Ok(TurnEnd::Over(None));
        };
        if !self.repository.is_ancestor(&turn.start, tip)? {
            let why = format!(
                "it has taken commits of others out of the branch: {}, with which it began, is not in {tip}",
                turn.start
            );
            return Ok(TurnEnd::TookAway { why });
        }
        let work = self.work_between(&turn.start, tip)?;
        workspace.note_turns(&turns)?;
        Ok(TurnEnd::Over(work))
    }

    /// Keeps what a child did that ends without its work counting, and takes it out of its parent's
    /// workspace.
    pub(super) fn end_turn(&self, ticket: &Ticket, made_for: &Shared, number: u32) -> Report {
        match self.try_end_turn(ticket, made_for, number) {
            Ok(report) => report,
            Err(error) => could_not(error),
        }
    }

    fn try_end_turn(&self, ticket: &Ticket, made_for: &Shared, number: u32) -> crate::Result<Report> {
        let workspace = self.workspace_of(made_for)?.filter(Workspace::exists);
        if let Some(workspace) = workspace
            && workspace.turns()?.iter().any(|turn| is_of(turn, ticket, number))
        {
            self.end_turns(made_for, &workspace, &ticket.id)?;
            let _one = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            let mut turns = workspace.turns()?;
            if let Some(turn) = turns.pop_if(|turn| is_of(turn, ticket, number)) {
                self.put_back(made_for, &workspace, &turn)?;
                workspace.note_turns(&turns)?;
            }
        }
        // Whoever worked there next may have done it.
        let kept = self.last_attempt(ticket)?;
        Ok(kept.map_or(Report::Done, |work| Report::WorkKept { work: vec![work] }))
    }
}

fn is_of(turn: &Turn, ticket: &Ticket, number: u32) -> bool {
    turn.ticket.as_str() == ticket.id.as_str() && turn.attempt == number
}
