//! History of a branch, for people.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::identity::Time;
use crate::types::oid::{Oid, Tree};

/// A commit in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    /// Its id.
    pub commit: Oid,
    /// The author's name.
    pub author: String,
    /// The time of the commit.
    pub at: Time,
    /// The first line of its message.
    pub subject: String,
}

/// A merge that crew landed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LandedMerge {
    /// The merge commit.
    pub commit: Oid,
    /// Its tree.
    pub tree: Tree,
    /// Its `Ticket:` trailer.
    pub ticket: String,
    /// Its `Agent:` trailer; empty if there is none.
    pub agent: String,
    /// Its `Attempt:` trailer; empty if there is none.
    pub attempt: String,
}

/// A commit that came to a branch with a ticket: of its work, or the merge that crew landed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketCommit {
    /// Its id.
    pub commit: Oid,
    /// The first line of its message.
    pub subject: String,
    /// The `Ticket:` trailer of the merge that brought it.
    pub ticket: String,
}

const COMMIT: &str = "--format=%H%n%ct%n%an%n%s";
const MERGE: &str = "--format=%H%n%T%n%(trailers:key=Ticket,valueonly,unfold,separator=%x20)%n\
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
        self.log(&[COMMIT, "--topo-order"], &range, limit, commit)
    }

    /// As [`Repository::commits`], of the first-parent line of `tip` alone: those by which a branch itself
    /// was moved.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub fn moves(&self, base: &Oid, tip: &Oid, limit: usize) -> Result<Vec<CommitInfo>> {
        let without = format!("^{base}");
        let range = [tip.as_str(), without.as_str()];
        self.log(&[COMMIT, "--first-parent"], &range, limit, commit)
    }

    /// The commits on the first-parent line of `tip` that none of `known` has, newest first, without the
    /// merges that crew landed; at most `limit` are looked at. A known commit that is not here counts for
    /// nothing.
    ///
    /// # Errors
    /// [`Error::Failed`] when `tip` does not exist.
    pub fn foreign_moves(&self, known: &[Oid], tip: &Oid, limit: usize) -> Result<Vec<CommitInfo>> {
        let without: Vec<String> = known.iter().map(|commit| format!("^{commit}")).collect();
        let range: Vec<&str> = std::iter::once(tip.as_str())
            .chain(without.iter().map(String::as_str))
            .collect();
        let options = ["--first-parent", "--ignore-missing"];
        let moves = self.log(&[&[COMMIT], &options[..]].concat(), &range, limit, commit)?;
        if moves.is_empty() {
            return Ok(moves);
        }
        let merges = [&[MERGE, "--merges"], &options[..]].concat();
        let merges = self.log(&merges, &range, limit, merge)?;
        let crews: BTreeSet<&Oid> = merges
            .iter()
            .filter(|merge| !merge.ticket.is_empty())
            .map(|merge| &merge.commit)
            .collect();
        let is_foreign = |commit: &CommitInfo| !crews.contains(&commit.commit);
        Ok(moves.into_iter().filter(is_foreign).collect())
    }

    /// Whether one of the commits that `tip` has and `target` has not changed a file, and no later one took
    /// all of that back. A merge counts by the commits that it brings; after a merge, commits that cancel out
    /// count too, since the merge may have resolved them to the target's own.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub(crate) fn has_work(&self, target: &Oid, tip: &Oid) -> Result<bool> {
        let said = self
            .call("rev-list")
            .args(["--no-merges", "--full-history", "--max-count=1"])
            .args([tip.as_str(), &format!("^{target}"), "--", "."])
            .ok()?;
        if said.is_empty() {
            return Ok(false);
        }
        let merges = self
            .call("rev-list")
            .args(["--merges", "--max-count=1", tip.as_str(), &format!("^{target}")])
            .ok()?;
        if !merges.is_empty() {
            return Ok(true);
        }
        let Some(fork) = self.fork(target, tip)? else {
            return Ok(true);
        };
        Ok(self.tree_of(&fork)? != self.tree_of(tip)?)
    }

    /// The merges with a `Ticket:` trailer on the first-parent line of `tip`, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`Error::Failed`] when the commit does not exist.
    pub fn landed(&self, tip: &Oid, limit: usize) -> Result<Vec<LandedMerge>> {
        self.merges(&["--first-parent"], tip, limit)
    }

    /// As [`Repository::landed`], on every line that leads to `tip`, each merge before its parents. Reads all
    /// of the history.
    ///
    /// # Errors
    /// [`Error::Failed`] when the commit does not exist.
    pub fn landed_on_any_line(&self, tip: &Oid, limit: usize) -> Result<Vec<LandedMerge>> {
        self.merges(&["--topo-order"], tip, limit)
    }

    /// Those of the commits that `tip` does not contain; a commit that is not here is one of them.
    ///
    /// # Errors
    /// [`Error::Failed`] when `tip` does not exist.
    pub fn not_in(&self, tip: &Oid, commits: &[Oid]) -> Result<BTreeSet<Oid>> {
        let mut asked = format!("^{tip}\n");
        asked.extend(commits.iter().map(|commit| format!("{commit}\n")));
        let said = self
            .call("rev-list")
            .args(["--ignore-missing", "--stdin"])
            .input(asked.as_bytes())?
            .output_limit(512 << 20)
            .ok()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let outside: BTreeSet<&str> = said.lines().collect();
        let here = |commit: &Oid| self.tree_of(commit).is_ok();
        Ok(commits
            .iter()
            .filter(|commit| outside.contains(commit.as_str()) || !here(commit))
            .cloned()
            .collect())
    }

    /// The trees of a commit and of its first parents, the newest first, at most `limit`.
    ///
    /// # Errors
    /// [`Error::Failed`] when the commit does not exist.
    pub fn first_parent_trees(&self, tip: &Oid, limit: usize) -> Result<Vec<Oid>> {
        let said = self
            .call("rev-list")
            .args(["--first-parent", "--no-commit-header", "--format=%T"])
            .arg(format!("--max-count={limit}"))
            .args(["--end-of-options", tip.as_str()])
            .ok()?;
        String::from_utf8_lossy(&said).lines().map(Oid::parse).collect()
    }

    /// The first commit on the first-parent line of `tip`, itself included, that `target` contains; none
    /// where the target contains none of them.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub fn begins_at(&self, tip: &Oid, target: &Oid) -> Result<Option<Oid>> {
        if self.is_ancestor(tip, target)? {
            return Ok(Some(tip.clone()));
        }
        let said = self
            .call("rev-list")
            .args(["--first-parent", "--parents"])
            .args(["--end-of-options", tip.as_str(), &format!("^{target}")])
            .output_limit(512 << 20)
            .ok()?;
        let said = String::from_utf8_lossy(&said);
        // The oldest one that the target does not contain, and behind it its parents.
        let below = said.lines().last().and_then(|line| line.split(' ').nth(1));
        below.map(Oid::parse).transpose()
    }

    /// The commit on the first-parent line of `tip` onto which `merged` was merged; none where no merge there
    /// has brought it.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub(crate) fn before_merge_of(&self, merged: &Oid, tip: &Oid) -> Result<Option<Oid>> {
        let said = self
            .call("rev-list")
            .args(["--first-parent", "--merges", "--parents"])
            .args(["--end-of-options", tip.as_str(), &format!("^{merged}")])
            .output_limit(512 << 20)
            .ok()?;
        let said = String::from_utf8_lossy(&said);
        for line in said.lines().rev() {
            let mut commits = line.split(' ').map(Oid::parse);
            let (Some(merge), Some(before)) = (commits.next().transpose()?, commits.next().transpose()?)
            else {
                continue;
            };
            if self.is_ancestor(merged, &merge)? {
                return Ok((!self.is_ancestor(merged, &before)?).then_some(before));
            }
        }
        Ok(None)
    }

    /// The newest merge with this `Ticket:` trailer on the first-parent line of `tip`, among the last ten
    /// thousand commits there.
    ///
    /// # Errors
    /// [`Error::Failed`] when the commit does not exist.
    pub fn landed_as(&self, tip: &Oid, ticket: &str) -> Result<Option<Oid>> {
        let newest = self
            .call("rev-list")
            .args(["--first-parent", "--max-count=10000", "--parents"])
            .args(["--end-of-options", tip.as_str()])
            .ok()?;
        let newest = String::from_utf8_lossy(&newest);
        let is_merge = |line: &&str| line.split(' ').count() == 3;
        let merges = newest.lines().filter(is_merge);
        let merges: String = merges
            .filter_map(|line| Some(format!("{}\n", line.split(' ').next()?)))
            .collect();
        if merges.is_empty() {
            return Ok(None);
        }
        let said = self
            .call("log")
            .args([
                "-z",
                "--no-notes",
                "--no-decorate",
                "--no-walk=unsorted",
                "--stdin",
            ])
            .args([MERGE, "--fixed-strings"])
            .arg(format!("--grep=Ticket: {ticket}"))
            .input(merges.as_bytes())?
            .ok()?;
        let records = said.split(|byte| *byte == 0).filter(|record| !record.is_empty());
        for record in records {
            let merge = merge(&String::from_utf8_lossy(record))?;
            if merge.ticket == ticket {
                return Ok(Some(merge.commit));
            }
        }
        Ok(None)
    }

    fn merges(&self, how: &[&str], tip: &Oid, limit: usize) -> Result<Vec<LandedMerge>> {
        let merges = [MERGE, "--min-parents=2", "--max-parents=2", "--grep=^Ticket: "];
        let mut merges = self.log(&[how, &merges].concat(), &[tip.as_str()], limit, merge)?;
        merges.retain(|merge| !merge.ticket.is_empty());
        Ok(merges)
    }

    /// Those of the newest commits of `tip` that came with a ticket, the newest first; at most `limit` are
    /// looked at.
    ///
    /// # Errors
    /// [`Error::Failed`] when the commit does not exist.
    pub fn of_tickets(&self, tip: &Oid, limit: usize) -> Result<Vec<TicketCommit>> {
        let format = "--format=%H%n%P%n%(trailers:key=Ticket,valueonly,unfold,separator=%x20)%n%s";
        let commits = self.log(&[format, "--topo-order"], &[tip.as_str()], limit, of_graph)?;
        let known: BTreeMap<&Oid, &Commit> = commits.iter().map(|it| (&it.id, it)).collect();
        let mut line = Vec::new();
        let mut next = known.get(tip);
        while let Some(commit) = next {
            line.push(*commit);
            next = commit.parents.first().and_then(|parent| known.get(parent));
        }
        let mut brought: BTreeMap<&Oid, &str> = line.iter().map(|it| (&it.id, "")).collect();
        // The oldest merge that has a commit is the one that brought it.
        for merge in line.into_iter().rev() {
            let ticket = match merge.parents.len() {
                2 => merge.ticket.as_str(),
                _ => "",
            };
            brought.insert(&merge.id, ticket);
            let mut open: Vec<&Oid> = merge.parents.iter().skip(1).collect();
            while let Some(commit) = open.pop().and_then(|id| known.get(id)) {
                if !brought.contains_key(&commit.id) {
                    brought.insert(&commit.id, ticket);
                    open.extend(&commit.parents);
                }
            }
        }
        let of_ticket = |it: &Commit| {
            let ticket = brought.get(&it.id).filter(|ticket| !ticket.is_empty())?;
            Some(TicketCommit {
                commit: it.id.clone(),
                subject: it.subject.clone(),
                ticket: (*ticket).to_owned(),
            })
        };
        Ok(commits.iter().filter_map(of_ticket).collect())
    }

    /// The commits of this list that no ref leads to: git deletes them some day. A commit that is gone
    /// already is left out.
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

    /// The history of `tip` as a graph that git draws: a line each, newest first, of at most `limit` commits.
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

    fn log<T>(
        &self,
        options: &[&str],
        range: &[&str],
        limit: usize,
        read: fn(&str) -> Result<T>,
    ) -> Result<Vec<T>> {
        let said = self
            .call("log")
            .args(["-z", "--no-notes", "--no-decorate"])
            .arg(format!("--max-count={limit}"))
            .args(options)
            .arg("--end-of-options")
            .args(range)
            .ok()?;
        let records = said.split(|byte| *byte == 0);
        let records = records.filter(|record| !record.is_empty());
        records
            .map(|record| read(&String::from_utf8_lossy(record)))
            .collect()
    }
}

