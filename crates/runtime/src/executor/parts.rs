//! The tickets that an agent made for the parts of its own.

use model::TicketId;
use model::attempt::Mode;
use model::ticket::{Part, Ticket};

use process::{Asks, Run};

use super::Executor;

impl Executor {
    /// The tickets in the folder that the ticket's agent made since it has it, where it may have broken its
    /// work up: it was in that mode when its step began, has `announced` it, or has set its mode by a call of
    /// this run. They are read here because their files may be so new that nobody has looked at them.
    pub(crate) fn parts_made(&self, ticket: &Ticket, run: &Run, announced: &[Mode]) -> Vec<Part> {
        let Some(attempt) = ticket.attempt() else {
            return Vec::new();
        };
        let is_known = attempt.mode == Mode::BreakUp || announced.contains(&Mode::BreakUp);
        if !is_known && !has_set_mode(run) {
            return Vec::new();
        }
        let agent = attempt.claim.agent.as_str();
        // A file says when it was made in whole seconds.
        let since = attempt.claimed_at.0.div_euclid(1_000);
        let Ok(folder) = tickets::Folder::at(&self.place.tickets_dir) else {
            return Vec::new();
        };
        let Ok(readings) = folder.each() else {
            return Vec::new();
        };
        let read = readings.filter_map(|reading| reading.outcome.ok());
        let made = read.filter(|read| {
            let created = read.created.map(|at| at.as_millisecond().div_euclid(1_000));
            read.made_by.as_deref() == Some(agent) && created.is_some_and(|at| at >= since)
        });
        made.filter_map(|read| {
            Some(Part {
                ticket: TicketId::new(read.id.as_str())
                    .ok()
                    .filter(|id| *id != ticket.id)?,
                title: read.title,
                result: None,
            })
        })
        .collect()
    }
}

/// Whether the agent of a run has set its mode by a call.
fn has_set_mode(run: &Run) -> bool {
    let asks = Asks::of(run.dir());
    let calls = asks.list().unwrap_or_default();
    calls
        .iter()
        .any(|id| matches!(asks.read(id), Ok(Ok(ask)) if ask.tool == "set_mode"))
}
