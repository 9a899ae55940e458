//! Calls of agents: the first result of a step stands.
#![cfg_attr(
    not(test),
    expect(
        clippy::wildcard_enum_match_arm,
        reason = "an invariant is about a few events, and passes over all others"
    )
)]

use model::attempt::{self, AfterStop, Signal};
use model::ticket::{Event, Ticket};
use model::{TicketId, conversation};

use super::{Checked, ensure};

/// A step whose agent has called its result ends with that result, unless a person has ended the step.
pub(super) fn result_stands(id: &TicketId, event: &Event, before: &Ticket) -> Checked {
    let Some(conversation) = before.attempt().map(|attempt| &attempt.conversation) else {
        return Ok(());
    };
    let Some(conversation::Called { call, at }) = conversation.result.as_deref() else {
        return Ok(());
    };
    if conversation.stopping.as_ref().is_some_and(AfterStop::is_final) {
        return Ok(());
    }
    let stands = match event {
        Event::Attempt(attempt::Event::StepFinished { signal, .. }) => {
            // An agent that breaks its work up is done when it has made tickets for the parts.
            let said = match signal {
                Signal::BrokenUp { .. } => &Signal::Done,
                said => said,
            };
            call.signal(*at).as_ref() == Some(said)
        }
        Event::Attempt(attempt::Event::StepFailed { .. }) => false,
        _ => return Ok(()),
    };
    ensure(stands, "a result that an agent has called stands", || {
        format!("{id}: {} and then {}", call.name(), event.name())
    })
}
