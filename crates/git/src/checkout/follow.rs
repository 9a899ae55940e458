//! Following: a checkout of the user's moves from the old commit to the new one, and no edit in it is lost.

pub(crate) mod apply;
mod beside;
mod caught;
mod compare;
mod ignored;
mod index;
pub(crate) mod inspect;
mod lagging;
mod sparse;
mod users_call;
mod writable;

use crate::checkout::Checkout;
use crate::checkout::follow::inspect::Inspection;
use crate::checkout::follow::writable::is_index_replaceable;
use crate::checkout::index_lock::IndexLock;
use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::blocked::{Blocked, Followed, Obstacle};
use crate::types::oid::Oid;
use crate::types::operation::Operation;

impl Repository {
    /// Moves the checkout's files and index from `old` to `new`, path by path: a path equal to `new` is
    /// accepted, a path equal to `old` is replaced in one rename, anything else is a person's edit and stays.
    /// The rest of the index is untouched. May be repeated after a kill at any point.
    ///
    /// # Errors
    /// [`Error::IndexBusy`]; [`Error::Failed`] and [`Error::Io`], after which the caller repeats the call.
    pub fn follow(&self, checkout: &Checkout, old: &Oid, new: &Oid) -> Result<Followed> {
        let lock = IndexLock::take(self, checkout)?;
        let mut lock = lock.ok_or_else(|| Error::IndexBusy {
            checkout: checkout.root.clone(),
        })?;
        lock.keep();
        self.ready_to_follow(checkout, old, new, lock, None)?.follow()
    }

    /// The index of a checkout, as an obstacle, if no other can take its place: the branch would move, and
    /// the next commit from the old index would take back what landed.
    pub(crate) fn fixed_index(&self, checkout: &Checkout) -> Option<Blocked> {
        if is_index_replaceable(checkout) {
            return None;
        }
        let index = checkout.git_dir.join("index");
        Some(Blocked {
            path: Some(index.strip_prefix(&checkout.root).unwrap_or(&index).to_owned()),
            checkout: checkout.root.clone(),
            obstacle: Obstacle::Unwritable,
        })
    }

    /// The state of the paths that would change, or the obstacles among them. Under the lock of the index: a
    /// git that begins to write now finds the lock, and one that had begun before is seen here.
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
        if let Some(writer) = self.writer_in(checkout) {
            return Ok(Err(vec![writer]));
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
