//! The events of a stream, as text.

use std::fmt::Write as _;

use model::{Moment, Time};
use serde_json::json;

use crate::board::{Frame, Turn};

/// Adds the changes of a turn.
pub(super) fn of_turn(text: &mut String, repo: &str, turn: &Turn) {
    let repo = json!(repo);
    for frame in &turn.frames {
        // Writing to a text cannot fail.
        let _ = match frame {
            Frame::Put {
                key: (kind, key),
                json,
            } => {
                let (kind, key) = (kind.name(), json!(&**key));
                write!(
                    text,
                    "event: put\ndata: {{\"repo\":{repo},\"kind\":\"{kind}\",\"key\":{key},\"doc\":{json}}}\n\n"
                )
            }
            Frame::Del { key: (kind, key) } => {
                let (kind, key) = (kind.name(), json!(&**key));
                write!(
                    text,
                    "event: del\ndata: {{\"repo\":{repo},\"kind\":\"{kind}\",\"key\":{key}}}\n\n"
                )
            }
            Frame::Row { json, .. } => {
                write!(text, "event: row\ndata: {{\"repo\":{repo},\"event\":{json}}}\n\n")
            }
        };
    }
}

/// Adds a row of the journal.
pub(super) fn row(text: &mut String, repo: &str, event: &str) {
    let repo = json!(repo);
    // Writing to a text cannot fail.
    let _ = write!(
        text,
        "event: row\ndata: {{\"repo\":{repo},\"event\":{event}}}\n\n"
    );
}

/// Adds the mark that ends a cut.
pub(super) fn mark(text: &mut String, repo: &str, id: &str, seq: u64, at: Time) {
    let mark = json!({ "repo": repo, "seq": seq, "at": Moment(at) });
    // Writing to a text cannot fail.
    let _ = write!(text, "event: mark\nid: {id}\ndata: {mark}\n\n");
}

/// The name of a repository in an id: letters, digits and a few signs; every other byte as `%41`.
pub(super) fn named(repo: &str) -> String {
    let mut name = String::new();
    for byte in repo.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => name.push(char::from(byte)),
            other => name.push_str(&format!("%{other:02X}")),
        }
    }
    name
}
