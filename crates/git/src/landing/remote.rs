//! The remote of `[land]`: fetching the target from it, and pushing a candidate to it.
//!
//! With `mode = "push"` the remote's branch is the truth, and the local one follows it. The question whether
//! a candidate has landed is answered by the remote alone.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::command::call::Call;
use crate::command::run::Output;
use crate::error::{Error, Result};
use crate::landing::land::{Intent, Landing};
use crate::repository::Repository;
use crate::types::blocked::Blocked;
use crate::types::id::{Branch, Id};
use crate::types::invalid::Invalid;
use crate::types::oid::Oid;
use crate::types::shortened::shortened;
use crate::types::trouble::Trouble;

/// The time that the remote has to name the commit of a branch.
const LOOK: Duration = Duration::from_secs(45);
/// The time for a fetch or a push.
pub(super) const TRANSFER: Duration = Duration::from_mins(5);
/// The ref that holds the remote's target as it was fetched last.
const FETCHED: &str = "refs/crew/remote";
/// The folder of the commits at which a branch was before it began to follow the remote's.
const FOLLOWING: &str = "refs/crew/following";
/// The folder of the candidates that are being pushed, each under its ticket.
const PUSHING: &str = "refs/crew/pushing";
/// Held during a fetch. Two at once write the same refs, and one of them fails.
static FETCHING: Mutex<()> = Mutex::new(());
/// What ssh is told, whatever the user's own command for it is: ask nobody, and notice a dead connection.
const SSH_OPTIONS: &str =
    "-o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=15 -o ServerAliveCountMax=3";

/// The name of a remote, as `git remote` lists it. Never an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote(String);

impl Remote {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl FromStr for Remote {
    type Err = Invalid;

