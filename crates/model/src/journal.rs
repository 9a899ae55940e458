//! The typed form of the journal's rows, which the store writes down and reads back.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::Outcome;
use crate::project::{self, Project};
use crate::ticket::{self, SlotChange, Ticket, TimerChange};
use crate::{Fence, TicketId, Time};

/// The shape of the events in this build. Older ones are upcast on reading; newer ones are refused.
pub const SCHEMA: u32 = 1;

/// A stream: one ticket with all that belongs to it, or the project.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// The engine's life and the roster.
    Project,
    /// A ticket.
    Ticket(TicketId),
}

impl Stream {
    /// The stream that is stored as `text`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix("ticket/") {
            Some(id) => TicketId::try_from(id.to_owned()).ok().map(Stream::Ticket),
            None => (text == "project").then_some(Stream::Project),
        }
    }

    /// The kind of stream.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Stream::Project => "project",
            Stream::Ticket(_) => "ticket",
        }
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stream::Project => f.write_str("project"),
            Stream::Ticket(id) => write!(f, "ticket/{id}"),
        }
    }
}

/// A stream's state.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// The project's.
    Project(Project),
    /// A ticket's state: shared with a reader that keeps it as it is now.
    Ticket(Arc<Ticket>),
}

/// An event of a ticket or of the project.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// An event of the project.
    Project(project::Event),
    /// An event of a ticket.
    Ticket(ticket::Event),
}

impl Fact {
    /// The event's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Fact::Project(event) => event.name(),
            Fact::Ticket(event) => event.name(),
        }
    }
}

/// A fact with the state it leads to and what it orders.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The event.
    pub fact: Fact,
    /// The stream's state after it.
    pub after: State,
    /// Its orders, in order.
    pub effects: Vec<ticket::Effect>,
}

/// An ordered effect's place in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EffectId {
    /// The event that ordered it.
    pub seq: u64,
    /// Its place among that event's effects.
    pub index: u32,
}

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.seq, self.index)
    }
}

/// An effect that a ticket ordered, with its place in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordered {
    /// Its place in the journal.
    pub id: EffectId,
    /// The ticket that ordered it.
    pub ticket: TicketId,
    /// The effect.
    pub effect: ticket::Effect,
}

/// One setting of one timer: a later setting makes it stale.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TimerRef {
    /// The stream it is set in.
    pub stream: Stream,
    /// The purpose of the timer.
    pub key: String,
    /// The number of the setting: a timer that was set again has a new one.
    pub generation: u64,
}

/// One decision, made durable in one transaction or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// The stream of the decision.
    pub stream: Stream,
    /// The version the decision was made on.
    pub expected: u64,
    /// The fence the decision was made under.
    pub fence: Option<Fence>,
    /// The fence that a claim mints.
    pub new_fence: Option<Fence>,
    /// The events.
    pub entries: Vec<Entry>,
    /// The time of the decision.
    pub at: Time,
    /// The cause of the decision, for people.
    pub cause: String,
    /// Changes to the stream's timers.
    pub timers: Vec<TimerChange>,
    /// Changes to the slot table.
    pub slots: Vec<SlotChange>,
    /// The effect whose report this is.
    pub completes: Option<EffectId>,
    /// The timer this answers.
    pub fires: Option<TimerRef>,
    /// The command this settles, by id.
    pub answers: Option<(String, Outcome)>,
}
