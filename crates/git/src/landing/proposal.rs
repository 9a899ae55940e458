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
/// The most merges of the target by the host that are looked through.
const MOST_UPDATES: usize = 100;

impl Repository {
    /// The branch of a ticket's pull request.
    ///
    /// # Errors
    /// The name makes no branch.
    pub fn proposal_branch(ticket: &Id) -> Result<Branch> {
        Branch::parse(&format!("crew/{ticket}"))
    }

    /// Pushes a tip as the branch of the ticket's pull request, unless the remote has it. The remote's branch
    /// is only overwritten where nobody loses anything by that: where crew pushed what it holds, where the
    /// host has only brought in commits of `base`, where `base` or the tip contains it, or where it is one of
    /// `merged`, the heads of pull requests that were merged. Repeating it is safe.
    ///
    /// # Errors
    /// [`Error::Remote`], also where somebody else has pushed to the branch.
    pub fn push_proposal(
        &self,
        remote: &Remote,
        ticket: &Id,
        tip: &Oid,
        base: &Oid,
        merged: &[Oid],
    ) -> Result<()> {
        let branch = Self::proposal_branch(ticket)?;
        let (done, begun) = (format!("{PROPOSED}/{ticket}"), format!("{PROPOSING}/{ticket}"));
        let there = self.remote_tip(remote, &branch)?;
        if there.as_ref() != Some(tip) {
            if let Some(there) = &there {
                let pushed = [self.ref_at(&done)?, self.ref_at(&begun)?];
                let ours: Vec<&Oid> = pushed.iter().flatten().chain(merged).collect();
                let is_ours = ours.contains(&there)
                    || self.holds(tip, there)?
                    || self.holds(base, there)?
                    || (self.fetch_foreign(remote, ticket, &branch.full(), there)?
                        && self.is_only_updated(&ours, base, there)?);
                if !is_ours {
                    let pushed = pushed.iter().flatten().next();
                    return Err(self.foreign(remote, &branch, there, pushed));
                }
            }
            self.send_lfs_objects(remote, base, tip)?;
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

    /// Whether `there` is one of these commits after the host has merged commits of `base` into it, as often
    /// as it was asked to, and holds nothing else.
    fn is_only_updated(&self, ours: &[&Oid], base: &Oid, there: &Oid) -> Result<bool> {
        let mut commit = there.clone();
        for _ in 0..MOST_UPDATES {
            let parent = |number: u32| self.commit_named(&format!("{commit}^{number}"));
            let (Some(before), Some(brought), None) = (parent(1)?, parent(2)?, parent(3)?) else {
                return Ok(false);
            };
            if !self.is_ancestor(&brought, base)? {
                return Ok(false);
            }
            match self.merge(None, &brought, &before) {
                Ok(Ok(tree)) if tree == self.tree_of(&commit)?.0 => {}
                Ok(_) | Err(Error::Unrelated { .. }) => return Ok(false),
                Err(error) => return Err(error),
            }
            if ours.contains(&&before) {
                return Ok(true);
            }
            commit = before;
        }
        Ok(false)
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

    /// Fetches the commit that was merged for a pull request. The host keeps it in a ref of the request, also
    /// when the branch moves on or is deleted. False where the host has no such ref, or another commit there.
    ///
    /// # Errors
    /// [`Error::Remote`].
    pub fn fetch_merged(&self, remote: &Remote, ticket: &Id, number: u64, head: &Oid) -> Result<bool> {
        let name = format!("refs/pull/{number}/head");
        if self.remote_ref(remote, &name)?.as_ref() != Some(head) {
            return Ok(false);
        }
        self.fetch_foreign(remote, ticket, &name, head)
    }

    /// Fetches a ref of the remote's, and keeps it for the ticket; returns whether it is at this commit.
    fn fetch_foreign(&self, remote: &Remote, ticket: &Id, name: &str, at: &Oid) -> Result<bool> {
        let kept = format!("{FOREIGN}/{ticket}");
        let fetched = self.fetch_one(remote, name, &kept);
        if self.ref_at(&kept)?.as_ref() == Some(at) {
            return Ok(true);
        }
        fetched.map(|()| false)
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

    /// The refusal to overwrite what somebody else has pushed, with the ways on. A branch that is deleted
    /// would close its pull request.
    fn foreign(&self, remote: &Remote, branch: &Branch, there: &Oid, pushed: Option<&Oid>) -> Error {
        let branch = branch.short();
        let way_back = match pushed {
            Some(pushed) => format!(
                "set the branch back to what crew pushed: git push --force-with-lease={branch}:{there} {remote} \
                 {pushed}:{branch}"
            ),
            None => format!("delete the branch there: git push {remote} --delete {branch}"),
        };
        let here = self.common_dir().to_string_lossy().replace('\'', "'\\''");
        let says = format!(
            "its branch {branch} is at {there}, which crew did not push. Merge that into the work, in its workspace: \
             git fetch '{here}' {there} && git merge {there}; or {way_back}"
        );
        Error::Remote {
            remote: remote.to_string(),
            trouble: Trouble::Foreign,
            says: text::sanitise::line(&says),
        }
    }
}
