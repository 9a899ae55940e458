//! Durations as people write them: `"90s"`, `"5m"`, `"500ms"`, `"1h30m"`.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serializer;

/// The longest duration that a setting may have. Longer ones are slips, and would overflow what is added to
/// them.
pub(super) const MAX: Duration = Duration::from_hours(24 * 365);

/// The units, largest first, in milliseconds. `ms` stands before `m` and `s` only in meaning: a unit is read
/// whole.
const UNITS: [(&str, u64); 5] = [
    ("d", 24 * 60 * 60 * 1000),
    ("h", 60 * 60 * 1000),
    ("m", 60 * 1000),
    ("s", 1000),
    ("ms", 1),
];

/// Reads a duration: whole numbers, each with its unit, the largest unit first, each unit once.
///
/// # Errors
///
/// What is wrong with it, as the end of a sentence that began with the key.
pub fn parse(text: &str) -> Result<Duration, &'static str> {
    if text.is_empty() {
        return Err("is empty");
    }
    let mut rest = text;
    let mut total: u64 = 0;
    let mut smallest = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            return Err("is not a duration");
        }
        let (number, tail) = rest.split_at(digits);
        let letters = tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (unit, tail) = tail.split_at(letters);
        if unit.is_empty() && tail.is_empty() {
            return Err("has a number without a unit");
        }
        let Some(&(_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err("is not a duration");
        };
        if scale >= smallest {
            return Err("must have its units from large to small, each once");
        }
        smallest = scale;
        let part = number
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(scale));
        total = part
            .and_then(|part| total.checked_add(part))
            .ok_or("is too long: a year is the most")?;
        rest = tail;
    }
    let total = Duration::from_millis(total);
    if total > MAX {
        Err("is too long: a year is the most")
    } else {
        Ok(total)
    }
}

/// Writes a duration so that [`parse`] reads the same one (in milliseconds).
pub(super) fn format(duration: Duration) -> String {
    let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    if rest == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    for (unit, scale) in UNITS {
        if rest >= scale {
            text.push_str(&format!("{}{unit}", rest / scale));
            rest %= scale;
        }
    }
    text
}

/// For serde's `serialize_with`.
pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format(*duration))
}

/// For serde's `serialize_with`, where there may be none.
pub(super) fn serialize_some<S: Serializer>(
    duration: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match duration {
        Some(duration) => serialize(duration, serializer),
        None => serializer.serialize_none(),
    }
}

/// The form of a duration in the schema.
pub(super) struct Text;

impl JsonSchema for Text {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$",
            "examples": ["90s", "5m", "500ms", "1h30m"],
        })
    }
}
