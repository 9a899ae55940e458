//! Traces: the marks that git leaves when it changes the files of the main checkout.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::command::call::Call;
use crate::repository::Repository;
use crate::types::oid::Oid;

/// Files that git writes, and folders that it makes, when it changes the files of a checkout.
const MARKS: [&str; 7] = [
    "ORIG_HEAD",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_START",
    "rebase-merge",
    "rebase-apply",
];
/// The mark of the log of HEAD: its length.
const LOG: &str = "log";

/// The state of the marks at one moment, each by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traces(BTreeMap<String, String>);

/// The difference between two states of the marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Movement {
    /// There is none.
    Nothing,
    /// Commits were made, which changes no file of the checkout.
    Commits {
        /// The commit that HEAD was at before.
        from: Oid,
        /// The commits.
        made: Vec<Oid>,
    },
    /// git has changed files of the checkout, or may have.
    Moved,
}

impl Traces {
    /// The traces as text: a line for each mark.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.0
            .iter()
            .map(|(name, mark)| format!("{name}\t{mark}\n"))
            .collect()
    }

    /// The traces that were written as `text`.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let marks = text.lines().filter_map(|line| line.split_once('\t'));
        Self(
            marks
                .map(|(name, mark)| (name.to_owned(), mark.to_owned()))
                .collect(),
        )
    }

    fn log_bytes(&self) -> usize {
        self.0.get(LOG).and_then(|mark| mark.parse().ok()).unwrap_or(0)
    }
}

impl Repository {
    /// The git directory of the main checkout itself.
    fn git_dir_of_root(&self) -> PathBuf {
        let places = self.places().unwrap_or_default();
        let of_root = places.into_iter().find(|(root, _)| root == self.root());
        of_root.map_or_else(|| self.common_dir().to_owned(), |(_, git_dir)| git_dir)
    }

    /// The marks as they are now.
    #[must_use]
    pub fn traces(&self) -> Traces {
        let (git_dir, common) = (self.git_dir_of_root(), self.common_dir());
        let mut marks = BTreeMap::new();
        let mut put = |name: &str, mark: Option<String>| {
            marks.extend(mark.map(|mark| (name.to_owned(), mark)));
        };
        if common.join("reftable").exists() {
            let call = |subcommand| self.git().call(subcommand).git_dir(&git_dir);
            let said = |call: Call| call.run().map(|said| one_line(&said.stdout)).unwrap_or_default();
            let head = said(call("symbolic-ref").args(["--quiet", "HEAD"]));
            let refs = call("rev-parse").args(["--revs-only", "--quiet", "ORIG_HEAD", "refs/stash"]);
            put(
                "refs",
                Some(said(match head.is_empty() {
                    true => refs.arg("HEAD"),
                    false => refs,
                })),
            );
            put("HEAD", Some(head));
        } else {
            put(
                "HEAD",
                std::fs::read(git_dir.join("HEAD"))
                    .ok()
                    .map(|head| one_line(&head)),
            );
            put(LOG, length(&git_dir.join("logs/HEAD")));
            put("stash", length(&common.join("logs/refs/stash")));
        }
        for name in MARKS {
            put(name, stamp(&git_dir.join(name)));
        }
        Traces(marks)
    }

    /// The difference between two states of the marks, the later of which is the present one.
    #[must_use]
    pub fn movement(&self, before: &Traces, now: &Traces) -> Movement {
        let others = |traces: &Traces| {
            let mut marks = traces.0.clone();
            marks.remove(LOG);
            marks
        };
        let (from, to) = (before.log_bytes(), now.log_bytes());
        if others(before) != others(now) || to < from {
            return Movement::Moved;
        }
        if from == to {
            return Movement::Nothing;
        }
        let log = std::fs::read(self.git_dir_of_root().join("logs/HEAD")).unwrap_or_default();
        let new = log.get(from..to).map(String::from_utf8_lossy).unwrap_or_default();
        commits(&new).unwrap_or(Movement::Moved)
    }

    /// Whether a git is changing the main checkout's index at the moment; crew's own following of a landed
    /// branch counts.
    #[must_use]
    pub fn is_root_index_locked(&self) -> bool {
        self.git_dir_of_root().join("index.lock").exists()
    }

    /// The blobs that the files would be, and whether the repository has each; none for a file that cannot be
    /// read, and for all of them if git cannot be asked.
    #[must_use]
    pub fn known_blobs(&self, files: &[PathBuf]) -> Vec<Option<(Oid, bool)>> {
        if let Some(blobs) = self.blobs_of(files)
            && let Some(known) = self.has_objects(&blobs)
        {
            return blobs.into_iter().zip(known).map(Some).collect();
        }
        match files {
            // A file that went meanwhile keeps git from answering for the others.
            [_, _, ..] => files
                .iter()
                .flat_map(|file| self.known_blobs(std::slice::from_ref(file)))
                .collect(),
            [] | [_] => vec![None; files.len()],
        }
    }