fn lines<const N: usize>(record: &str) -> Result<[&str; N]> {
    let lines: Vec<&str> = record.split('\n').collect();
    lines.try_into().map_err(|_| Error::unreadable("log", record))
}

fn commit(record: &str) -> Result<CommitInfo> {
    let [commit, at, author, subject] = lines(record)?;
    Ok(CommitInfo {
        commit: Oid::parse(commit)?,
        author: author.to_owned(),
        at: Time(at.parse().map_err(|_| Error::unreadable("log", record))?),
        subject: subject.to_owned(),
    })
}

/// A commit with its parents.
struct Commit {
    id: Oid,
    parents: Vec<Oid>,
    ticket: String,
    subject: String,
}

fn of_graph(record: &str) -> Result<Commit> {
    let [commit, parents, ticket, subject] = lines(record)?;
    Ok(Commit {
        id: Oid::parse(commit)?,
        parents: parents
            .split_whitespace()
            .map(Oid::parse)
            .collect::<Result<_>>()?,
        ticket: ticket.to_owned(),
        subject: subject.to_owned(),
    })
}

fn merge(record: &str) -> Result<LandedMerge> {
    let [commit, tree, ticket, agent, attempt] = lines(record)?;
    Ok(LandedMerge {
        commit: Oid::parse(commit)?,
        tree: Tree(Oid::parse(tree)?),
        ticket: ticket.to_owned(),
        agent: agent.to_owned(),
        attempt: attempt.to_owned(),
    })
}
