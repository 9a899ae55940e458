//! A memory of answers that depend on two object ids and on nothing else.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use crate::types::change::Change;
use crate::types::oid::Oid;

/// The number of answers that are kept.
const KEPT: usize = 32;

/// Answers about pairs of objects; clones share them.
#[derive(Debug)]
pub(crate) struct Memory<V>(Arc<Mutex<VecDeque<(Oid, Oid, V)>>>);

impl<V> Clone for Memory<V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<V> Default for Memory<V> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<V: Clone> Memory<V> {
    pub(crate) fn find(&self, from: &Oid, to: &Oid) -> Option<V> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept
            .iter()
            .rev()
            .find(|(one, other, _)| one == from && other == to);
        known.map(|(_, _, answer)| answer.clone())
    }

    pub(crate) fn keep(&self, from: &Oid, to: &Oid, answer: V) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((from.clone(), to.clone(), answer));
        if kept.len() > KEPT {
            kept.pop_front();
        }
    }
}

/// Facts about commits, which never change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memories {
    /// The paths in which one commit differs from the other.
    pub(crate) changes: Memory<Vec<Change>>,
    /// How far the second commit is ahead of the first.
    pub(crate) ahead: Memory<Ahead>,
    /// Commits of which the first is an ancestor of the second.
    pub(crate) ancestors: Memory<()>,
    /// The filters that the attributes of a commit name, under the commit twice.
    pub(crate) filters: Memory<BTreeSet<String>>,
}

/// How far a tip is ahead of a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ahead {
    /// Commits that are in the tip and not in the base.
    pub(crate) commits: u32,
    pub(crate) contains_base: bool,
}
