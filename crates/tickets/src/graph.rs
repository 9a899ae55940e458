//! Who waits for whom. Every walk keeps its own stack, so that a chain of any length is safe.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{Id, Readings, Ticket};

/// The dependencies among the tickets of a folder. All answers are in the order of the ids.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    ids: Vec<String>,
    index: BTreeMap<String, usize>,
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    standing: Standing,
    deps: Vec<Target>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Closed,
    Unclosed,
    Unreadable,
}

#[derive(Clone, Debug)]
enum Target {
    Node(usize),
    Missing(String),
}

/// A dependency that is not closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// The dependency as written.
    pub id: String,
    /// Why it blocks.
    pub reason: BlockReason,
}

/// Why a dependency blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockReason {
    /// It is not closed yet.
    Unclosed,
    /// There is no such ticket: this never passes by itself.
    Missing,
    /// Its file cannot be read.
    Unreadable,
}

impl Graph {
    /// The graph of what was read. Unreadable files are in it: they block, and are not missing.
    pub fn new(readings: &Readings) -> Graph {
        let unreadable = |name: &str| (name.to_owned(), Standing::Unreadable, Vec::new());
        let readable = |ticket: &Ticket| {
            let standing = if ticket.is_closed() {
                Standing::Closed
            } else {
                Standing::Unclosed
            };
            (ticket.id.to_string(), standing, ticket.deps.clone())
        };
        Graph::build(readings.0.iter().map(|reading| {
            reading
                .outcome
                .as_ref()
                .map_or_else(|_| unreadable(&reading.name), readable)
        }))
    }

