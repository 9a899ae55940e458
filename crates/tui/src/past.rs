//! What happened to the chosen ticket.

use model::TicketId;
use model::journal::{Fact, State, Stream};
use model::view;
use store::Fold;

use crate::theme::Tone;

/// A ticket's history.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// Whose.
    pub(crate) ticket: Option<TicketId>,
    /// Its rows, as they are shown.
    pub(crate) lines: Vec<Event>,
    /// The last row that is among them.
    seq: u64,
    /// Whether its beginning was told already.
    read: bool,
}

/// A row, as it is shown.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// When, to the second.
    pub(crate) at: String,
    /// What happened, sanitised.
    pub(crate) says: String,
    pub(crate) tone: Tone,
}

impl Past {
    /// Of another ticket, of which nothing was told yet.
    pub(crate) fn begin(&mut self, ticket: Option<TicketId>) {
        *self = Self {
            ticket,
            ..Self::default()
        };
    }

    /// Takes what was read of it.
    pub(crate) fn read(&mut self, rows: &[Fold]) {
        self.read = true;
        self.lines.clear();
        self.seq = 0;
        rows.iter().for_each(|row| self.push(row));
    }

    /// Takes a new row, if it is one of its.
    pub(crate) fn add(&mut self, row: &Fold) {
        if self.read
            && let Stream::Ticket(id) = &row.stream
            && Some(id) == self.ticket.as_ref()
        {
            self.push(row);
        }
    }

    fn push(&mut self, row: &Fold) {
        if row.seq <= self.seq {
            return;
        }
        self.seq = row.seq;
        let tone = match (&row.fact, &row.after) {
            (Fact::Ticket(model::ticket::Event::Landed { .. }), _) => Tone::Good,
            (_, State::Ticket(ticket)) if ticket.held.is_some() => Tone::Waiting,
            (fact, _) if view::matters(fact) => Tone::Plain,
            (Fact::Ticket(_) | Fact::Project(_), _) => Tone::Dim,
        };
        let mut says = view::describe(&row.fact);
        if !row.cause.is_empty() && view::matters(&row.fact) {
            says = format!("{says} (because: {})", row.cause);
        }
        self.lines.push(Event {
            at: view::clock(row.at),
            says: harness::sanitise::line(&says),
            tone,
        });
    }
}
