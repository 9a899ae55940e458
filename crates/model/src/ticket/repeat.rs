//! A repeat: the same failure of submitted work, or the same step without a change, once more.

use serde::{Deserialize, Serialize};

use super::Listed;
use crate::Oid;
use crate::attempt::unusable_words;

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
    /// A step ended well, left the workspace like this, and crew could not use these lines of it.
    Unusable {
        /// A digest of the workspace's files, committed or not.
        workspace: String,
        /// The lines, each in a message for the agent.
        lines: Vec<String>,
    },
    /// This check failed on this tip. Not its output: times and addresses in it differ where nothing else
    /// does.
    Check {
        /// The command.
        which: String,
        /// The branch's tip.
        tip: Oid,
    },
    /// This commitment is not met by this tip.
    Commitment {
        /// The promise in words.
        says: String,
        /// The branch's tip.
        tip: Oid,
    },
    /// The branch was refused for this.
    Refused {
        /// Every path and object that was refused, with its reason.
        why: String,
    },
    /// This tip does not merge on this target.
    Conflict {
        /// The branch's tip.
        tip: Oid,
        /// The tip of the target.
        target: Oid,
    },
    /// It was submitted, and changed these files after that, until its step was stopped.
    ChangedAfter {
        /// The paths.
        paths: Listed,
    },
}

impl Fingerprint {
    /// Whether this is the same failure as another. Numbers in the words of a step do not count: a program
    /// that counts or takes its time says another one each time. Nor do ids of commits and other objects in a
    /// refusal: an agent that commits the same anew comes to other ones.
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
            (
                Fingerprint::Unusable { workspace, lines },
                Fingerprint::Unusable {
                    workspace: its,
                    lines: printed,
                },
            ) => {
                let words = |lines: &[String]| lines.join("\n");
                workspace == its && without_numbers(&words(lines)).eq(without_numbers(&words(printed)))
            }
            (Fingerprint::Refused { why }, Fingerprint::Refused { why: its }) => {
                without_ids(why).eq(without_ids(its))
            }
            // A file that is half written is another one each time.
            (Fingerprint::ChangedAfter { .. }, Fingerprint::ChangedAfter { .. }) => true,
            _ => self == other,
        }
    }

    /// The files that were changed after a submission, where that is it.
    #[must_use]
    pub fn changed_after(&self) -> Option<&Listed> {
        match self {
            Fingerprint::ChangedAfter { paths } => Some(paths),
            Fingerprint::NothingCommitted
            | Fingerprint::Step { .. }
            | Fingerprint::Unusable { .. }
            | Fingerprint::Check { .. }
            | Fingerprint::Commitment { .. }
            | Fingerprint::Refused { .. }
            | Fingerprint::Conflict { .. } => None,
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
            Fingerprint::Unusable { lines, .. } => {
                let words = unusable_words(lines).unwrap_or_default();
                format!("a step changed nothing, and {words}")
            }
            Fingerprint::Check { which, tip } => {
                format!("`{which}` failed on the same commit {}", tip.short())
            }
            Fingerprint::Commitment { says, tip } => {
                format!(
                    "the commitment “{says}” is not met by the same commit {}",
                    tip.short()
                )
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
            Fingerprint::ChangedAfter { paths } => {
                format!("its agent submitted, went on to change files ({paths}), and had to be stopped")
            }
        }
    }
}

/// The words that hold no digit.
fn without_numbers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace();
    words.filter(|word| !word.contains(|character: char| character.is_ascii_digit()))
}

/// The pieces of a text, each up to the end of a word, that are no id of an object.
fn without_ids(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    pieces.filter(|piece| {
        let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        !(matches!(word.len(), 40 | 64) && word.bytes().all(|b| b.is_ascii_hexdigit()))
    })
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
        let refused = |commit: &str, path: &str| Fingerprint::Refused {
            why: format!("{commit} and {} have no common ancestor: {path}", "b".repeat(40)),
        };
        let (one, other) = ("1".repeat(40), "2".repeat(40));
        assert!(refused(&one, "a").is_same(&refused(&other, "a")));
        assert!(!refused(&one, "a").is_same(&refused(&one, "b")));
        assert!(!refused("one", "a").is_same(&refused("other", "a")));
        let again = refused(&one, "“ä”.\nMend that.").sentence();
        assert!(again.contains(&one), "{again}");
        assert!(again.ends_with(" have no common ancestor: “ä”.)"), "{again}");
    }
}
