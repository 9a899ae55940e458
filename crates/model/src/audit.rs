//! Audit: checks, row by row, that a journal keeps the promises of the machines.
//!
//! The simulation runs it after every step, `crew doctor` over a whole journal. Promises between the journal
//! and the repository or the processes are checked elsewhere, where those can be seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::journal::{Fact, State, Stream};
use crate::machine::Machine as _;
use crate::policy::budget::Budget;
use crate::project::{self, Project};
use crate::ticket::{Event, Ticket, Why};
use crate::view::Row;
use crate::{AgentName, Oid, TicketId, attempt};

/// A promise that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The promise, as a sentence.
    pub invariant: &'static str,
    /// The promise that is broken.
    pub what: String,
}

/// The rows so far.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    project: Project,
    tickets: BTreeMap<TicketId, Arc<Ticket>>,
    /// By the place of the event.
    landed: BTreeMap<u64, (TicketId, Oid)>,
    /// The tree that was checked, by the commit that landed.
    judged: BTreeMap<Oid, Oid>,
}

impl Audit {
    /// Begins with a state that an earlier row left.
    pub fn set_out(&mut self, after: &State) {
        match after {
            State::Project(project) => self.project.clone_from(project),
            State::Ticket(ticket) => drop(self.tickets.insert(ticket.id.clone(), Arc::clone(ticket))),
        }
    }

    /// Forgets tickets that are over: no row of theirs comes, but for one before which each is
    /// [set out](Audit::set_out) again.
    pub fn forget(&mut self, tickets: &BTreeSet<TicketId>) {
        for id in tickets {
            self.tickets.remove(id);
        }
    }

    /// Takes the next row and gives the promise that it breaks. Rows of one stream come in their order; the
    /// streams come as they are in the journal, or one after the other.
    pub fn row(&mut self, row: &Row<'_>) -> Option<Broken> {
        match (row.stream, row.fact, row.after) {
            (Stream::Ticket(id), Fact::Ticket(event), State::Ticket(stored)) => {
                let broken = self.ticket(id, event, stored, row);
                self.tickets.insert(id.clone(), stored.clone());
                broken
            }
            (Stream::Project, Fact::Project(event), State::Project(stored)) => {
                let next = project::Machine::transition(&self.project, event).map(|step| step.state);
                self.project.clone_from(stored);
                (next.as_ref() != Ok(stored)).then(|| Broken {
                    invariant: REPLAY,
                    what: format!("the project at event {}: {}", row.seq, differs(&next, stored)),
                })
            }
            (stream, Fact::Ticket(_) | Fact::Project(_), _) => Some(Broken {
                invariant: REPLAY,
                what: format!("event {} of {stream} is of another kind", row.seq),
            }),
        }
    }

    /// The promise that no single row breaks: an agent is at one ticket.
    #[must_use]
    pub fn standing(&self) -> Vec<Broken> {
        let mut slots: BTreeMap<&AgentName, &TicketId> = BTreeMap::new();
        let mut broken = Vec::new();
        for ticket in self.tickets.values() {
            let Some(agent) = ticket.slot() else { continue };
            if let Some(other) = slots.insert(agent, &ticket.id) {
                broken.push(Broken {
                    invariant: "one ticket per agent",
                    what: format!("{agent} is at {other} and at {}", ticket.id),
                });
            }
        }
        broken
    }

    /// The project as its last row left it.
    #[must_use]
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Every ticket that was not forgotten, as its last row left it.
    #[must_use]
    pub fn tickets(&self) -> &BTreeMap<TicketId, Arc<Ticket>> {
        &self.tickets
    }

    /// The merge commits that were landed, oldest first.
    #[must_use]
    pub fn landed(&self) -> impl ExactSizeIterator<Item = &(TicketId, Oid)> {
        self.landed.values()
    }

    /// The trees that were judged of the merge commits that were landed, by commit.
    #[must_use]
    pub fn judged(&self) -> &BTreeMap<Oid, Oid> {
        &self.judged
    }

    fn ticket(&mut self, id: &TicketId, event: &Event, stored: &Ticket, row: &Row<'_>) -> Option<Broken> {
        let new = || Arc::new(Ticket::new(id.clone()));
        let before = self.tickets.get(id).cloned().unwrap_or_else(new);
        if let Event::Landed { commit } = event {
            self.landed.insert(row.seq, (id.clone(), commit.clone()));
            if let Some(candidate) = before.candidate().filter(|candidate| candidate.commit == *commit) {
                self.judged.insert(commit.clone(), candidate.tree.clone());
            }
        }
        // The day's budget is in another stream: an engine that is being overtaken may not have read that it
        // is spent.
        if let Event::Attempt(attempt::Event::StepStarted { .. }) = event
            && let Some(budget) = spent(&before)
        {
            return Some(Broken {
                invariant: "no step is started when its budget is spent",
                what: format!("{id} at event {}, with {budget} spent", row.seq),
            });
        }
        let next = before.after(event, row.at).map(|change| change.ticket);
        if next.as_ref() != Ok(stored) {
            return Some(Broken {
                invariant: REPLAY,
                what: format!(
                    "{id} at event {} ({}): {}",
                    row.seq,
                    event.name(),
                    differs(&next, stored)
                ),
            });
        }
        let minted = !matches!(event, Event::Claimed { .. }) || stored.fence > before.fence;
        (!minted || stored.fence < before.fence).then(|| Broken {
            invariant: "fences strictly increase",
            what: format!(
                "{id} at event {} went from fence {} to {}",
                row.seq, before.fence, stored.fence
            ),
        })
    }
}

