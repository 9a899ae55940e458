//! Every ticket value that any history led to, numbered; each transition of the real machine is taken once
//! and remembered.

use std::collections::BTreeMap;
use std::rc::Rc;

use model::attempt::AfterChildren;
use model::ticket::{Stage, State, Ticket};
use model::{TicketId, Time, attempt};

use crate::chain::{Chain, Chains};
use crate::deed::{Deed, agent_name};
use crate::order::{CheckId, Order, ReviewId, commit_of, run_of};

/// A ticket's value, as its place in the [`Book`].
pub(crate) type Value = u16;

/// A transition that the machine accepts.
#[derive(Debug)]
pub(crate) struct After {
    /// The ticket after it.
    pub(crate) value: Value,
    /// The number of events.
    pub(crate) events: u8,
    /// Its orders, in order.
    pub(crate) orders: Vec<Order>,
    /// The fence that it mints.
    pub(crate) new_fence: Option<u8>,
}

/// The parts of a ticket's value that rules look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) stands: Stands,
    /// The claim that is alive.
    pub(crate) claim: Option<u8>,
    /// The attempt's number, 0 without one.
    pub(crate) number: u8,
    /// The agent whose slot it takes.
    pub(crate) agent: Option<u8>,
    /// The step's run whose process may be alive, from 1.
    pub(crate) live: Option<u8>,
    /// The run of its checks that is under way.
    pub(crate) check: Option<CheckId>,
    pub(crate) stopping: bool,
    /// Whether it takes the gatekeeper's slot.
    pub(crate) has_gatekeeper: bool,
    /// The run of its review whose process may be alive.
    pub(crate) review: Option<ReviewId>,
    /// True if its agent waits for an answer.
    pub(crate) asks: bool,
    pub(crate) children: Children,
    /// True if it is a child, be it in the journal or not.
    pub(crate) is_child: bool,
    /// The claim of its parent that delegated it.
    pub(crate) of_claim: Option<u8>,
}

/// The children of an attempt, as far as rules need them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Children {
    /// It has none that it waits for.
    None,
    /// Its step that has delegated them goes on.
    Ordered,
    /// It waits for them.
    Awaited,
    /// They are being ended, and it goes on.
    EndedToGoOn,
    /// They are being ended, and so is it.
    EndedToStop,
}

/// The state of a ticket, as far as rules need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    Open,
    Held,
    AtWork {
        can_step: bool,
    },
    Queued,
    /// A candidate that waits for the gatekeeper, or that the gatekeeper has.
    InReview {
        /// The gatekeeper may get it.
        is_free: bool,
        /// The gatekeeper's next step may be started.
        can_step: bool,
        /// Somebody wants the review ended.
        ending: bool,
    },
    /// Building or checking: it has the one place in which candidates are made.
    Checked,
    Landing {
        candidate: Chain,
        waiting: bool,
        /// Somebody wants it ended.
        ending: bool,
    },
    Landed {
        candidate: Chain,
    },
    Over,
    /// A child that nobody has seen.
    Absent,
    /// A child whose work is brought, or was brought, into its parent's workspace.
    Unified {
        is_saved: bool,
    },
}

/// The values, and the facts that are remembered of them.
pub(crate) struct Book {
    values: Vec<(Ticket, Facts)>,
    known: BTreeMap<String, Value>,
    after: BTreeMap<(Value, Deed), Option<Rc<After>>>,
    pub(crate) chains: Chains,
    /// Whether work is reviewed.
    is_reviewed: bool,
}

impl Book {
    /// A book with so many open tickets, and children of the first that nobody has seen, and their values.
    /// `is_reviewed`: whether work is reviewed.
    pub(crate) fn new((tickets, children): (u8, u8), is_reviewed: bool) -> (Self, Vec<Value>) {
        let mut book = Self {
            values: Vec::new(),
            known: BTreeMap::new(),
            after: BTreeMap::new(),
            chains: Chains::default(),
            is_reviewed,
        };
        let mut open: Vec<Value> = (0..tickets)
            .map(|n| {
                let id = TicketId::new(format!("t-{n}")).expect("an id");
                let created = model::ticket::Event::Created {
                    spec: model::ticket::Spec::default(),
                };
                let change = Ticket::new(id).after(&created, Time::default());
                book.value(change.expect("a new ticket is created").ticket)
            })
            .collect();
        let absent = (1..=children).map(|n| book.value(Ticket::new(crate::team::child(n))));
        open.extend(absent.collect::<Vec<_>>());
        (book, open)
    }

    /// The result of a deed; none when the machine refuses it.
    pub(crate) fn after(&mut self, value: Value, deed: Deed) -> Option<Rc<After>> {
        if let Some(known) = self.after.get(&(value, deed)) {
            return known.clone();
        }
        let after = self.take(value, deed).map(Rc::new);
        self.after.insert((value, deed), after.clone());
        after
    }

