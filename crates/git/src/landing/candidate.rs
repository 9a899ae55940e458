//! A candidate: the merge of a branch into the target, made without a checkout.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, IoContext, Result};
use crate::repository::Repository;
use crate::types::id::{Branch, Id};
use crate::types::identity::{Identity, Time};
use crate::types::oid::{Oid, Tree};
use crate::types::paths::path_of;
use crate::types::shortened::shortened;

/// A merge commit's message, put together from untrusted parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// One line; control characters become blanks, 120 characters are kept.
    pub subject: String,
    /// Any text; may be empty.
    pub body: String,
    /// `Ticket`, `Agent`, `Attempt` …: a key of letters, digits and `-`, and one line.
    pub trailers: Vec<(String, String)>,
}

/// A merge that may land: exactly this commit, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The merge commit; first parent the target, second the tip.
    pub commit: Oid,
    /// Its tree: a verdict on it holds for every commit that has it.
    pub tree: Tree,
    /// The paths in which it differs from the target: for `hold_paths`.
    pub changes: Vec<crate::types::change::Change>,
}

/// The outcome of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The merge succeeded.
    Candidate(Candidate),
    /// The merge has conflicts in these paths; the messages are git's, for the agent's prompt.
    Conflict {
        /// The paths, each once, in order, as the two sides have them.
        paths: Vec<PathBuf>,
        /// Those of them that are a file on one side and a folder on the other.
        mixed: BTreeSet<PathBuf>,
        /// git's messages about them.
        messages: Vec<String>,
    },
    /// The tip has no commit with a change that the target lacks.
    NoCommits,
}

impl Message {
    /// The text that is committed. The trailers are a paragraph of their own at the end, so none in the body
    /// counts.
    #[must_use]
    pub fn text(&self) -> String {
        let one_line = |text: &str| {
            let blanked: String = text
                .chars()
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect();
            blanked.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let subject = shortened(&one_line(&self.subject), 120);
        let mut text = if subject.is_empty() {
            "Merge".to_owned()
        } else {
            subject
        };
        let body: String = self
            .body
            .chars()
            .filter(|c| *c == '\n' || *c == '\t' || !c.is_control())
            .collect();
        if !body.trim().is_empty() {
            text.push_str("\n\n");
            text.push_str(body.trim());
        }
        let mut separator = "\n\n";
        for (key, value) in &self.trailers {
            let key: String = key
                .chars()
                .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
                .collect();
            let value = one_line(value);
            if !key.is_empty() && !value.is_empty() {
                text.push_str(&format!("{separator}{key}: {value}"));
                separator = "\n";
            }
        }
        text.push('\n');
        text
    }
}

/// The most commits of a branch that are named, the newest ones.
const MOST_AHEAD: usize = 1000;

impl Repository {
    /// Merges `tip` into `target` (`--no-ff`) without touching any checkout or ref. The attributes of the
    /// target count, so an agent's name no merge driver; where the target is a candidate itself, those of
    /// the commit below. The same input gives the same commit. Everything written is durable on return.
    ///
    /// # Errors
    /// [`Error::Unrelated`], [`Error::NoSuchCommit`], [`Error::Deadline`], [`Error::Failed`].
    pub fn candidate(
        &self,
        target: &Oid,
        tip: &Oid,
        message: &Message,
        author: &Identity,
        committer: &Identity,
        at: Time,
    ) -> Result<Outcome> {
        let tree = match self.merge(None, target, tip)? {
            Ok(tree) => tree,
            Err(conflict) => return Ok(conflict),
        };
        failpoint::hit("candidate.merged");
        let changes = self.changes(target, &tree)?;
        // The target may have the same work already, by somebody else's commits: that merge may land.
        if changes.is_empty() && !self.has_work(target, tip)? {
            return Ok(Outcome::NoCommits);
        }
        let commit = self.merge_commit(&tree, [target, tip], message, [author, committer], at)?;
        failpoint::hit("candidate.committed");
        self.remember_changes(target, &commit, &changes);
        Ok(Outcome::Candidate(Candidate {
            commit,
            tree: Tree(tree),
            changes,
        }))
    }

    /// Writes the commit of a merge. `by`: its author and its committer.
    pub(crate) fn merge_commit(
        &self,
        tree: &Oid,
        sides: [&Oid; 2],
        message: &Message,
        by: [&Identity; 2],
        at: Time,
    ) -> Result<Oid> {
        let ([target, tip], [author, committer]) = (sides, by);
        self.call("commit-tree")
            .author(author, at)
            .committer(committer, Some(at))
            .args(["-p", target.as_str(), "-p", tip.as_str(), "-F", "-"])
            .arg(tree.as_str())
            .input(message.text().as_bytes())?
            .ok_oid()
    }

