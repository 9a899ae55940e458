//! Hindrances: how often in a row the work of a ticket could not be set up or checked under this engine.

use std::collections::BTreeMap;

use model::policy::backoff;
use model::ticket::{Event, Released, Stage, State, Ticket};
use model::{TicketId, Time, attempt, target::Target};

/// The tickets whose work is hindered, each with the number of tries in a row. An engine that starts tries
/// all of them at once, so nothing of this is remembered beyond its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hindrances {
    tries: BTreeMap<TicketId, u32>,
    /// The tickets whose landing waits for a git of a person's alone, each with the time since when.
    gits: BTreeMap<TicketId, Time>,
}

impl Hindrances {
    /// Follows a ticket: `ticket` is as the event has left it.
    pub(crate) fn followed(&mut self, event: &Event, ticket: &Ticket, now: Time) {
        match ticket.stage() {
            Some(Stage::Landing {
                waiting: Some(waiting),
                ..
            }) if waiting.is_for_git() => {
                self.gits.entry(ticket.id.clone()).or_insert(now);
            }
            // The next look is under way.
            Some(Stage::Landing { waiting: None, .. }) => {}
            Some(_) | None => {
                self.gits.remove(&ticket.id);
            }
        }
        let is_hindered = matches!(
            event,
            Event::CouldNotRun { .. }
                | Event::Released {
                    why: Released::SetUpFailed { .. }
                }
        ) || (*event == Event::NotLanded
            && ticket.held.as_ref().is_some_and(|held| held.may_pass));
        if is_hindered {
            *self.tries.entry(ticket.id.clone()).or_default() += 1;
        } else if !is_tried(ticket) {
            self.tries.remove(&ticket.id);
        }
    }

    /// Whether the next try is worth waiting for: a cause that has lasted for so many tries does not pass by
    /// itself.
    pub(crate) fn is_waited_for(&self, id: &TicketId) -> bool {
        let tries = self.tries.get(id).copied().unwrap_or_default();
        tries < backoff::HINDERED_TRIES
    }

    /// Whether the git that is at work in the way of a landing is worth waiting for: one that has taken so
    /// long waits for its person.
    pub(crate) fn is_git_waited_for(&self, id: &TicketId, now: Time) -> bool {
        let since = self.gits.get(id);
        since.is_some_and(|since| now.since(*since) < backoff::GIT_AT_WORK)
    }
}

/// Whether the next try to check the bare target, or to reach it, is worth waiting for.
pub(crate) fn is_target_waited_for(target: &Target) -> bool {
    let tries = target.hindered.max(target.looks);
    target.retry_at.is_some() && target.verdict.may_pass() && tries < backoff::HINDERED_TRIES
}

/// Whether the ticket still waits for its next try, or the try goes on and has shown nothing yet.
fn is_tried(ticket: &Ticket) -> bool {
    match &ticket.state {
        State::Open => true,
        State::InProgress(attempt) => attempt.state == attempt::State::Preparing,
        State::Verify(verify) => matches!(
            verify.stage,
            Stage::Queued | Stage::Building | Stage::Checking(_) | Stage::InTrain(_) | Stage::Landing { .. }
        ),
        State::New | State::Done(_) => false,
    }
}
