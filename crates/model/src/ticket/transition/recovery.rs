//! Recovery: the rows of a ticket that recovers another, and of the ticket that is recovered.

use super::{Draft, Taken};
use crate::attempt;
use crate::ticket::{Done, State};
use crate::{Oid, TicketId};

impl Draft<'_> {
    /// The ticket that it recovers is done and has not failed.
    pub(super) fn recovery_not_needed(&mut self) -> Taken {
        self.expect_open()?;
        if self.ticket.spec.recovers.is_none() {
            return self.no("it recovers no other ticket");
        }
        self.finish(Done::NotNeeded);
        Ok(())
    }

    /// A ticket that recovers this one has landed: this one is closed, or opened again with fresh attempts,
    /// whose agents are told so.
    pub(super) fn recovery_landed(&mut self, by: &TicketId, commit: &Oid, replaces: bool) -> Taken {
        if !self.ticket.has_failed() {
            return self.no("it has not failed");
        }
        if replaces {
            self.keep_work();
            self.finish(Done::Replaced {
                by: by.clone(),
                commit: commit.clone(),
            });
            return Ok(());
        }
        if self.ticket.attempt().is_some() {
            self.back_to_open()?;
        } else if self.ticket.is_done() {
            // What its file lists may have changed since it was done.
            let listed = self.ticket.spec.commitments.clone();
            self.ticket.take_from_file(&listed);
            if self.ticket.attempts > 0 {
                self.ticket.from = attempt::StartPoint::Kept {
                    number: self.ticket.attempts,
                };
            }
        }
        let ticket = &mut self.ticket;
        ticket.state = State::Open;
        (ticket.held, ticket.due, ticket.repeat) = (None, None, None);
        (ticket.tries, ticket.review_tries) = (0, 0);
        ticket.labels.clear();
        ticket.feedback.push(format!(
            "it failed. Since then {by}, a ticket that was to recover this one, has landed as {commit}: look at \
             what that commit changed before you go on"
        ));
        Ok(())
    }
}
