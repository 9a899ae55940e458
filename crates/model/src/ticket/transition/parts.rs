//! The rows of a ticket that its agent broke up, and of one that a person took back to an earlier commit.

use super::{Draft, Taken};
use crate::attempt::StartPoint;
use crate::ticket::{Part, State};
use crate::{Actor, Oid};

impl Draft<'_> {
    /// Back to the queue until the tickets for the parts are over. That is no failure, and costs no attempt.
    pub(super) fn break_up(&mut self, parts: &[Part]) -> Taken {
        self.back_to_open()?;
        self.clear_end_of_attempt();
        self.ticket.tries = self.ticket.tries.saturating_sub(1);
        for part in parts {
            if self.ticket.parts.iter().all(|known| known.ticket != part.ticket) {
                self.ticket.parts.push(part.clone());
            }
            // Its file gets them too.
            self.ticket.spec.deps.insert(part.ticket.clone());
        }
        Ok(())
    }

    pub(super) fn parts_over(&mut self, parts: &[Part]) -> Taken {
        self.expect_open()?;
        if self.ticket.parts.is_empty() {
            return self.no("it was not broken up");
        }
        self.ticket.parts = parts.to_vec();
        Ok(())
    }

    /// Open again, from a commit of an earlier attempt; the work of the present one is kept.
    pub(super) fn rewind(&mut self, by: &Actor, commit: &Oid) -> Taken {
        self.count_hook(by)?;
        match &self.ticket.state {
            State::New | State::Open => {}
            State::InProgress(_) => {
                self.working()?;
                self.back_to_open()?;
            }
            State::Verify(_) if self.ticket.is_landing() || self.ticket.proposal().is_some() => {
                return self.no("its work may be landing");
            }
            State::Verify(_) => self.back_to_open()?,
            State::Done(_) => return self.no("it is done"),
        }
        self.clear_end_of_attempt();
        let ticket = &mut self.ticket;
        ticket.from = StartPoint::Rewound {
            commit: commit.clone(),
        };
        (ticket.held, ticket.due, ticket.repeat) = (None, None, None);
        (ticket.tries, ticket.review_tries) = (0, 0);
        ticket.approved_before = None;
        ticket.in_line_since = None;
        Ok(())
    }
}
