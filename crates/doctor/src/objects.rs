//! The check that git's objects are whole: every one is read.

use runtime::Place;

use crate::{Area, Finding};
use client::error::Error;

const AREA: Area = Area::Repository;
/// The most findings that are listed one by one.
const MOST: usize = 10;
const HINT: &str = "git fetch from another clone may bring it back; else restore a backup. Work on it may not land meanwhile";

pub(super) fn look(place: &Place, found: &mut Vec<Finding>) {
    let lines = match place.repository.fsck() {
        Ok(lines) => lines,
        Err(error) => {
            found.push(Finding::error(AREA, &Error::Git(error)));
            return;
        }
    };
    if lines.is_empty() {
        found.push(Finding::fine(AREA, "git fsck: every object is there and whole"));
    }
    for line in lines.iter().take(MOST) {
        found.push(match says(line) {
            Says::Wrong(what) => Finding::wrong(AREA, what, HINT),
            Says::Odd(what) => Finding::note(AREA, what, "git reads it all the same; nothing need be done"),
        });
    }
    if let Some(more) = lines.len().checked_sub(MOST).filter(|more| *more > 0) {
        let what = format!("and {more} more of this kind");
        found.push(Finding::wrong(AREA, what, "git fsck --strict lists them all"));
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Says {
    Wrong(String),
    Odd(String),
}

/// A line of git's in words.
fn says(line: &str) -> Says {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (about, text) = line.split_once(": ").unwrap_or((line, ""));
    let of: Vec<&str> = about.split_whitespace().collect();
    match (words.as_slice(), of.as_slice()) {
        (["missing", kind, id], _) => Says::Wrong(format!("{} is missing: {id}", a(kind))),
        (["broken", "link", "from", kind, id], _) => {
            Says::Wrong(format!("the {kind} {id} names something that is missing"))
        }
        (["to", kind, id], _) => Says::Wrong(format!("it is {} that is missing: {id}", a(kind))),
        (_, ["error", "in", kind, id]) => Says::Wrong(format!("{} is malformed: {id}: {text}", a(kind))),
        (_, ["warning", "in", kind, id]) => Says::Odd(format!("{} is unusual: {id}: {text}", a(kind))),
        _ => Says::Wrong(format!("git fsck says: {line}")),
    }
}

fn a(kind: &str) -> String {
    match kind {
        "blob" => "the content of a file".to_owned(),
        "tree" => "a folder of a commit".to_owned(),
        other => format!("a {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_says_is_said_in_words() {
        let wrong = |line: &str, what: &str| assert_eq!(says(line), Says::Wrong(what.to_owned()));
        wrong("missing blob 4b8", "the content of a file is missing: 4b8");
        wrong(
            "broken link from    tree 12a",
            "the tree 12a names something that is missing",
        );
        wrong(
            "              to    blob 4b8",
            "it is the content of a file that is missing: 4b8",
        );
        wrong(
            "error in tree 12a: hasDotgit: contains '.git'",
            "a folder of a commit is malformed: 12a: hasDotgit: contains '.git'",
        );
        wrong(
            "error: 4b8: hash mismatch",
            "git fsck says: error: 4b8: hash mismatch",
        );
        assert_eq!(
            says("warning in commit 77f: missingSpaceBeforeEmail: x"),
            Says::Odd("a commit is unusual: 77f: missingSpaceBeforeEmail: x".to_owned())
        );
    }
}
