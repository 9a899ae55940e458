//! The history of the chosen ticket.

use model::journal::{Fact, State, Stream};
use model::view;
use model::{TicketId, Time};
use store::Recorded;

use crate::theme::Tone;

/// A ticket's history.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// The ticket.
    pub(crate) ticket: Option<TicketId>,
    /// Its events, as they are shown.
    pub(crate) lines: Vec<Event>,
    /// The number of the last row among them.
    seq: u64,
    /// Whether the rows up to now have been read.
    is_read: bool,
}

/// An event, as it is shown.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) at: Time,
    /// A description, sanitised.
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

impl History {
    /// Starts with another ticket, of which no row was read.
    pub(crate) fn begin(&mut self, ticket: Option<TicketId>) {
        *self = Self {
            ticket,
            ..Self::default()
        };
    }

    /// Takes all rows of the ticket.
    pub(crate) fn read(&mut self, rows: &[Recorded]) {
        self.is_read = true;
        self.lines.clear();
        self.seq = 0;
        rows.iter().for_each(|row| self.push(row));
    }

    /// Takes a new row of the journal, if it concerns the ticket.
    pub(crate) fn add(&mut self, row: &Recorded) {
        if self.is_read
            && let Stream::Ticket(id) = &row.stream
            && Some(id) == self.ticket.as_ref()
        {
            self.push(row);
        }
    }

    fn push(&mut self, row: &Recorded) {
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
        let mut text = view::describe_with(&row.fact, &row.after);
        if !row.cause.is_empty() && view::matters(&row.fact) {
            text = format!("{text} (because: {})", row.cause);
        }
        self.lines.push(Event {
            at: row.at,
            text: text::sanitise::line(&text),
            tone,
        });
    }
}