    /// The graph of bare facts: (id, whether closed, dependencies).
    pub fn of<'a>(tickets: impl IntoIterator<Item = (&'a str, bool, &'a [String])>) -> Graph {
        Graph::build(tickets.into_iter().map(|(id, closed, deps)| {
            let standing = if closed {
                Standing::Closed
            } else {
                Standing::Unclosed
            };
            (id.to_owned(), standing, deps.to_vec())
        }))
    }

    fn build(tickets: impl Iterator<Item = (String, Standing, Vec<String>)>) -> Graph {
        let sorted: BTreeMap<String, (Standing, Vec<String>)> = tickets
            .map(|(id, standing, deps)| (id, (standing, deps)))
            .collect();
        let index: BTreeMap<String, usize> = sorted
            .keys()
            .enumerate()
            .map(|(at, id)| (id.clone(), at))
            .collect();
        let ids = sorted.keys().cloned().collect();
        let target = |dep: String| {
            index
                .get(&dep)
                .map_or_else(|| Target::Missing(dep), |at| Target::Node(*at))
        };
        let nodes = sorted
            .into_values()
            .map(|(standing, deps)| Node {
                standing,
                deps: deps.into_iter().map(target).collect(),
            })
            .collect();
        Graph { ids, index, nodes }
    }

    /// What `id` waits for, in the order it is written.
    pub fn blockers(&self, id: &str) -> Vec<Blocker> {
        let Some(node) = self.node(id) else {
            return Vec::new();
        };
        node.deps.iter().filter_map(|dep| self.blocker(dep)).collect()
    }

    /// Whether `id` waits for anything.
    pub fn is_blocked(&self, id: &str) -> bool {
        self.node(id)
            .is_some_and(|node| node.deps.iter().any(|dep| self.blocker(dep).is_some()))
    }

    /// The unclosed tickets that wait for `id`.
    pub fn blocking(&self, id: &str) -> Vec<&str> {
        let Some(wanted) = self.index.get(id) else {
            return Vec::new();
        };
        let waits = |node: &Node| {
            node.standing != Standing::Closed
                && node
                    .deps
                    .iter()
                    .any(|dep| matches!(dep, Target::Node(at) if at == wanted))
        };
        self.ids
            .iter()
            .zip(&self.nodes)
            .filter(|(_, node)| waits(node))
            .map(|(id, _)| id.as_str())
            .collect()
    }

    /// Dependencies on tickets that are not there: (who, on what), of unclosed tickets.
    pub fn missing(&self) -> Vec<(&str, &str)> {
        let mut found = Vec::new();
        for (id, node) in self.ids.iter().zip(&self.nodes) {
            if node.standing == Standing::Unclosed {
                found.extend(node.deps.iter().filter_map(|dep| match dep {
                    Target::Missing(dep) => Some((id.as_str(), dep.as_str())),
                    Target::Node(_) => None,
                }));
            }
        }
        found
    }

    /// Cycles among unclosed tickets: of every knot a shortest one through its first id, that id first and not repeated.
    pub fn cycles(&self) -> Vec<Vec<&str>> {
        let mut cycles: Vec<Vec<&str>> = Vec::new();
        for knot in self.knots() {
            let start = knot.first().copied().unwrap_or_default();
            if let Some(path) = self.shortest_cycle(start, &knot) {
                cycles.push(path.into_iter().map(|at| self.ids[at].as_str()).collect());
            }
        }
        cycles.sort();
        cycles
    }

    /// Every unclosed ticket that can never become ready by itself, with what it rests on at last: a cycle's member or a
    /// missing ticket's id.
    pub fn blocked_for_good(&self) -> BTreeMap<&str, &str> {
        let mut doomed: BTreeMap<usize, &str> = BTreeMap::new();
        for knot in self.knots() {
            for at in knot {
                doomed.insert(at, self.ids[at].as_str());
            }
        }
        for (at, node) in self.nodes.iter().enumerate() {
            if let Some(Target::Missing(id)) = node.deps.iter().find(|dep| matches!(dep, Target::Missing(_)))
                && node.standing == Standing::Unclosed
            {
                doomed.entry(at).or_insert(id.as_str());
            }
        }
        let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for at in 0..self.nodes.len() {
            for to in self.open_edges(at) {
                waiting[to].push(at);
            }
        }
        let mut next: VecDeque<usize> = doomed.keys().copied().collect();
        while let Some(at) = next.pop_front() {
            let root = doomed.get(&at).copied().unwrap_or_default();
            for who in &waiting[at] {
                if !doomed.contains_key(who) {
                    doomed.insert(*who, root);
                    next.push_back(*who);
                }
            }
        }
        doomed
            .into_iter()
            .map(|(at, root)| (self.ids[at].as_str(), root))
            .collect()
    }

    /// Whether `from` depends on `to`, over however many others.
    pub fn reaches(&self, from: &Id, to: &Id) -> bool {
        let (Some(from), Some(to)) = (self.index.get(from.as_str()), self.index.get(to.as_str())) else {
            return false;
        };
        let mut seen = BTreeSet::from([*from]);
        let mut next = vec![*from];
        while let Some(at) = next.pop() {
            for dep in &self.nodes[at].deps {
                match dep {
                    Target::Node(node) if node == to => return true,
                    Target::Node(node) if seen.insert(*node) => next.push(*node),
                    Target::Node(_) | Target::Missing(_) => {}
                }
            }
        }
        false
    }

    /// The existing dependencies of `id`, in the order they are written.
    pub(crate) fn deps(&self, id: &str) -> Vec<&str> {
        let Some(node) = self.node(id) else {
            return Vec::new();
        };
        let existing = node.deps.iter().filter_map(|dep| match dep {
            Target::Node(at) => Some(self.ids[*at].as_str()),
            Target::Missing(_) => None,
        });
        existing.collect()
    }

    fn node(&self, id: &str) -> Option<&Node> {
        self.index.get(id).map(|at| &self.nodes[*at])
    }

    fn blocker(&self, dep: &Target) -> Option<Blocker> {
        let (id, reason) = match dep {
            Target::Missing(id) => (id, BlockReason::Missing),
            Target::Node(at) => match self.nodes[*at].standing {
                Standing::Closed => return None,
                Standing::Unclosed => (&self.ids[*at], BlockReason::Unclosed),
                Standing::Unreadable => (&self.ids[*at], BlockReason::Unreadable),
            },
        };
        Some(Blocker {
            id: id.clone(),
            reason,
        })
    }

    /// The dependencies of an unclosed ticket on unclosed ones.
    fn open_edges(&self, at: usize) -> impl Iterator<Item = usize> {
        let node = &self.nodes[at];
        let from_open = node.standing == Standing::Unclosed;
        node.deps.iter().filter_map(move |dep| match dep {
            Target::Node(to) if from_open && self.nodes[*to].standing == Standing::Unclosed => Some(*to),
            Target::Node(_) | Target::Missing(_) => None,
        })
    }

    /// The strongly connected sets that hold a cycle, each sorted (Tarjan's algorithm with a stack of its own).
    fn knots(&self) -> Vec<Vec<usize>> {
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
                    let mut knot = Vec::new();
                    while let Some(member) = path.pop() {
                        on_path[member] = false;
                        knot.push(member);
                        if member == at {
                            break;
                        }
                    }
                    if knot.len() > 1 || edges[at].contains(&at) {
                        knot.sort_unstable();
                        found.push(knot);
                    }
                }
                if let Some((above, _)) = walk.last() {
                    low[*above] = low[*above].min(low[at]);
                }
            }
        }
        found
    }

    fn shortest_cycle(&self, start: usize, knot: &[usize]) -> Option<Vec<usize>> {
        let inside: BTreeSet<usize> = knot.iter().copied().collect();
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

    fn graph(edges: &[(&str, bool, &[&str])]) -> Graph {
        let owned: Vec<(&str, bool, Vec<String>)> = edges
            .iter()
            .map(|(id, closed, deps)| (*id, *closed, deps.iter().map(|dep| (*dep).to_owned()).collect()))
            .collect();
        Graph::of(
            owned
                .iter()
                .map(|(id, closed, deps)| (*id, *closed, deps.as_slice())),
        )
    }

    #[test]
    fn cycles_are_named_once_from_their_first_id() {
        let g = graph(&[
            ("c", false, &["a"]),
            ("a", false, &["b", "zz"]),
            ("b", false, &["c", "a"]),
            ("s", false, &["s"]),
            ("x", true, &["y"]),
            ("y", false, &["x"]),
            ("w", false, &["c"]),
        ]);
        assert_eq!(g.cycles(), [vec!["a", "b"], vec!["s"]]);
        assert_eq!(g.missing(), [("a", "zz")]);
        assert!(!g.is_blocked("y"), "a closed ticket ends the cycle");
        assert_eq!(g.blocking("c"), ["b", "w"]);
        let doomed: Vec<&str> = g.blocked_for_good().into_keys().collect();
        assert_eq!(doomed, ["a", "b", "c", "s", "w"]);
    }

    #[test]
    fn a_chain_of_ten_thousand_needs_no_deep_stack() {
        let ids: Vec<String> = (0..10_000).map(|n| format!("t-{n:05}")).collect();
        let deps: Vec<Vec<String>> = (0..10_000)
            .map(|n| ids.get(n + 1).cloned().into_iter().collect())
            .collect();
        let g = Graph::of(
            ids.iter()
                .zip(&deps)
                .map(|(id, deps)| (id.as_str(), false, deps.as_slice())),
        );
        assert_eq!(g.cycles(), Vec::<Vec<&str>>::new());
        assert!(g.reaches(&Id::new("t-00000").unwrap(), &Id::new("t-09999").unwrap()));
        assert!(!g.is_blocked("t-09999"));
        let ring: Vec<Vec<String>> = (0..10_000).map(|n| vec![ids[(n + 1) % 10_000].clone()]).collect();
        let g = Graph::of(
            ids.iter()
                .zip(&ring)
                .map(|(id, deps)| (id.as_str(), false, deps.as_slice())),
        );
        assert_eq!(g.cycles()[0].len(), 10_000);
    }
}
