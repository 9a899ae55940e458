//! Rest: whether anything can still move without a person, and what each other ticket waits for.

use std::collections::{BTreeMap, BTreeSet};

use model::TicketId;
use model::policy::attention::{self, Facts, Need, Reason, attention};
use model::policy::capacity;
use model::policy::route::{self, Refusal};
use model::ticket::Ticket;

use super::Core;
use crate::hindrances::is_target_waited_for;

/// Whether the queue has come to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// Something moves, or will by itself.
    pub moving: bool,
    /// The tickets that wait for a person or for such a ticket, with the reason in words; where nothing
    /// moves, all that wait for another ticket. Epics and tickets that a person has taken do not count.
    pub waits: Vec<Waits>,
}

/// A ticket that does not move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waits {
    /// The ticket.
    pub ticket: TicketId,
    /// Its title.
    pub title: String,
    /// The thing that it waits for, in words.
    pub why: String,
}

impl Core {
    /// Whether an agent's work moves, or will by itself: then [`Core::rest`] says that something does. It
    /// looks at no ticket that nobody has.
    #[must_use]
    pub fn is_at_work(&self) -> bool {
        let blocker = self.blocker();
        let target = self.project().target.as_deref().and_then(route::refused_by);
        self.at_work()
            .any(|ticket| self.need(ticket, target.as_ref(), blocker).moves_by_itself())
    }

    /// Whether a ticket moves, or will by itself.
    #[must_use]
    pub fn moves(&self, id: &TicketId) -> bool {
        let ticket = self.ticket(id);
        ticket.is_some_and(|ticket| self.need(ticket, None, self.blocker()).moves_by_itself())
    }

