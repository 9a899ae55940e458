//! Task modes: announced by an agent in its output.

use model::attempt::{self, Mode};
use model::ticket::{Event, Ticket};
use model::{RunId, TicketId};

use super::Core;

impl Core {
    /// The output of a step has come to these announcements; those that were taken before are passed over.
    /// Returns whether anything was decided.
    pub(super) fn modes_announced(&mut self, run: &RunId, modes: &[Mode]) -> bool {
        let Some(id) = self.tickets.of_run(run).cloned() else {
            return false;
        };
        if self.ticket(&id).and_then(Ticket::live_run) != Some(run) {
            return false;
        }
        let events = self.announced(&id, modes);
        let decides = !events.is_empty();
        for event in events {
            self.apply_or_note(&id, event, "its agent said so");
        }
        decides
    }

    /// The announcements that were not taken yet, as events.
    pub(super) fn announced(&self, id: &TicketId, modes: &[Mode]) -> Vec<Event> {
        let attempt = self.ticket(id).and_then(Ticket::attempt);
        let taken = attempt.map_or(u32::MAX, |attempt| attempt.announced);
        let events = (1..).zip(modes).filter(|(number, _)| *number > taken);
        events
            .map(|(number, mode)| Event::Attempt(attempt::Event::ModeAnnounced { mode: *mode, number }))
            .collect()
    }
}
