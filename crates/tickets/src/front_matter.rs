//! The front matter of a ticket's file, cut into entries.

use std::ops::Range;

use crate::problem::ProblemKind;
use crate::yaml;

/// One line of a text.
pub(crate) struct Line<'a> {
    /// The text of the line, without the line end.
    pub(crate) content: &'a str,
    /// The position of its first byte.
    pub(crate) start: usize,
    /// The position after its line end.
    pub(crate) end: usize,
    /// The line number, from 1.
    number: usize,
}

/// The lines of a text.
pub(crate) struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    /// The lines from a position on.
    pub(crate) fn new(text: &'a str, start: usize) -> Self {
        Self {
            text,
            at: start,
            number: 0,
        }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let start = self.at;
        let rest = &self.text[start..];
        if rest.is_empty() {
            return None;
        }
        let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
        self.at = start + length;
        self.number += 1;
        let content = rest[..length].trim_end_matches('\n');
        let content = content.strip_suffix('\r').unwrap_or(content);
        Some(Line {
            content,
            start,
            end: self.at,
            number: self.number,
        })
    }
}

/// An entry of the front matter whose value is not parsed yet.
pub(crate) struct RawEntry {
    pub(crate) key: String,
    /// The line number of the key, from 1.
    pub(crate) line: usize,
    /// The number of its lines.
    pub(crate) lines: usize,
    /// Its lines, with their line ends.
    pub(crate) span: Range<usize>,
    /// The rest of the first line after the colon, without the line end.
    pub(crate) first: Range<usize>,
    continuation: Continuation,
}

/// The lines without indentation that continue the value of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Continuation {
    None,
    /// Items of a list.
    List,
    /// A closing bracket.
    Flow,
}

/// Adds one line of the front matter to the last entry, or begins a new entry with it. Blank lines and
/// comments belong to an entry only when more of its value follows.
pub(crate) fn add_line(raw: &mut Vec<RawEntry>, line: &Line<'_>) -> Result<(), (Option<usize>, ProblemKind)> {
    let text = line.content;
    if text.trim().is_empty() || text.starts_with('#') {
        return Ok(());
    }
    let malformed = |what: &str| (Some(line.number), ProblemKind::Malformed(what.to_owned()));
    let continues = match raw.last().map(|entry| entry.continuation) {
        None => text.starts_with([' ', '\t']),
        Some(continuation) => {
            text.starts_with([' ', '\t'])
                || (continuation == Continuation::List && (text == "-" || text.starts_with("- ")))
                || (continuation == Continuation::Flow && text.starts_with([']', '}']))
        }
    };
    if continues {
        // An indented comment is not a part of a value.
        if text.trim_start().starts_with('#') {
            return Ok(());
        }
        let Some(entry) = raw.last_mut() else {
            return Err(malformed("an indented line before the first key"));
        };
        entry.span.end = line.end;
        entry.lines = line.number - entry.line + 1;
        return Ok(());
    }
    let (key, value) = split_key(text).ok_or_else(|| malformed("expected `key: value`"))?;
    let first = line.start + (text.len() - value.len())..line.start + text.len();
    let continuation = match yaml::split_comment(value).0.trim() {
        "" => Continuation::List,
        bare if bare.starts_with(['[', '{']) => Continuation::Flow,
        _ => Continuation::None,
    };
    raw.push(RawEntry {
        key: key.to_owned(),
        line: line.number,
        lines: 1,
        span: line.start..line.end,
        first,
        continuation,
    });
    Ok(())
}

/// Splits `key: value`; the value keeps the white space before it. `None` when the line has no valid key.
fn split_key(text: &str) -> Option<(&str, &str)> {
    let at = text.match_indices(':').map(|(at, _)| at).find(|at| {
        let rest = &text[at + 1..];
        rest.is_empty() || rest.starts_with([' ', '\t'])
    })?;
    let key = text[..at].trim_end();
    let bare = [('"', '"'), ('\'', '\'')]
        .iter()
        .find_map(|(open, close)| key.strip_prefix(*open).and_then(|rest| rest.strip_suffix(*close)))
        .unwrap_or(key);
    let legal = !bare.is_empty()
        && !key.starts_with([
            '?', '[', ']', '{', '}', '&', '*', '!', '|', '>', '%', '@', '`', ',',
        ])
        && !bare.contains(['"', '\'', '#'])
        && !bare.chars().any(char::is_control);
    legal.then(|| (bare, &text[at + 1..]))
}