/// The amount spent of a ticket's budget, while the budget holds the ticket.
fn spent(ticket: &Ticket) -> Option<Budget> {
    match ticket.held.as_ref()?.why {
        Why::Budget { budget } => Some(budget),
        Why::Failed
        | Why::Blocked
        | Why::Killed
        | Why::Reaped
        | Why::CouldNotRun
        | Why::Landing
        | Why::TargetRed
        | Why::Paths { .. }
        | Why::Secrets { .. }
        | Why::Commitments { .. }
        | Why::Tests { .. }
        | Why::Conflict
        | Why::Auth
        | Why::NoProgress
        | Why::Review
        | Why::Hold
        | Why::Diverged
        | Why::Closed => None,
    }
}

const REPLAY: &str = "stored state equals replay";

fn differs<S: std::fmt::Debug, E: std::fmt::Display>(next: &Result<S, E>, stored: &S) -> String {
    match next {
        Err(rejected) => format!("the machine does not accept it: {rejected}"),
        Ok(next) => {
            let (next, stored) = (format!("{next:?}"), format!("{stored:?}"));
            let same = next
                .bytes()
                .zip(stored.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            let from = |text: &str| -> String {
                let near: Vec<char> = text.chars().skip(same.saturating_sub(20)).take(60).collect();
                near.into_iter().collect()
            };
            format!("stored `{}`, replayed `{}`", from(&stored), from(&next))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;
    use crate::ticket::Spec;

    fn created(id: &TicketId) -> (Event, Ticket) {
        let event = Event::Created {
            spec: Spec {
                title: "One".to_owned(),
                ..Spec::default()
            },
        };
        let after = Ticket::new(id.clone()).after(&event, Time(5)).unwrap().ticket;
        (event, after)
    }

    #[test]
    fn a_step_that_is_started_when_the_ticket_is_paid_for_is_found() {
        let budget = Budget {
            spent_micro_usd: 5_000_000,
            limit_micro_usd: 5_000_000,
        };
        let (id, run) = (
            TicketId::new("t-1").unwrap(),
            crate::RunId::new("t-1.1.1").unwrap(),
        );
        let (event, after) = created(&id);
        let mut audit = Audit::default();
        look(&mut audit, &id, event, after.clone());
        let started = Event::Attempt(attempt::Event::StepStarted {
            run,
            budget: None,
            change: None,
        });
        let other = look(&mut audit, &id, started.clone(), after.clone()).unwrap();
        assert_eq!(other.invariant, REPLAY);
        let held = crate::ticket::Held {
            why: Why::Budget { budget },
            note: String::new(),
            since: Time(5),
            retry_at: None,
            may_pass: false,
            for_all: false,
            output: None,
        };
        Arc::make_mut(audit.tickets.get_mut(&id).unwrap()).held = Some(Box::new(held));
        let broken = look(&mut audit, &id, started, after).unwrap();
        assert_eq!(broken.invariant, "no step is started when its budget is spent");
        assert!(broken.what.contains("$5.00 of $5.00"), "{}", broken.what);
    }

    fn look(audit: &mut Audit, id: &TicketId, event: Event, after: Ticket) -> Option<Broken> {
        audit.row(&Row {
            seq: 1,
            stream: &Stream::Ticket(id.clone()),
            at: Time(5),
            fact: &Fact::Ticket(event),
            after: &State::Ticket(after.into()),
        })
    }

    #[test]
    fn what_the_machine_gives_is_sound_and_anything_else_is_not() {
        let id = TicketId::new("t-1").unwrap();
        let (event, after) = created(&id);
        assert_eq!(
            look(&mut Audit::default(), &id, event.clone(), after.clone()),
            None
        );
        let mut other = after.clone();
        other.tries = 7;
        let broken = look(&mut Audit::default(), &id, event.clone(), other).unwrap();
        assert_eq!(broken.invariant, REPLAY);
        assert!(broken.what.contains("tries: 7"), "{}", broken.what);
        let mut audit = Audit::default();
        look(&mut audit, &id, event.clone(), after.clone());
        let broken = look(&mut audit, &id, event, after).unwrap();
        assert!(broken.what.contains("does not accept"), "{}", broken.what);
    }
}
