//! Making untrusted text fit to be shown.
//!
//! Agents, tickets and tools can print what moves a cursor, sets a clipboard, renames a window, turns the reading order
//! round or hides. Raw bytes stay raw in the files; whatever a face shows goes through here (security.md, R-15).

use std::iter::Peekable;
use std::str::Chars;

use unicode_width::UnicodeWidthChar as _;

/// Characters of an excerpt.
pub const EXCERPT: usize = 4_000;
/// Marks without a width that a character may carry: scripts need three or four, a joke needs hundreds.
const MARKS: usize = 4;

/// One line of it: no control or escape sequence, no invisible or reordering character; line breaks and tabs are
/// spaces, nothing at the edges.
pub fn line(text: &str) -> String {
    strip(text, |_| Some(" ")).trim().to_owned()
}

/// As [`line()`], of a program's own output: of a line that overwrote itself (`10 %\r20 %`), what was seen last.
pub fn output_line(text: &str) -> String {
    let shown = text
        .trim_end_matches(['\r', '\n'])
        .rsplit('\r')
        .find(|part| !part.trim().is_empty());
    line(shown.unwrap_or_default())
}

/// Several lines of it, as [`line()`], but line breaks stay (`\n` only) and a tab is four spaces.
pub fn text(text: &str) -> String {
    strip(&text.replace("\r\n", "\n"), |control| match control {
        '\t' => Some("    "),
        _ => Some("\n"),
    })
}

/// Several lines for a program to read, as [`text()`], but a tab stays one: it may be code.
pub fn prompt(text: &str) -> String {
    strip(&text.replace("\r\n", "\n"), |control| match control {
        '\t' => Some("\t"),
        _ => Some("\n"),
    })
}

/// [`text`] of at most [`EXCERPT`] characters, with `…` where it was cut, nothing at the edges.
pub fn excerpt(source: &str) -> String {
    // An escape sequence is never shown, so a long one may use up what is looked at; that is its author's loss.
    let head: String = source.chars().take(EXCERPT * 4).collect();
    let clean = text(&head);
    let clean = clean.trim();
    match clean.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean.to_owned(),
    }
}

/// Of sanitised text as much as fits in so many columns, ending in `…` when something is missing.
pub fn fit(text: &str, columns: usize) -> String {
    let width = |character: char| character.width().unwrap_or(0);
    if text.chars().map(width).sum::<usize>() <= columns {
        return text.to_owned();
    }
    let Some(mut room) = columns.checked_sub(1) else {
        return String::new();
    };
    let mut shown = String::new();
    for character in text.chars() {
        let Some(left) = room.checked_sub(width(character)) else {
            break;
        };
        room = left;
        shown.push(character);
    }
    shown.push('…');
    shown
}

/// Strips; `blank` says what stands for a line break or tab.
fn strip(text: &str, blank: impl Fn(char) -> Option<&'static str>) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut marks = 0;
    while let Some(character) = rest.next() {
        match character {
            '\n' | '\t' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                clean.push_str(blank(character).unwrap_or_default());
                marks = 0;
            }
            '\u{1b}' => escape(&mut rest),
            '\u{9b}' => control_sequence(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => string(&mut rest),
            hidden if text::hides(hidden) => {}
            visible => {
                let is_mark = visible.width() == Some(0);
                marks = if is_mark { marks + 1 } else { 0 };
                // A mark needs something to stand on: at an edge it would join what a face puts beside it.
                let stands = !is_mark
                    || clean
                        .chars()
                        .next_back()
                        .is_some_and(|base| !base.is_whitespace());
                if marks <= MARKS && stands {
                    clean.push(visible);
                }
            }
        }
    }
    clean
}

/// What follows an ESC.
fn escape(rest: &mut Peekable<Chars<'_>>) {
    match rest.peek().copied() {
        Some('[') => {
            rest.next();
            control_sequence(rest);
        }
        // DCS, SOS, OSC, PM, APC.
        Some('P' | 'X' | ']' | '^' | '_') => {
            rest.next();
            string(rest);
        }
        // Character sets and the like: intermediates, then one more.
        Some(' '..='/') => {
            while rest.next_if(|next| (' '..='/').contains(next)).is_some() {}
            rest.next_if(|next| ('0'..='~').contains(next));
        }
        Some('0'..='~') => {
            rest.next();
        }
        // Another control: it is looked at by itself.
        _ => {}
    }
}

/// What follows a CSI: parameters, intermediates, one final character. What does not belong ends it and is looked at
/// by itself.
fn control_sequence(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|next| ('0'..='?').contains(next)).is_some() {}
    while rest.next_if(|next| (' '..='/').contains(next)).is_some() {}
    rest.next_if(|next| ('@'..='~').contains(next));
}

/// What follows the beginning of a control string: all up to its end (ST or BEL), a cancel, or the end of the line,
/// so that one left open hides no more than its line.
fn string(rest: &mut Peekable<Chars<'_>>) {
    while let Some(next) = rest.next_if(|next| *next != '\n') {
        match next {
            '\u{7}' | '\u{18}' | '\u{1a}' | '\u{9c}' => return,
            '\u{1b}' => {
                // ESC \ ends it; any other escape does too, and begins something of its own.
                if rest.next_if_eq(&'\\').is_none() {
                    escape(rest);
                }
                return;
            }
            _ => {}
        }
    }
}
