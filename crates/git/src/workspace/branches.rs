//! Agents' branches in the user's repository.

use crate::error::{Error, Result};
use crate::refs::proof::Proof;
use crate::repository::Repository;
use crate::types::id::Branch;
use crate::types::oid::Oid;

impl Repository {
    /// The branches of agents, with their tips: `agent/…`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn agent_branches(&self) -> Result<Vec<(Branch, Oid)>> {
        let found = self.refs_under("refs/heads/agent/")?;
        Ok(found
            .into_iter()
            .filter_map(|(name, tip)| Some((Branch::parse(name.strip_prefix("refs/heads/")?).ok()?, tip)))
            .collect())
    }

    /// Finds out whether branches of agents can be made.
    ///
    /// # Errors
    /// [`Error::BranchBlocked`] where a branch has the name of the folder that theirs are in.
    pub fn expect_room_for_agents(&self) -> Result<()> {
        match self.branch_tip(&Branch::parse("agent")?)? {
            Some(_) => Err(Error::BranchBlocked {
                branch: "agent/<agent>-<ticket>".to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Deletes a branch if it is still at the commit whose work is proved not to be lost; a branch that does
    /// not exist is no error. A branch that a person has checked out is theirs by now, and stays.
    ///
    /// # Errors
    /// [`Error::RefMoved`], [`Error::RefBusy`].
    pub fn delete_branch(&self, branch: &Branch, proof: &Proof) -> Result<()> {
        if !self.checkouts_of(branch)?.is_empty() {
            return Ok(());
        }
        self.move_ref(
            &branch.full(),
            Some(proof.commit()),
            None,
            "crew: branch no longer needed",
        )
    }
}
