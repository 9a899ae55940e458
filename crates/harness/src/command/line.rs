//! One line of a program's output, parsed.
//!
//! This is the only parser of such lines: the reader takes the outcome of a step from it, and the transcript
//! what people see.

use std::borrow::Cow;

use super::record::{self, COMMITMENT, Record};
use crate::directive::{self, Directive};
use crate::entry::{Content, Entry};
use crate::lines::Line;
use crate::outcome::Failure;
use crate::signal;
use crate::transcript::Memory;
use text::sanitise;

/// The meaning of one line.
pub(super) enum Meaning {
    /// A record in JSON, which people do not see as it is.
    Record(Record),
    /// A record of this kind, which is too long to be read.
    TooLong(&'static str),
    Directive(Directive),
    Text,
}

/// The bytes of a line: without a byte order mark, and in UTF-8 where it is ASCII in UTF-16.
pub(super) fn bytes<'a>(line: &Line<'a>) -> Cow<'a, [u8]> {
    narrowed(line.bytes).map_or(Cow::Borrowed(line.bytes), Cow::Owned)
}

/// The meaning of a line of these bytes.
pub(super) fn parse(bytes: &[u8], is_cut: bool) -> Meaning {
    if is_cut {
        return if record::is_usage(bytes) {
            Meaning::TooLong("usage")
        } else if record::is_commitment(bytes) {
            Meaning::TooLong(COMMITMENT)
        } else {
            let directive = valid_prefix(bytes).and_then(directive::parse_with_text);
            directive.map_or(Meaning::Text, Meaning::Directive)
        };
    }
    let Ok(line) = std::str::from_utf8(bytes) else {
        return Meaning::Text;
    };
    if let Some(record) = record::parse(line) {
        return Meaning::Record(record);
    }
    directive::parse(line).map_or(Meaning::Text, Meaning::Directive)
}

/// Reads any line: this kind has no format of its own.
pub(crate) fn entries(_: &mut Memory, line: &Line<'_>, each: &mut dyn FnMut(Entry)) -> bool {
    let bytes = bytes(line);
    let content = match parse(&bytes, line.is_cut()) {
        Meaning::Record(record) => of_record(record),
        Meaning::TooLong(what) => Content::Unusable {
            text: format!("a line of {what} that is too long"),
        },
        Meaning::Directive(directive) => signal::of_directive(directive),
        Meaning::Text => {
            let whole = std::str::from_utf8(&bytes).ok().filter(|_| !line.is_cut());
            let Some(content) = whole.and_then(signal::of_line) else {
                each(Entry::of_text(&Line {
                    bytes: &bytes,
                    ..*line
                }));
                return true;
            };
            content
        }
    };
    each(content.into());
    true
}

fn of_record(record: Record) -> Content {
    match record {
        Record::Usage(usage) => Content::Usage(usage),
        Record::Failure(Failure { class, message, .. }) => Content::Signal {
            text: format!("failure ({}): {message}", class.name()),
            states_result: true,
        },
        Record::Commitment(made) => signal::of_commitment(Ok(made)),
        Record::Invalid { what, why } => Content::Unusable {
            text: format!(
                "a line of {} that does not count: {}",
                sanitise::fit(&sanitise::line(&what), 40),
                sanitise::line(&why)
            ),
        },
    }
}

/// A line of ASCII in UTF-16, or one with a byte order mark, in UTF-8 without the mark; `None` for any other
/// line. Some programs print so when their output is no terminal. The newline of UTF-16 leaves a NUL at the
/// end of its line, or at the beginning of the next one.
fn narrowed(line: &[u8]) -> Option<Vec<u8>> {
    if let Some(rest) = line.strip_prefix("\u{feff}".as_bytes()) {
        return Some(rest.to_vec());
    }
    let marks = [[0xff, 0xfe], [0xfe, 0xff]];
    let is_marked = marks.iter().any(|mark| line.starts_with(mark));
    let rest = if is_marked { &line[2..] } else { line };
    let letters: Vec<u8> = rest.iter().copied().filter(|byte| *byte != 0).collect();
    let nuls = rest.len() - letters.len();
    let is_wide = !letters.is_empty() && letters.is_ascii() && nuls.abs_diff(letters.len()) <= 1;
    // One letter with one NUL may be anything.
    (is_wide && nuls > 1).then_some(letters)
}

/// The valid text at the start of a line that was cut, maybe within a character; `None` when the line is
/// not UTF-8.
fn valid_prefix(line: &[u8]) -> Option<&str> {
    match std::str::from_utf8(line) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&line[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}
