//! Sanitiser: makes untrusted text safe to show.
//!
//! Agents, tickets and tools can print sequences that move the cursor, set the clipboard, rename the
//! window, reverse the reading order, or stay invisible. Files keep the raw bytes; every frontend passes
//! untrusted text through this module.

use std::borrow::Cow;
use std::str::Chars;

use unicode_width::UnicodeWidthChar as _;

/// The most characters of an excerpt.
pub const EXCERPT: usize = 4_000;
/// The combining marks that a character may carry: real scripts need up to four, prank text uses hundreds.
const MAX_MARKS: usize = 4;

/// The text as one line without control sequences and without invisible or reordering characters. Line
/// breaks and tabs become spaces; white space at both ends is removed.
pub fn line(text: &str) -> String {
    strip(text, |_| Some(" ")).trim().to_owned()
}

/// As [`line()`], for a line of a program's output: of a line that overwrote itself (`10 %\r20 %`) the last
/// part.
pub fn output_line(source: &str) -> String {
    line(shown(source))
}

/// As [`output_line()`], but the spaces at its beginning stay and a tab becomes four spaces: the line may
/// point at a place in the line above it.
pub fn indented_line(source: &str) -> String {
    let clean = text(shown(source)).replace('\n', " ");
    clean.trim_end().to_owned()
}

/// The part of a line of output that is left on a terminal.
pub fn shown(source: &str) -> &str {
    let parts = source.trim_end_matches(['\r', '\n']).rsplit('\r');
    parts
        .into_iter()
        .find(|part| !part.trim().is_empty())
        .unwrap_or_default()
}

/// As [`line()`], but line breaks stay, as `\n`, and a tab becomes four spaces.
pub fn text(text: &str) -> String {
    strip(&unix(text), |control| match control {
        '\t' => Some("    "),
        _ => Some("\n"),
    })
}

/// As [`text()`], for a prompt: tabs stay, since the text may be code, and what is no line break of a file's
/// becomes none, but a sign that can be seen: nothing but a line of the text stands at the beginning of a
/// line.
pub fn prompt(text: &str) -> String {
    strip(&unix(text), |control| {
        Some(match control {
            '\t' => "\t",
            '\n' => "\n",
            '\r' => "\u{240d}",
            '\u{b}' => "\u{240b}",
            '\u{c}' => "\u{240c}",
            _ => "\u{2424}",
        })
    })
}

/// Code for a reader who has to judge it: as [`prompt()`], but each character that does not show, or that
/// moves others, stands there by its number, such as `<U+202E>`; a carriage return stands there as `^M`, as
/// git's reader shows it.
pub fn code(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            '\r' => shown.push_str("^M"),
            hidden if crate::hides(hidden) => shown.push_str(&format!("<U+{:04X}>", u32::from(hidden))),
            visible => shown.push(visible),
        }
    }
    shown
}

/// As [`text()`], cut to at most [`EXCERPT`] characters and a `…`; white space at both ends is removed.
pub fn excerpt(source: &str) -> String {
    // Bounds the work. An author who fills the text with escape sequences loses the rest of it.
    let head: String = source.chars().take(EXCERPT * 4).collect();
    let clean = text(&head);
    let clean = clean.trim();
    match clean.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean.to_owned(),
    }
}

/// Cuts sanitised text to a width in columns, with `…` at the end of a text that was cut.
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

/// The text with line breaks of Unix.
fn unix(text: &str) -> Cow<'_, str> {
    match text.contains('\r') {
        true => Cow::Owned(text.replace("\r\n", "\n")),
        false => Cow::Borrowed(text),
    }
}

/// The number of bytes at the beginning that are printable ASCII.
fn plain(bytes: &[u8]) -> usize {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~');
    // All bytes of a chunk are compared at once, so that the compiler uses wide registers.
    let whole = bytes
        .chunks_exact(16)
        .take_while(|chunk| chunk.iter().fold(true, |all, byte| all & is_plain(byte)))
        .count()
        * 16;
    whole + bytes[whole..].iter().take_while(|byte| is_plain(byte)).count()
}

