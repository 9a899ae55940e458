//! Hindrances: how often in a row the work of a ticket could not be set up or checked under this engine.

use std::collections::BTreeMap;

use model::policy::backoff;
use model::ticket::{Event, Released, Stage, State, Ticket};
use model::{Oid, TicketId, Time, attempt, target::Target};

/// The tickets whose work is hindered, each with the number of tries in a row. An engine that starts tries
/// all of them at once, so nothing of this is remembered beyond its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hindrances {
    tries: BTreeMap<TicketId, u32>,
    /// The tickets whose landing waits for a git of a person's alone, each with the time since when.
    gits: BTreeMap<TicketId, Time>,
    /// The tickets whose workspace could not be set up for a cause that is every ticket's, each with whether
    /// it is held for it now. A workspace that can be set up shows that the cause is gone for all.
    set_ups: BTreeMap<TicketId, bool>,
    /// The target's commit, as this engine saw it last.
    target: Option<Oid>,
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
        if ticket.failed_set_up().is_some_and(|held| held.for_all) {
            self.set_ups.insert(ticket.id.clone(), true);
        } else if matches!(event, Event::Attempt(attempt::Event::WorkspaceReady { .. })) {
            self.set_ups.clear();
        } else if !is_tried(ticket) {
            self.set_ups.remove(&ticket.id);
        } else if let Some(is_held) = self.set_ups.get_mut(&ticket.id) {
            *is_held = false;
        }
    }

    /// Takes in the target's commit; returns whether it is another one than before.
    pub(crate) fn sees_target(&mut self, commit: &Oid) -> bool {
        let is_other = self.target.as_ref().is_some_and(|old| old != commit);
        self.target = Some(commit.clone());
        is_other
    }

    /// Whether a workspace could not be set up for a cause that is every ticket's, and none could be since.
    pub(crate) fn doubts_set_up(&self) -> bool {
        !self.set_ups.is_empty()
    }

    /// The ticket that shows that no workspace can be set up: no other one is given out.
    pub(crate) fn shows_no_set_up(&self) -> Option<&TicketId> {
        let mut held = self.set_ups.iter().filter(|(_, is_held)| **is_held);
        held.next().map(|(id, _)| id)
    }

    /// How many workspaces may be begun, as far as set-ups are in doubt: one at a time, and none while a
    /// ticket is held for the last one.
    pub(crate) fn workspaces_to_begin<'a>(
        &self,
        mut at_work: impl Iterator<Item = &'a Ticket>,
    ) -> Option<usize> {
        if !self.doubts_set_up() {
            return None;
        }
        let is_tried = |ticket: &Ticket| {
            let attempt = ticket.attempt().filter(|_| ticket.held.is_none());
            attempt.is_some_and(|attempt| attempt.state == attempt::State::Preparing)
        };
        let waits = self.shows_no_set_up().is_some() || at_work.any(is_tried);
        Some(usize::from(!waits))
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
