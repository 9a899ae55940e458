//! A view in pieces, as it is kept: all of it as one text would be as large as the view itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Archived, AttemptSummary, Charge, CheckTallies, Landed, Member, Snapshot};
use crate::project::Project;
use crate::ticket::Ticket;
use crate::{AgentName, Time};

/// The number of tickets, attempts, charges or landings in one piece.
const MANY: usize = 250;

/// A part of a view. The first piece has the parts of which there is one; the others are lists.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// The first piece.
    Head(Box<Head>),
    /// Tickets by id.
    Tickets(Vec<Arc<Ticket>>),
    /// Attempts by ticket and number.
    Attempts(Vec<AttemptSummary>),
    /// The usage of steps, oldest first.
    Charges(Vec<Charge>),
    /// Landings, oldest first.
    Landed(Vec<Landed>),
}

/// The parts of which a view has one, and those about agents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    project: Project,
    project_since: Option<Time>,
    members: BTreeMap<AgentName, Member>,
    checks: CheckTallies,
    archived: Archived,
    seq: u64,
    at: Time,
}

impl Snapshot {
    /// The view in pieces, in the order in which [`Crew::add`] takes them.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> + Send {
        let head = Head {
            project: self.project.clone(),
            project_since: self.project_since,
            members: self.members.clone(),
            checks: self.checks.clone(),
            archived: self.archived.clone(),
            seq: self.seq,
            at: self.at,
        };
        std::iter::once(Piece::Head(Box::new(head)))
            .chain(lists(self.tickets.values()).map(Piece::Tickets))
            .chain(lists(self.attempts.values()).map(Piece::Attempts))
            .chain(lists(self.charges.iter()).map(Piece::Charges))
            .chain(lists(self.landed.iter()).map(Piece::Landed))
    }

    /// Takes the next piece. An empty view that took all pieces of another is equal to it.
    pub fn add(&mut self, piece: Piece) {
        match piece {
            Piece::Head(head) => {
                let Head {
                    project,
                    project_since,
                    members,
                    checks,
                    archived,
                    seq,
                    at,
                } = *head;
                self.project = project;
                self.project_since = project_since;
                self.members = members;
                self.checks = checks;
                self.archived = archived;
                self.seq = seq;
                self.at = at;
            }
            Piece::Tickets(tickets) => {
                let named = tickets.into_iter().map(|ticket| (ticket.id.clone(), ticket));
                self.tickets.extend(named);
            }
            Piece::Attempts(attempts) => {
                let named = attempts
                    .into_iter()
                    .map(|work| ((work.ticket.clone(), work.attempt), work));
                self.attempts.extend(named);
            }
            Piece::Charges(charges) => self.charges.extend(charges),
            Piece::Landed(landed) => self.landed.extend(landed),
        }
    }
}

/// The entries, so many at a time.
fn lists<'a, T: Clone + 'a>(mut all: impl Iterator<Item = &'a T>) -> impl Iterator<Item = Vec<T>> {
    std::iter::from_fn(move || {
        let list: Vec<T> = all.by_ref().take(MANY).cloned().collect();
        (!list.is_empty()).then_some(list)
    })
}