/// The characters that are still to be read.
struct Rest<'a>(Chars<'a>);

impl Rest<'_> {
    fn peek(&self) -> Option<char> {
        self.0.clone().next()
    }

    fn next_if(&mut self, is_wanted: impl Fn(char) -> bool) -> Option<char> {
        let next = self.peek().filter(|next| is_wanted(*next))?;
        self.0.next();
        Some(next)
    }
}

/// Removes everything unsafe. `blank` gives the replacement of a line break or tab.
fn strip(text: &str, blank: impl Fn(char) -> Option<&'static str>) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = Rest(text.chars());
    let mut marks = 0;
    loop {
        // Most text is of characters that need no look.
        let left = rest.0.as_str();
        let plain = plain(left.as_bytes());
        if plain > 0 {
            clean.push_str(&left[..plain]);
            rest.0 = left[plain..].chars();
            marks = 0;
        }
        let Some(character) = rest.0.next() else {
            return clean;
        };
        match character {
            '\n' | '\t' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                clean.push_str(blank(character).unwrap_or_default());
                marks = 0;
            }
            '\u{1b}' => escape(&mut rest),
            '\u{9b}' => control_sequence(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => string(&mut rest),
            hidden if crate::hides(hidden) => {}
            visible => {
                let is_mark = visible.width() == Some(0);
                marks = if is_mark { marks + 1 } else { 0 };
                // A mark at the start of a text would combine with the character that a frontend puts
                // before it.
                let has_base = !is_mark
                    || clean
                        .chars()
                        .next_back()
                        .is_some_and(|base| !base.is_whitespace());
                if marks <= MAX_MARKS && has_base {
                    clean.push(visible);
                }
            }
        }
    }
}

/// Skips the rest of a sequence that began with ESC.
fn escape(rest: &mut Rest<'_>) {
    match rest.peek() {
        Some('[') => {
            rest.0.next();
            control_sequence(rest);
        }
        // DCS, SOS, OSC, PM, APC.
        Some('P' | 'X' | ']' | '^' | '_') => {
            rest.0.next();
            string(rest);
        }
        // Character sets and the like: intermediates, then one final character.
        Some(' '..='/') => {
            while rest.next_if(|next| (' '..='/').contains(&next)).is_some() {}
            rest.next_if(|next| ('0'..='~').contains(&next));
        }
        Some('0'..='~') => {
            rest.0.next();
        }
        // Another control character is handled by itself.
        _ => {}
    }
}

/// Skips the rest of a control sequence: parameters, intermediates, one final character. Any other
/// character ends the sequence and is handled by itself.
fn control_sequence(rest: &mut Rest<'_>) {
    while rest.next_if(|next| ('0'..='?').contains(&next)).is_some() {}
    while rest.next_if(|next| (' '..='/').contains(&next)).is_some() {}
    rest.next_if(|next| ('@'..='~').contains(&next));
}

/// Skips a control string up to its terminator (ST or BEL), a cancel, or the end of the line: an
/// unterminated string hides no more than its line.
fn string(rest: &mut Rest<'_>) {
    while let Some(next) = rest.next_if(|next| next != '\n') {
        match next {
            '\u{7}' | '\u{18}' | '\u{1a}' | '\u{9c}' => return,
            '\u{1b}' => {
                // ESC \ is the terminator. Any other escape ends the string too, and begins a sequence of
                // its own.
                if rest.next_if(|next| next == '\\').is_none() {
                    escape(rest);
                }
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_but_a_line_break_begins_a_line() {
        assert_eq!(
            prompt("a\r\nb\rc\u{b}d\u{c}e\u{2028}f\tg\n"),
            "a\nb\u{240d}c\u{240b}d\u{240c}e\u{2424}f\tg\n"
        );
    }

    #[test]
    fn what_hides_in_code_is_shown_by_its_number() {
        assert_eq!(
            code("+ad\u{200b}min()\r\n-\u{202e}x\u{1b}[2J\ty\rz\n"),
            "+ad<U+200B>min()^M\n-<U+202E>x<U+001B>[2J\ty^Mz\n"
        );
    }
}
