//! Landing: the target moves by compare-and-swap, and the checkouts that show it follow.

use crate::checkout::follow::apply::Ready;
use crate::checkout::index_lock::IndexLock;
use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::blocked::Blocked;
use crate::types::id::Branch;
use crate::types::oid::Oid;

/// A landing, as it is in the journal before anything moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// The branch that moves.
    pub target: Branch,
    /// The commit at which the branch is.
    pub old: Oid,
    /// The commit to which the branch moves: a candidate on `old`.
    pub new: Oid,
}

/// The outcome of a landing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Landing {
    /// The target contains `new`, durably. `left`: paths in checkouts that a person edited in that very
    /// moment, and that were left as they are.
    Landed {
        /// The paths that were left.
        left: Vec<Blocked>,
    },
    /// The target is not at `old`, and nothing moved.
    TargetMoved {
        /// Where it is; `None`: it is gone.
        now: Option<Oid>,
    },
    /// A person has edited paths that would change, has an operation under way, or their git is at work:
    /// nothing moved.
    InTheWay(Vec<Blocked>),
}

impl Repository {
    /// Lands: checks whether every checkout of the target can follow, moves the ref, and lets the checkouts
    /// follow. Meanwhile it holds their `index.lock`s, so that no commit of the user's can fall between the
    /// ref and the index. An "ensure": repeated after a kill at any point it ends as if nothing had happened.
    ///
    /// The caller runs one landing at a time and holds the repository's lock (see [`Repository::locked`]);
    /// without it, locks that a killed engine left behind are not removed.
    ///
    /// # Errors
    /// [`Error::CandidateGone`], and nothing moved. [`Error::RefBusy`]; [`Error::Failed`] and the like: after
    /// these the state is one that repeating brings on.
    pub fn land(&self, intent: &Intent) -> Result<Landing> {
        self.try_land(intent).map_err(|error| {
            // If it had moved the target, that holds the candidate.
            match self.require_candidate(&intent.new) {
                Err(gone @ Error::CandidateGone { .. }) => gone,
                Ok(()) | Err(_) => error,
            }
        })
    }

    fn try_land(&self, intent: &Intent) -> Result<Landing> {
        let name = intent.target.full();
        let now = self.branch_tip(&intent.target)?;
        let checkouts = self.checkouts_of(&intent.target)?;
        if now.as_ref() != Some(&intent.old) {
            let Some(now) = now else {
                return Ok(Landing::TargetMoved { now: None });
            };
            if !self.is_ancestor(&intent.new, &now)? {
                return Ok(Landing::TargetMoved { now: Some(now) });
            }
            let mut left = Vec::new();
            for checkout in &checkouts {
                left.extend(self.follow(checkout, &intent.old, &now)?.left);
            }
            return Ok(Landing::Landed { left });
        }
        self.catch_up(&intent.target)?;
        let mut held = Vec::new();
        let mut in_the_way = Vec::new();
        for checkout in &checkouts {
            // First without the lock, at which a hook's own git would fail.
            if let Some(obstacle) = self.fixed_index(checkout).or_else(|| self.writer_in(checkout)) {
                in_the_way.push(obstacle);
                continue;
            }
            let lock = IndexLock::take(self, checkout)?;
            failpoint::hit("land.index_locked");
            let looked = self.in_the_way(checkout, &intent.old, &intent.new)?;
            match (lock, looked) {
                (Some(lock), Ok(inspection)) => held.push((checkout, lock, inspection)),
                (lock, looked) => {
                    if lock.is_none() {
                        in_the_way.push(Blocked::index_locked(&checkout.root));
                    }
                    in_the_way.extend(looked.err().unwrap_or_default());
                }
            }
        }
        if !in_the_way.is_empty() {
            return Ok(Landing::InTheWay(in_the_way));
        }
        self.note_those_away(&intent.target, &intent.old)?;
        failpoint::hit("land.checked");
        // All that takes time is done before the branch moves: between the two moves nobody's git should find
        // the old index.
        let mut ready = Vec::new();
        for (checkout, lock, looked) in held {
            ready.push(self.ready_to_follow(checkout, &intent.old, &intent.new, lock, Some(looked))?);
        }
        failpoint::hit("land.ready");
        match self.move_ref(&name, Some(&intent.old), Some(&intent.new), "crew: land") {
            Ok(()) => {}
            Err(Error::RefMoved { now, .. }) => {
                give_up(ready)?;
                return Ok(Landing::TargetMoved { now });
            }
            Err(error) => {
                // The branch may have moved all the same. Then the indexes are behind it until the landing is
                // repeated.
                if self.branch_tip(&intent.target)?.as_ref() != Some(&intent.old) {
                    ready.iter_mut().for_each(Ready::keep_locked);
                }
                return Err(error);
            }
        }
        failpoint::hit("land.moved");
        let mut left = Vec::new();
        ready.iter_mut().for_each(Ready::keep_locked);
        for checkout in ready {
            left.extend(checkout.follow()?.left);
            failpoint::hit("land.followed");
        }
        Ok(Landing::Landed { left })
    }

    /// Ends a landing that nobody wants any more; returns whether the target holds what was to land. If it
    /// had moved the target, the checkouts follow as far as they can, and [`Repository::behind`] names the
    /// files that stay old; if not, the locks that it held are released. Repeating it changes nothing.
    ///
    /// # Errors
    /// As [`Repository::land`].
    pub fn end_landing(&self, intent: &Intent) -> Result<bool> {
        let landed = match self.branch_tip(&intent.target)? {
            Some(now) if self.is_landed(&intent.new, &now)? => Some(now),
            Some(_) | None => None,
        };
        if let Some(now) = &landed {
            for checkout in &self.checkouts_of(&intent.target)? {
                self.follow_as_far_as_possible(checkout, &intent.old, now)?;
            }
        }
        self.release_left_behind()?;
        Ok(landed.is_some())
    }

    /// Whether the target contains a candidate; one that is gone was never landed.
    fn is_landed(&self, candidate: &Oid, target: &Oid) -> Result<bool> {
        self.is_ancestor(candidate, target)
            .or_else(|error| match self.require_candidate(candidate) {
                Err(Error::CandidateGone { .. }) => Ok(false),
                Ok(()) | Err(_) => Err(error),
            })
    }
}

fn give_up(ready: Vec<Ready<'_>>) -> Result<()> {
    ready.into_iter().try_for_each(Ready::give_up)
}
