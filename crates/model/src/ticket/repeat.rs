//! A repeat: the same failure of submitted work, or the same step without a change, once more.

use serde::{Deserialize, Serialize};

use crate::Oid;

/// A failure of submitted work with all it depends on: where it is the same, trying again costs a step and
/// changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fingerprint {
    /// It was submitted, and nothing was committed.
    NothingCommitted,
    /// A step ended well without a signal, left the workspace like this, and said this.
    Step {
        /// A digest of the workspace's files, committed or not.
        workspace: String,
        /// The summary, else the last line.
        words: String,
    },
    /// This check failed on this tip. Not its output: times and addresses in it differ where nothing else
    /// does.
    Check {
        /// The command.
        which: String,
        /// The branch's tip.
        tip: Oid,
    },
    /// The branch was refused for this; see [`Fingerprint::refused`].
    Refused {
        /// Every path and object that was refused, with its reason, and without the names of commits.
        why: String,
    },
    /// This tip does not merge on this target.
    Conflict {
        /// The branch's tip.
        tip: Oid,
        /// The tip of the target.
        target: Oid,
    },
}

impl Fingerprint {
    /// The refusal of a branch. Ids of commits and other objects do not count: an agent that commits the same
    /// anew comes to other ones.
    #[must_use]
    pub fn refused(why: &str) -> Self {
        let mut kept = String::with_capacity(why.len());
        for piece in why.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
            let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let is_id = matches!(word.len(), 40 | 64) && word.bytes().all(|b| b.is_ascii_hexdigit());
            kept.push_str(if is_id { "…" } else { word });
            kept.push_str(&piece[word.len()..]);
        }
        Fingerprint::Refused { why: kept }
    }

    /// Whether this is the same failure as another. Numbers in the words of a step do not count: a program
    /// that counts or takes its time says another one each time.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Fingerprint::Step { workspace, words },
                Fingerprint::Step {
                    workspace: its,
                    words: said,
                },
            ) => workspace == its && without_numbers(words).eq(without_numbers(said)),
            _ => self == other,
        }
    }

    /// The failure that came again, as the beginning of a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Fingerprint::NothingCommitted => "it was submitted with nothing committed".to_owned(),
            Fingerprint::Step { words, .. } if words.is_empty() => {
                "a step changed nothing and said nothing".to_owned()
            }
            Fingerprint::Step { words, .. } => {
                format!("a step changed nothing and ended with the same words (“{words}”)")
            }
            Fingerprint::Check { which, tip } => {
                format!("`{which}` failed on the same commit {}", tip.short())
            }
            Fingerprint::Refused { why } => format!(
                "its branch was refused for the same reason ({})",
                why.lines().next().unwrap_or_default()
            ),
            Fingerprint::Conflict { tip, target } => format!(
                "the same commit {} conflicts with the same target {}",
                tip.short(),
                target.short()
            ),
        }
    }
}

/// The words that hold no digit.
fn without_numbers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace();
    words.filter(|word| !word.contains(|character: char| character.is_ascii_digit()))
}

/// The number of times that the same came, with nothing else in between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// The failure.
    pub of: Fingerprint,
    /// The n-th time, from 1.
    pub times: u32,
    /// The number of times that it may still come before the ticket is held: `no_progress`.
    pub left: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_that_differs_in_ids_alone_is_the_same() {
        let refused = |commit: &str, path: &str| {
            let why = format!("{commit} and {} have no common ancestor: {path}", "b".repeat(40));
            Fingerprint::refused(&why)
        };
        let (one, other) = ("1".repeat(40), "2".repeat(40));
        assert_eq!(refused(&one, "a"), refused(&other, "a"));
        assert_ne!(refused(&one, "a"), refused(&one, "b"));
        assert_ne!(refused("one", "a"), refused("other", "a"));
        assert_eq!(
            refused(&one, "“ä”.").sentence(),
            "its branch was refused for the same reason (… and … have no common ancestor: “ä”.)"
        );
    }
}
