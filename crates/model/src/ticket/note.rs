//! The notes that crew itself adds to a ticket's file.

use serde::{Deserialize, Serialize};

use super::{Done, State, Ticket};
use crate::{Oid, Time};

/// The beginning of a note with the reason for which the ticket's agent cannot go on.
const BLOCKED: &str = "BLOCKED:";
/// The beginning of a note with what was done, and the commit that brought it to the target.
const DONE: &str = "DONE:";
/// The most columns of an agent's summary in a note.
const WIDEST: usize = 200;

/// A note for a ticket's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Its text, one line.
    pub text: String,
    /// When it was decided on.
    pub at: Time,
}

impl Note {
    /// Whether a note of one line is one that crew has added: it is no part of the ticket's text.
    #[must_use]
    pub fn is_crews(line: &str) -> bool {
        line == BLOCKED || line.starts_with(&format!("{BLOCKED} ")) || is_of_landing(line)
    }

    /// The text of the note on a ticket that is held, since its agent cannot go on.
    #[must_use]
    pub(crate) fn blocked(why: &str) -> String {
        format!("{BLOCKED} {why}")
    }

    /// The text of the note on a ticket whose work is in the target by this commit.
    fn landed(summary: Option<&str>, commit: &Oid) -> String {
        let lines = summary.unwrap_or_default().lines();
        let first = lines.map(text::sanitise::line).find(|line| !line.is_empty());
        let said = first.map_or_else(|| "landed".to_owned(), |line| text::sanitise::fit(&line, WIDEST));
        format!("{DONE} {said} ({})", commit.short())
    }
}

/// Whether a line has the form of a note on a landing. A person who writes `DONE: …` without a commit has
/// written a note of their own.
fn is_of_landing(line: &str) -> bool {
    let commit = line
        .strip_prefix(&format!("{DONE} "))
        .and_then(|said| said.strip_suffix(')'))
        .and_then(|said| said.rsplit_once(" ("));
    commit.is_some_and(|(_, commit)| {
        commit.len() == Oid::SHORT
            && commit
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

impl Ticket {
    /// The note that is due with the change from `before`: that the ticket's work has landed.
    pub(super) fn note_after(&self, before: &Ticket, at: Time) -> Option<Note> {
        let State::Done(Done::Landed { commit, .. }) = &self.state else {
            return None;
        };
        if before.is_done() {
            return None;
        }
        let summary = before.attempt().and_then(|attempt| attempt.summary.as_deref());
        let text = Note::landed(summary, commit);
        Some(Note { text, at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid() -> Oid {
        Oid::new("0123456789abcdef0123456789abcdef01234567").unwrap()
    }

    #[test]
    fn a_note_on_a_landing_is_one_short_line_that_is_known_as_crews() {
        fn noted(summary: Option<&str>) -> String {
            Note::landed(summary, &oid())
        }
        assert_eq!(noted(Some("Sums added")), "DONE: Sums added (01234567)");
        assert_eq!(
            noted(Some("\n \u{1b}[31mAll (of it)\u{202e}\nand more\n")),
            "DONE: All (of it) (01234567)"
        );
        for none in [None, Some(""), Some("\n\t\n")] {
            assert_eq!(noted(none), "DONE: landed (01234567)");
        }
        let words = "long ".repeat(1_000);
        let long = noted(Some(&words));
        assert!(
            long.chars().count() < 230 && long.ends_with("… (01234567)"),
            "{long}"
        );
        for summary in [Some("One"), None, Some("(")] {
            assert!(Note::is_crews(&noted(summary)));
        }
    }

    #[test]
    fn a_persons_note_is_not_crews() {
        for line in [
            "DONE: all of it",
            "DONE: see (the issue)",
            "DONE: see (0123456)",
            "DONE:",
            "DONE",
            "BLOCKED by t-2",
            "UNDONE: One (01234567)",
        ] {
            assert!(!Note::is_crews(line), "{line}");
        }
        assert!(Note::is_crews("BLOCKED: no key") && Note::is_crews("BLOCKED:"));
    }
}
