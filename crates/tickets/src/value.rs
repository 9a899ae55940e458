//! The values of a ticket as people give them: parsed, checked, formatted.

use jiff::Timestamp;

use crate::error::Error;

/// A time as tk writes it: UTC, to the second.
pub(crate) fn timestamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The time at which a ticket is created: as tk writes it, with the milliseconds. Agents get tickets in the
/// order of these times, and a script creates several in a second.
pub(crate) fn created(at: Timestamp) -> String {
    match at.subsec_millisecond() {
        0 => timestamp(at),
        _ => at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
    }
}

/// Parses a priority, 0 to 4.
pub(crate) fn priority(text: &str) -> Result<u8, Error> {
    match text {
        "0" | "1" | "2" | "3" | "4" => Ok(text.as_bytes()[0] - b'0'),
        _ => Err(Error::BadValue {
            what: "priority".to_owned(),
            why: "it must be 0 to 4",
        }),
    }
}

/// Checks that a value is one line without control characters.
pub(crate) fn checked_line(what: &str, text: &str) -> Result<(), Error> {
    if text.chars().any(char::is_control) {
        return Err(Error::BadValue {
            what: what.to_owned(),
            why: "it must be one line without control characters",
        });
    }
    Ok(())
}

/// Splits a list at its commas, as tk does. Empty items are left out.
pub(crate) fn split_list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}
