//! Facts and orders in words, for people. Text of agents and tickets in them is not sanitised: the frontend
//! does that.

mod attempt;
mod effect;
mod matters;
mod project;
mod review;
mod ticket;
mod uncounted;

pub use effect::describe_effect;
pub use matters::matters;
pub use uncounted::{Uncounted, uncounted};

use crate::attempt::Event as Step;
use crate::journal::{Fact, State};
use crate::ticket::{Event, Released, Ticket};

/// The event, as the end of a sentence that began with the ticket or the project.
#[must_use]
pub fn describe(fact: &Fact) -> String {
    match fact {
        Fact::Project(event) => project::of_project(event),
        Fact::Ticket(event) => ticket::of_ticket(event),
    }
}

/// An event in words, as [`describe`] has it, beside the state after it: that counts failed steps beyond a
/// retry, and says whether a question was closed.
#[must_use]
pub fn describe_with(fact: &Fact, after: &State) -> String {
    let says = beside(fact, after);
    let State::Ticket(ticket) = after else { return says };
    match ticket.closed_question.as_ref().filter(|closed| closed.is_new) {
        Some(closed) => format!(
            "{says}; question {} of {} is closed: {}",
            closed.number, closed.agent, closed.why
        ),
        None => says,
    }
}

fn beside(fact: &Fact, after: &State) -> String {
    match (fact, after) {
        (Fact::Ticket(Event::Attempt(Step::WorkspaceReady { .. })), State::Ticket(ticket))
            if let Some(shared) = ticket.shared_workspace() =>
        {
            format!(
                "at work in the workspace of {}, with all that is there",
                shared.of
            )
        }
        (Fact::Ticket(Event::Attempt(event)), State::Ticket(ticket)) => {
            let attempt = ticket.attempt();
            let says = attempt::of_attempt(event, attempt.map(|attempt| attempt.conversation.in_a_row));
            let uncounted = attempt.and_then(|attempt| uncounted::of_event(event, attempt));
            let uncounted = uncounted.map(|word| format!("; that does not count: {}", word.why));
            says + &uncounted.unwrap_or_default()
        }
        (Fact::Ticket(Event::CommitmentUnmet { id, .. }), State::Ticket(ticket)) => {
            let promise = ticket.commitment(*id).map(|one| format!(": {}", one.promise));
            describe(fact) + &promise.unwrap_or_default()
        }
        (Fact::Ticket(Event::Landed { .. } | Event::LandedWithParent { .. }), State::Ticket(ticket))
            if ticket.brought_nothing() =>
        {
            format!("{}, {}", describe(fact), brought_nothing(ticket))
        }
        (Fact::Ticket(_) | Fact::Project(_), _) => describe(fact),
    }
}

/// Said of a ticket whose merge changed no file of the target, after how it landed.
const BROUGHT_NOTHING: &str = "and brought nothing: the target had all of it before";

/// Said of a ticket that has landed with no change of its own, after how it landed.
#[must_use]
pub fn brought_nothing(ticket: &Ticket) -> &'static str {
    match ticket.delegated() {
        Some(_) => "and has changed nothing itself",
        None => BROUGHT_NOTHING,
    }
}

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
