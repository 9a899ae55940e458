//! Children at work: each begins in its turn, their parent hears when all are over, and they end with it.
//!
//! Everything is found in the tickets' states after every input, so that a crash at any point changes
//! nothing.

use std::collections::BTreeSet;

use model::attempt::{self, AfterChildren, AfterStop, Attempt, ChildEnd, ChildResult};
use model::policy::route::{self, Refusal};
use model::policy::{capacity, delegation};
use model::settings::MAX_AGENTS;
use model::ticket::{Delegated, Done, Event, Stage, State, Ticket, Why};
use model::{Actor, AgentName, TicketId, project};

use super::{Core, Duty, WriteMeta};
use crate::names;

impl Core {
    /// The events with which a ticket begins that an agent has ordered: its file was seen now.
    pub(super) fn delegated_at_creation(&self, id: &TicketId) -> Vec<Event> {
        let Some(parent) = self.parent_by_id(id) else {
            return Vec::new();
        };
        let attempt = parent
            .attempt()
            .filter(|attempt| attempt.open_children().contains(id));
        match attempt {
            Some(attempt) => vec![Event::Delegated {
                delegated: Delegated {
                    by: parent.id.clone(),
                    fence: attempt.claim.fence,
                    workspace: attempt.workspace(&parent.id),
                    is_apart: attempt.orders.get(id).is_some_and(|order| order.is_apart),
                    depth: parent.depth() + 1,
                    work: None,
                    unmerged: None,
                },
            }],
            None => vec![Event::Dropped {
                by: Actor::Engine,
                reason: format!(
                    "the agent of {} that delegated it does not wait for it any more",
                    parent.id
                ),
            }],
        }
    }

    /// The ticket whose agent has ordered this one. What a file says of that counts for nothing: anybody can
    /// write it.
    pub(super) fn parent_by_id(&self, id: &TicketId) -> Option<&Ticket> {
        let (parent, number) = id.as_str().rsplit_once("-c")?;
        let parent = self.ticket(&TicketId::new(parent).ok()?)?;
        let number: u32 = number.parse().ok()?;
        (1..=parent.children).contains(&number).then_some(parent)
    }

    /// Moves children and their parents on: the next child begins, a parent hears that all are over, and
    /// what belongs to an attempt that is over ends with it. Returns whether anything was decided.
    pub(super) fn follow_children(&mut self) -> bool {
        let begin = self.out.writes.len();
        loop {
            let before = self.out.writes.len();
            let parents = self
                .active_tickets()
                .filter(|(_, ticket)| ticket.waits_for_children());
            let parents: Vec<TicketId> = parents.map(|(id, _)| id.clone()).collect();
            for parent in parents {
                self.follow_parent(&parent);
            }
            for child in self.tickets.delegated_ids() {
                self.follow_child(&child);
            }
            if self.out.writes.len() == before {
                return before > begin;
            }
        }
    }

    fn follow_parent(&mut self, parent: &TicketId) {
        let Some(attempt) = self.ticket(parent).and_then(Ticket::attempt) else {
            return;
        };
        let ids = attempt.open_children().to_vec();
        let ending = attempt.after_children().cloned();
        if let Some(ending) = &ending {
            let reason = match ending {
                AfterChildren::Unify { by } => format!("{by} has {parent} go on without it"),
                AfterChildren::Stop { then } => format!("it is a part of {parent}: {}", then.words()),
            };
            // What is done stays a part of the work, unless it cannot come into it.
            let is_unified = |id: &&TicketId| {
                let stage = self.ticket(id).and_then(Ticket::stage);
                match stage {
                    Some(Stage::Unified { is_saved }) => *is_saved || self.failures.of_work(id).is_none(),
                    Some(_) | None => false,
                }
            };
            let is_child = |id: &&TicketId| self.ticket(id).is_some_and(|it| it.delegated().is_some());
            let open: Vec<&TicketId> = ids.iter().filter(|id| is_child(id) && !is_unified(id)).collect();
            for id in open {
                self.end_child(id, &reason);
            }
        }
        let is_over = |id: &TicketId| match self.ticket(id) {
            Some(child) => child.is_over_for_parent(),
            // It does not begin any more.
            None => ending.is_some(),
        };
        let open: Vec<TicketId> = ids.iter().filter(|id| !is_over(id)).cloned().collect();
        match open.is_empty() {
            true => self.children_over(parent, &ids, ending),
            false if ending.is_none() => self.begin_children(&open),
            false => {}
        }
    }