    /// Whether a merge of `tip` would bring back a commit that somebody has taken off the target: `base`,
    /// from which the work began.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub fn brings_back(&self, base: &Oid, target: &Oid, tip: &Oid) -> Result<bool> {
        // In the train, candidates stand on the target that most work began from.
        let below = self.below_candidates(target)?;
        let is_there =
            self.is_ancestor(base, &below)? || below != *target && self.is_ancestor(base, target)?;
        Ok(!is_there && self.is_ancestor(base, tip)?)
    }

    /// Whether a merge of `commit` would change no file of `target`, as after a rebase: its changes are in
    /// other commits.
    ///
    /// # Errors
    /// [`Error::Unrelated`], [`Error::Failed`] when one of them does not exist.
    pub fn brings_nothing(&self, target: &Oid, commit: &Oid) -> Result<bool> {
        match self.merge(None, target, commit)? {
            Ok(tree) => Ok(tree == self.tree_of(target)?.0),
            Err(_) => Ok(false),
        }
    }

    /// The commits that a merge of `tip` would bring to `target`, the newest 1,000. `base`: the commit from
    /// which the work began.
    ///
    /// # Errors
    /// [`Error::NoSuchCommit`], [`Error::Failed`], [`Error::Io`].
    pub fn brings(&self, base: &Oid, target: &Oid, tip: &Oid) -> Result<Vec<Oid>> {
        // Most work is a few commits on a commit of the target's.
        if let Some(line) = self.straight_line(base, tip)
            && self.is_ancestor(base, target)?
        {
            return Ok(line);
        }
        let said = self
            .call("rev-list")
            .arg("--topo-order")
            .arg(format!("--max-count={MOST_AHEAD}"))
            .args(["--end-of-options", &format!("{target}..{tip}")])
            .ok()?;
        String::from_utf8_lossy(&said).lines().map(Oid::parse).collect()
    }

    /// A commit that `tip` contains and that was taken off `branch`: the branch once ended with it, or it was
    /// named to the ticket's agent as the branch's end, and it is not in the branch any more. `base`: the
    /// commit from which the work began, where it is known.
    ///
    /// # Errors
    /// [`Error::NoSuchCommit`], [`Error::Failed`], [`Error::Io`].
    pub fn taken_off(
        &self,
        branch: &Branch,
        ticket: &Id,
        base: Option<&Oid>,
        tip: &Oid,
    ) -> Result<Option<Oid>> {
        let mut ends = self.former_ends(branch)?;
        ends.extend(self.named(ticket)?.into_iter().map(|commit| commit.to_string()));
        if ends.is_empty() {
            return Ok(None);
        }
        let target = self.target(branch)?;
        // Most work is a few commits on a commit of the target's.
        if let Some(base) = base
            && let Some(line) = self.straight_line(base, tip)
            && !line.iter().any(|commit| ends.contains(commit.as_str()))
            && self.is_ancestor(base, &target)?
        {
            return Ok(None);
        }
        let range = format!("{target}..{tip}");
        let said = self.call("rev-list").args(["--end-of-options", &range]).ok()?;
        let ahead = String::from_utf8_lossy(&said).into_owned();
        let found = ahead.lines().find(|commit| ends.contains(*commit));
        found.map(Oid::parse).transpose()
    }

    /// The commits with which a branch has ended, as far as its reflog goes back.
    fn former_ends(&self, branch: &Branch) -> Result<BTreeSet<String>> {
        if self.common_dir().join("reftable").exists() {
            let call = self.call("rev-list").arg("--walk-reflogs");
            let said = call.args(["--end-of-options", &branch.full()]).run()?;
            return Ok(String::from_utf8_lossy(&said.stdout)
                .lines()
                .map(str::to_owned)
                .collect());
        }
        let log = self.common_dir().join("logs").join(branch.full());
        let log = match std::fs::read(&log) {
            Ok(log) => log,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
            Err(error) => return Err(Error::io("read", log, error)),
        };
        Ok(log
            .split(|byte| *byte == b'\n')
            .flat_map(|line| line.splitn(3, |byte| *byte == b' ').take(2))
            .filter(|end| !end.is_empty())
            .map(|end| String::from_utf8_lossy(end).into_owned())
            .collect())
    }

    /// Merges two commits: gives the tree, or the conflict. `base`: the commit from which both are taken to
    /// come; none for the one that they have in common.
    pub(super) fn merge(
        &self,
        base: Option<&Oid>,
        target: &Oid,
        tip: &Oid,
    ) -> Result<std::result::Result<Oid, Outcome>> {
        self.merge_under(&self.below_candidates(target)?, base, target, tip)
    }

