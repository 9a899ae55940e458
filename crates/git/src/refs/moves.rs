//! Moving refs by compare-and-swap: only from where they were seen.

use crate::command::call::Call;
use crate::command::run::Output;
use crate::error::{Error, IoContext, Result};
use crate::repository::Repository;
use crate::repository::lock::Lock;
use crate::types::identity::Identity;
use crate::types::oid::Oid;

impl Repository {
    /// Moves a ref by compare-and-swap: `old` and `new` of `None` mean that it does not exist. Repeating it
    /// after it was done is fine.
    pub(crate) fn move_ref(&self, name: &str, old: Option<&Oid>, new: Option<&Oid>, why: &str) -> Result<()> {
        self.clear_stale_locks(name)?;
        let Some(error) = self.try_move(name, old, new, why)? else {
            return self.sync_folder_of(name);
        };
        let now = self.ref_at(name)?;
        if now.as_ref() == new {
            if new.is_none() {
                self.clear_lock_of_gone(name)?;
            }
            return self.sync_folder_of(name);
        }
        if now.as_ref() != old {
            return Err(Error::RefMoved {
                name: name.to_owned(),
                expected: old.cloned(),
                now,
            });
        }
        let Some(lock) = self.ref_locks(name).into_iter().find(|lock| lock.exists()) else {
            return Err(self.blocked(name, error));
        };
        if self.wait_for_locks(name)? && self.try_move(name, old, new, why)?.is_none() {
            return self.sync_folder_of(name);
        }
        Err(Error::RefBusy {
            name: name.to_owned(),
            lock,
        })
    }

    /// Moves several refs in one transaction, in this order. Each is a name, where it was seen and where it
    /// goes (`None`: it does not exist). `false`: nothing moved, and the caller moves them one by one, to
    /// learn the reason. Repeating a transaction that was carried out gives `false`.
    pub(crate) fn move_refs(&self, moves: &[(&str, Option<&Oid>, Option<&Oid>)], why: &str) -> Result<bool> {
        let zero = "0".repeat(self.format().hex_len());
        let mut input = Vec::new();
        for (name, old, new) in moves {
            self.clear_stale_locks(name)?;
            let old = old.map_or(zero.as_str(), Oid::as_str);
            let line = match new {
                Some(new) => format!("update {name}\0{new}\0{old}\0"),
                None => format!("delete {name}\0{old}\0"),
            };
            input.extend(line.into_bytes());
        }
        let deletes = moves.iter().any(|(.., new)| new.is_none());
        let call = self
            .call("update-ref")
            .committer(&Identity::crew(), None)
            .args(["--no-deref", "-m", why, "-z", "--stdin"])
            .input(&input)?
            .silent();
        let said = self.run_moving(deletes, call)?;
        if said.code != Some(0) {
            return Ok(false);
        }
        for (name, ..) in moves {
            self.sync_folder_of(name)?;
        }
        Ok(true)
    }

    /// Makes a ref that only pins a commit, in place of an old pin of the same name.
    pub(crate) fn pin(&self, name: &str, commit: &Oid, why: &str) -> Result<()> {
        match self.move_ref(name, None, Some(commit), why) {
            Err(Error::RefMoved { now: Some(now), .. }) => self.move_ref(name, Some(&now), Some(commit), why),
            other => other,
        }
    }

    /// Every ref under `prefix` (which ends in `/`) with its object.
    pub(crate) fn refs_under(&self, prefix: &str) -> Result<Vec<(String, Oid)>> {
        let said = self
            .call("for-each-ref")
            .args(["--format=%(objectname) %(refname)", "--end-of-options", prefix])
            .ok()?;
        String::from_utf8_lossy(&said)
            .lines()
            .map(|line| {
                let (oid, name) = line
                    .split_once(' ')
                    .ok_or_else(|| Error::unreadable("for-each-ref", line))?;
                Ok((name.to_owned(), Oid::parse(oid)?))
            })
            .collect()
    }

    fn try_move(&self, name: &str, old: Option<&Oid>, new: Option<&Oid>, why: &str) -> Result<Option<Error>> {
        let zero = "0".repeat(self.format().hex_len());
        let was = old.map_or(zero.as_str(), Oid::as_str);
        let mut call =
            self.call("update-ref")
                .committer(&Identity::crew(), None)
                .args(["--no-deref", "-m", why]);
        call = match new {
            Some(new) => call.args(["--end-of-options", name, new.as_str(), was]),
            None if old.is_none() => return Ok(None),
            None => call.args(["-d", "--end-of-options", name, was]),
        };
        let said = self.run_moving(new.is_none(), call)?;
        Ok(if said.code == Some(0) {
            None
        } else {
            Some(said.failed())
        })
    }

    /// Runs a git that moves refs. A git that deletes some may leave a lock that keeps everybody out, so a
    /// note in the repository's lock warns its next holder.
    fn run_moving(&self, deletes: bool, call: Call) -> Result<Output> {
        let deleting = self.lock().filter(|_| deletes).map(Lock::deleting);
        let said = call.run();
        let has_ended = said.as_ref().is_ok_and(|said| said.code.is_some());
        if let Some(deleting) = deleting.filter(|_| !has_ended) {
            deleting.was_killed();
        }
        said
    }

    /// Makes the folder's entry of a ref durable; git fsyncs only the ref's file.
    pub(crate) fn sync_folder_of(&self, name: &str) -> Result<()> {
        let file = self.common_dir().join(name);
        let folder = file.parent().unwrap_or(self.common_dir());
        match std::fs::File::open(folder) {
            Ok(folder_file) => folder_file.sync_all().doing("make durable", folder),
            Err(_) => Ok(()),
        }
    }

    fn blocked(&self, name: &str, error: Error) -> Error {
        let is_agents = name.starts_with("refs/heads/agent/");
        if is_agents && matches!(self.rev_parse("refs/heads/agent"), Ok(Some(_))) {
            return Error::BranchBlocked {
                branch: name.trim_start_matches("refs/heads/").to_owned(),
            };
        }
        error
    }
}
