//! The branch of a ticket's pull request at the remote.

use crate::error::{Error, Result};
use crate::landing::remote::{Remote, TRANSFER, succeeded};
use crate::repository::Repository;
use crate::types::id::{Branch, Id};
use crate::types::oid::Oid;
use crate::types::trouble::Trouble;

/// The folder of the tips that the remote has, each under its ticket.
const PROPOSED: &str = "refs/crew/proposed";
/// The folder of the tips that are being pushed, each under its ticket.
const PROPOSING: &str = "refs/crew/proposing";
/// The folder of the tips of pull requests to which somebody else has pushed.
const FOREIGN: &str = "refs/crew/foreign";

impl Repository {
    /// The branch of a ticket's pull request.
    ///
    /// # Errors
    /// The name makes no branch.
    pub fn proposal_branch(ticket: &Id) -> Result<Branch> {
        Branch::parse(&format!("crew/{ticket}"))
    }

    /// Pushes a tip as the branch of the ticket's pull request, unless the remote has it. The remote's branch
    /// is only overwritten where crew pushed what it holds, or where `base` or the tip contains that.
    /// Repeating it is safe.
    ///
    /// # Errors
    /// [`Error::Remote`], also where somebody else has pushed to the branch.
    pub fn push_proposal(&self, remote: &Remote, ticket: &Id, tip: &Oid, base: &Oid) -> Result<()> {
        let branch = Self::proposal_branch(ticket)?;
        let (done, begun) = (format!("{PROPOSED}/{ticket}"), format!("{PROPOSING}/{ticket}"));
        let there = self.remote_tip(remote, &branch)?;
        if there.as_ref() != Some(tip) {
            if let Some(there) = &there {
                let ours = [self.ref_at(&done)?, self.ref_at(&begun)?];
                let is_ours = ours.iter().flatten().any(|our| our == there)
                    || self.holds(tip, there)?
                    || self.holds(base, there)?;
                if !is_ours {
                    return Err(Error::Remote {
                        remote: remote.to_string(),
                        trouble: Trouble::Refused,
                        says: format!(
                            "its branch {} is at {there}, which crew did not push. Take that over or delete the branch \
                             there: git push {remote} --delete {}",
                            branch.short(),
                            branch.short()
                        ),
                    });
                }
            }
            self.pin(&begun, tip, "crew: propose")?;
            failpoint::hit("propose.noted");
            let name = branch.full();
            let lease = there.map_or_else(String::new, |there| there.to_string());
            let lease = format!("--force-with-lease={name}:{lease}");
            let refspec = format!("{tip}:{name}");
            let call = self.to_remote("push")?.deadline(TRANSFER);
            let call = call.args(["--porcelain", "--no-verify", "--no-follow-tags", "--no-signed"]);
            let call = call.args(["--recurse-submodules=no", &lease, "--end-of-options"]);
            let pushed = succeeded(remote, call.args([remote.name(), &refspec]).run());
            if let Err(refusal) = pushed
                && self.remote_tip(remote, &branch)?.as_ref() != Some(tip)
            {
                return Err(refusal);
            }
            failpoint::hit("propose.pushed");
        }
        self.pin(&done, tip, "crew: propose")?;
        match self.ref_at(&begun)? {
            Some(now) => self.move_ref(&begun, Some(&now), None, "crew: proposed"),
            None => Ok(()),
        }
    }

    /// The tip of a ticket's pull request that was pushed last, or was about to be.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn proposed(&self, ticket: &Id) -> Result<Vec<Oid>> {
        let tips = [PROPOSED, PROPOSING].map(|folder| self.ref_at(&format!("{folder}/{ticket}")));
        let tips: Result<Vec<Option<Oid>>> = tips.into_iter().collect();
        Ok(tips?.into_iter().flatten().collect())
    }

    /// Forgets what was pushed for a ticket's pull request.
    ///
    /// # Errors
    /// [`Error::RefBusy`], [`Error::Failed`]: repeat it.
    pub fn forget_proposed(&self, ticket: &Id) -> Result<()> {
        for folder in [PROPOSED, PROPOSING, FOREIGN] {
            let name = format!("{folder}/{ticket}");
            if let Some(now) = self.ref_at(&name)? {
                self.move_ref(&name, Some(&now), None, "crew: the pull request is over")?;
            }
        }
        Ok(())
    }

    /// Whether the branch of a ticket's pull request, to which others may have pushed, contains a tip. False
    /// also where the remote has no such branch any more.
    ///
    /// # Errors
    /// [`Error::Remote`].
    pub fn is_in_proposal(&self, remote: &Remote, ticket: &Id, tip: &Oid) -> Result<bool> {
        let branch = Self::proposal_branch(ticket)?;
        if self.remote_tip(remote, &branch)?.is_none() {
            return Ok(false);
        }
        let kept = format!("{FOREIGN}/{ticket}");
        let refspec = format!("+{}:{kept}", branch.full());
        let call = self.to_remote("fetch")?.deadline(TRANSFER);
        let call = call.args([
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
        ]);
        let call = call.args(["--no-recurse-submodules", "--no-prune", "--end-of-options"]);
        succeeded(remote, call.args([remote.name(), &refspec]).run())?;
        match self.ref_at(&kept)? {
            Some(head) => self.is_ancestor(tip, &head),
            None => Ok(false),
        }
    }

    /// The address of a remote, as git uses it for a push.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn remote_address(&self, remote: &Remote) -> Result<Option<String>> {
        let key = format!("remote.{remote}.url");
        let said = self.call("config").users_settings().args(["--get", &key]).run()?;
        let text = String::from_utf8_lossy(said.stdout.trim_ascii()).into_owned();
        Ok(Some(text).filter(|text| said.code == Some(0) && !text.is_empty()))
    }

    /// Whether a commit contains another one, which need not be here.
    fn holds(&self, whole: &Oid, part: &Oid) -> Result<bool> {
        match self.tree_of(part) {
            Ok(_) => self.is_ancestor(part, whole),
            Err(Error::NoSuchCommit { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    }
}