    /// The same under the attributes of the commit `under`.
    pub(crate) fn merge_under(
        &self,
        under: &Oid,
        base: Option<&Oid>,
        target: &Oid,
        tip: &Oid,
    ) -> Result<std::result::Result<Oid, Outcome>> {
        // A merge driver has its files in the folder in which git runs.
        let folder = tempfile::tempdir().doing("make a folder in", tempfile::env::temp_dir())?;
        let said = self
            .call_to_merge(under)?
            .cwd(folder.path())
            .args(["--write-tree", "-z"])
            .args(base.map(|base| format!("--merge-base={base}")))
            .args(["--end-of-options", target.as_str(), tip.as_str()])
            .run()?;
        match said.code {
            Some(0) => {
                let tree = said.stdout.split(|byte| *byte == 0).next().unwrap_or_default();
                Oid::from_bytes(tree).map(Ok)
            }
            Some(1) => conflict(&said.stdout, &[target, tip]).map(Err),
            _ => Err(self.not_merged(target, tip)?.unwrap_or_else(|| said.failed())),
        }
    }

    /// The reason for which two commits cannot be merged at all, where it is known.
    fn not_merged(&self, target: &Oid, tip: &Oid) -> Result<Option<Error>> {
        self.require_commits(&[target, tip])?;
        Ok(self.fork(target, tip)?.is_none().then(|| Error::Unrelated {
            tip: tip.clone(),
            target: target.clone(),
        }))
    }
}

/// Reads `merge-tree -z`: the tree, then `<mode> <oid> <stage>\t<path>` for each conflicted entry, an empty
/// field, then for each message: the number of its paths, these, its kind, its text. `sides`: the commits.
fn conflict(output: &[u8], sides: &[&Oid; 2]) -> Result<Outcome> {
    let mut fields = output.split(|byte| *byte == 0).skip(1);
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut known = BTreeSet::new();
    for field in fields.by_ref().take_while(|field| !field.is_empty()) {
        let tab = field.iter().position(|byte| *byte == b'\t');
        let path = tab
            .map(|at| path_of(&field[at + 1..]))
            .filter(|path| !path.as_os_str().as_bytes().is_empty());
        let path = path.ok_or_else(|| Error::unreadable("merge-tree", String::from_utf8_lossy(field)))?;
        let path = real_path(path, sides);
        if known.insert(path.clone()) {
            paths.push(path);
        }
    }
    let mut mixed = BTreeSet::new();
    let mut messages = Vec::new();
    while let Some(count) = fields
        .next()
        .and_then(|count| String::from_utf8_lossy(count).parse::<usize>().ok())
    {
        let about: Vec<&[u8]> = fields.by_ref().take(count).collect();
        let Some(kind) = fields.next() else {
            break;
        };
        if kind == b"CONFLICT (file/directory)" {
            mixed.extend(about.into_iter().map(|path| real_path(path_of(path), sides)));
        }
        let Some(text) = fields.next() else { break };
        messages.push(shortened(String::from_utf8_lossy(text).trim(), 500));
    }
    messages.retain(|message| !message.starts_with("Auto-merging"));
    Ok(Outcome::Conflict {
        paths,
        mixed,
        messages,
    })
}

/// The path that both sides know. Where they have a file and a folder at one path, or a file and a link,
/// merge-tree moves one of the two to `path~commit`, with a number behind that where it is taken.
pub(super) fn real_path(path: &Path, sides: &[&Oid; 2]) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    let Some(at) = bytes.iter().rposition(|byte| *byte == b'~') else {
        return path.to_owned();
    };
    let is_named = |side: &&&Oid| {
        let rest = bytes[at + 1..].strip_prefix(side.as_str().as_bytes());
        rest.is_some_and(|rest| {
            rest.is_empty() || (rest[0] == b'_' && rest[1..].iter().all(u8::is_ascii_digit))
        })
    };
    match sides.iter().any(|side| is_named(&side)) {
        true => path_of(&bytes[..at]).to_owned(),
        false => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_cannot_forge_a_trailer_or_a_line() {
        let message = Message {
            subject: "Fix\nTicket: forged\u{1b}[31m".to_owned(),
            body: "Why.\n\nTicket: forged".to_owned(),
            trailers: vec![
                ("Ticket".to_owned(), "ab-1\nAgent: evil".to_owned()),
                ("A gent".to_owned(), "ada".to_owned()),
            ],
        };
        assert_eq!(
            message.text(),
            "Fix Ticket: forged [31m\n\nWhy.\n\nTicket: forged\n\nTicket: ab-1 Agent: evil\nAgent: ada\n"
        );
        assert_eq!(Message::default().text(), "Merge\n");
    }
}
