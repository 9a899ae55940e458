//! Whether anything can still move without a person, and what each ticket that cannot waits for.

use model::TicketId;
use model::attempt;
use model::policy::{
    capacity,
    route::{self, Refusal},
};
use model::ticket::{Stage, State, Ticket, in_words};

use crate::core::Core;

/// The queue, seen from whoever waits for its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// Something moves, or will by itself.
    pub moving: bool,
    /// What waits for a person, with the reason in words. Epics and tickets that a person has taken do not
    /// count.
    pub waits: Vec<Waits>,
}

/// A ticket that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Which.
    pub ticket: TicketId,
    /// Its title.
    pub title: String,
    /// What for.
    pub why: String,
}

/// Where one ticket stands in this.
enum Standing {
    Over,
    Moving,
    NotCounted,
    Waits(String),
    /// It waits for these.
    Behind(Vec<TicketId>),
    /// Only an agent is missing.
    Eligible,
}

impl Core {
    /// Whether an agent's work moves, or will by itself: then [`Core::rest`] says that something does. It
    /// looks at no ticket that nobody has.
    #[must_use]
    pub fn is_at_work(&self) -> bool {
        self.at_work()
            .any(|ticket| matches!(self.standing(ticket, None), Standing::Moving))
    }

    /// Whether a ticket moves, or will by itself.
    #[must_use]
    pub fn moves(&self, id: &TicketId) -> bool {
        let standing = self.ticket(id).map(|ticket| self.standing(ticket, None));
        matches!(standing, Some(Standing::Moving))
    }

    /// Whether anything can still move without a person.
    #[must_use]
    pub fn rest(&self) -> Rest {
        let mut rest = Rest {
            moving: !self.read || self.is_missing_a_file(),
            waits: Vec::new(),
        };
        let refusals = route::refusals(self.queue());
        let mut eligible = false;
        for ticket in self.tickets.values() {
            let why = match self.standing(ticket, refusals.get(&ticket.id)) {
                Standing::Over | Standing::NotCounted => continue,
                Standing::Moving => {
                    rest.moving = true;
                    continue;
                }
                Standing::Waits(why) => why,
                // Whatever it waits for is counted itself; behind what moves, it will move.
                Standing::Behind(ids) => {
                    let ids: Vec<&str> = ids.iter().map(TicketId::as_str).collect();
                    format!("it waits for {}", ids.join(", "))
                }
                Standing::Eligible => {
                    eligible = true;
                    continue;
                }
            };
            rest.waits.push(Waits {
                ticket: ticket.id.clone(),
                title: ticket.spec.title.clone(),
                why,
            });
        }
        // An agent gets free while anything moves. When nothing does, it takes a person who frees one.
        if eligible && !rest.moving {
            let seatless = self.seatless();
            rest.moving = seatless.is_empty();
            rest.waits.extend(seatless);
        }
        for (id, file) in &self.files {
            if file.unreadable && !self.tickets.contains_key(id) {
                let why = Refusal::Unreadable.to_string();
                rest.waits.push(Waits {
                    ticket: id.clone(),
                    title: String::new(),
                    why,
                });
            }
        }
        for (id, why) in self.undone_of_all() {
            if rest.waits.iter().all(|waits| waits.ticket != *id) {
                rest.waits.push(Waits {
                    ticket: id.clone(),
                    title: self.ticket(id).map(|t| t.spec.title.clone()).unwrap_or_default(),
                    why: why.to_owned(),
                });
            }
        }
        rest
    }

    /// What every eligible ticket waits for when no agent can take any of them; nothing when one can.
    fn seatless(&self) -> Vec<Waits> {
        let limits = capacity::Limits::new(&self.settings.agents, &self.settings.run);
        let idle = capacity::idle(self.at_work(), &self.project.agents);
        let free = capacity::free(self.at_work(), limits);
        let queue = self.queue();
        let line = route::order(queue);
        let further = capacity::further(self.at_work(), &self.project.agents, limits, line.len());
        if further > 0 || !route::assign(queue, &idle, free).is_empty() {
            return Vec::new();
        }
        let waits = line.into_iter().enumerate().map(|(ahead, id)| {
            let busy = route::assignee(queue, id)
                .filter(|agent| !idle.contains(agent))
                .cloned();
            let why = busy.map_or(Refusal::NoAgentFree { ahead }, |agent| Refusal::AssigneeBusy {
                agent,
            });
            let title = self.ticket(id).map(|t| t.spec.title.clone()).unwrap_or_default();
            Waits {
                ticket: id.clone(),
                title,
                why: why.to_string(),
            }
        });
        waits.collect()
    }

    /// Why a ticket is not given out; nothing when it is about to be.
    #[must_use]
    pub fn explain(&self, id: &TicketId) -> Option<Refusal> {
        let limits = capacity::Limits::new(&self.settings.agents, &self.settings.run);
        let idle = capacity::idle(self.at_work(), &self.project.agents);
        route::explain(self.queue(), id, &idle, capacity::free(self.at_work(), limits))
    }