    /// Whether anything can still move without a person.
    #[must_use]
    pub fn rest(&self) -> Rest {
        let mut rest = Rest {
            moving: !self.folder.is_read()
                || self.is_missing_a_file()
                || self.renames.is_any_about_to_count(),
            waits: Vec::new(),
        };
        let refusals = route::refusals(self.queue());
        let blocker = self.blocker();
        let mut eligible = false;
        // The tickets that wait for others, and for which.
        let mut behind: BTreeMap<&TicketId, Vec<TicketId>> = BTreeMap::new();
        for ticket in self.tickets() {
            let need = self.need(ticket, refusals.get(&ticket.id), blocker);
            rest.moving |= need.moves_by_itself();
            let why = match need {
                Need::Over => match ticket.unheeded.as_ref().filter(|change| change.asks()) {
                    Some(change) => change.words(),
                    None => continue,
                },
                // The end would look like the end of all work, and this waits for whoever has the file.
                Need::Apart if ticket.is_left_without_file() => match ticket.unheeded.as_ref() {
                    Some(change) => change.words(),
                    None => continue,
                },
                Need::Apart | Need::Time => continue,
                Need::Agent => {
                    eligible = true;
                    continue;
                }
                // The others are counted themselves.
                Need::Others(others) => {
                    behind.insert(&ticket.id, others.tickets().to_vec());
                    others.to_string()
                }
                Need::Person(reason) if reason.ends_by_itself() => continue,
                Need::Person(reason) => {
                    rest.moving |= self.may_pass(ticket, &reason);
                    reason.to_string()
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
            let agentless = self.agentless();
            rest.moving = agentless.is_empty();
            rest.waits.extend(agentless);
        }
        for (id, file) in self.folder.files() {
            if file.unreadable && !self.tickets.contains(id) {
                let why = Refusal::Unreadable.to_string();
                rest.waits.push(Waits {
                    ticket: id.clone(),
                    title: String::new(),
                    why,
                });
            }
        }
        for (id, why) in self.failures.for_people() {
            if rest.waits.iter().all(|waits| waits.ticket != *id) {
                rest.waits.push(Waits {
                    ticket: id.clone(),
                    title: self.ticket(id).map(|t| t.spec.title.clone()).unwrap_or_default(),
                    why: why.to_owned(),
                });
            }
        }
        // Behind a ticket that moves, another one will move.
        if rest.moving {
            let waiting = rest.waits.iter().map(|waits| &waits.ticket);
            let mut stuck: BTreeSet<TicketId> =
                waiting.filter(|id| !behind.contains_key(id)).cloned().collect();
            loop {
                let is_stuck = |on: &[TicketId]| on.iter().any(|id| stuck.contains(id));
                let more = behind
                    .iter()
                    .filter(|(id, on)| !stuck.contains(**id) && is_stuck(on));
                let more: Vec<TicketId> = more.map(|(id, _)| (*id).clone()).collect();
                if more.is_empty() {
                    break;
                }
                stuck.extend(more);
            }
            rest.waits.retain(|waits| stuck.contains(&waits.ticket));
        }
        rest
    }

    /// Whether the reason for which a ticket waits may pass without a person, and crew tries again in a
    /// while.
    fn may_pass(&self, ticket: &Ticket, reason: &Reason<'_>) -> bool {
        match reason {
            Reason::Held(held) => {
                held.may_pass && held.retry_at.is_some() && self.hindrances.is_waited_for(&ticket.id)
            }
            Reason::Target(_) => {
                let target = self.project().target.as_deref();
                target.is_some_and(is_target_waited_for)
            }
            Reason::Edits(_) => self.hindrances.is_git_waited_for(&ticket.id, self.now),
            Reason::Question { .. }
            | Reason::Proposal { .. }
            | Reason::Failure(_)
            | Reason::Impossible(_)
            | Reason::Harness { .. }
            | Reason::Dependency(_)
            | Reason::File(_) => false,
        }
    }

    /// The reason for which every eligible ticket waits when no agent can take any of them; nothing when one
    /// can.
    fn agentless(&self) -> Vec<Waits> {
        let limits = capacity::Limits::new(&self.settings.agents, &self.settings.run);
        let idle = capacity::idle(self.at_work(), &self.project().agents);
        let free = capacity::free(self.at_work(), limits);
        let queue = self.queue();
        let line = route::order(queue);
        let further = capacity::further(self.at_work(), &self.project().agents, limits, line.len());
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
        let idle = capacity::idle(self.at_work(), &self.project().agents);
        route::explain(self.queue(), id, &idle, capacity::free(self.at_work(), limits))
    }

    /// Whether the ticket's work cannot go on before a person has mended something: its own, or that of the
    /// ticket that lands first.
    #[must_use]
    pub fn is_kept(&self, id: &TicketId) -> bool {
        let needs_others = |ticket: &Ticket| {
            let need = self.need(ticket, None, self.blocker());
            matches!(need, Need::Others(_))
        };
        self.is_stuck(id) || self.ticket(id).is_some_and(needs_others)
    }

    /// Whether what the journal says cannot be written into the ticket's file, and that is a person's to
    /// mend.
    #[must_use]
    pub fn is_unwritten(&self, id: &TicketId) -> bool {
        self.failures.of_file(id).is_some()
    }

    /// Whether the ticket's work cannot go on before a person has mended something.
    #[must_use]
    pub fn is_stuck(&self, id: &TicketId) -> bool {
        self.failures.of_work(id).is_some()
    }

    pub(super) fn need<'a>(
        &'a self,
        ticket: &'a Ticket,
        refusal: Option<&'a Refusal>,
        blocker: Option<&'a TicketId>,
    ) -> Need<'a> {
        let facts = Facts {
            refusal,
            failure: self.failures.of_work(&ticket.id),
            pause: match ticket.reviewing() {
                Some(_) => self.pause_of_review(ticket),
                None => ticket.attempt().and_then(|attempt| self.pause_of(attempt)),
            },
            blocker,
            children: None,
        };
        let need = attention(ticket, facts);
        match self.is_child_about_to_begin(ticket) {
            true => Need::Time,
            false => need,
        }
    }

    /// The ticket that lands first and cannot go on.
    pub(super) fn blocker(&self) -> Option<&TicketId> {
        // Hardly ever does anything fail: no ticket is looked at then.
        self.failures.for_people().next()?;
        attention::blocker(self.at_work(), |id| self.is_stuck(id))
    }
}
