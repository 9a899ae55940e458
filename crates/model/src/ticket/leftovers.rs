//! Leftovers: what an agent had not committed when it submitted its work.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How many paths of a list are named.
const NAMED: usize = 10;

/// The files that an agent had not committed, and what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftovers {
    /// The paths that crew committed for it.
    pub committed: Listed,
    /// The paths that crew did not commit, each with the reason in brackets.
    pub left_out: Listed,
}

/// The first of some paths, fit to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// The first paths.
    pub first: Vec<String>,
    /// The number of the others.
    pub more: usize,
}

impl Listed {
    /// A list of these paths.
    pub fn of(paths: impl IntoIterator<Item = String>) -> Self {
        let mut paths = paths.into_iter();
        let first = paths.by_ref().take(NAMED).collect();
        Self {
            first,
            more: paths.count(),
        }
    }

    /// True if there is no path.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.first.join(", "))?;
        match self.more {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl Leftovers {
    /// True if the agent had committed everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.committed.is_empty() && self.left_out.is_empty()
    }

    /// The paths that crew committed, as a sentence without a full stop.
    #[must_use]
    pub fn committed_words(&self) -> Option<String> {
        let committed = &self.committed;
        (!committed.is_empty()).then(|| format!("crew committed what its agent had not: {committed}"))
    }

    /// The paths that crew did not commit, as a sentence without a full stop.
    #[must_use]
    pub fn left_out_words(&self) -> Option<String> {
        let left_out = &self.left_out;
        let words = || format!("not committed by its agent, and left out by crew: {left_out}");
        (!left_out.is_empty()).then(words)
    }

    /// Both in one line, which says so where there is nothing.
    #[must_use]
    pub fn words(&self) -> String {
        let lines: Vec<String> = [self.committed_words(), self.left_out_words()]
            .into_iter()
            .flatten()
            .collect();
        match lines.is_empty() {
            true => "its agent has committed everything".to_owned(),
            false => lines.join("; "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_paths_are_named_and_the_others_counted() {
        let listed = |count: u32| Listed::of((1..=count).map(|n| format!("f{n}"))).to_string();
        assert_eq!(listed(2), "f1, f2");
        assert_eq!(listed(12), "f1, f2, f3, f4, f5, f6, f7, f8, f9, f10 and 2 more");
    }
}