    /// Checks the name by the rules for branches: git makes refs of it.
    fn from_str(name: &str) -> Result<Self, Invalid> {
        name.parse::<Branch>()?;
        Ok(Self(name.to_owned()))
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a candidate stands at the remote.
#[derive(Debug)]
pub enum Standing {
    /// The remote's branch contains the candidate.
    Landed,
    /// The remote's branch is at the candidate's base: the candidate can be pushed.
    Free,
    /// The remote's branch is somewhere else, and does not contain the candidate.
    Moved,
    /// The push has failed, and the remote's branch is still at the base.
    Refused(Error),
}

impl Repository {
    /// Checks that the repository has a remote of this name, and one address for a push.
    ///
    /// # Errors
    /// [`Error::Remote`].
    pub fn require_remote(&self, remote: &Remote) -> Result<()> {
        for for_pushes in [false, true] {
            let addresses = self.addresses(remote, for_pushes)?;
            let trouble = match addresses.len() {
                0 => Trouble::Unnamed,
                1 => continue,
                _ => Trouble::Addresses,
            };
            return Err(Error::Remote {
                remote: remote.to_string(),
                trouble,
                says: format!("it has {} addresses", addresses.len()),
            });
        }
        Ok(())
    }

    /// The addresses of a remote, as git uses them: for pushes, or for all else. None: there is no such
    /// remote.
    fn addresses(&self, remote: &Remote, for_pushes: bool) -> Result<Vec<String>> {
        let call = self.call("remote").users_settings();
        let call = call
            .args(["get-url", "--all"])
            .args(for_pushes.then_some("--push"));
        let said = call.args(["--end-of-options", remote.name()]).run()?;
        if said.code != Some(0) {
            return Ok(Vec::new());
        }
        let text = String::from_utf8_lossy(&said.stdout);
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        Ok(lines.map(str::to_owned).collect())
    }

    /// The commit of a branch at the remote, as the remote says now; `None`: it has no such branch.
    ///
    /// # Errors
    /// [`Error::Remote`].
    pub fn remote_tip(&self, remote: &Remote, branch: &Branch) -> Result<Option<Oid>> {
        self.remote_ref(remote, &branch.full())
    }

    /// The object of a ref at the remote, by its whole name; `None`: it has no such ref.
    pub(super) fn remote_ref(&self, remote: &Remote, name: &str) -> Result<Option<Oid>> {
        let call = self.to_remote("ls-remote")?.deadline(LOOK).output_limit(1 << 20);
        let call = call.args(["--quiet", "--refs", "--end-of-options", remote.name(), name]);
        let said = succeeded(remote, call.run())?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        // A pattern matches the ends of names too.
        let mut lines = text.lines().filter_map(|line| line.split_once('\t'));
        let found = lines.find(|(_, at)| *at == name);
        found.map(|(oid, _)| Oid::parse(oid)).transpose()
    }

    /// Fetches a branch from the remote, and keeps its commit under a ref.
    ///
    /// # Errors
    /// [`Error::Remote`], also where the remote has no such branch.
    pub fn fetch_target(&self, remote: &Remote, branch: &Branch) -> Result<Oid> {
        let Some(tip) = self.remote_tip(remote, branch)? else {
            return Err(Error::Remote {
                remote: remote.to_string(),
                trouble: Trouble::NoBranch,
                says: branch.short().to_owned(),
            });
        };
        let kept = format!("{FETCHED}/{branch}");
        let _one_at_a_time = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
        // Most often nobody else has pushed, and all of it is here.
        if self.ref_at(&kept)?.as_ref() == Some(&tip) {
            return Ok(tip);
        }
        let fetched = self.fetch_one(remote, &branch.full(), &kept);
        failpoint::hit("remote.fetched");
        if let Err(error) = fetched
            // A fetch of the user's may keep git from writing their own ref of the branch beside crew's.
            && self.ref_at(&kept)?.as_ref() != Some(&tip)
        {
            return Err(error);
        }
        // It may have moved on since it was looked at.
        self.ref_at(&kept)?.ok_or_else(|| self.no_such_commit(&kept))
    }

    /// The remote's tip of a branch as it was seen last, by crew or by a fetch or a push of somebody's;
    /// `None`: nobody has seen one.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn known_at_remote(&self, remote: &Remote, branch: &Branch) -> Result<Option<Oid>> {
        match self.ref_at(&format!("{FETCHED}/{branch}"))? {
            Some(tip) => Ok(Some(tip)),
            None => self.ref_at(&tracking(remote, branch)),
        }
    }

    /// Whether the remote may say something new about a branch: somebody has moved it here, or has fetched
    /// it from there or pushed it, since crew fetched it. The remote is not asked for that.
    ///
    /// # Errors
    /// [`Error::TargetMissing`], [`Error::Failed`].
    pub fn has_moved_since_fetch(&self, remote: &Remote, branch: &Branch) -> Result<bool> {
        let Some(fetched) = self.ref_at(&format!("{FETCHED}/{branch}"))? else {
            return Ok(true);
        };
        let tracked = self.ref_at(&tracking(remote, branch))?;
        if tracked.is_some_and(|tracked| tracked != fetched) {
            return Ok(true);
        }
        Ok(!self.is_ancestor(&self.target(branch)?, &fetched)?)
    }

    /// Asks the remote how a candidate stands whose first parent is `base`.
    ///
    /// # Errors
    /// [`Error::Remote`]: nobody knows.
    pub fn look_at_remote(&self, remote: &Remote, intent: &Intent) -> Result<Standing> {
        let tip = self.remote_tip(remote, &intent.target)?;
        if tip.as_ref() == Some(&intent.old) {
            return Ok(Standing::Free);
        }
        if tip.as_ref() == Some(&intent.new) {
            return Ok(Standing::Landed);
        }
        if tip.is_none() {
            return Ok(Standing::Moved);
        }
        let tip = self.fetch_target(remote, &intent.target)?;
        Ok(match self.is_ancestor(&intent.new, &tip)? {
            true => Standing::Landed,
            false => Standing::Moved,
        })
    }

    /// Notes that a ticket's candidate is about to be pushed: from now on only the remote knows whether it
    /// has landed.
    ///
    /// # Errors
    /// [`Error::RefBusy`], [`Error::Failed`].
    pub fn note_pushing(&self, ticket: &Id, commit: &Oid) -> Result<()> {
        self.pin(&format!("{PUSHING}/{ticket}"), commit, "crew: push")
    }

    /// The candidate of a ticket that was pushed last, or was about to be.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn pushing(&self, ticket: &Id) -> Result<Option<Oid>> {
        self.ref_at(&format!("{PUSHING}/{ticket}"))
    }

    /// Forgets what was pushed for a ticket.
    ///
    /// # Errors
    /// [`Error::RefBusy`], [`Error::Failed`]: repeat it.
    pub fn forget_pushing(&self, ticket: &Id) -> Result<()> {
        let name = format!("{PUSHING}/{ticket}");
        match self.ref_at(&name)? {
            Some(now) => self.move_ref(&name, Some(&now), None, "crew: the push has ended"),
            None => Ok(()),
        }
    }

