//! Tickets that wait for themselves, over dependencies, over the tickets that they recover and over
//! delegation: every cycle of the queue found in one walk, however long the queue and the cycle.
//!
//! By delegation a leader waits until its children are over, a child begins after those before it, and lands
//! with its leader.

use std::collections::BTreeMap;

use super::{Queue, Refusal, are_siblings, is_beside};
use crate::TicketId;
use crate::attempt::Attempt;
use crate::policy::delegation;
use crate::ticket::{State, Ticket};

/// The longest cycle that is spelled out whole. To give each ticket of a cycle of `n` the whole way round
/// takes `n²`.
const LONGEST_SHOWN: usize = 16;

/// The open tickets that wait for themselves, over whatever others.
pub(super) struct Cycles<'a> {
    nodes: Vec<Node<'a>>,
    /// The index of each ticket's own work in `nodes`.
    at: BTreeMap<&'a TicketId, usize>,
    /// The number of tickets of each cycle, by the number of the cycle.
    sizes: Vec<usize>,
}

struct Node<'a> {
    id: &'a TicketId,
    /// Whether it is the landing of a child, for which those wait that depend on it from outside, and not its
    /// own work.
    is_landing: bool,
    /// What is not done and for which it waits.
    deps: Vec<usize>,
    /// The number of its cycle, if it is on one.
    cycle: Option<usize>,
}

/// The knowledge of Tarjan's walk about a node that it has seen.
#[derive(Clone, Copy)]
struct Seen {
    order: usize,
    low: usize,
    on_path: bool,
}

impl<'a> Cycles<'a> {
    /// Every cycle: the sets of tickets that each depend on each (Tarjan, without recursion: a queue can be
    /// one long chain).
    pub(super) fn find(queue: Queue<'a>) -> Self {
        let open = || {
            queue
                .tickets
                .values()
                .map(AsRef::as_ref)
                .filter(|it| !it.is_done())
        };
        let children = || open().filter_map(|child| Some((child, child.delegated()?)));
        let at: BTreeMap<_, _> = open().enumerate().map(|(n, it)| (&it.id, n)).collect();
        let landings: BTreeMap<_, _> = children()
            .enumerate()
            .map(|(n, (it, _))| (&it.id, at.len() + n))
            .collect();
        let work = |id: &TicketId| at.get(id).copied();
        let landing = |id: &TicketId| landings.get(id).copied().or_else(|| work(id));
        let works = open().map(|ticket| Node {
            id: &ticket.id,
            is_landing: false,
            deps: awaited(queue, ticket)
                .filter_map(|id| match queue.tickets.get(id) {
                    Some(other) if is_beside(other, ticket) => None,
                    Some(other) if are_siblings(other, ticket) => work(id),
                    Some(_) | None => landing(id),
                })
                .chain(before(queue, ticket).filter_map(work))
                .collect(),
            cycle: None,
        });
        let landed = children().map(|(child, delegated)| Node {
            id: &child.id,
            is_landing: true,
            deps: work(&child.id)
                .into_iter()
                .chain(landing(&delegated.by))
                .collect(),
            cycle: None,
        });
        let nodes = works.chain(landed).collect();
        let mut cycle = Self {
            nodes,
            at,
            sizes: Vec::new(),
        };
        let mut seen = vec![None; cycle.nodes.len()];
        let mut order = 0;
        for root in 0..cycle.nodes.len() {
            cycle.walk(root, &mut seen, &mut order);
        }
        cycle
    }

    fn walk(&mut self, root: usize, seen: &mut [Option<Seen>], order: &mut usize) {
        if seen[root].is_some() {
            return;
        }
        let (mut path, mut walk) = (Vec::new(), vec![(root, 0)]);
        while let Some((at, edge)) = walk.pop() {
            let mut here = seen[at].unwrap_or_else(|| {
                path.push(at);
                *order += 1;
                Seen {
                    order: *order,
                    low: *order,
                    on_path: true,
                }
            });
            if let Some(to) = self.nodes[at].deps.get(edge).copied() {
                walk.push((at, edge + 1));
                match seen[to] {
                    None if to != at => walk.push((to, 0)),
                    Some(there) if there.on_path => here.low = here.low.min(there.order),
                    None | Some(_) => {}
                }
                seen[at] = Some(here);
                continue;
            }
            seen[at] = Some(here);
            if here.low == here.order {
                self.close(at, &mut path, seen);
            }
            if let Some(above) = walk.last().and_then(|(above, _)| seen[*above].as_mut()) {
                above.low = above.low.min(here.low);
            }
        }
    }

