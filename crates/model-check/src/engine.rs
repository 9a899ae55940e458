//! An engine: its picture of the journal, and the effects that it is about to perform.

use crate::journal::{Journal, Ordered, Row};
use crate::state::TICKETS;
use crate::world::Report;

/// An engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Engine {
    /// It does not run.
    #[default]
    Down,
    /// It runs, or sleeps in the middle of anything.
    Up(Up),
}

/// An engine that is up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Up {
    /// The journal as it last saw it.
    pub(crate) seen: [Row; TICKETS],
    /// Its effects, in order, each with the report that is not delivered yet, if there is one.
    pub(crate) todo: Vec<(Ordered, Option<Report>)>,
    /// Tickets whose worker it may call lost: it took over from an engine whose lease had run out.
    pub(crate) orphans: u8,
}

impl Up {
    /// Starting up: loading the journal.
    pub(crate) fn load(journal: &Journal, orphans: u8) -> Self {
        Self {
            seen: journal.rows,
            todo: journal.outbox.iter().map(|ordered| (*ordered, None)).collect(),
            orphans,
        }
    }

    /// Forgets the differences that cannot matter any more, so that states which differ in them alone are
    /// one: of a ticket that another engine has moved on, everything but the acts that the executor may still
    /// do. A write on such a picture is refused.
    pub(crate) fn forget(&mut self, journal: &Journal) {
        for (ticket, (seen, row)) in (0..).zip(self.seen.iter_mut().zip(&journal.rows)) {
            if seen == row {
                continue;
            }
            *seen = Row::BEHIND;
            self.orphans &= !(1 << ticket);
            let mut is_over = false;
            self.todo.retain(|(ordered, report)| {
                if ordered.ticket != ticket || is_over {
                    return ordered.ticket != ticket;
                }
                let is_heard = ordered.order.is_reported();
                is_over = is_heard;
                let is_undone = matches!(report, None | Some(Report::Again));
                !is_heard || (is_undone && ordered.order.changes_the_world())
            });
        }
    }

    /// The first effects in a ticket's queue to the executor. A stop overtakes all but the start of its run.
    pub(crate) fn first(&self, ticket: u8) -> impl Iterator<Item = (usize, Ordered, Option<Report>)> {
        let line = self.todo.iter().enumerate();
        let mut line = line.filter(move |(_, (ordered, _))| ordered.ticket == ticket);
        let first = line.next();
        let stop = line.find(|(place, (ordered, _))| {
            let is_start = |(before, _): &(Ordered, _)| {
                before.ticket == ticket && before.order.starts_what_ends(ordered.order)
            };
            ordered.order.is_stop() && !self.todo[..*place].iter().any(is_start)
        });
        first
            .into_iter()
            .chain(stop)
            .map(|(place, (ordered, report))| (place, *ordered, *report))
    }
}