    /// Pushes a candidate, unless the remote's branch has left its base. It is a fast-forward always.
    /// Repeating it is safe; whatever git says, the remote is asked for the outcome.
    ///
    /// # Errors
    /// Nobody knows whether the remote has taken it: [`Repository::look_at_remote`] finds out later.
    pub fn push(&self, remote: &Remote, intent: &Intent) -> Result<Standing> {
        let is_one = self.addresses(remote, false)? == self.addresses(remote, true)?;
        let name = intent.target.full();
        let lease = format!("--force-with-lease={name}:{}", intent.old);
        let refspec = format!("{}:{name}", intent.new);
        let call = self.to_remote("push")?.deadline(TRANSFER);
        let call = call.args(["--porcelain", "--no-verify", "--no-follow-tags", "--no-signed"]);
        let call = call.args(["--recurse-submodules=no", &lease, "--end-of-options"]);
        let pushed = succeeded(remote, call.args([remote.name(), &refspec]).run());
        failpoint::hit("push.sent");
        let Err(refusal) = pushed else {
            if !is_one {
                return self.look_after_push(remote, intent);
            }
            self.pin(&format!("{FETCHED}/{}", intent.target), &intent.new, "crew: push")?;
            return Ok(Standing::Landed);
        };
        match self.look_at_remote(remote, intent)? {
            // It may have been too slow only, and come yet: nobody knows.
            Standing::Free if is_away(&refusal) => Err(refusal),
            Standing::Free => Ok(Standing::Refused(refusal)),
            other => Ok(other),
        }
    }

    /// How a candidate stands that git has pushed to another address than that of fetches.
    fn look_after_push(&self, remote: &Remote, intent: &Intent) -> Result<Standing> {
        let standing = self.look_at_remote(remote, intent)?;
        Ok(match standing {
            Standing::Free => Standing::Refused(Error::Remote {
                remote: remote.to_string(),
                trouble: Trouble::Addresses,
                says: "a push succeeds, and the branch that is fetched does not move".to_owned(),
            }),
            other => other,
        })
    }

    /// Moves a branch on from `old` to a commit of the remote's, and the checkouts that show it. As a
    /// landing, it can be repeated after a kill at any point: a ref tells where the checkouts were.
    ///
    /// # Errors
    /// As [`Repository::land`].
    pub fn follow_remote(&self, intent: &Intent) -> Result<Landing> {
        let note = format!("{FOLLOWING}/{}", intent.target);
        if let (Some(old), Some(now)) = (self.ref_at(&note)?, self.branch_tip(&intent.target)?) {
            let begun = Intent {
                target: intent.target.clone(),
                old: old.clone(),
                new: now,
            };
            self.land(&begun)?;
            self.move_ref(&note, Some(&old), None, "crew: followed")?;
        }
        if intent.old == intent.new {
            return Ok(Landing::Landed { left: Vec::new() });
        }
        self.pin(&note, &intent.old, "crew: follow")?;
        let landed = self.land(intent)?;
        self.move_ref(&note, Some(&intent.old), None, "crew: followed")?;
        Ok(landed)
    }

    /// The obstacles in the checkouts of the target that would keep them from following a landing. Nothing is
    /// changed or locked.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub fn obstacles(&self, intent: &Intent) -> Result<Vec<Blocked>> {
        let mut found = Vec::new();
        for checkout in self.checkouts_of(&intent.target)? {
            if let Some(obstacle) = self.fixed_index(&checkout) {
                found.push(obstacle);
            } else if let Err(obstacles) = self.in_the_way(&checkout, &intent.old, &intent.new)? {
                found.extend(obstacles);
            }
        }
        Ok(found)
    }

    /// Fetches a ref of the remote's into one of crew's, and nothing else.
    pub(super) fn fetch_one(&self, remote: &Remote, name: &str, into: &str) -> Result<()> {
        let call = self.to_remote("fetch")?.deadline(TRANSFER);
        let call = call.args([
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
            "--no-prune",
            "--end-of-options",
        ]);
        let refspec = format!("+{name}:{into}");
        succeeded(remote, call.args([remote.name(), &refspec]).run()).map(drop)
    }

    /// A call to a remote, with the user's credentials and without a question to anybody.
    pub(super) fn to_remote(&self, subcommand: &'static str) -> Result<Call> {
        // The address of a remote may be a path, which counts from the checkout.
        let call = self.call(subcommand).cwd(self.root()).for_remotes();
        Ok(match self.ssh_command()? {
            Some(command) => call.env("GIT_SSH_COMMAND", command),
            None => call,
        })
    }

    /// The user's command for ssh with crew's options; none where the user has another program in its place,
    /// whose options nobody knows.
    fn ssh_command(&self) -> Result<Option<String>> {
        let around = &self.git().surroundings().to_remotes;
        let told = |name| around.get(name).map(|value| value.to_string_lossy().into_owned());
        let mut command = told("GIT_SSH_COMMAND");
        if command.is_none() {
            let call = self.call("config").users_settings();
            let said = call.args(["--get", "core.sshCommand"]).run()?;
            let text = String::from_utf8_lossy(said.stdout.trim_ascii()).into_owned();
            command = Some(text).filter(|text| said.code == Some(0) && !text.is_empty());
        }
        if command.is_none() && told("GIT_SSH").is_some() {
            return Ok(None);
        }
        let command = command.unwrap_or_else(|| "ssh".to_owned());
        let program = command.split_whitespace().next().unwrap_or_default();
        let is_ssh = program.rsplit('/').next() == Some("ssh");
        Ok(is_ssh.then(|| format!("{command} {SSH_OPTIONS}")))
    }
}