    /// Begins those whose turn it is, of children that are not over.
    fn begin_children(&mut self, open: &[TicketId]) {
        for id in self.in_turn(open) {
            let is_open = |child: &Ticket| matches!(child.state, State::Open);
            if self.ticket(id).is_some_and(is_open) && self.has_turn(id) && self.has_place(id, open) {
                self.begin_child(id);
            }
        }
    }

    /// Those of the children that are not over whose turn it is.
    fn in_turn<'a>(&self, open: &'a [TicketId]) -> &'a [TicketId] {
        delegation::in_turn(open, |id| {
            let delegated = self.ticket(id).and_then(Ticket::delegated);
            delegated.is_some_and(|it| it.is_apart)
        })
    }

    /// Whether there is a place for the agent of a child: its parent's is that of a child that is alone, any
    /// other needs a free one. `open`: its parent's children that are not over.
    fn has_place(&self, id: &TicketId, open: &[TicketId]) -> bool {
        let others = open.iter().filter(|other| *other != id);
        let is_alone = !others.filter_map(|id| self.ticket(id)).any(is_busy);
        let limits = capacity::Limits::new(&self.settings.agents, &self.settings.run);
        is_alone || capacity::free(self.at_work(), limits) > 0
    }

    /// Whether a child of a parent that waits is about to begin.
    pub(super) fn is_child_about_to_begin(&self, parent: &Ticket) -> bool {
        let Some(attempt) = parent.attempt().filter(|it| it.waits_for_children()) else {
            return false;
        };
        if attempt.open_children().iter().any(|id| self.ticket(id).is_none()) {
            return true;
        }
        let is_open = |id: &&TicketId| !self.ticket(id).is_some_and(Ticket::is_over_for_parent);
        let open: Vec<TicketId> = attempt.open_children().iter().filter(is_open).cloned().collect();
        self.in_turn(&open).iter().any(|id| {
            let Some(child) = self.ticket(id) else { return true };
            let may_begin = match route::delegable(self.queue(), id) {
                Ok(()) | Err(Refusal::NotDue { .. } | Refusal::DayBudget { .. }) => true,
                Err(_) => false,
            };
            matches!(child.state, State::Open) && may_begin && self.has_turn(id) && self.has_place(id, &open)
        })
    }

    /// Whether a child may be at work beside whoever is: a person may have one that was given up tried again
    /// while those behind it work. Nobody else is at work beside one that shares its parent's workspace.
    pub(super) fn has_turn(&self, id: &TicketId) -> bool {
        let delegated = |id: &TicketId| self.ticket(id).and_then(Ticket::delegated);
        let is_apart = |id: &TicketId| delegated(id).is_some_and(|it| it.is_apart);
        let parent = delegated(id).and_then(|it| self.ticket(&it.by)?.claim(it.fence));
        let others = parent.map_or(&[][..], Attempt::open_children).iter();
        let is_at_work = |other: &TicketId| {
            let other = self.ticket(other);
            other.is_some_and(|other| other.attempt().is_some() && !other.is_over_for_parent())
        };
        let mut beside = others.filter(|other| *other != id && is_at_work(other));
        beside.all(|other| is_apart(id) && is_apart(other))
    }

    /// The event with which a ticket learns which of its children's commits are not in its branch; none where
    /// that is known.
    pub(super) fn children_absent(&self, id: &TicketId, absent: BTreeSet<TicketId>) -> Option<Event> {
        let known = self.ticket(id).is_some_and(|ticket| ticket.absent == absent);
        (!known).then_some(Event::ChildrenAbsent { absent })
    }

    fn children_over(&mut self, parent: &TicketId, ids: &[TicketId], then: Option<AfterChildren>) {
        let results = ids.iter().map(|id| self.result_of(id)).collect();
        let over = Event::Attempt(attempt::Event::ChildrenOver { results });
        let follows = match then {
            Some(AfterChildren::Stop { then }) => self.follows(parent, then),
            Some(AfterChildren::Unify { .. }) | None => None,
        };
        let agent = self.ticket(parent).and_then(Ticket::attempt);
        let agent = agent.map(|attempt| attempt.claim.agent.clone());
        let events = [over].into_iter().chain(follows);
        if let Err(no) = self.apply(parent, events, WriteMeta::because("its children are over")) {
            return self.note_refusal(parent, &no);
        }
        let held = self.ticket(parent).and_then(|ticket| ticket.held.as_ref());
        if let (Some(name), Some(Why::Reaped)) = (agent, held.map(|held| &held.why)) {
            self.apply_to_project([project::Event::AgentRetired { name }], "it was given up");
        }
    }

    fn result_of(&self, id: &TicketId) -> ChildResult {
        let Some(child) = self.ticket(id) else {
            return ChildResult {
                id: id.clone(),
                title: String::new(),
                agent: None,
                end: ChildEnd::Ended {
                    why: "it did not begin".to_owned(),
                },
                summary: None,
                cost_micro_usd: 0,
                work: None,
                tags: BTreeSet::new(),
            };
        };
        let end = match (&child.held, &child.state) {
            (_, State::Open | State::InProgress(_) | State::Verify(_)) if child.delegated().is_none() => {
                ChildEnd::Ended {
                    why: "it was opened again, as a ticket of its own".to_owned(),
                }
            }
            (_, State::Done(Done::Landed { commit, .. })) if child.delegated().is_none() => ChildEnd::Ended {
                why: format!("it was opened again, as a ticket of its own, and has landed as {commit}"),
            },
            // Somebody's word comes before what it was held for.
            (_, State::Done(Done::Dropped { by, reason })) if *by != Actor::Engine => ChildEnd::Ended {
                why: match reason.as_str() {
                    "" => format!("dropped by {by}"),
                    reason => format!("dropped by {by}: {reason}"),
                },
            },
            (Some(held), _) => ChildEnd::GivenUp {
                // What a person can do about a budget is not for the parent's agent.
                why: if let Why::Budget { budget } = &held.why {
                    format!("{budget} of the budget of the whole are spent")
                } else {
                    held.note.clone()
                },
            },
            (None, State::Verify(_)) => match child.delegated().and_then(|it| it.unmerged.clone()) {
                Some(why) => ChildEnd::Unmerged { why },
                None => ChildEnd::Unified,
            },
            (None, State::Done(done)) => ChildEnd::Ended {
                why: match done {
                    Done::Dropped { reason, .. } => reason.clone(),
                    Done::ClosedByPerson => "a person closed it".to_owned(),
                    Done::Landed { .. } | Done::Failed { .. } | Done::NotNeeded | Done::Replaced { .. } => {
                        done.name().replace('_', " ")
                    }
                },
            },
            (None, State::New | State::Open | State::InProgress(_)) => ChildEnd::Ended {
                why: "it did not come to an end".to_owned(),
            },
        };
        let attempt = child.attempt();
        ChildResult {
            id: id.clone(),
            title: child.spec.title.clone(),
            agent: attempt
                .map(|attempt| attempt.claim.agent.clone())
                .or_else(|| child.authors.last().cloned()),
            end,
            summary: attempt.and_then(|attempt| attempt.summary.clone()),
            cost_micro_usd: child.spent.since_grant_micro_usd,
            work: child.delegated().and_then(|it| it.work.clone()),
            tags: child.spec.tags.union(&child.tags_given).cloned().collect(),
        }
    }

    /// Gives a child to an agent, while its parent's agent waits for it.
    fn begin_child(&mut self, id: &TicketId) {
        let is_up = self.duty == Duty::Drain && self.stopping.is_none();
        if !is_up || self.has_touched_settings || route::delegable(self.queue(), id).is_err() {
            return;
        }
        let Some(agent) = self.agent_for_child(id) else {
            return;
        };
        if let Err(no) = self.claim(id, &agent, WriteMeta::because("its parent's agent waits for it")) {
            self.note_refusal(id, &no);
        }
    }

    /// The agent that a child gets: the one that it is meant for if that one is idle, another idle one, or a
    /// further one. A parent that waits leaves its place, so that no child waits for an agent.
    fn agent_for_child(&mut self, id: &TicketId) -> Option<AgentName> {
        let idle = capacity::idle(self.at_work(), &self.project().agents);
        let meant = route::assignee(self.queue(), id).filter(|agent| idle.contains(agent));
        let names = &self.settings.agents.names;
        let any = idle.iter().copied().find(|agent| route::takes_any(names, agent));
        let extra = idle.first().copied();
        if let Some(agent) = meant.or(any).or(extra) {
            return Some(agent.clone());
        }
        if self.project().agents.len() >= MAX_AGENTS as usize {
            return None;
        }
        let name = names::next(&self.names_taken());
        self.apply_to_project(
            [project::Event::AgentSpawned { name: name.clone() }],
            "a child needs an agent",
        );
        self.ready.touch();
        Some(name)
    }

    /// A child lands with its parent, and ends with the attempt that delegated it.
    fn follow_child(&mut self, id: &TicketId) {
        let Some((child, delegated)) = self
            .ticket(id)
            .and_then(|child| Some((child, child.delegated()?)))
        else {
            return;
        };
        let parent = self.ticket(&delegated.by);
        let attempt = parent.and_then(|parent| parent.claim(delegated.fence));
        let is_awaited = attempt.is_some_and(|attempt| attempt.open_children().contains(id));
        let is_unified = matches!(child.stage(), Some(Stage::Unified { .. })) && child.held.is_none();
        // Its parent's next attempt begins with its work: it is a part of that one.
        let is_part = parent.is_some_and(|parent| !parent.is_done() && parent.unified(id).is_some());
        if is_awaited || is_unified && (attempt.is_some() || is_part) {
            return;
        }
        let by = delegated.by.clone();
        let landed = match parent.map(|parent| (parent, &parent.state)) {
            Some((parent, State::Done(Done::Landed { commit, .. }))) if child.is_unified() => {
                Some((commit.clone(), parent.absent.contains(id)))
            }
            Some(_) | None => None,
        };
        if let Some((commit, false)) = landed {
            let event = Event::LandedWithParent { parent: by, commit };
            return self.apply_or_note(id, event, "its parent has landed");
        }
        let reason = match (&child.held, landed, attempt) {
            (_, Some((commit, _)), _) => {
                format!(
                    "its commits are not in {}, as which {by} has landed",
                    commit.short()
                )
            }
            (Some(held), None, _) => held.note.clone(),
            (None, None, Some(_)) => format!("{by} goes on without it"),
            (None, None, None) => format!("the attempt at {by} that it was a part of has ended"),
        };
        self.end_child(id, &reason);
    }

    /// Ends a child: what runs of it is stopped first, with its own children.
    fn end_child(&mut self, id: &TicketId, reason: &str) {
        let Some(child) = self.ticket(id) else { return };
        let (by, reason) = (Actor::Engine, reason.to_owned());
        let attempt = child.attempt();
        let event = if child.is_done() {
            return;
        } else if child.live_run().is_some() {
            let then = AfterStop::Drop { by, reason };
            let stopping = attempt.and_then(|attempt| attempt.conversation.stopping.as_ref());
            if stopping.is_some_and(|stopping| !then.outranks(stopping)) {
                return;
            }
            Event::Attempt(attempt::Event::StopOrdered { then })
        } else if child.waits_for_children() {
            let then = AfterStop::Drop { by, reason };
            match attempt.and_then(Attempt::after_children) {
                Some(AfterChildren::Stop { then: before }) if !then.outranks(before) => return,
                Some(AfterChildren::Stop { .. } | AfterChildren::Unify { .. }) | None => {}
            }
            let then = AfterChildren::Stop { then };
            Event::Attempt(attempt::Event::ChildrenEndOrdered { then })
        } else {
            Event::Dropped { by, reason }
        };
        self.apply_or_note(id, event, "it belongs to an attempt that ends, or goes on");
    }
}

/// Whether the agent of a child has a place: it is at work.
fn is_busy(child: &Ticket) -> bool {
    capacity::busy(std::iter::once(child)) > 0
}
