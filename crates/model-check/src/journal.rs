//! The journal: the durable rows, and the refusals.

use model::{Fence, TicketId, Time};
use store::{Append, Stream, Version};

use crate::book::{After, Book, Value};
use crate::bounds::Guards;
use crate::invariant::Broken;
use crate::order::Order;
use crate::state::TICKETS;

/// A ticket's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Row {
    pub(crate) version: u8,
    pub(crate) fence: u8,
    pub(crate) value: Value,
}

impl Row {
    /// Stands for a row that an engine saw and that is behind the journal's for ever: whatever it writes on
    /// it is refused.
    pub(crate) const BEHIND: Self = Self {
        version: 0,
        fence: 0,
        value: 0,
    };
}

/// An effect in the outbox: ordered, not done. Ordered by ticket, then as they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ordered {
    pub(crate) ticket: u8,
    /// The version of the write that ordered it, and its place there: its name.
    pub(crate) version: u8,
    pub(crate) place: u8,
    /// The claim under which it was ordered.
    pub(crate) fence: u8,
    pub(crate) order: Order,
}

/// The durable rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Journal {
    pub(crate) rows: [Row; TICKETS],
    pub(crate) outbox: Vec<Ordered>,
}

/// An append: an engine's decision, and the row that it saw.
pub(crate) struct Decision<'a> {
    pub(crate) ticket: u8,
    /// The row on which it was decided.
    pub(crate) seen: Row,
    pub(crate) after: &'a After,
    /// The effect whose report it is.
    pub(crate) completes: Option<Ordered>,
}

/// The journal refused: the engine's picture is out of date.
#[derive(Debug)]
pub(crate) struct Refused;

impl Journal {
    /// Writes a decision, or refuses it; gives its orders.
    pub(crate) fn append(
        &mut self,
        decision: &Decision<'_>,
        guards: Guards,
        book: &Book,
    ) -> Result<Result<Vec<Ordered>, Refused>, Broken> {
        let Decision {
            ticket,
            seen,
            after,
            completes,
        } = *decision;
        let row = self.rows[usize::from(ticket)];
        if guards.admission && !admits(ticket, row, seen, after) {
            return Ok(Err(Refused));
        }
        if let Some(effect) = completes {
            match self.outbox.binary_search(&effect) {
                Ok(place) => {
                    self.outbox.remove(place);
                }
                // It is done already. Without admission this would still catch a report that comes twice.
                Err(_) if guards.admission => return Ok(Err(Refused)),
                Err(_) => {}
            }
        }
        if self.takes_a_taken_slot(ticket, after, book) {
            return Ok(Err(Refused));
        }
        if row.value != seen.value {
            return Err(Broken::new(
                "I13",
                format!(
                    "t-{ticket} is {}, and a decision on {} was written",
                    book.name(row.value),
                    book.name(seen.value)
                ),
            ));
        }
        if let Some(effect) = completes.filter(|effect| effect.fence != row.fence) {
            return Err(Broken::new(
                "I1",
                format!(
                    "t-{ticket} is at claim {}, and heard what claim {} had ordered",
                    row.fence, effect.fence
                ),
            ));
        }
        if after.new_fence.is_some_and(|new| new <= row.fence) {
            return Err(Broken::new(
                "I2",
                format!("t-{ticket} was claimed with a fence that is not newer"),
            ));
        }
        let version = row.version + after.events;
        let fence = after.new_fence.unwrap_or(row.fence);
        self.rows[usize::from(ticket)] = Row {
            version,
            fence,
            value: after.value,
        };
        let ordered = after.orders.iter().zip(0..).map(|(order, place)| Ordered {
            ticket,
            version,
            place,
            fence,
            order: *order,
        });
        let ordered: Vec<Ordered> = ordered.collect();
        self.outbox.extend(&ordered);
        self.outbox.sort_unstable();
        Ok(Ok(ordered))
    }

    /// An effect is finished without a fact. One that is done stays so.
    pub(crate) fn finish(&mut self, effect: Ordered) {
        self.outbox.retain(|there| *there != effect);
    }

    /// One ticket per agent: the slot table is a function of the rows.
    fn takes_a_taken_slot(&self, ticket: u8, after: &After, book: &Book) -> bool {
        let now = book.facts(after.value);
        let mut others = self.rows.iter().zip(0..).filter(|(_, other)| *other != ticket);
        others.any(|(row, _)| {
            let other = book.facts(row.value);
            now.agent.is_some() && now.agent == other.agent || now.has_gatekeeper && other.has_gatekeeper
        })
    }
}

/// The store's own word on it.
fn admits(ticket: u8, row: Row, seen: Row, after: &After) -> bool {
    let id = TicketId::new(format!("t-{ticket}")).unwrap_or_else(|no| panic!("{no}"));
    let stream = model::journal::Stream::Ticket(id);
    let mut append = Append::new(stream.clone(), Version(seen.version.into()), Time(0));
    append.fence = Some(Fence(seen.fence.into()));
    append.new_fence = after.new_fence.map(|fence| Fence(fence.into()));
    let there = Stream {
        id: stream,
        version: Version(row.version.into()),
        fence: Fence(row.fence.into()),
        state: String::new(),
        archived: false,
    };
    append.admit(Some(&there)).is_ok()
}