    fn blobs_of(&self, files: &[PathBuf]) -> Option<Vec<Oid>> {
        if files.is_empty() {
            return Some(Vec::new());
        }
        let mut question = Vec::new();
        for file in files {
            let name = file.as_os_str().as_encoded_bytes();
            if name.contains(&b'\n') {
                return None;
            }
            question.extend_from_slice(name);
            question.push(b'\n');
        }
        let call = self.call("hash-object").args(["--no-filters", "--stdin-paths"]);
        let said = call.input(&question).ok()?.ok().ok()?;
        let oids: Option<Vec<Oid>> = said
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| Oid::from_bytes(line).ok())
            .collect();
        oids.filter(|oids| oids.len() == files.len())
    }

    /// Which of the blobs came into the repository by these commits, and by no other: somebody wrote them and
    /// then committed them. Each blob stands with its path in the repository.
    #[must_use]
    pub fn are_committed_only<'b>(
        &self,
        blobs: &'b [(PathBuf, Oid)],
        from: &Oid,
        made: &[Oid],
    ) -> Vec<&'b PathBuf> {
        const MOST: usize = 20;
        let Some(last) = made.last() else {
            return Vec::new();
        };
        let Ok(changes) = self.changes(from, last) else {
            return Vec::new();
        };
        let is_new = |(path, blob): &&(PathBuf, Oid)| {
            let mut changes = changes.iter().filter(|change| change.path == *path);
            changes.any(|change| change.new.as_ref().is_some_and(|(_, oid)| oid == blob))
        };
        blobs
            .iter()
            .filter(is_new)
            .take(MOST)
            .filter(|(path, blob)| self.is_only_in(path, blob, made))
            .map(|(path, _)| path)
            .collect()
    }

    /// Whether no commit of any ref, stash or reflog but these has brought in, or taken out, the blob.
    fn is_only_in(&self, path: &Path, blob: &Oid, made: &[Oid]) -> bool {
        let call = self.call("log").args(["--all", "--reflog", "--format=%H"]);
        let call = call.arg(format!("--find-object={blob}")).arg("--").arg(path);
        call.ok().is_ok_and(|said| {
            let said = String::from_utf8_lossy(&said).into_owned();
            said.lines()
                .all(|line| made.iter().any(|made| made.as_str() == line))
        })
    }
}

/// The commits that these lines of a log of HEAD show; none when they show anything else.
fn commits(lines: &str) -> Option<Movement> {
    let (mut from, mut made) = (None, Vec::new());
    for line in lines.lines() {
        let (ends, message) = line.split_once('\t')?;
        if !message.starts_with("commit") && !message.starts_with("crew:") {
            return None;
        }
        let mut ends = ends.split(' ');
        let (old, new) = (Oid::parse(ends.next()?).ok()?, Oid::parse(ends.next()?).ok()?);
        if from.is_none() {
            from = Some(old);
        }
        made.push(new);
    }
    from.map(|from| Movement::Commits { from, made })
}

fn one_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn length(path: &Path) -> Option<String> {
    let length = std::fs::metadata(path).ok()?.len();
    Some(length.to_string())
}

fn stamp(path: &Path) -> Option<String> {
    let meta = std::fs::metadata(path).ok()?;
    Some(format!("{} {} {}", meta.ino(), meta.mtime(), meta.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commits_and_crews_own_landings_change_no_file() {
        let line = |message: &str| {
            let (old, new) = ("a".repeat(40), "b".repeat(40));
            format!("{old} {new} U <u@e> 1 +0000\t{message}\n")
        };
        for message in [
            "commit: x",
            "commit (amend): x",
            "commit (initial): x",
            "crew: land",
        ] {
            assert!(commits(&line(message)).is_some(), "{message}");
        }
        for message in [
            "checkout: moving from a to b",
            "pull: Fast-forward",
            "reset: moving to x",
        ] {
            let both = line("commit: x") + &line(message);
            assert_eq!(commits(&both), None, "{message}");
        }
    }

    #[test]
    fn traces_are_read_as_they_were_written() {
        let marks = [("HEAD", "ref: refs/heads/main"), ("log", "7")];
        let marks = marks.map(|(name, mark)| (name.to_owned(), mark.to_owned()));
        let traces = Traces(BTreeMap::from(marks));
        assert_eq!(Traces::of_text(&traces.to_text()), traces);
    }
}