    /// Whether the ticket's work cannot go on before a person has mended something: its own, or that of who
    /// is before it in the line to the target.
    #[must_use]
    pub fn is_kept(&self, id: &TicketId) -> bool {
        self.is_stuck(id)
            || self
                .ticket(id)
                .is_some_and(|ticket| self.behind(ticket).is_some())
    }

    fn standing(&self, ticket: &Ticket, refusal: Option<&Refusal>) -> Standing {
        if let Some(front) = self.behind(ticket) {
            return Standing::Behind(vec![front.clone()]);
        }
        match (self.by_state(ticket, refusal), self.stuck(&ticket.id)) {
            // What is ordered next waits behind it.
            (Standing::Moving | Standing::Eligible, Some(why)) => Standing::Waits(why.to_owned()),
            (standing, _) => standing,
        }
    }

    /// Behind whom the ticket waits in the line to the target, who cannot go on: for its turn, or to land.
    fn behind(&self, ticket: &Ticket) -> Option<&TicketId> {
        let State::Verify(verify) = &ticket.state else {
            return None;
        };
        let waits = matches!(verify.stage, Stage::Queued | Stage::Landing { waiting: None, .. });
        let free = waits && ticket.held.is_none();
        let front = free.then(|| self.stuck_front()).flatten();
        front.filter(|front| **front != ticket.id)
    }

    /// Who is at the front of the line to the target and cannot go on before a person has mended something.
    fn stuck_front(&self) -> Option<&TicketId> {
        let is_front = |id: &&TicketId| {
            self.ticket(id).is_some_and(|ticket| match &ticket.state {
                State::Verify(verify) => ticket.held.is_none() && !matches!(verify.stage, Stage::Queued),
                State::New | State::Open | State::InProgress(_) | State::Done(_) => false,
            })
        };
        let stuck = self.undone_of_all().map(|(id, _)| id);
        stuck.filter(|id| self.is_stuck(id)).find(is_front)
    }

    fn by_state(&self, ticket: &Ticket, refusal: Option<&Refusal>) -> Standing {
        if ticket.is_done() {
            return Standing::Over;
        }
        if let Some(held) = &ticket.held {
            return Standing::Waits(held.note.clone());
        }
        match &ticket.state {
            State::New | State::Done(_) => Standing::Over,
            State::InProgress(attempt) => match &attempt.state {
                // One that goes on without an answer in the end needs nobody.
                attempt::State::WaitingForInput { until: Some(_), .. } => Standing::Moving,
                attempt::State::WaitingForInput {
                    question,
                    until: None,
                } => Standing::Waits(format!("{} asks: {question}", attempt.claim.agent)),
                attempt::State::Ready | attempt::State::Working(_)
                    if !attempt.conversation.has_live_worker() =>
                {
                    match self.pause_of(attempt) {
                        Some((harness, pause)) if pause.until.is_none() => Standing::Waits(format!(
                            "{harness} refuses ({}): {}; `crew retry {}` once that is mended",
                            pause.class.name(),
                            pause.message,
                            pause.ticket
                        )),
                        Some(_) | None => Standing::Moving,
                    }
                }
                attempt::State::Preparing
                | attempt::State::Ready
                | attempt::State::Working(_)
                | attempt::State::WaitingForWakeup { .. }
                | attempt::State::Verifying
                | attempt::State::Done
                | attempt::State::Stuck { .. } => Standing::Moving,
            },
            State::Verify(verify) => match &verify.stage {
                Stage::Landing {
                    waiting: Some(waiting),
                    ..
                } => {
                    let paths = in_words(&waiting.paths);
                    Standing::Waits(format!(
                        "edits in your checkout are in the way of landing it: {paths}"
                    ))
                }
                Stage::Queued
                | Stage::Building
                | Stage::Checking(_)
                | Stage::Reviewing { .. }
                | Stage::Landing { .. } => Standing::Moving,
            },
            State::Open => match refusal {
                Some(Refusal::Epic | Refusal::TakenByPerson | Refusal::FileClosed | Refusal::NoFile) => {
                    Standing::NotCounted
                }
                Some(Refusal::WaitsFor { ids }) => Standing::Behind(ids.clone()),
                Some(
                    why @ (Refusal::MissingDependency { .. }
                    | Refusal::Cycle { .. }
                    | Refusal::Unreadable
                    | Refusal::RecoveryNotNeededYet { .. }),
                ) => Standing::Waits(why.to_string()),
                None | Some(Refusal::AssigneeBusy { .. } | Refusal::NoAgentFree { .. }) => Standing::Eligible,
                Some(
                    Refusal::Unknown
                    | Refusal::Done { .. }
                    | Refusal::InProgress { .. }
                    | Refusal::Submitted { .. }
                    | Refusal::Held { .. }
                    | Refusal::Debouncing { .. }
                    | Refusal::NotDue { .. }
                    | Refusal::DayBudget { .. }
                    | Refusal::RecoveryNotNeeded { .. },
                ) => Standing::Moving,
            },
        }
    }
}
