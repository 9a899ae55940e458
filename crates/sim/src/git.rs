//! A repository as values: commits over trees of paths, references, three-way merges by path.

use std::collections::{BTreeMap, BTreeSet};

use model::{Oid, TicketId};

use crate::rng::mix;

/// The branch that work lands on.
pub(crate) const TARGET: &str = "refs/heads/main";

/// A content that the checks refuse wherever it stands.
pub(crate) const BROKEN: u64 = 1;
/// A content that the checks refuse together with another such one in a path of the other parity.
pub(crate) const TOUCHY: u64 = 2;

/// Paths with their contents. The two lowest bits of a content decide the result of the checks.
pub(crate) type Tree = BTreeMap<String, u64>;

/// The author of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The first of all.
    Root,
    /// Someone who pushes to the target.
    Foreign,
    /// An agent, or crew saving what the agent left: its ticket and attempt.
    Agent(TicketId, u32),
    /// A gatekeeper, in its checkout of the merged result of a ticket.
    Gatekeeper(TicketId),
    /// A person, in the workspace of a ticket.
    Person(TicketId),
    /// crew, merging an attempt of a ticket.
    Crew(TicketId, u32),
}

/// A commit.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    pub(crate) id: Oid,
    pub(crate) tree: Tree,
    pub(crate) parents: Vec<usize>,
    generation: u32,
    pub(crate) by: By,
}

/// The user's repository, and the objects of every workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Git {
    pub(crate) commits: Vec<Commit>,
    by_id: BTreeMap<Oid, usize>,
    pub(crate) refs: BTreeMap<String, usize>,
}

impl Git {
    /// A repository whose target holds `tree`.
    pub(crate) fn new(tree: Tree) -> Self {
        let mut git = Self::default();
        let root = git.commit(tree, Vec::new(), By::Root);
        git.refs.insert(TARGET.to_owned(), root);
        git
    }

    /// Writes a commit; the same one again is the same.
    pub(crate) fn commit(&mut self, tree: Tree, parents: Vec<usize>, by: By) -> usize {
        let mut text = format!("{by:?} {}", tree_id(&tree));
        let mut generation = 0;
        for parent in &parents {
            text.push_str(self.commits[*parent].id.as_str());
            generation = generation.max(self.commits[*parent].generation + 1);
        }
        let id = digest(&text);
        if let Some(there) = self.by_id.get(&id) {
            return *there;
        }
        let at = self.commits.len();
        self.by_id.insert(id.clone(), at);
        self.commits.push(Commit {
            id,
            tree,
            parents,
            generation,
            by,
        });
        at
    }

    pub(crate) fn find(&self, id: &Oid) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub(crate) fn id(&self, at: usize) -> Oid {
        self.commits[at].id.clone()
    }

    pub(crate) fn tree(&self, at: usize) -> &Tree {
        &self.commits[at].tree
    }

    pub(crate) fn target(&self) -> usize {
        self.refs.get(TARGET).copied().unwrap_or(0)
    }

    /// Marks everything that can be reached from `from`, itself included.
    pub(crate) fn mark(&self, from: usize, seen: &mut [bool]) {
        let mut stack = vec![from];
        while let Some(at) = stack.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                stack.extend(&self.commits[at].parents);
            }
        }
    }

    pub(crate) fn contains(&self, descendant: usize, ancestor: usize) -> bool {
        let mut seen = vec![false; self.commits.len()];
        self.mark(descendant, &mut seen);
        seen[ancestor]
    }

    /// The newest commit that both have.
    pub(crate) fn merge_base(&self, a: usize, b: usize) -> usize {
        let (mut of_a, mut of_b) = (vec![false; self.commits.len()], vec![false; self.commits.len()]);
        self.mark(a, &mut of_a);
        self.mark(b, &mut of_b);
        let both = (0..self.commits.len()).filter(|at| of_a[*at] && of_b[*at]);
        both.max_by_key(|at| (self.commits[*at].generation, *at))
            .unwrap_or(0)
    }

    /// The target's first-parent chain, oldest first.
    pub(crate) fn chain(&self) -> Vec<usize> {
        let mut chain = Vec::new();
        let mut at = Some(self.target());
        while let Some(commit) = at {
            chain.push(commit);
            at = self.commits[commit].parents.first().copied();
        }
        chain.reverse();
        chain
    }

    /// The three-way merge of two commits, or the paths in conflict with the rest merged.
    pub(crate) fn merge(&self, ours: usize, theirs: usize) -> Result<Tree, (Vec<String>, Tree)> {
        let base = self.tree(self.merge_base(ours, theirs));
        let (ours, theirs) = (self.tree(ours), self.tree(theirs));
        let paths: BTreeSet<&String> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
        let (mut merged, mut conflicts) = (Tree::new(), Vec::new());
        for path in paths {
            let (b, o, t) = (base.get(path), ours.get(path), theirs.get(path));
            let picked = if o == t || t == b {
                o
            } else if o == b {
                t
            } else {
                conflicts.push(path.clone());
                o
            };
            if let Some(content) = picked {
                merged.insert(path.clone(), *content);
            }
        }
        if conflicts.is_empty() {
            Ok(merged)
        } else {
            Err((conflicts, merged))
        }
    }

    /// The paths in which `tip` resolves conflicts, where only merges of commits that `target` has stand
    /// between it and `before`, and each of them changes only what was in conflict.
    pub(crate) fn only_resolves(&self, before: usize, tip: usize, target: usize) -> Option<BTreeSet<String>> {
        let (mut resolved, mut at) = (BTreeSet::new(), tip);
        while at != before {
            let [ours, theirs] = self.commits[at].parents[..] else {
                return None;
            };
            let (paths, tree) = self
                .merge(ours, theirs)
                .map_or_else(|(paths, tree)| (paths, tree), |tree| (Vec::new(), tree));
            let made = self.tree(at);
            let mut names = tree.keys().chain(made.keys());
            if !self.contains(target, theirs)
                || names.any(|path| tree.get(path) != made.get(path) && !paths.contains(path))
            {
                return None;
            }
            resolved.extend(paths);
            at = ours;
        }
        Some(resolved)
    }

    /// Paths that differ between two trees.
    pub(crate) fn changed(&self, a: usize, b: usize) -> BTreeSet<String> {
        let (a, b) = (self.tree(a), self.tree(b));
        a.keys()
            .chain(b.keys())
            .filter(|path| a.get(*path) != b.get(*path))
            .cloned()
            .collect()
    }
}

/// True if the checks pass on a tree.
pub(crate) fn green(tree: &Tree) -> bool {
    if tree.values().any(|content| content & BROKEN != 0) {
        return false;
    }
    let touchy = |parity| {
        let of = |path: &String| path.bytes().last().map(|b| b % 2) == Some(parity);
        tree.iter()
            .any(|(path, content)| content & TOUCHY != 0 && of(path))
    };
    !(touchy(0) && touchy(1))
}

/// A tree's object id.
pub(crate) fn tree_id(tree: &Tree) -> Oid {
    let mut text = String::from("tree");
    for (path, content) in tree {
        text.push_str(path);
        text.push_str(&content.to_string());
        text.push('\n');
    }
    digest(&text)
}

/// 160 bits of `text`, as an object id. Only sameness matters here.
pub(crate) fn digest(text: &str) -> Oid {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let (a, b, c) = (mix(state), mix(state ^ 0xa5a5), mix(state ^ 0x5a5a) >> 32);
    Oid::new(format!("{a:016x}{b:016x}{c:08x}")).expect("40 hex digits are an object id")
}