    fn take(&mut self, value: Value, deed: Deed) -> Option<After> {
        let before = self.ticket(value).clone();
        let mut ticket = before.clone();
        let mut orders: Vec<Order> = Vec::new();
        let events = deed.events(&ticket, self.is_reviewed);
        for event in &events {
            let change = ticket.after(event, Time::default()).ok()?;
            let ordered = change.effects.iter();
            orders.extend(ordered.filter_map(|effect| Order::of(effect, &ticket)));
            ticket = change.ticket;
        }
        let fence = ticket.fence;
        Some(After {
            value: self.value(ticket),
            events: u8::try_from(events.len()).expect("one or two"),
            orders,
            new_fence: (fence > before.fence).then(|| small(fence.0)),
        })
    }

    fn value(&mut self, ticket: Ticket) -> Value {
        let text = serde_json::to_string(&ticket).expect("a ticket is JSON");
        if let Some(value) = self.known.get(&text) {
            return *value;
        }
        let value = Value::try_from(self.values.len()).expect("a bounded exploration has few values");
        let facts = facts(&ticket);
        self.values.push((ticket, facts));
        self.known.insert(text, value);
        value
    }

    fn ticket(&self, value: Value) -> &Ticket {
        &self.values[usize::from(value)].0
    }

    /// The parts of a value that rules look at.
    pub(crate) fn facts(&self, value: Value) -> Facts {
        self.values[usize::from(value)].1
    }

    /// The state's name, for people.
    pub(crate) fn name(&self, value: Value) -> String {
        let ticket = self.ticket(value);
        format!("{} (fence {})", ticket.state_name(), ticket.fence)
    }

    /// The number of values.
    pub(crate) fn values(&self) -> usize {
        self.values.len()
    }
}

fn facts(ticket: &Ticket) -> Facts {
    let attempt = ticket.attempt();
    let stands = match &ticket.state {
        State::New => Stands::Absent,
        _ if ticket.held.is_some() => Stands::Held,
        State::Open => Stands::Open,
        State::InProgress(attempt) => Stands::AtWork {
            can_step: attempt.can_step(Time::default()),
        },
        State::Verify(verify) => match &verify.stage {
            Stage::Queued => Stands::Queued,
            Stage::Unified { is_saved } => Stands::Unified { is_saved: *is_saved },
            // No engine of this search lands by pull requests.
            Stage::Building | Stage::Checking(_) | Stage::InTrain(_) | Stage::Proposed(_) => Stands::Checked,
            Stage::Reviewing(reviewing) => Stands::InReview {
                is_free: reviewing.open().is_none() && reviewing.then.is_none(),
                can_step: reviewing.then.is_none()
                    && reviewing
                        .open()
                        .is_some_and(|review| review.can_step(Time::default())),
                ending: reviewing.then.is_some(),
            },
            Stage::Landing {
                candidate,
                waiting,
                then,
            } => Stands::Landing {
                candidate: commit_of(candidate),
                waiting: waiting.is_some(),
                ending: then.is_some(),
            },
        },
        State::Done(model::ticket::Done::Landed { commit, .. }) => Stands::Landed {
            candidate: Chain::try_from(crate::chain::number(commit)).expect("a commit of ours"),
        },
        State::Done(_) => Stands::Over,
    };
    Facts {
        stands,
        claim: ticket.claims().next().map(|attempt| small(attempt.claim.fence.0)),
        number: attempt.map_or(0, |a| small(a.claim.number.into())),
        agent: ticket
            .slot()
            .map(|slot| if *slot == agent_name(0) { 0 } else { 1 }),
        live: ticket.live_run().map(run_of),
        check: ticket.check_run().map(|check| CheckId::of(&check.run)),
        has_gatekeeper: ticket.open_reviews().next().is_some(),
        review: ticket
            .reviewing()
            .and_then(|reviewing| reviewing.open()?.conversation.live_run())
            .map(ReviewId::of),
        asks: attempt.is_some_and(|a| matches!(a.state, attempt::State::WaitingForInput { .. })),
        children: attempt.map_or(Children::None, children),
        is_child: crate::team::is_child(&ticket.id),
        of_claim: ticket.delegated().map(|delegated| small(delegated.fence.0)),
        stopping: attempt.is_some_and(|a: &attempt::Attempt| a.conversation.stopping.is_some()),
    }
}

fn children(attempt: &attempt::Attempt) -> Children {
    match attempt.after_children() {
        _ if attempt.open_children().is_empty() => Children::None,
        Some(AfterChildren::Unify { .. }) => Children::EndedToGoOn,
        Some(AfterChildren::Stop { .. }) => Children::EndedToStop,
        None if attempt.waits_for_children() => Children::Awaited,
        None => Children::Ordered,
    }
}

fn small(number: u64) -> u8 {
    u8::try_from(number).expect("a bounded exploration counts little")
}
