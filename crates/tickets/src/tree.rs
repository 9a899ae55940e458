//! The tree of a ticket's dependencies.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::Graph;
use crate::id::Id;
use crate::render::titled;
use crate::row::Rows;

/// The most bytes of a tree: repeated subtrees can double its size with every level.
const MAX_BYTES: usize = 4 << 20;

/// `dep tree`: the ticket and its dependencies below it, one `id [status] title` a line. Each ticket is
/// printed once, at its greatest depth; with `full`, wherever it is a dependency. Cycles are cut, and
/// missing tickets are left out.
pub fn render_tree(rows: &Rows, graph: &Graph<'_>, root: &Id, full: bool) -> String {
    let tree = Tree::of(graph, root.as_str());
    let mut out = format!("{}\n", titled(rows, root.as_str()));
    let mut printed = BTreeSet::from([root.as_str()]);
    // The path to the next ticket. No ticket is repeated on it, so that a cycle ends.
    let mut path: Vec<&str> = vec![root.as_str()];
    let mut on_path = BTreeSet::from([root.as_str()]);
    let mut rails = String::new();
    let mut levels = vec![Level {
        children: tree.children(graph, root.as_str(), 0, full),
        next: 0,
        rail: 0,
    }];
    while let Some(level) = levels.last_mut() {
        let depth = path.len();
        let fits =
            |id: &str, printed: &BTreeSet<&str>| !on_path.contains(id) && (full || !printed.contains(id));
        let Some(at) = (level.next..level.children.len()).find(|at| fits(level.children[*at], &printed))
        else {
            let rail = level.rail;
            levels.pop();
            if let Some(left) = path.pop() {
                on_path.remove(left);
            }
            rails.truncate(rails.len() - rail);
            continue;
        };
        let child = level.children[at];
        level.next = at + 1;
        let last = !level.children[at + 1..]
            .iter()
            .any(|id| *id != child && fits(id, &printed));
        let (branch, rail) = if last {
            ("└── ", "    ")
        } else {
            ("├── ", "│   ")
        };
        out.push_str(&format!("{rails}{branch}{}\n", titled(rows, child)));
        if out.len() > MAX_BYTES {
            out.push_str("… the tree is larger than this\n");
            break;
        }
        printed.insert(child);
        rails.push_str(rail);
        path.push(child);
        on_path.insert(child);
        levels.push(Level {
            children: tree.children(graph, child, depth, full),
            next: 0,
            rail: rail.len(),
        });
    }
    out
}

/// A ticket on the path whose children are being printed.
struct Level<'a> {
    children: Vec<&'a str>,
    next: usize,
    /// The number of bytes that this level adds to the lines' prefix.
    rail: usize,
}

/// The depths of the tickets below a root. Edges that close a cycle are left out.
struct Tree<'a> {
    /// The length of the longest path from the root to a ticket.
    depth: BTreeMap<&'a str, usize>,
    /// The length of the longest path from the root to any ticket below a ticket.
    subtree: BTreeMap<&'a str, usize>,
}

impl<'a> Tree<'a> {
    fn of(graph: &'a Graph<'a>, root: &'a str) -> Tree<'a> {
        let (order, edges) = walk(graph, root);
        let mut depth: BTreeMap<&str, usize> = BTreeMap::from([(root, 0)]);
        for at in order.iter().rev() {
            let below = depth.get(at).copied().unwrap_or_default() + 1;
            for to in edges.get(at).into_iter().flatten() {
                let known = depth.entry(to).or_insert(0);
                *known = (*known).max(below);
            }
        }
        let mut subtree: BTreeMap<&str, usize> = BTreeMap::new();
        for at in &order {
            let own = depth.get(at).copied().unwrap_or_default();
            let below = edges
                .get(at)
                .into_iter()
                .flatten()
                .filter_map(|to| subtree.get(to))
                .max()
                .copied();
            subtree.insert(at, below.map_or(own, |below| below.max(own)));
        }
        Tree { depth, subtree }
    }

    /// The children of `id`, which is printed at `depth`, ordered by the depth of their subtrees and by id.
    fn children(&self, graph: &'a Graph<'a>, id: &str, depth: usize, full: bool) -> Vec<&'a str> {
        let mut children = graph.deps(id);
        children.retain(|child| full || self.depth.get(child) == Some(&(depth + 1)));
        children.sort_by(|a, b| {
            self.subtree
                .get(a)
                .cmp(&self.subtree.get(b))
                .then_with(|| a.cmp(b))
        });
        children.dedup();
        children
    }
}

/// All tickets below `root`, each after those below it, and the edges that do not close a cycle.
fn walk<'a>(graph: &'a Graph<'a>, root: &'a str) -> (Vec<&'a str>, BTreeMap<&'a str, Vec<&'a str>>) {
    let mut order = Vec::new();
    let mut edges: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    // The tickets that were reached: true once all tickets below one have been visited.
    let mut done: BTreeMap<&str, bool> = BTreeMap::from([(root, false)]);
    let mut stack = vec![(root, graph.deps(root), 0)];
    while let Some((at, deps, next)) = stack.last_mut() {
        let (at, to) = (*at, deps.get(*next).copied());
        *next += 1;
        match to {
            None => {
                done.insert(at, true);
                order.push(at);
                stack.pop();
            }
            Some(to) => match done.get(to) {
                Some(false) => {}
                Some(true) => edges.entry(at).or_default().push(to),
                None => {
                    edges.entry(at).or_default().push(to);
                    done.insert(to, false);
                    stack.push((to, graph.deps(to), 0));
                }
            },
        }
    }
    (order, edges)
}
