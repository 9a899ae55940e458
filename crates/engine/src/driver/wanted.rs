//! Whether a ticket still waits for an effect that it ordered.

use model::attempt;
use model::ticket::{Effect, Stage, State, Ticket};

use super::Purpose;

/// The purpose of performing an effect. An engine may have been killed since it was ordered, and the ticket
/// given back, dropped or built anew since. An effect that would begin something is not begun then; an effect
/// that ends something is always performed.
pub(super) fn purpose(ticket: &Ticket, effect: &Effect) -> Purpose {
    let is_wanted = is_wanted(ticket, effect);
    match effect {
        _ if is_wanted => Purpose::Perform,
        Effect::Land { .. } => Purpose::End,
        Effect::PrepareWorkspace { .. }
        | Effect::LookAtProposal { .. }
        | Effect::Attempt(_)
        | Effect::Unify { .. }
        | Effect::BuildCandidate { .. }
        | Effect::StartCheck { .. }
        | Effect::StartReview { .. }
        | Effect::RemoveReview { .. }
        | Effect::KeepWork { .. }
        | Effect::RemoveWorkspace { .. }
        | Effect::WriteFile(_)
        | Effect::AddNote { .. }
        | Effect::CreateTicket(_) => Purpose::Nothing,
    }
}

fn is_wanted(ticket: &Ticket, effect: &Effect) -> bool {
    let stage = match &ticket.state {
        State::Verify(verify) => Some((&verify.stage, verify.round)),
        State::New | State::Open | State::InProgress(_) | State::Done(_) => None,
    };
    match effect {
        Effect::PrepareWorkspace { fence, .. } => {
            let claim = ticket.claim(*fence);
            claim.is_some_and(|claim| matches!(claim.state, attempt::State::Preparing))
        }
        Effect::Attempt(attempt::Effect::StartStep { run, .. }) | Effect::StartReview { run, .. } => {
            ticket.waits_for(run)
        }
        Effect::BuildCandidate { fence, round, .. } => {
            ticket.claim(*fence).is_some()
                && stage.is_some_and(|(stage, now)| matches!(stage, Stage::Building) && now == *round)
        }
        Effect::Attempt(attempt::Effect::CreateChild { child }) => {
            let attempt = ticket.attempt();
            attempt.is_some_and(|attempt| attempt.open_children().contains(&child.id))
        }
        Effect::Unify { fence, .. } => {
            ticket.claim(*fence).is_some()
                && stage.is_some_and(|(stage, _)| matches!(stage, Stage::Unified { is_saved: false }))
        }
        // A check that is stopped before it began need not begin.
        Effect::StartCheck { run, .. } => ticket
            .check_run()
            .is_some_and(|check| check.run == *run && check.stopping.is_none()),
        // A landing that somebody has ended is looked at, and not begun.
        Effect::Land { candidate, .. } => stage.is_some_and(
            |(stage, _)| matches!(stage, Stage::Landing { candidate: it, then: None, .. } if it == candidate),
        ),
        // A look that somebody has ended is made all the same: the pull request may be merged.
        Effect::LookAtProposal { candidate, .. } => stage.is_some_and(|(stage, _)| {
            matches!(stage, Stage::Proposed(it) if it.is_looked_at() && it.candidate == *candidate)
        }),
        Effect::Attempt(attempt::Effect::StopRun { .. } | attempt::Effect::InspectWorkspace { .. })
        | Effect::RemoveReview { .. }
        | Effect::KeepWork { .. }
        | Effect::RemoveWorkspace { .. }
        | Effect::WriteFile(_)
        | Effect::AddNote { .. }
        | Effect::CreateTicket(_) => true,
    }
}
