//! The documents of tickets: of thousands only those that may have changed are looked at, and only those that
//! have are written again.

use std::collections::BTreeMap;
use std::sync::Arc;

use client::documents;
use model::command::Seen as SeenMark;
use model::policy::attention::{Need, Reason, attention};
use model::policy::route::Refusal;
use model::ticket::{Done, State, Ticket};
use model::view::{Charge, Context, Counts, Snapshot, Standing};
use model::{Look, Moment, TicketId, Time};
use serde::Serialize;

use super::Sources;
use super::over::Changed;
use crate::board::document::{Kind, Patch, json};

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
    depth: u32,
    /// `false` for a ticket that only has a file yet, which no engine has seen.
    is_seen: bool,
    /// Whether a person may give it to an idle agent now.
    assignable: bool,
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
    depth: u32,
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
            depth: ticket.depth(),
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
            assignable: self.is_seen
                && matches!(ticket.state, State::Open)
                && self.refusal.is_none_or(Refusal::yields_to_a_person),
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

/// What a document was derived from.
#[derive(Debug)]
struct Kept {
    /// Held, so that no other ticket comes to stand at its place in memory.
    ticket: Arc<Ticket>,
    standing: Standing,
    refusal: Option<Refusal>,
    failing: Vec<String>,
    changed_at: Option<Time>,
    numbers: (u64, u32, u32, bool),
}

/// The documents of tickets as they were derived last.
#[derive(Debug)]
pub(super) struct Tickets {
    kept: BTreeMap<TicketId, Kept>,
    /// The tickets that time or another ticket may change: they are looked at in each cut. All that wait for
    /// a person are among them.
    watched: BTreeMap<TicketId, Arc<Ticket>>,
    costs: CostsOfTickets,
    pub(super) counts: Counts,
    /// The keys of the documents in order, as JSON.
    order: Arc<str>,
}

impl Default for Tickets {
    fn default() -> Self {
        Self {
            kept: BTreeMap::new(),
            watched: BTreeMap::new(),
            costs: CostsOfTickets::default(),
            counts: Counts::default(),
            order: Arc::from("[]"),
        }
    }
}

/// The cost of each ticket.
#[derive(Debug, Default)]
struct CostsOfTickets {
    /// The number of charges that are summed up, and the last of them.
    of: (usize, u64),
    sums: BTreeMap<TicketId, u64>,
}

impl CostsOfTickets {
    fn look(&mut self, charges: &[Charge]) {
        let (known, last) = self.of;
        let is_longer = known
            .checked_sub(1)
            .is_none_or(|at| charges.get(at).is_some_and(|one| one.seq == last));
        if !is_longer {
            // Tickets were archived, or restored.
            *self = Self::default();
        }
        for charge in charges.iter().skip(self.of.0) {
            *self.sums.entry(charge.ticket.clone()).or_default() += charge.usage.cost_micro_usd;
        }
        self.of = (charges.len(), charges.last().map_or(0, |charge| charge.seq));
    }
}

impl Tickets {
    /// Writes the documents of tickets that are not over anew, as far as they may have changed. `crew` has
    /// the tickets of the ticket folder too.
    pub(super) fn look(
        &mut self,
        patch: &mut Patch,
        of: &Sources<'_>,
        crew: &Snapshot,
        changed: &Changed,
        look: Look,
    ) {
        self.costs.look(&of.seen.crew.charges);
        let watched: Vec<TicketId> = self.watched.keys().cloned().collect();
        let others = watched.iter().filter(|id| !changed.tickets.contains(*id));
        for id in changed.tickets.iter().chain(others) {
            self.look_at(patch, of, crew, id, look);
        }
        if changed.has_moved {
            self.counts = crew.counts();
            let order: Vec<&TicketId> = crew.order().into_iter().map(|ticket| &ticket.id).collect();
            self.order = json(&order);
        }
    }

    fn look_at(&mut self, patch: &mut Patch, of: &Sources<'_>, crew: &Snapshot, id: &TicketId, look: Look) {
        let beside = &of.seen.files.beside;
        let ticket = crew.tickets.get(id);
        match ticket.filter(|ticket| is_watched(ticket, beside)) {
            Some(ticket) => self.watched.insert(id.clone(), Arc::clone(ticket)),
            None => self.watched.remove(id),
        };
        let key = || (Kind::Ticket, id.as_str().into());
        let Some(ticket) = ticket.filter(|ticket| ticket.is_listed()) else {
            if self.kept.remove(id).is_some() {
                patch.insert(key(), None);
            }
            return;
        };
        let inputs = Inputs {
            ticket,
            standing: Standing::of(ticket, beside.facts(id), look),
            refusal: beside.refusals.get(id),
            failing: client::inbox::why_of(&beside.failing, id),
            changed_at: of.seen.files.changed_at.get(id).copied(),
            cost: self.costs.sums.get(id).copied().unwrap_or_default(),
            max_steps: of.seen.files.settings.run.max_steps,
            depth: ticket.depth(),
            is_seen: of.seen.crew.tickets.contains_key(id),
        };
        if self.kept.get(id).is_some_and(|kept| inputs.is_as(kept)) {
            return;
        }
        let kept = Kept {
            ticket: Arc::clone(ticket),
            standing: inputs.standing.clone(),
            refusal: inputs.refusal.cloned(),
            failing: inputs.failing.clone(),
            changed_at: inputs.changed_at,
            numbers: (inputs.cost, inputs.max_steps, inputs.depth, inputs.is_seen),
        };
        patch.insert(key(), Some(json(&inputs.document())));
        self.kept.insert(id.clone(), kept);
    }

    /// The tickets that may wait for a person.
    pub(super) fn watched(&self) -> &BTreeMap<TicketId, Arc<Ticket>> {
        &self.watched
    }

    /// The keys of the documents in order, as JSON.
    pub(super) fn order(&self) -> Arc<str> {
        Arc::clone(&self.order)
    }
}

/// Whether time or another ticket may change the document of a ticket, or it may wait for a person.
fn is_watched(ticket: &Ticket, beside: &Context) -> bool {
    let is_lively = || match &ticket.state {
        State::InProgress(_) | State::Verify(_) => true,
        State::Done(done) => matches!(done, Done::Failed { .. }),
        State::New | State::Open => {
            let need = attention(ticket, beside.facts(&ticket.id));
            // The target has one entry of its own, for all tickets.
            let asks = matches!(&need, Need::Person(reason) if !matches!(reason, Reason::Target(_)));
            asks || ticket.delegated().is_some()
        }
    };
    let is_failing = || beside.failing.iter().any(|failing| failing.ticket == ticket.id);
    let is_bad = || {
        beside
            .files
            .iter()
            .any(|file| file.ticket.as_ref() == Some(&ticket.id))
    };
    ticket.held.is_some() || ticket.unheeded.is_some() || is_lively() || is_failing() || is_bad()
}
