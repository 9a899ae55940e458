//! A checkout of the user's comes from the old commit to the new one, and no edit in it is lost.

mod apply;
mod beside;
mod caught;
mod index;
mod index_lock;
mod inspect;

use std::fmt;
use std::path::PathBuf;

pub(crate) use apply::Ready;
pub(crate) use index_lock::{IndexLock, forget_marks, is_marked};

use crate::checkout::{Checkout, Operation};
use crate::error::{Error, Result};
use crate::oid::Oid;
use crate::repository::Repository;
use inspect::Inspection;

/// Something in a checkout that keeps it from following.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The checkout's root.
    pub checkout: PathBuf,
    /// The path in it, if it is about one.
    pub path: Option<PathBuf>,
    /// What is there.
    pub obstacle: Obstacle,
}

/// What may be in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// A tracked file with changes that are in no commit (or it was deleted).
    Edited,
    /// Changes that are in the index only.
    Staged,
    /// A conflict that is not resolved.
    Unmerged,
    /// A file or folder that git does not know.
    Untracked,
    /// A file that is ignored, `.env` for one.
    Ignored,
    /// A merge, rebase or the like that is under way.
    Operation(Operation),
    /// Another git holds the index (a commit with its editor open, say).
    IndexLocked,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edited => f.write_str("edited"),
            Self::Staged => f.write_str("staged"),
            Self::Unmerged => f.write_str("in conflict"),
            Self::Untracked => f.write_str("not tracked"),
            Self::Ignored => f.write_str("ignored"),
            Self::Operation(operation) => write!(f, "{operation} under way"),
            Self::IndexLocked => f.write_str("index locked by another git"),
        }
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(
                f,
                "{} in {} stays as it is ({})",
                path.display(),
                self.checkout.display(),
                self.obstacle
            ),
            None => write!(
                f,
                "{} stays as it is ({})",
                self.checkout.display(),
                self.obstacle
            ),
        }
    }
}

impl Blocked {
    pub(crate) fn index_locked(checkout: &Checkout) -> Self {
        Self {
            checkout: checkout.root.clone(),
            path: None,
            obstacle: Obstacle::IndexLocked,
        }
    }
}

/// How far a checkout followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Paths whose file was written or deleted by this call.
    pub updated: usize,
    /// What a person had changed meanwhile; left as it is.
    pub left: Vec<Blocked>,
}

impl Repository {
    /// What in a checkout is in the way of following from `old` to `new`; empty: it can. Changes nothing.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub fn would_follow(&self, checkout: &Checkout, old: &Oid, new: &Oid) -> Result<Vec<Blocked>> {
        let mut found = Vec::new();
        if IndexLock::is_held_by_another(self, checkout) {
            found.push(Blocked::index_locked(checkout));
        }
        found.extend(self.in_the_way(checkout, old, new)?.err().unwrap_or_default());
        Ok(found)
    }

    /// Brings the checkout's files and index from `old` to `new`, path by path: equal to new is accepted, equal to old
    /// is replaced in one rename, anything else is a person's and left. The rest of the index is untouched. May be
    /// repeated after a kill at any point.
    ///
    /// # Errors
    /// [`Error::IndexBusy`]; [`Error::Failed`], [`Error::Io`]: repeat it.
    pub fn follow(&self, checkout: &Checkout, old: &Oid, new: &Oid) -> Result<Followed> {
        let lock = IndexLock::take(self, checkout)?;
        let mut lock = lock.ok_or_else(|| Error::IndexBusy {
            checkout: checkout.root.clone(),
        })?;
        lock.keep();
        self.ready_to_follow(checkout, old, new, lock, None)?.follow()
    }

    /// What stands in the paths that would change, or what of it is in the way.
    pub(crate) fn in_the_way(
        &self,
        checkout: &Checkout,
        old: &Oid,
        new: &Oid,
    ) -> Result<std::result::Result<Inspection, Vec<Blocked>>> {
        if let Some(operation) = Operation::of(&checkout.git_dir) {
            let obstacle = Obstacle::Operation(operation);
            return Ok(Err(vec![Blocked {
                checkout: checkout.root.clone(),
                path: None,
                obstacle,
            }]));
        }
        let inspection = Inspection::of(self, checkout, old, new)?;
        let blocked = inspection.blocked();
        Ok(if blocked.is_empty() {
            Ok(inspection)
        } else {
            Err(blocked)
        })
    }
}
