//! The rows of a child: delegated, unified or not, landed with its parent.

use std::collections::BTreeSet;

use super::{Draft, Taken};
use crate::attempt::{self, Attempt, ChildEnd, ChildResult, ChildWork};
use crate::ticket::{Delegated, Done, Stage, State};
use crate::{Oid, TicketId};

impl Draft<'_> {
    pub(super) fn delegated(&mut self, delegated: &Delegated) -> Taken {
        self.expect_open()?;
        if self.ticket.attempts > 0 || self.ticket.delegated.is_some() {
            return self.no("it was given out before");
        }
        self.ticket.delegated = Some(Box::new(delegated.clone()));
        // What its file promises is not verified of a part by itself.
        self.ticket.commitments.clear();
        self.ticket.unconfirmed = None;
        // crew wrote its file, as the agent that has delegated it asked, who may say whether it leads.
        self.ticket.doubt = None;
        Ok(())
    }

    /// Its work is in its parent's workspace, or its parent's agent is to merge it, and its agent is free.
    pub(super) fn unify(&mut self, work: Option<&ChildWork>, unmerged: Option<&String>) -> Taken {
        let verify = self.stage(
            |s| matches!(s, Stage::Unified { is_saved: false }),
            "it is not being unified",
        )?;
        verify.stage = Stage::Unified { is_saved: true };
        let has_its_own = verify.attempt.shared().is_none();
        self.free_slot();
        if let Some(delegated) = &mut self.ticket.delegated {
            delegated.work = work.cloned().map(Box::new);
            delegated.unmerged = unmerged.cloned();
        }
        // A workspace of its own has nothing that its parent's has not, but for work that did not merge.
        if has_its_own {
            self.keep_work();
        }
        Ok(())
    }

    /// It cannot be a part of its parent's work, or cannot begin: its parent's agent decides what to do.
    pub(super) fn fail_to_unify(&mut self, why: &str) -> Taken {
        let is_preparing = |attempt: &Attempt| matches!(attempt.state, attempt::State::Preparing);
        match &self.ticket.state {
            State::InProgress(attempt) if is_preparing(attempt) && self.ticket.delegated.is_some() => {}
            State::New | State::Open | State::InProgress(_) | State::Verify(_) | State::Done(_) => {
                self.stage(
                    |s| matches!(s, Stage::Unified { is_saved: false }),
                    "it is neither beginning nor being unified",
                )?;
            }
        }
        self.block(why)
    }

    /// Its parent, which has its work, has landed.
    pub(super) fn land_with_parent(&mut self, parent: &TicketId, commit: &Oid) -> Taken {
        let verify = self.stage(
            |s| matches!(s, Stage::Unified { is_saved: true }),
            "its work is not in its parent's",
        )?;
        let agent = verify.attempt.claim.agent.clone();
        let work = self.ticket.delegated().and_then(|it| it.work.as_ref());
        let brought_nothing = work.is_some_and(|work| work.is_nothing());
        self.finish(Done::Landed {
            commit: commit.clone(),
            acceptance: format!("landed with {parent}, whose checks it passed in"),
            agent,
            brought_nothing,
        });
        Ok(())
    }

    /// Its branch was looked at: these children's commits are not in it any more.
    pub(super) fn miss_children(&mut self, absent: &BTreeSet<TicketId>) -> Taken {
        self.verify()?;
        self.ticket.absent.clone_from(absent);
        Ok(())
    }

    /// Its attempt begins without any work of earlier ones: their children are no part of it.
    pub(super) fn begin_without_children(&mut self) {
        self.ticket.unified.clear();
        self.ticket.undone.clear();
        self.ticket.absent.clear();
    }

    /// What the children cost counts for the budget of the ticket that delegated them, and their agents have
    /// a part in its work.
    pub(super) fn count_children(&mut self, results: &[ChildResult]) {
        let ticket = &mut self.ticket;
        for result in results {
            ticket.spent.since_grant_micro_usd = ticket
                .spent
                .since_grant_micro_usd
                .saturating_add(result.cost_micro_usd);
            ticket.authors.extend(result.agent.clone());
            for before in [&mut ticket.unified, &mut ticket.undone] {
                before.retain(|one| one.id != result.id);
            }
            match result.end {
                ChildEnd::Unified | ChildEnd::Unmerged { .. } => ticket.unified.push(result.clone()),
                ChildEnd::GivenUp { .. } | ChildEnd::Ended { .. } => ticket.undone.push(result.clone()),
            }
        }
    }
}