/// The ref with which git follows a branch of a remote, as far as nobody has set it up otherwise.
#[must_use]
pub fn tracking(remote: &Remote, branch: &Branch) -> String {
    format!("refs/remotes/{remote}/{}", branch.short())
}

fn is_away(error: &Error) -> bool {
    let away = Trouble::Away;
    matches!(error, Error::Remote { trouble, .. } if *trouble == away)
}

/// The output of a call to a remote that has succeeded, or the trouble that it had.
pub(super) fn succeeded(remote: &Remote, said: Result<Output>) -> Result<Output> {
    let trouble = |trouble, says| Error::Remote {
        remote: remote.to_string(),
        trouble,
        says,
    };
    match said {
        Ok(said) if said.code == Some(0) => Ok(said),
        // Somebody has ended git, or its deadline has: nobody knows what the remote does with what it got.
        Ok(said) if said.code.is_none() => Err(trouble(Trouble::Away, "git was ended".to_owned())),
        Ok(said) => {
            let refused = String::from_utf8_lossy(&said.stdout).into_owned();
            match refused.lines().find(|line| line.contains("[remote rejected]")) {
                Some(line) => Err(trouble(Trouble::Refused, words(&said.stderr, Some(line)))),
                None => Err(trouble(Trouble::of(&said.stderr), words(&said.stderr, None))),
            }
        }
        Err(Error::Deadline { after, .. }) => {
            let says = format!("no answer within {} s", after.as_secs());
            Err(trouble(Trouble::Away, says))
        }
        Err(other) => Err(other),
    }
}

/// The words of git and of the remote on a failure, as one line without secrets. `line`: the one of the push.
fn words(stderr: &str, line: Option<&str>) -> String {
    let reason = line
        .and_then(|line| line.rsplit_once('\t'))
        .map(|(_, reason)| reason);
    let reason = reason.map(|reason| reason.trim_start_matches("[remote rejected]").trim());
    let reason = reason.map(|reason| reason.trim_matches(['(', ')']).to_owned());
    let said = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let said = said.filter(|line| !line.starts_with("error: failed to push some refs"));
    // The second paragraph of git's words for ssh gives no reason.
    let said =
        said.filter(|line| !line.starts_with("Please make sure") && *line != "and the repository exists.");
    let said: Vec<String> = reason.into_iter().chain(said.map(without_prefix)).collect();
    let said = match said.is_empty() {
        true => "it does not say why".to_owned(),
        false => said.join("; "),
    };
    shortened(&text::sanitise::line(&without_secrets(&said)), 600)
}

fn without_prefix(line: &str) -> String {
    let line = ["remote:", "fatal:", "error:"].iter().fold(line, |line, prefix| {
        line.strip_prefix(prefix).map_or(line, str::trim_start)
    });
    line.trim_end().trim_end_matches('.').to_owned()
}

/// An address may hold a name and a password.
fn without_secrets(said: &str) -> String {
    let mut out = String::new();
    let mut rest = said;
    while let Some(at) = rest.find("://") {
        let (before, behind) = rest.split_at(at + 3);
        out.push_str(before);
        let end = behind
            .find(|c: char| c == '/' || c.is_whitespace() || c == '\'')
            .unwrap_or(behind.len());
        let host = behind[..end].rfind('@').map_or(0, |at| at + 1);
        rest = &behind[host..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_of_an_address_is_shown() {
        let said = "fatal: unable to access 'https://ann:s3cret@example.com/x.git/': no https://b:c@d";
        let shown = words(said, None);
        assert_eq!(
            shown,
            "unable to access 'https://example.com/x.git/': no https://d"
        );
    }

    #[test]
    fn the_reason_of_the_remote_comes_first() {
        let line = "!\tabc:refs/heads/main\t[remote rejected] (pre-receive hook declined)";
        let shown = words(
            "remote: no \u{1b}[31mFridays\nerror: failed to push some refs to 'x'",
            Some(line),
        );
        assert_eq!(shown, "pre-receive hook declined; no Fridays");
    }

    #[test]
    fn a_remote_is_a_name_and_no_option_or_address() {
        assert!("origin".parse::<Remote>().is_ok());
        for bad in ["", "--mirror", "https://host/x", "../x", "a b", "ext::sh"] {
            assert!(bad.parse::<Remote>().is_err(), "{bad}");
        }
    }
}
