//! Cycles in the graph of dependencies.
//!
//! The search keeps its own stack, so that a chain of any length is safe.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Graph, NodeState, Target};

impl Graph<'_> {
    /// The cycles among unclosed tickets. Each component is represented by a shortest cycle through its
    /// first id, which comes first in the list and is not repeated.
    pub fn cycles(&self) -> Vec<Vec<&str>> {
        let mut cycles: Vec<Vec<&str>> = Vec::new();
        for component in self.cyclic_components() {
            let start = component.first().copied().unwrap_or_default();
            if let Some(path) = self.shortest_cycle(start, &component) {
                cycles.push(path.into_iter().map(|at| self.ids[at]).collect());
            }
        }
        cycles.sort();
        cycles
    }

    /// The dependencies of an unclosed ticket on unclosed ones.
    fn open_edges(&self, at: usize) -> impl Iterator<Item = usize> {
        let node = &self.nodes[at];
        let from_open = node.state == NodeState::Unclosed;
        node.deps.iter().filter_map(move |dep| match dep {
            Target::Node(to) if from_open && self.nodes[*to].state == NodeState::Unclosed => Some(*to),
            Target::Node(_) | Target::Missing(_) => None,
        })
    }

    /// The strongly connected components that contain a cycle, each sorted (Tarjan's algorithm).
    fn cyclic_components(&self) -> Vec<Vec<usize>> {
        const UNSEEN: usize = usize::MAX;
        let count = self.nodes.len();
        let edges: Vec<Vec<usize>> = (0..count).map(|at| self.open_edges(at).collect()).collect();
        let (mut order, mut low) = (vec![UNSEEN; count], vec![0; count]);
        let mut on_path = vec![false; count];
        let (mut path, mut walk, mut found) = (Vec::new(), Vec::new(), Vec::new());
        let mut counter = 0;
        for root in 0..count {
            if order[root] != UNSEEN {
                continue;
            }
            walk.push((root, 0));
            while let Some((at, edge)) = walk.pop() {
                if edge == 0 {
                    order[at] = counter;
                    low[at] = counter;
                    counter += 1;
                    path.push(at);
                    on_path[at] = true;
                }
                if let Some(to) = edges[at].get(edge).copied() {
                    walk.push((at, edge + 1));
                    if order[to] == UNSEEN {
                        walk.push((to, 0));
                    } else if on_path[to] {
                        low[at] = low[at].min(order[to]);
                    }
                    continue;
                }
                if low[at] == order[at] {
                    let mut component = Vec::new();
                    while let Some(member) = path.pop() {
                        on_path[member] = false;
                        component.push(member);
                        if member == at {
                            break;
                        }
                    }
                    if component.len() > 1 || edges[at].contains(&at) {
                        component.sort_unstable();
                        found.push(component);
                    }
                }
                if let Some((above, _)) = walk.last() {
                    low[*above] = low[*above].min(low[at]);
                }
            }
        }
        found
    }

    /// A shortest cycle through `start` within a component.
    fn shortest_cycle(&self, start: usize, component: &[usize]) -> Option<Vec<usize>> {
        let inside: BTreeSet<usize> = component.iter().copied().collect();
        let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
        let mut next = VecDeque::from([start]);
        while let Some(at) = next.pop_front() {
            for to in self.open_edges(at).filter(|to| inside.contains(to)) {
                if to == start {
                    let mut path = vec![at];
                    while let Some(before) = path
                        .last()
                        .filter(|last| **last != start)
                        .and_then(|last| came_from.get(last))
                    {
                        path.push(*before);
                    }
                    path.reverse();
                    return Some(path);
                }
                if let Entry::Vacant(new) = came_from.entry(to) {
                    new.insert(at);
                    next.push_back(to);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The graph of tickets, each given as its id, whether it is closed, and its dependencies.
    fn of<'a>(tickets: impl IntoIterator<Item = (&'a str, bool, &'a [String])>) -> Graph<'a> {
        let ticket = |(id, closed, deps)| {
            let state = if closed {
                NodeState::Closed
            } else {
                NodeState::Unclosed
            };
            (id, state, deps)
        };
        Graph::build(tickets.into_iter().map(ticket).collect())
    }

    #[test]
    fn cycles_are_named_once_from_their_first_id() {
        let edges = [
            ("c", false, vec!["a"]),
            ("a", false, vec!["b", "zz"]),
            ("b", false, vec!["c", "a"]),
            ("s", false, vec!["s"]),
            ("x", true, vec!["y"]),
            ("y", false, vec!["x"]),
            ("w", false, vec!["c"]),
        ];
        let edges =
            edges.map(|(id, closed, deps)| (id, closed, deps.into_iter().map(str::to_owned).collect()));
        let edges: [(&str, bool, Vec<String>); 7] = edges;
        let g = of(edges
            .iter()
            .map(|(id, closed, deps)| (*id, *closed, deps.as_slice())));
        assert_eq!(g.cycles(), [vec!["a", "b"], vec!["s"]]);
        assert!(!g.is_blocked("y"), "a closed ticket ends the cycle");
        assert_eq!(g.blocking("c"), ["b", "w"]);
    }

    #[test]
    fn a_chain_of_ten_thousand_needs_no_deep_stack() {
        let ids: Vec<String> = (0..10_000).map(|n| format!("t-{n:05}")).collect();
        let deps: Vec<Vec<String>> = (0..10_000)
            .map(|n| ids.get(n + 1).cloned().into_iter().collect())
            .collect();
        let g = of(ids
            .iter()
            .zip(&deps)
            .map(|(id, deps)| (id.as_str(), false, deps.as_slice())));
        assert_eq!(g.cycles(), Vec::<Vec<&str>>::new());
        assert!(!g.is_blocked("t-09999"));
        let closed: Vec<Vec<String>> = (0..10_000).map(|n| vec![ids[(n + 1) % 10_000].clone()]).collect();
        let g = of(ids
            .iter()
            .zip(&closed)
            .map(|(id, deps)| (id.as_str(), false, deps.as_slice())));
        assert_eq!(g.cycles()[0].len(), 10_000);
    }
}
