//! Delegation: whose folder an agent writes into, what becomes of children, and what a tree may cost.
#![cfg_attr(
    not(test),
    expect(
        clippy::wildcard_enum_match_arm,
        reason = "an invariant is about a few events, and passes over all others"
    )
)]

use std::collections::BTreeMap;

use model::attempt::{self, AfterChildren, Attempt};
use model::ticket::{Delegated, Done, Effect, Event, State, Ticket};
use model::{RunId, TicketId};

use super::{Checked, Witness, ensure};
use crate::files::Files;
use crate::git::By;
use crate::world::World;

const CLOSED: &str = "children are closed if and only if their parent has landed";
const OUTLIVES: &str = "no child outlives its parent's attempt";
const RELEASED: &str = "a parent is released only when no child of it has a process";
const UNDONE: &str = "work of a child that is not done does not land with its parent's";
const ONCE: &str = "work of a child lands with its parent's, once";

impl Witness {
    /// A child lands with its parent and with no other event, and what children have cost is counted once.
    pub(super) fn children_land_with_their_parent(&mut self, id: &TicketId, event: &Event) -> Checked {
        match event {
            Event::LandedWithParent { parent, commit } => {
                let state = self.tickets.get(parent).map(|parent| &parent.state);
                let landed = match state {
                    Some(State::Done(Done::Landed { commit, .. })) => Some(commit),
                    _ => None,
                };
                self.landed_with.push((id.clone(), commit.clone()));
                ensure(landed == Some(commit), CLOSED, || {
                    format!("{id} landed with {parent} as {commit}, which landed as {landed:?}")
                })
            }
            Event::Unified { .. } => {
                self.unified += 1;
                self.ever_unified.insert(id.clone());
                Ok(())
            }
            Event::PartsOver { .. } => {
                self.broken_up += 1;
                Ok(())
            }
            Event::Rewound { .. } => {
                self.rewound += 1;
                Ok(())
            }
            Event::Attempt(attempt::Event::Stirred) => {
                self.stirred += 1;
                Ok(())
            }
            Event::Attempt(attempt::Event::ChildrenOver { results }) => {
                for result in results {
                    let paid = self.paid.get(&result.id).copied().unwrap_or(0);
                    ensure(paid == result.cost_micro_usd, "costs add up", || {
                        let cost = result.cost_micro_usd;
                        format!("{} has cost {paid}, and its parent hears of {cost}", result.id)
                    })?;
                    *self.paid.entry(id.clone()).or_default() += paid;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// One agent at a time writes into a workspace, be it a parent that has handed its work on, or one of its
    /// children.
    pub(super) fn a_workspace_has_one_writer(&self, world: &World) -> Checked {
        let mut writers: BTreeMap<_, &RunId> = BTreeMap::new();
        for process in world.live() {
            let other = writers.insert(&process.space, &process.run);
            ensure(
                other.is_none(),
                "one agent at a time writes into a workspace",
                || {
                    let ((agent, ticket), _) = &process.space;
                    format!("{other:?} and {} write into {agent}-{ticket}", process.run)
                },
            )?;
        }
        Ok(())
    }

    /// A child has a process only while its parent waits for it: whatever ends the wait ends the process
    /// first.
    pub(super) fn parents_wait_for_processes(&self, world: &World) -> Checked {
        for process in world.live() {
            let child = self.tickets.get(&process.ticket);
            let Some(delegated) = child.and_then(Ticket::delegated) else {
                continue;
            };
            let waits = self.attempt_of(delegated).is_some_and(|attempt| {
                attempt.waits_for_children() && attempt.open_children().contains(&process.ticket)
            });
            ensure(waits, RELEASED, || {
                let parent = self.tickets.get(&delegated.by).map(Ticket::state_name);
                format!("{} lives, and {} is {parent:?}", process.run, delegated.by)
            })?;
        }
        Ok(())
    }

    /// A child whose parent's attempt is over is over too, or is being ended: done if the parent has landed
    /// with its work.
    pub(super) fn children_end_with_their_parent(&self) -> Checked {
        for child in self.tickets.values().filter(|child| !child.is_done()) {
            let Some(delegated) = child.delegated() else {
                continue;
            };
            if self.attempt_of(delegated).is_some() {
                continue;
            }
            let parent = self.tickets.get(&delegated.by);
            // Its parent's next attempt begins with its work.
            let is_part = parent.is_some_and(|it| !it.is_done() && it.unified(&child.id).is_some());
            if is_part && child.is_unified() {
                continue;
            }
            let is_landed = matches!(parent.map(|it| &it.state), Some(State::Done(Done::Landed { .. })));
            let invariant = if is_landed && child.is_unified() {
                CLOSED
            } else {
                OUTLIVES
            };
            ensure(is_being_ended(child), invariant, || {
                let parent = parent.map(Ticket::state_name);
                format!(
                    "{} is {}, and {} is {parent:?}",
                    child.id,
                    child.state_name(),
                    delegated.by
                )
            })?;
        }
        Ok(())
    }

    /// What a child's agent has written lands with its parent's work only if its work counts, and that of
    /// whoever stands between the two.
    pub(super) fn only_done_children_land(&mut self, world: &World) -> Checked {
        let git = &world.git;
        for landed in &self.landed[self.judged_landings..] {
            let Some(at) = git.find(&landed.commit) else {
                continue;
            };
            let (By::Crew(lands, _), [first, ..]) = (&git.commits[at].by, &git.commits[at].parents[..])
            else {
                continue;
            };
            for path in git.changed(*first, at) {
                let content = git.tree(at).get(&path);
                let author = content.and_then(|content| world.authors.get(content));
                let undone = author.and_then(|author| self.undone_between(author, lands));
                ensure(undone.is_none(), UNDONE, || {
                    format!("{lands} lands {path} as {author:?} has it, and {undone:?} is not done")
                })?;
            }
        }
        self.judged_landings = self.landed.len();
        Ok(())
    }

    /// The first ticket without work that counts, of a child and those between it and a ticket that lands.
    fn undone_between<'a>(&'a self, author: &'a TicketId, lands: &TicketId) -> Option<&'a TicketId> {
        let mut at = author;
        while at != lands {
            let ticket = self.tickets.get(at)?;
            let delegated = ticket.delegated()?;
            let has_landed = matches!(ticket.state, State::Done(Done::Landed { .. }));
            if !has_landed && !self.ever_unified.contains(at) {
                return Some(at);
            }
            at = &delegated.by;
        }
        None
    }

    /// The work of a child that landed with its parent's is in the merge, and was merged once at most.
    pub(super) fn done_children_land_once(&mut self, world: &World) -> Checked {
        let git = &world.git;
        for (child, commit) in std::mem::take(&mut self.landed_with) {
            let (Some(tip), Some(landed)) = (world.unified.get(&child), git.find(&commit)) else {
                continue;
            };
            let mut seen = vec![false; git.commits.len()];
            git.mark(landed, &mut seen);
            ensure(seen[*tip], ONCE, || {
                format!("{} of {child} is not in {commit}", git.id(*tip))
            })?;
            let merges = git.commits.iter().zip(&seen);
            let merges =
                merges.filter(|(it, seen)| **seen && matches!(&it.by, By::Crew(of, _) if *of == child));
            let merges = merges.count();
            ensure(merges <= 1, ONCE, || {
                format!("{child} is merged {merges} times in {commit}")
            })?;
        }
        Ok(())
    }

    fn attempt_of(&self, delegated: &Delegated) -> Option<&Attempt> {
        self.tickets.get(&delegated.by)?.claim(delegated.fence)
    }

    /// The cost of the tree that a ticket is in, and whether it is more than the ticket itself.
    pub(super) fn paid_by_the_tree_of(&self, ticket: &Ticket) -> (u64, bool) {
        let is_awaited = |parent: &&Ticket| {
            let attempt = parent.attempt();
            attempt.is_some_and(|attempt| attempt.open_children().contains(&ticket.id))
        };
        let parent = ticket.delegated().and_then(|it| self.tickets.get(&it.by));
        match parent.filter(is_awaited) {
            Some(parent) => (self.paid_by_the_tree_of(parent).0, true),
            None => {
                let is_tree = ticket.children > 0;
                (self.paid_below(ticket), is_tree)
            }
        }
    }

    fn paid_below(&self, ticket: &Ticket) -> u64 {
        let own = self.paid.get(&ticket.id).copied().unwrap_or(0);
        let open = ticket.attempt().map_or(&[][..], Attempt::open_children);
        let children = open.iter().filter_map(|id| self.tickets.get(id));
        own + children.map(|child| self.paid_below(child)).sum::<u64>()
    }

    /// True if an agent waits for a child that nothing begins: it is in no journal and no file, and nobody is
    /// going to write it.
    pub(super) fn waits_for_nobody(&self, attempt: &Attempt, pending: &[Effect], files: &Files) -> bool {
        let is_ordered = |id: &TicketId| {
            pending.iter().any(|effect| match effect {
                Effect::Attempt(attempt::Effect::CreateChild { child }) => child.id == *id,
                _ => false,
            })
        };
        let is_known = |id: &TicketId| self.tickets.contains_key(id) || files.has(id);
        let mut open = attempt.open_children().iter();
        attempt.waits_for_children() && open.any(|id| !is_known(id) && !is_ordered(id))
    }
}

/// Whether the end of what a ticket does is ordered, and it ends with that.
fn is_being_ended(child: &Ticket) -> bool {
    let Some(attempt) = child.attempt() else {
        return false;
    };
    match attempt.after_children() {
        Some(AfterChildren::Stop { .. }) => true,
        Some(AfterChildren::Unify { .. }) => false,
        None => attempt.conversation.stopping.is_some() && child.live_run().is_some(),
    }
}
