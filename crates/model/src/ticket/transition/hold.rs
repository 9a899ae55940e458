//! The rows that hold a ticket, and let it go on.

use super::{Draft, Taken};
use crate::attempt::{self, Slot};
use crate::policy::budget::Budget;
use crate::ticket::{Held, Repeat, Stage, State, Why};
use crate::{Actor, SessionId, Time};

impl Draft<'_> {
    pub(super) fn hold(&mut self, why: Why, note: String, retry_at: Option<Time>) {
        self.ticket.held = Some(Box::new(Held {
            why,
            note,
            since: self.ticket.since,
            retry_at,
            may_pass: false,
            for_all: false,
            output: None,
        }));
    }

    /// Notes that the cause of the hold may pass without a person.
    pub(super) fn held_until_it_passes(&mut self) {
        if let Some(held) = &mut self.ticket.held {
            held.may_pass = true;
        }
    }

    /// Adds what the check printed for which the ticket is held.
    pub(super) fn held_for(&mut self, output: &str) {
        if let Some(held) = &mut self.ticket.held {
            held.output = Some(output.to_owned());
        }
    }

    /// Notes a failure of submitted work; returns true if the same came once too often.
    pub(super) fn repeats_too_often(&mut self, repeat: Option<&Repeat>) -> bool {
        self.ticket.repeat = repeat.cloned();
        repeat.is_some_and(|repeat| repeat.left == 0)
    }

    /// Held as submitted: a retry first looks whether it is still so, and pays no step for that.
    pub(super) fn hold_for_no_progress(&mut self) -> Taken {
        let Some(repeat) = &self.ticket.repeat else {
            return self.no("nothing came again");
        };
        let note = format!(
            "{}, {} times in a row: not paid again; `crew retry {}` tries it once more",
            repeat.of.sentence(),
            repeat.times,
            self.ticket.id
        );
        self.verify()?.stage = Stage::Queued;
        self.free_slot();
        self.hold(Why::NoProgress, note, None);
        Ok(())
    }

    // Held tickets.

    pub(super) fn retry(&mut self, by: &Actor, slot_free: bool, fresh: &SessionId) -> Taken {
        let for_money = self.is_held_for_budget();
        let held = self.ticket.held.take().is_some();
        if !held && !matches!(self.ticket.state, State::InProgress(_)) {
            return self.no("it is not held");
        }
        // What a hook answers to each time that it is told would never come to an end.
        if for_money && matches!(by, Actor::Hook { .. }) {
            return self.no("its budget is spent, and only a person grants more");
        }
        self.count_hook(by)?;
        // Only a person who saw that the ticket needs money grants it.
        if for_money {
            self.grant();
        }
        self.ticket.tries = 0;
        self.ticket.review_tries = 0;
        self.ticket.repeat = None;
        self.ticket.labels.clear();
        match &mut self.ticket.state {
            State::New | State::Done(_) => self.no("it is not held"),
            State::Open => {
                self.ticket.due = None;
                Ok(())
            }
            State::InProgress(attempt) if slot_free || !held => {
                // A ticket that only lacked money goes on as it was.
                if !for_money {
                    let event = attempt::Event::Retried {
                        by: by.clone(),
                        fresh: fresh.clone(),
                    };
                    **attempt = attempt.after(&event)?.0;
                }
                attempt.claim.slot = Slot::Taken;
                // A wait that would have ended by itself is no hold.
                attempt.waits_for_target |= held;
                Ok(())
            }
            State::InProgress(_) => self.back_to_open(),
            State::Verify(verify) => {
                verify.attempt.forget_conflicts();
                self.go_on_submitted()
            }
        }
    }

    /// Whoever has the ticket begin anew takes every brake off. A hook does that once, until a person does.
    pub(super) fn count_hook(&mut self, by: &Actor) -> Taken {
        let by_hook = matches!(by, Actor::Hook { .. });
        if by_hook && self.ticket.retried_by_hook {
            return self.no("a hook has had it tried again once, and only a person has it tried again now");
        }
        self.ticket.retried_by_hook = by_hook;
        Ok(())
    }

    /// Submitted work that was held is merged anew; the pull request of a proposal is looked at.
    pub(super) fn go_on_submitted(&mut self) -> Taken {
        self.ticket.held = None;
        let verify = self.verify()?;
        if matches!(verify.stage, Stage::Proposed(_)) {
            return self.look();
        }
        verify.stage = Stage::Queued;
        Ok(())
    }

    pub(super) fn grant(&mut self) {
        self.ticket.spent.since_grant_micro_usd = 0;
        if let Some(attempt) = self.ticket.attempt_mut() {
            attempt.conversation.session.warned = None;
        }
    }

    /// Between two steps, or between two attempts: held, and its work stays where it is. A ticket that is
    /// held for its budget already gets the new figures.
    pub(super) fn spend_budget(&mut self, budget: Budget) -> Taken {
        if !self.is_held_for_budget() {
            self.expect_free()?;
        }
        match &self.ticket.state {
            State::Open => {}
            State::InProgress(_) => {
                let (attempt::State::Ready | attempt::State::Working(_)) = self.working()?.state else {
                    return self.no("no step of it is to be started");
                };
            }
            State::Verify(verify) if matches!(&verify.stage, Stage::Reviewing(reviewing) if !reviewing.is_live()) =>
                {}
            State::New | State::Verify(_) | State::Done(_) => {
                return self.no("no step of it is to be started");
            }
        }
        let id = &self.ticket.id;
        let note = match self.ticket.delegated() {
            Some(delegated) => format!(
                "spent {budget}, the budget that it has together with {}",
                delegated.by
            ),
            None => format!(
                "spent {budget}; `crew retry {id}` grants as much again, or raise `ticket_usd` in crew.toml"
            ),
        };
        self.free_slot();
        self.hold(Why::Budget { budget }, note, None);
        Ok(())
    }

    pub(super) fn raise_budget(&mut self, slot_free: bool) -> Taken {
        if !self.is_held_for_budget() {
            return self.no("no budget holds it");
        }
        self.ticket.held = None;
        match &mut self.ticket.state {
            State::InProgress(attempt) if slot_free => {
                attempt.claim.slot = Slot::Taken;
                attempt.waits_for_target = true;
                Ok(())
            }
            State::InProgress(_) => self.back_to_open(),
            State::New | State::Open | State::Verify(_) | State::Done(_) => Ok(()),
        }
    }

    pub(super) fn is_held_for_budget(&self) -> bool {
        let held = self.ticket.held.as_ref();
        held.is_some_and(|held| matches!(held.why, Why::Budget { .. }))
    }

    pub(super) fn retry_due(&mut self) -> Taken {
        if self
            .ticket
            .held
            .as_ref()
            .is_none_or(|held| held.retry_at.is_none())
        {
            return self.no("it waits for a person");
        }
        match &mut self.ticket.state {
            // Its workspace could not be set up.
            State::Open => {}
            State::Verify(_) => return self.go_on_submitted(),
            State::New | State::InProgress(_) | State::Done(_) => {
                return self.no("nothing of it is submitted");
            }
        }
        self.ticket.held = None;
        Ok(())
    }
}
