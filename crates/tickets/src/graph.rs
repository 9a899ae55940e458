//! The graph of dependencies among tickets.

mod cycles;

use std::collections::BTreeMap;

use crate::folder::Readings;
use crate::ticket::Ticket;

/// The dependencies among the tickets of a folder. Every result is ordered by id, unless its doc gives
/// another order.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    ids: Vec<String>,
    index: BTreeMap<String, usize>,
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    state: NodeState,
    deps: Vec<Target>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeState {
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
    /// The dependency as the file has it.
    pub id: String,
    /// The reason.
    pub reason: BlockReason,
}

/// The reason why a dependency blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockReason {
    /// It is not closed yet.
    Unclosed,
    /// There is no such ticket: a person must change the dependency.
    Missing,
    /// Its file cannot be read.
    Unreadable,
}

impl Graph {
    /// The graph of the tickets that were read. Unreadable files are in it: they block other tickets, and
    /// are not missing.
    pub fn new(readings: &Readings) -> Graph {
        let unreadable = |name: &str| (name.to_owned(), NodeState::Unreadable, Vec::new());
        let readable = |ticket: &Ticket| {
            let state = if ticket.is_closed() {
                NodeState::Closed
            } else {
                NodeState::Unclosed
            };
            (ticket.id.to_string(), state, ticket.deps.clone())
        };
        Graph::build(readings.0.iter().map(|reading| {
            reading
                .outcome
                .as_ref()
                .map_or_else(|_| unreadable(&reading.name), readable)
        }))
    }

    fn build(tickets: impl Iterator<Item = (String, NodeState, Vec<String>)>) -> Graph {
        let sorted: BTreeMap<String, (NodeState, Vec<String>)> =
            tickets.map(|(id, state, deps)| (id, (state, deps))).collect();
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
            .map(|(state, deps)| Node {
                state,
                deps: deps.into_iter().map(target).collect(),
            })
            .collect();
        Graph { ids, index, nodes }
    }

    /// The dependencies that `id` waits for, in the order of its file.
    pub fn blockers(&self, id: &str) -> Vec<Blocker> {
        let Some(node) = self.node(id) else {
            return Vec::new();
        };
        node.deps.iter().filter_map(|dep| self.blocker(dep)).collect()
    }

    /// True if `id` waits for any dependency.
    pub fn is_blocked(&self, id: &str) -> bool {
        self.node(id)
            .is_some_and(|node| node.deps.iter().any(|dep| self.blocker(dep).is_some()))
    }

    /// The unclosed tickets that wait for `id`.
    pub(crate) fn blocking(&self, id: &str) -> Vec<&str> {
        let Some(wanted) = self.index.get(id) else {
            return Vec::new();
        };
        let waits = |node: &Node| {
            node.state != NodeState::Closed
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

    /// The existing dependencies of `id`, in the order of its file.
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
            Target::Node(at) => match self.nodes[*at].state {
                NodeState::Closed => return None,
                NodeState::Unclosed => (&self.ids[*at], BlockReason::Unclosed),
                NodeState::Unreadable => (&self.ids[*at], BlockReason::Unreadable),
            },
        };
        Some(Blocker {
            id: id.clone(),
            reason,
        })
    }
}
