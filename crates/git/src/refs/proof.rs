//! The proof that a commit's work is not lost when a name of it goes.

use crate::error::Result;
use crate::repository::Repository;
use crate::types::id::Id;
use crate::types::oid::Oid;

/// That a commit has landed, that a ref of crew's own keeps it, or that nobody's work is in it. Only this file makes one, and no
/// branch is deleted without one (reliability: no work is destroyed).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    commit: Oid,
}

impl Proof {
    /// What it is about.
    pub fn commit(&self) -> &Oid {
        &self.commit
    }
}

impl Proof {
    /// A branch that stands where its workspace began holds no work of its own. It is not kept: what it began on may be history
    /// that a person has taken back since, and no attempt is to begin there again.
    pub(crate) fn of_nothing(tip: &Oid, base: Option<&Oid>) -> Option<Self> {
        (base == Some(tip)).then(|| Self { commit: tip.clone() })
    }
}

impl Repository {
    /// Sees to it that the work of `commit` is not lost, and proves it: it is in `target`, if there is one, or it is kept as an
    /// attempt of `ticket`.
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
