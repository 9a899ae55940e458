//! What happened on a branch, for people.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::identity::Time;
use crate::oid::{Oid, Tree};
use crate::repository::Repository;

/// A commit in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    /// Its id.
    pub commit: Oid,
    /// The author's name.
    pub author: String,
    /// When it was committed.
    pub at: Time,
    /// The first line of its message.
    pub subject: String,
}

/// A merge that crew landed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LandedMerge {
    /// The merge commit.
    pub info: CommitInfo,
    /// Its tree.
    pub tree: Tree,
    /// The landed branch's tip.
    pub tip: Oid,
    /// Its `Ticket:` trailer.
    pub ticket: String,
    /// Its `Agent:` trailer; empty if there is none.
    pub agent: String,
    /// Its `Attempt:` trailer; empty if there is none.
    pub attempt: String,
}

/// A commit, its tree, its parents, and its ticket, agent and attempt.
type Record = (CommitInfo, Tree, Vec<Oid>, [String; 3]);

const FORMAT: &str = "--format=%H%n%T%n%P%n%ct%n%an%n%s%n%(trailers:key=Ticket,valueonly,unfold,separator=%x20)%n\
                      %(trailers:key=Agent,valueonly,unfold,separator=%x20)%n\
                      %(trailers:key=Attempt,valueonly,unfold,separator=%x20)";

impl Repository {
    /// The commits that `tip` has and `base` has not, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub fn commits(&self, base: &Oid, tip: &Oid, limit: usize) -> Result<Vec<CommitInfo>> {
        let without = format!("^{base}");
        let range = [tip.as_str(), without.as_str()];
        Ok(self
            .log(&["--topo-order"], &range, limit)?
            .into_iter()
            .map(|(info, ..)| info)
            .collect())
    }

    /// The merges with a `Ticket:` trailer on the first-parent line of `tip`, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`Error::Failed`] when the commit does not exist.
    pub fn landed(&self, tip: &Oid, limit: usize) -> Result<Vec<LandedMerge>> {
        self.merges(&["--first-parent"], tip, limit)
    }

    /// The same, on any line that leads to `tip`, each before its parents. All of the history is read.
    ///
    /// # Errors
    /// [`Error::Failed`] when the commit does not exist.
    pub fn landed_on_any_line(&self, tip: &Oid, limit: usize) -> Result<Vec<LandedMerge>> {
        self.merges(&["--topo-order"], tip, limit)
    }

    fn merges(&self, how: &[&str], tip: &Oid, limit: usize) -> Result<Vec<LandedMerge>> {
        let merges = ["--min-parents=2", "--max-parents=2", "--grep=^Ticket: "];
        let found = self.log(&[how, &merges].concat(), &[tip.as_str()], limit)?;
        let merges = found
            .into_iter()
            .filter_map(|(info, tree, parents, [ticket, agent, attempt])| {
                let tip = parents.into_iter().nth(1)?;
                (!ticket.is_empty()).then_some(LandedMerge {
                    info,
                    tree,
                    tip,
                    ticket,
                    agent,
                    attempt,
                })
            });
        Ok(merges.collect())
    }

    /// Those of these commits that no ref leads to: git deletes them some day. One that is gone already is not among them.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn unreachable(&self, commits: &[Oid]) -> Result<BTreeSet<Oid>> {
        if commits.is_empty() {
            return Ok(BTreeSet::new());
        }
        let asked: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
        let said = self
            .call("rev-list")
            .args(["--ignore-missing", "--stdin", "--not", "--all"])
            .input(asked.as_bytes())?
            .ok()?;
        let asked: BTreeSet<&str> = commits.iter().map(Oid::as_str).collect();
        String::from_utf8_lossy(&said)
            .lines()
            .filter(|line| asked.contains(line))
            .map(Oid::parse)
            .collect()
    }

    /// The history of `tip` as git draws it: a line each, newest first, of at most `limit` commits.
    ///
    /// # Errors
    /// [`Error::Failed`] when the commit does not exist.
    pub fn graph(&self, tip: &Oid, limit: usize) -> Result<Vec<String>> {
        let said = self
            .call("log")
            .args([
                "--graph",
                "--format=%h %s",
                "--abbrev=8",
                "--no-notes",
                "--no-decorate",
            ])
            .arg(format!("--max-count={limit}"))
            .arg("--end-of-options")
            .arg(tip.as_str())
            .ok()?;
        Ok(String::from_utf8_lossy(&said)
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect())
    }

    fn log(&self, options: &[&str], range: &[&str], limit: usize) -> Result<Vec<Record>> {
        let said = self
            .call("log")
            .args(["-z", FORMAT, "--no-notes", "--no-decorate"])
            .arg(format!("--max-count={limit}"))
            .args(options)
            .arg("--end-of-options")
            .args(range)
            .ok()?;
        let text = String::from_utf8_lossy(&said);
        text.split('\0')
            .filter(|record| !record.is_empty())
            .map(read)
            .collect()
    }
}

fn read(record: &str) -> Result<Record> {
    let bad = || Error::unreadable("log", record);
    let lines: Vec<&str> = record.split('\n').collect();
    let [commit, tree, parents, at, author, subject, ticket, agent, attempt] = lines[..] else {
        return Err(bad());
    };
    let parents = parents
        .split_whitespace()
        .map(Oid::parse)
        .collect::<Result<_>>()?;
    let info = CommitInfo {
        commit: Oid::parse(commit)?,
        author: author.to_owned(),
        at: Time(at.parse().map_err(|_| bad())?),
        subject: subject.to_owned(),
    };
    Ok((
        info,
        Tree(Oid::parse(tree)?),
        parents,
        [ticket, agent, attempt].map(str::to_owned),
    ))
}
