//! The check that git's objects are whole: every one is read.

use std::collections::BTreeSet;

use runtime::Place;

use crate::{Area, Finding};
use client::error::Error;

const AREA: Area = Area::Repository;
/// The most findings that are listed one by one.
const MOST: usize = 10;
const HINT: &str = "git fetch from another clone may bring it back; else restore a backup. Work on it may not land meanwhile";

pub(super) fn look(place: &Place, found: &mut Vec<Finding>) {
    let lines = match lasting(|| place.repository.fsck()) {
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

/// The faults that are there at two moments. A commit that is made while git reads the repository can be
/// missing to it: git lists the objects first and reads the logs of refs later. So what is found is looked
/// for again, and only what is found twice is a fault.
fn lasting<E>(mut look: impl FnMut() -> Result<Vec<String>, E>) -> Result<Vec<String>, E> {
    let first: BTreeSet<String> = look()?.into_iter().collect();
    if first.is_empty() {
        return Ok(Vec::new());
    }
    let mut again = look()?;
    again.retain(|line| first.contains(line));
    Ok(again)
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

    /// What is reported of looks that find these lines one after the other, and how many looks there were.
    fn reported(looks: &[&[&str]]) -> (Vec<String>, usize) {
        let mut left = looks.iter();
        let mut look = || -> Result<Vec<String>, std::convert::Infallible> {
            let lines = left.next().expect("no further look");
            Ok(lines.iter().map(|line| (*line).to_owned()).collect())
        };
        let lines = lasting(&mut look).unwrap();
        (lines, looks.len() - left.len())
    }

    #[test]
    fn only_a_fault_that_is_found_twice_is_one() {
        assert_eq!(reported(&[&[]]), (Vec::new(), 1));
        let landed = [
            "error: refs/heads/main: invalid reflog entry 0e9",
            "missing commit 0e9",
        ];
        let lands = [
            "error: refs/heads/main: invalid reflog entry c04",
            "missing commit c04",
        ];
        assert_eq!(reported(&[&landed, &[]]), (Vec::new(), 2));
        assert_eq!(reported(&[&landed, &lands]), (Vec::new(), 2));
        let lasts = "missing blob 4b8";
        assert_eq!(
            reported(&[&[landed[1], lasts], &[lasts, lands[1]]]),
            (vec![lasts.to_owned()], 2)
        );
    }

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
