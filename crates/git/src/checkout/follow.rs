//! A checkout of the user's comes from the old commit to the new one, and no edit in it is lost.

pub(crate) mod apply;
mod beside;
mod caught;
mod index;
pub(crate) mod inspect;

use crate::checkout::Checkout;
use crate::checkout::follow::inspect::Inspection;
use crate::checkout::index_lock::IndexLock;
use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::blocked::{Blocked, Followed, Obstacle};
use crate::types::oid::Oid;
use crate::types::operation::Operation;

impl Repository {
    /// What in a checkout is in the way of following from `old` to `new`; empty: it can. Changes nothing.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub fn would_follow(&self, checkout: &Checkout, old: &Oid, new: &Oid) -> Result<Vec<Blocked>> {
        let mut found = Vec::new();
        if IndexLock::is_held_by_another(self, checkout) {
            found.push(Blocked::index_locked(&checkout.root));
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
