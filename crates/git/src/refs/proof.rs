//! A proof that a commit's work is not lost when a name of it is deleted.

use crate::error::Result;
use crate::repository::Repository;
use crate::types::id::Id;
use crate::types::oid::Oid;

/// The proof that a commit has landed, that a ref of crew's own holds it, or that it holds nobody's work.
/// Only this file makes one, and no branch is deleted without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    commit: Oid,
}

impl Proof {
    /// The commit that the proof is about.
    pub fn commit(&self) -> &Oid {
        &self.commit
    }
}

impl Proof {
    /// Proves it for a branch that stands where its workspace began, which holds no work of its own. Its
    /// commit is not kept: a person may have taken that history back since, and no attempt is to begin there
    /// again.
    pub(crate) fn of_nothing(tip: &Oid, base: Option<&Oid>) -> Option<Self> {
        (base == Some(tip)).then(|| Self { commit: tip.clone() })
    }
}

impl Repository {
    /// Ensures that the work of `commit` is not lost, and proves it: `target`, if there is one, contains the
    /// commit, or it is kept as an attempt of `ticket`.
    ///
    /// # Errors
    /// [`Error::RefBusy`](crate::Error::RefBusy), [`Error::Failed`](crate::Error::Failed).
    pub fn prove(&self, ticket: &Id, commit: &Oid, target: Option<&Oid>) -> Result<Proof> {
        let has_landed = target.map_or(Ok(false), |target| self.is_ancestor(commit, target))?;
        if !has_landed {
            self.keep_attempt(ticket, commit)?;
        }
        Ok(Proof {
            commit: commit.clone(),
        })
    }
}
