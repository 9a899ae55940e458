//! Tickets that wait for themselves, over dependencies and over the tickets that they recover: every cycle of
//! the queue found in one walk, however long the queue and the cycle.

use std::collections::BTreeMap;

use super::{Queue, Refusal};
use crate::TicketId;

/// The longest cycle that is spelled out whole. To give each ticket of a cycle of `n` the whole way round
/// takes `n²`.
const LONGEST_SHOWN: usize = 16;

/// The open tickets that wait for themselves, over whatever others.
pub(super) struct Cycles<'a> {
    nodes: Vec<Node<'a>>,
    /// The index of each ticket in `nodes`.
    at: BTreeMap<&'a TicketId, usize>,
    /// The number of tickets of each cycle, by the number of the cycle.
    sizes: Vec<usize>,
}

struct Node<'a> {
    id: &'a TicketId,
    /// The tickets that are not done and on which it depends, or which it recovers.
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
        let open = || queue.tickets.iter().filter(|(_, ticket)| !ticket.is_done());
        let at: BTreeMap<&TicketId, usize> = open().enumerate().map(|(n, (id, _))| (id, n)).collect();
        let nodes = open().map(|(id, ticket)| Node {
            id,
            deps: ticket
                .spec
                .deps
                .iter()
                .chain(&ticket.spec.recovers)
                .filter_map(|dep| at.get(dep).copied())
                .collect(),
            cycle: None,
        });
        let mut cycle = Self {
            nodes: nodes.collect(),
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
        let only_recovers = |step: &[TicketId]| {
            let [of, on] = step else { return false };
            let spec = queue.tickets.get(of).map(|ticket| &ticket.spec);
            spec.is_some_and(|spec| spec.recovers.as_ref() == Some(on) && !spec.deps.contains(on))
        };
        let recovering = path.windows(2).filter(|step| only_recovers(step));
        let recovering = recovering.filter_map(|step| step.first().cloned()).collect();
        Some(Refusal::Cycle { path, recovering })
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
        Some(way.into_iter().map(|at| self.nodes[at].id.clone()).collect())
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
