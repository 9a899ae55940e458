//! Facts and orders in words, for people. Text of agents and tickets in them is not sanitised: the frontend
//! does that.

mod attempt;
mod effect;
mod matters;
mod project;
mod review;
mod ticket;

pub use effect::describe_effect;
pub use matters::matters;

use crate::journal::{Fact, State};
use crate::ticket::{Event, Released};

/// The event, as the end of a sentence that began with the ticket or the project.
#[must_use]
pub fn describe(fact: &Fact) -> String {
    match fact {
        Fact::Project(event) => project::of_project(event),
        Fact::Ticket(event) => ticket::of_ticket(event),
    }
}

/// An event in words, as [`describe`] has it, beside the state after it: that counts failed steps beyond a
/// retry.
#[must_use]
pub fn describe_with(fact: &Fact, after: &State) -> String {
    match (fact, after) {
        (Fact::Ticket(Event::Attempt(event)), State::Ticket(ticket)) => {
            let attempt = ticket.attempt();
            attempt::of_attempt(event, attempt.map(|attempt| attempt.conversation.in_a_row))
        }
        (Fact::Ticket(Event::CommitmentUnmet { id, .. }), State::Ticket(ticket)) => {
            let promise = ticket.commitment(*id).map(|one| format!(": {}", one.promise));
            describe(fact) + &promise.unwrap_or_default()
        }
        (Fact::Ticket(Event::Landed { .. }), State::Ticket(ticket)) if ticket.brought_nothing() => {
            format!("{}, {BROUGHT_NOTHING}", describe(fact))
        }
        (Fact::Ticket(_) | Fact::Project(_), _) => describe(fact),
    }
}

/// Said of a ticket whose merge changed no file of the target, after how it landed.
pub const BROUGHT_NOTHING: &str = "and brought nothing: the target had all of it before";

/// The end of the output of a failed check or set-up, and below that the way in which it ended.
#[must_use]
pub fn printed(fact: &Fact) -> Option<&str> {
    match fact {
        Fact::Ticket(
            Event::ChecksFailed { output, .. }
            | Event::CommitmentUnmet { output, .. }
            | Event::TestsHeld { output, .. }
            | Event::TargetRed { output, .. },
        ) => Some(output.trim_end()),
        Fact::Ticket(Event::Released {
            why: Released::SetUpFailed { output, .. },
        }) => Some(output.trim_end()),
        Fact::Project(crate::project::Event::Target(target)) => target.verdict.printed(),
        Fact::Ticket(_) | Fact::Project(_) => None,
    }
}
