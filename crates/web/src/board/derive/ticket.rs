//! The documents of tickets, and a cache of them: of thousands only those that moved are written again.

use std::collections::BTreeMap;
use std::sync::Arc;

use client::documents;
use model::command::Seen as SeenMark;
use model::policy::route::Refusal;
use model::ticket::{State, Ticket};
use model::view::{Charge, Context, Snapshot, Standing};
use model::{Look, Moment, TicketId, Time};
use serde::Serialize;

use super::Seen;
use crate::board::document::{Documents, Kind, json};

/// A ticket, with where it stands.
#[derive(Debug, Serialize)]
pub(crate) struct TicketDocument {
    #[serde(flatten)]
    ticket: documents::Ticket,
    standing: StandingDocument,
    /// The cost of its steps that ended, over all attempts, in millionths of a US dollar.
    cost_micro_usd: u64,
    /// The step that runs, or the last that ended well; 0 before the first.
    step: u32,
    /// The steps that an attempt may take.
    max_steps: u32,
    /// The tags of its author.
    tags: Vec<String>,
    /// The ticket's n-th attempt, from 1; `null` while nobody is at it.
    attempt: Option<u32>,
    /// The time at which it was written.
    created_at: Moment,
    /// The number of tickets above it, which were delegated one by another.
    depth: usize,
    /// `false` for a ticket that only has a file yet, which no engine has seen.
    is_seen: bool,
    /// The mark of the ticket as it is, which an act on it names.
    seen: String,
}

/// Where a ticket stands.
#[derive(Debug, Serialize)]
struct StandingDocument {
    /// Its condition, for programs.
    sign: &'static str,
    symbol: &'static str,
    /// Its state in a word or two.
    word: &'static str,
    /// The reason: partly text of agents and tickets.
    why: Option<String>,
}

/// Everything that the document of a ticket depends on.
#[derive(Debug)]
struct Inputs<'a> {
    ticket: &'a Arc<Ticket>,
    standing: Standing,
    refusal: Option<&'a Refusal>,
    failing: Vec<String>,
    changed_at: Option<Time>,
    cost: u64,
    max_steps: u32,
    depth: usize,
    is_seen: bool,
}

impl TicketDocument {
    /// The document of a ticket, over or not, that is among those of the snapshot.
    pub(crate) fn of(
        crew: &Snapshot,
        beside: &Context,
        ticket: &Arc<Ticket>,
        changed_at: Option<Time>,
        max_steps: u32,
        look: Look,
    ) -> Self {
        let charges = crew.charges.iter().filter(|charge| charge.ticket == ticket.id);
        Inputs {
            ticket,
            standing: Standing::of(ticket, beside.facts(&ticket.id), look),
            refusal: beside.refusals.get(&ticket.id),
            failing: client::inbox::why_of(&beside.failing, &ticket.id),
            changed_at,
            cost: charges.map(|charge| charge.usage.cost_micro_usd).sum(),
            max_steps,
            depth: crew.depth(ticket),
            is_seen: true,
        }
        .document()
    }
}

impl Inputs<'_> {
    fn document(self) -> TicketDocument {
        let ticket = self.ticket;
        let step = match &ticket.state {
            State::InProgress(attempt) => {
                attempt.conversation.steps + u32::from(attempt.conversation.has_live_worker())
            }
            State::Verify(verify) => verify.attempt.conversation.steps,
            State::New | State::Open | State::Done(_) => 0,
        };
        TicketDocument {
            standing: StandingDocument {
                sign: self.standing.sign.name(),
                symbol: self.standing.sign.symbol(),
                word: self.standing.word,
                why: self.standing.why,
            },
            cost_micro_usd: self.cost,
            step,
            max_steps: self.max_steps,
            tags: ticket.spec.tags.iter().cloned().collect(),
            attempt: ticket.attempt().map(|attempt| attempt.claim.number),
            created_at: Moment(ticket.spec.created),
            depth: self.depth,
            is_seen: self.is_seen,
            seen: SeenMark::of(ticket).mark(),
            ticket: documents::Ticket::of(ticket, self.changed_at, self.refusal, self.failing),
        }
    }

    fn is_as(&self, kept: &Kept) -> bool {
        let ticket = &kept.ticket;
        (Arc::ptr_eq(self.ticket, ticket) || self.ticket == ticket)
            && self.standing == kept.standing
            && self.refusal == kept.refusal.as_ref()
            && self.failing == kept.failing
            && self.changed_at == kept.changed_at
            && (self.cost, self.max_steps, self.depth, self.is_seen) == kept.numbers
    }
}

/// A document, and what it was derived from.
#[derive(Debug)]
struct Kept {
    /// Held, so that no other ticket comes to stand at its place in memory.
    ticket: Arc<Ticket>,
    standing: Standing,
    refusal: Option<Refusal>,
    failing: Vec<String>,
    changed_at: Option<Time>,
    numbers: (u64, u32, usize, bool),
    json: Arc<str>,
}

/// The documents of tickets as they were derived last.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    kept: BTreeMap<TicketId, Kept>,
    costs: CostsOfTickets,
}

/// The cost of each ticket, summed up again when another step was charged.
#[derive(Debug, Default)]
struct CostsOfTickets {
    /// The number of charges, and the last of them.
    of: (usize, u64),
    sums: BTreeMap<TicketId, u64>,
}

impl CostsOfTickets {
    fn look(&mut self, charges: &[Charge]) {
        let of = (charges.len(), charges.last().map_or(0, |charge| charge.seq));
        if of == self.of {
            return;
        }
        self.of = of;
        self.sums.clear();
        for charge in charges {
            *self.sums.entry(charge.ticket.clone()).or_default() += charge.usage.cost_micro_usd;
        }
    }
}

impl Tickets {
    /// Puts the tickets that are not over in; gives their keys in order.
    pub(super) fn put(
        &mut self,
        documents: &mut Documents,
        seen: &Seen<'_>,
        crew: &Snapshot,
        look: Look,
    ) -> Vec<TicketId> {
        self.costs.look(&crew.charges);
        let beside = &seen.files.beside;
        let mut kept = BTreeMap::new();
        let mut keys = Vec::new();
        for ticket in crew.order() {
            let Some(ticket) = crew.tickets.get(&ticket.id) else {
                continue;
            };
            let id = &ticket.id;
            let inputs = Inputs {
                ticket,
                standing: Standing::of(ticket, beside.facts(id), look),
                refusal: beside.refusals.get(id),
                failing: match beside.failing.is_empty() {
                    true => Vec::new(),
                    false => client::inbox::why_of(&beside.failing, id),
                },
                changed_at: seen.files.changed_at.get(id).copied(),
                cost: self.costs.sums.get(id).copied().unwrap_or_default(),
                max_steps: seen.files.settings.run.max_steps,
                depth: crew.depth(ticket),
                is_seen: seen.crew.tickets.contains_key(id),
            };
            let one = match self.kept.remove(id).filter(|kept| inputs.is_as(kept)) {
                Some(known) => known,
                None => Kept {
                    ticket: Arc::clone(ticket),
                    standing: inputs.standing.clone(),
                    refusal: inputs.refusal.cloned(),
                    failing: inputs.failing.clone(),
                    changed_at: inputs.changed_at,
                    numbers: (inputs.cost, inputs.max_steps, inputs.depth, inputs.is_seen),
                    json: json(&inputs.document()),
                },
            };
            documents.put(Kind::Ticket, id.as_str(), Arc::clone(&one.json));
            keys.push(id.clone());
            kept.insert(id.clone(), one);
        }
        self.kept = kept;
        keys
    }
}