    /// The nodes on the path from `first` on depend on each other; alone, a ticket is a cycle only if it
    /// names itself.
    fn close(&mut self, first: usize, path: &mut Vec<usize>, seen: &mut [Option<Seen>]) {
        let from = path.iter().rposition(|at| *at == first).unwrap_or_default();
        let members = path.split_off(from);
        let is_cycle = members.len() > 1 || self.nodes[first].deps.contains(&first);
        for at in &members {
            if let Some(seen) = seen[*at].as_mut() {
                seen.on_path = false;
            }
            self.nodes[*at].cycle = is_cycle.then_some(self.sizes.len());
        }
        if is_cycle {
            self.sizes.push(members.len());
        }
    }

    /// The refusal of a ticket that waits for itself; `None` for every other.
    pub(super) fn refusal(&self, queue: Queue<'_>, id: &TicketId) -> Option<Refusal> {
        let path = self.way_round(id)?;
        let (mut recovering, mut waiting) = (Vec::new(), Vec::new());
        for step in path.windows(2) {
            let [of, on] = step else { continue };
            let spec = queue.tickets.get(of).map(|ticket| &ticket.spec);
            match spec {
                Some(spec) if spec.deps.contains(on) => {}
                Some(spec) if spec.recovers.as_ref() == Some(on) => recovering.push(of.clone()),
                Some(_) | None => waiting.push(of.clone()),
            }
        }
        Some(Refusal::Cycle {
            path,
            recovering,
            waiting,
        })
    }

    /// A way from the ticket over its dependencies back to it; `None` if it does not wait for itself. Of a
    /// long cycle only how the way begins.
    fn way_round(&self, id: &TicketId) -> Option<Vec<TicketId>> {
        let start = *self.at.get(id)?;
        let size = self.sizes[self.nodes[start].cycle?];
        let way = if size <= LONGEST_SHOWN {
            self.whole(start)
        } else {
            self.beginning(start)
        };
        // The landing of a child and its work are one ticket for people.
        let is_own = |n: usize| {
            let before = n.checked_sub(1).map(|n| &self.nodes[way[n]]);
            before.is_some_and(|before| before.is_landing && before.id == self.nodes[way[n]].id)
        };
        let way_of_tickets = (0..way.len()).filter(|n| !is_own(*n));
        Some(way_of_tickets.map(|n| self.nodes[way[n]].id.clone()).collect())
    }

    /// The dependencies of a ticket that are on the same cycle.
    fn along(&self, at: usize) -> impl DoubleEndedIterator<Item = usize> {
        let cycle = self.nodes[at].cycle;
        let deps = self.nodes[at].deps.iter().copied();
        deps.filter(move |to| self.nodes[*to].cycle == cycle)
    }

    fn whole(&self, start: usize) -> Vec<usize> {
        let mut seen = Vec::new();
        let mut path = vec![(start, self.along(start).collect::<Vec<_>>())];
        while let Some((_, deps)) = path.last_mut() {
            match deps.pop() {
                None => {
                    path.pop();
                }
                Some(next) if next == start => break,
                Some(next) if seen.contains(&next) => {}
                Some(next) => {
                    seen.push(next);
                    path.push((next, self.along(next).collect()));
                }
            }
        }
        path.iter().map(|(at, _)| *at).chain([start]).collect()
    }

    fn beginning(&self, start: usize) -> Vec<usize> {
        let mut way = vec![start];
        let mut at = start;
        while way.len() < LONGEST_SHOWN
            && let Some(next) = self.along(at).next()
        {
            way.push(next);
            if way[..way.len() - 1].contains(&next) {
                break;
            }
            at = next;
        }
        way
    }
}

/// The tickets whose end a ticket waits for before it begins, by its file. One that an agent has waits for
/// none of them.
fn awaited<'a>(queue: Queue<'a>, ticket: &'a Ticket) -> impl Iterator<Item = &'a TicketId> {
    let begins = matches!(ticket.state, State::New | State::Open);
    let links = ticket.spec.deps.iter().chain(&ticket.spec.recovers);
    links.filter(move |id| begins && queue.tickets.contains_key(*id))
}

/// The tickets whose work a ticket waits for by delegation: a leader for its children, a child for those
/// before it.
fn before<'a>(queue: Queue<'a>, ticket: &'a Ticket) -> impl Iterator<Item = &'a TicketId> {
    let is_open = move |id: &&TicketId| queue.tickets.get(*id).is_some_and(|it| !it.is_over_for_parent());
    let children = ticket.attempt().map_or(&[][..], Attempt::open_children);
    let delegated = ticket.delegated().filter(|_| ticket.state == State::Open);
    let leader = delegated.and_then(|it| queue.tickets.get(&it.by)?.claim(it.fence));
    let siblings = leader.map_or(&[][..], Attempt::open_children);
    let is_apart = move |id: &TicketId| {
        let delegated = queue.tickets.get(id).and_then(|it| it.delegated());
        delegated.is_some_and(|it| it.is_apart)
    };
    let earlier = delegation::before_in_turn(siblings, &ticket.id, is_apart);
    children.iter().chain(earlier).filter(is_open)
}
