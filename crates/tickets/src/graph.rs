//! The graph of dependencies among tickets.

mod cycles;

use crate::row::{Row, Rows};
use crate::ticket::Status;

/// The dependencies among the tickets of a folder. Every result is ordered by id, unless its doc gives
/// another order.
#[derive(Clone, Debug, Default)]
pub struct Graph<'a> {
    /// The ids, sorted.
    ids: Vec<&'a str>,
    /// The node of each id.
    nodes: Vec<Node<'a>>,
}

#[derive(Clone, Debug)]
struct Node<'a> {
    state: NodeState,
    deps: Vec<Target<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeState {
    Closed,
    Unclosed,
    Unreadable,
}

#[derive(Clone, Copy, Debug)]
enum Target<'a> {
    Node(usize),
    Missing(&'a str),
}

/// A dependency that is not closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker<'a> {
    /// The dependency as the file has it.
    pub id: &'a str,
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

impl<'a> Graph<'a> {
    /// The graph of the tickets that were read. Unreadable files are in it: they block other tickets, and
    /// are not missing.
    pub fn new(rows: &'a Rows) -> Graph<'a> {
        let readable = |row: &'a Row| {
            let state = if row.status() == Status::Closed {
                NodeState::Closed
            } else {
                NodeState::Unclosed
            };
            (row.id.as_str(), state, row.deps.as_slice())
        };
        let unreadable = |name: &'a String| (name.as_str(), NodeState::Unreadable, &[][..]);
        let readable = rows.iter().map(readable);
        Graph::build(readable.chain(rows.unreadable().keys().map(unreadable)).collect())
    }

    fn build(mut tickets: Vec<(&'a str, NodeState, &'a [String])>) -> Graph<'a> {
        tickets.sort_by_key(|(id, _, _)| *id);
        let ids: Vec<&str> = tickets.iter().map(|(id, _, _)| *id).collect();
        let target = |dep: &'a String| match ids.binary_search(&dep.as_str()) {
            Ok(at) => Target::Node(at),
            Err(_) => Target::Missing(dep),
        };
        let nodes = tickets
            .into_iter()
            .map(|(_, state, deps)| Node {
                state,
                deps: deps.iter().map(target).collect(),
            })
            .collect();
        Graph { ids, nodes }
    }

    /// The dependencies that `id` waits for, in the order of its file.
    pub fn blockers(&self, id: &str) -> Vec<Blocker<'a>> {
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
    pub(crate) fn blocking(&self, id: &str) -> Vec<&'a str> {
        let Some(wanted) = self.at(id) else {
            return Vec::new();
        };
        let waits = |node: &Node<'_>| {
            node.state != NodeState::Closed
                && node
                    .deps
                    .iter()
                    .any(|dep| matches!(dep, Target::Node(at) if *at == wanted))
        };
        self.ids
            .iter()
            .zip(&self.nodes)
            .filter(|(_, node)| waits(node))
            .map(|(id, _)| *id)
            .collect()
    }

    /// The existing dependencies of `id`, in the order of its file.
    pub(crate) fn deps(&self, id: &str) -> Vec<&'a str> {
        let Some(node) = self.node(id) else {
            return Vec::new();
        };
        let existing = node.deps.iter().filter_map(|dep| match dep {
            Target::Node(at) => Some(self.ids[*at]),
            Target::Missing(_) => None,
        });
        existing.collect()
    }

    fn node(&self, id: &str) -> Option<&Node<'a>> {
        self.at(id).map(|at| &self.nodes[at])
    }

    fn at(&self, id: &str) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    fn blocker(&self, dep: &Target<'a>) -> Option<Blocker<'a>> {
        let (id, reason) = match dep {
            Target::Missing(id) => (*id, BlockReason::Missing),
            Target::Node(at) => match self.nodes[*at].state {
                NodeState::Closed => return None,
                NodeState::Unclosed => (self.ids[*at], BlockReason::Unclosed),
                NodeState::Unreadable => (self.ids[*at], BlockReason::Unreadable),
            },
        };
        Some(Blocker { id, reason })
    }
}
