//! Tickets that their agents broke up: which tickets are the parts, and what came of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::attempt::{Attempt, Mode, Signal};
use model::ticket::{Done, Event, Part, State, Ticket};
use model::{TicketId, Time};

use super::Core;

impl Core {
    /// What the end of a step means: done in the mode break_up is a ticket that waits for its parts.
    /// `made` are the tickets of its agent that were found in the folder when the step had ended, `announced`
    /// the announcements of modes in its output that come before its end: the tickets of the step are its
    /// parts whether they were made before or after anybody read those.
    pub(super) fn with_parts(
        &self,
        id: &TicketId,
        announced: &[Event],
        signal: Signal,
        made: Vec<Part>,
    ) -> Signal {
        let Some(ticket) = self.ticket(id) else {
            return signal;
        };
        let Some(attempt) = ticket.attempt() else {
            return signal;
        };
        if signal != Signal::Done || mode_after(attempt, announced) != Mode::BreakUp {
            return signal;
        }
        let agent = attempt.claim.agent.as_str();
        // A file says when it was made in whole seconds.
        let since = Time(attempt.claimed_at.0.div_euclid(1_000) * 1_000);
        let known = self.tickets.all().values().filter(|other| {
            other.spec.made_by.as_deref() == Some(agent) && other.spec.created >= since && other.id != *id
        });
        let known = known.map(|other| Part {
            ticket: other.id.clone(),
            title: other.spec.title.clone(),
            result: None,
        });
        let parts: BTreeMap<TicketId, Part> = made
            .into_iter()
            .chain(known)
            .filter(|part| ticket.parts.iter().all(|before| before.ticket != part.ticket))
            // What it has delegated is done with this ticket, and not before it.
            .filter(|part| self.parent_by_id(&part.ticket).is_none())
            .map(|part| (part.ticket.clone(), part))
            .collect();
        match parts.is_empty() {
            true => signal,
            false => Signal::BrokenUp {
                parts: parts.into_values().collect(),
            },
        }
    }

    /// The event that goes before the claim of a ticket that was broken up.
    pub(super) fn parts_over(&self, id: &TicketId) -> Option<Event> {
        let ticket = self.ticket(id).filter(|ticket| !ticket.parts.is_empty())?;
        let parts = ticket.parts.iter().map(|part| {
            let known = self.ticket(&part.ticket);
            Part {
                title: known.map_or_else(|| part.title.clone(), |known| known.spec.title.clone()),
                result: Some(
                    known.map_or_else(|| "is gone: there is no such ticket any more".to_owned(), result),
                ),
                ticket: part.ticket.clone(),
            }
        });
        Some(Event::PartsOver {
            parts: parts.collect(),
        })
    }
}

/// The mode of an attempt after these announcements of its agent.
fn mode_after(attempt: &Attempt, announced: &[Event]) -> Mode {
    let mut attempt = Cow::Borrowed(attempt);
    for event in announced {
        if let Event::Attempt(event) = event
            && let Ok((after, _, _)) = attempt.after(event)
        {
            attempt = Cow::Owned(after);
        }
    }
    attempt.mode
}

/// What came of a ticket, in words.
fn result(ticket: &Ticket) -> String {
    let State::Done(done) = &ticket.state else {
        return "is not over, and nothing waits for it any more".to_owned();
    };
    match done {
        Done::Landed { commit, .. } => format!("landed as {}", commit.short()),
        Done::Failed { reason } => format!("failed: {reason}"),
        Done::NotNeeded => "was not needed".to_owned(),
        Done::Replaced { by, commit } => format!("was replaced by {by}, which landed as {}", commit.short()),
        Done::Dropped { by, reason } if reason.is_empty() => format!("was dropped by {by}"),
        Done::Dropped { by, reason } => format!("was dropped by {by}: {reason}"),
        Done::ClosedByPerson => "was closed by a person".to_owned(),
    }
}
