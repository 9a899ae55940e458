//! The output of the core: decisions to be made durable, in order, and notes that need no decision.

use model::command::Outcome;
use model::journal::{EffectId, Write};
use model::ticket::Effect;
use model::{TicketId, Time};

/// The decisions on one input.
///
/// The driver makes the writes durable, in order, before it performs any effect they order. If one is
/// refused, the core's picture is out of date: the driver loads a new core from the journal, which is the
/// same as starting up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// Decisions, in order.
    pub writes: Vec<Write>,
    /// Effects that are finished without a fact.
    pub finished: Vec<EffectId>,
    /// Effects that failed outside anyone's reach: to be performed again at that time.
    pub postponed: Vec<Postponed>,
    /// Commands that are answered without a fact.
    pub answers: Vec<(String, Outcome)>,
    /// Events that a machine refused, in words: for the log.
    pub refused: Vec<String>,
    /// Warnings for people that no fact of the journal holds.
    pub warnings: Vec<String>,
    /// The next moment at which the core wants to look again, whatever happens; timers apart.
    pub wake_at: Option<Time>,
    /// The target is to be looked at now, and its remote to be asked for it.
    pub looks_at_target: bool,
    /// The engine may end: what it was asked to wait for is over.
    pub ended: bool,
}

/// An effect that failed and is performed again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Postponed {
    /// The effect's place.
    pub effect: EffectId,
    /// When.
    pub at: Time,
    /// The thing that was not done and why, in words; nothing where only the machine is short of something.
    pub why: Option<String>,
}

impl Output {
    /// Every effect ordered here, with its ticket, in order. Their ids come with the answer of the store.
    pub fn effects(&self) -> impl Iterator<Item = (&TicketId, &Effect)> {
        self.writes
            .iter()
            .flat_map(|write| {
                write.entries.iter().filter_map(move |entry| match &write.stream {
                    model::journal::Stream::Ticket(id) => Some(entry.effects.iter().map(move |e| (id, e))),
                    model::journal::Stream::Project => None,
                })
            })
            .flatten()
    }
}
