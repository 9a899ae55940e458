//! The target branch as engines see it from the outside: where it was seen, and the moves that are no
//! landings of crew's.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::{Oid, Time};

/// The most commits that one event has.
pub const MOST: usize = 20;
/// The most commits that its line names.
const NAMED: usize = 3;

/// Where the target branch was seen last, as the journal has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tip {
    /// The branch.
    pub branch: String,
    /// Its commit.
    pub commit: Oid,
    /// The time at which it was seen there. Landings since then have moved it on.
    pub at: Time,
}

/// The target branch was seen elsewhere than where crew has left it, or for the first time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Where it is.
    pub to: Tip,
    /// The commits that somebody made here.
    #[serde(default, skip_serializing_if = "Commits::is_empty")]
    pub by_hand: Commits,
    /// The commits that have come from the remote.
    #[serde(default, skip_serializing_if = "Commits::is_empty")]
    pub from_remote: Commits,
    /// The remote of the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The commits that it had, and has no longer, at most [`MOST`]. It is a descendant of the one before
    /// where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Oid>,
}

/// Commits, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commits {
    /// The newest, at most [`MOST`].
    pub newest: Vec<Commit>,
    /// How many more there are.
    #[serde(default)]
    pub more: u32,
}

/// A commit that is not crew's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its id.
    pub commit: Oid,
    /// Its author's name: one line, sanitised.
    pub author: String,
    /// The first line of its message, sanitised.
    pub subject: String,
}

impl Moved {
    /// Whether the branch was seen for the first time, and has not moved.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.by_hand.is_empty() && self.from_remote.is_empty() && self.lost.is_empty()
    }

    /// The event in words: one line.
    #[must_use]
    pub fn in_words(&self) -> String {
        let branch = &self.to.branch;
        if self.is_first() {
            return format!("{branch} is at {}", self.to.commit.short());
        }
        let mut parts = Vec::new();
        if let Some(lost) = lost(&self.lost) {
            parts.push(format!("{branch} was rewritten: {lost} no longer in it"));
        }
        if !self.by_hand.is_empty() {
            let how = match parts.is_empty() {
                true => format!("{branch} was moved by hand: "),
                false => "it has now ".to_owned(),
            };
            parts.push(format!("{how}{}", self.by_hand.in_words()));
        }
        if !self.from_remote.is_empty() {
            let remote = self.remote.as_deref().unwrap_or("the remote");
            parts.push(format!(
                "{branch} has got from {remote}: {}",
                self.from_remote.in_words()
            ));
        }
        parts.join("; ")
    }
}

impl Commits {
    /// Those of a list, newest first.
    #[must_use]
    pub fn of(mut all: Vec<Commit>) -> Self {
        let more = all.len().saturating_sub(MOST);
        all.truncate(MOST);
        Self {
            newest: all,
            more: u32::try_from(more).unwrap_or(u32::MAX),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.newest.is_empty()
    }

    fn in_words(&self) -> String {
        let count = self.newest.len() + self.more as usize;
        let mut words = match count {
            1 => "1 commit (".to_owned(),
            n => format!("{n} commits ("),
        };
        for (n, commit) in self.newest.iter().take(NAMED).enumerate() {
            let between = if n == 0 { "" } else { ", " };
            // Writing into a string cannot fail.
            let _ = write!(words, "{between}{} {}", commit.commit.short(), commit.subject);
        }
        words.push_str(if count > NAMED { ", …)" } else { ")" });
        let mut authors: Vec<&str> = Vec::new();
        for commit in &self.newest {
            if !commit.author.is_empty() && !authors.contains(&commit.author.as_str()) {
                authors.push(&commit.author);
            }
        }
        let others = authors.len() > NAMED;
        authors.truncate(NAMED);
        if !authors.is_empty() {
            words = format!("{words} by {}", authors.join(", "));
        }
        if others {
            words.push_str(" and others");
        }
        words
    }
}

/// Commits that are gone, with the verb.
fn lost(lost: &[Oid]) -> Option<String> {
    let named: Vec<&str> = lost.iter().take(NAMED).map(Oid::short).collect();
    let more = match lost.len() > NAMED {
        true => " and others",
        false => "",
    };
    let be = if lost.len() == 1 { "is" } else { "are" };
    (!lost.is_empty()).then(|| format!("{}{more} {be}", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(digit: char) -> Oid {
        Oid::new(String::from(digit).repeat(40)).unwrap()
    }

    fn commits(digits: &str) -> Commits {
        let one = |digit| Commit {
            commit: oid(digit),
            author: "Ann".to_owned(),
            subject: format!("Fix {digit}"),
        };
        Commits::of(digits.chars().map(one).collect())
    }

    fn moved(by_hand: &str, from_remote: &str, lost: &str) -> String {
        let moved = Moved {
            to: Tip {
                branch: "main".to_owned(),
                commit: oid('e'),
                at: Time(0),
            },
            by_hand: commits(by_hand),
            from_remote: commits(from_remote),
            remote: Some("origin".to_owned()),
            lost: lost.chars().map(oid).collect(),
        };
        moved.in_words()
    }

    #[test]
    fn a_move_is_told_in_one_line() {
        let told = [
            moved("", "", ""),
            moved("a", "", ""),
            moved("abcd", "", ""),
            moved("", "ab", ""),
            moved("a", "b", ""),
            moved("", "", "c"),
            moved("a", "", "cd"),
        ];
        insta::assert_snapshot!(told.join("\n"));
    }
}
