//! The records that a program may print, each a JSON object alone on a line.
//!
//! ```text
//! {"crew":"usage","input_tokens":N,"output_tokens":N,"cost_usd":X}
//! {"crew":"commitment","says":"…","run":["argv",…]}
//! {"crew":"failure","class":"rate_limited","message":"…","until_ms":N}
//! ```

use serde_json::Value;

use crate::commitment::{self, Commitment};
use crate::money::{self, IMPLAUSIBLE};
use crate::outcome::{Class, Failure};
use crate::usage::Usage;
use text::sanitise;

/// The name of a record that makes a commitment.
pub(super) const COMMITMENT: &str = "commitment";

/// A record.
pub(super) enum Record {
    Usage(Usage),
    /// The step has failed.
    Failure(Failure),
    /// The agent has made a commitment.
    Commitment(Commitment),
    /// A line that was meant as a record of `what` and is not valid. Neither text is sanitised.
    Invalid {
        what: String,
        why: String,
    },
}

/// Parses a line; `None` when it is not meant as a record. An agent's own JSON is text.
pub(super) fn parse(line: &str) -> Option<Record> {
    let line = line.trim_end_matches([' ', '\t', '\r']);
    let invalid = |what: &'static str| {
        move |why| Record::Invalid {
            what: what.to_owned(),
            why,
        }
    };
    if let Some(made) = commitment::parse(line) {
        return Some(made.map_or_else(invalid(COMMITMENT), Record::Commitment));
    }
    if is_usage(line.as_bytes()) {
        Some(usage(line).map_or_else(invalid("usage"), Record::Usage))
    } else if mentions(line.as_bytes(), b"\"failure\"") {
        Some(failure(line).map_or_else(invalid("failure"), Record::Failure))
    } else if mentions(line.as_bytes(), b"\"crew\"") {
        unknown(line).filter(|_| !mentions(line.as_bytes(), b"\"verdict\""))
    } else {
        None
    }
}

/// A record of a kind that crew does not know.
fn unknown(line: &str) -> Option<Record> {
    let value = parse_json(line).ok()?;
    let what = value.get("crew")?.as_str()?.to_owned();
    let why = "a line for crew is of \"usage\", \"failure\" or \"commitment\"".to_owned();
    Some(Record::Invalid { what, why })
}

/// Whether a line, which may be cut, is meant as a record of usage.
pub(super) fn is_usage(line: &[u8]) -> bool {
    mentions(line, b"\"usage\"")
}

/// Whether a line, which may be cut, is meant as a commitment.
pub(super) fn is_commitment(line: &[u8]) -> bool {
    mentions(line, b"\"commitment\"")
}

/// Whether a line begins like a JSON object and contains `"crew"` and this word.
fn mentions(line: &[u8], word: &[u8]) -> bool {
    let contains = |word: &[u8]| line.windows(word.len()).any(|window| window == word);
    line.first() == Some(&b'{') && contains(b"\"crew\"") && contains(word)
}

fn parse_json(line: &str) -> Result<Value, String> {
    crate::json::value(line).map_err(|error| format!("it is no JSON: {error}"))
}

/// The classes of failure that a program may report. The others only crew can know, and one that costs no
/// attempt could be repeated for ever.
const CLASSES: &str = "transient, rate_limited, overloaded, auth, session_in_use, session_missing, crash, \
                       malformed_output, budget";

fn failure(line: &str) -> Result<Failure, String> {
    let value = parse_json(line)?;
    if value.get("crew").and_then(Value::as_str) != Some("failure") {
        return Err("\"crew\" is not \"failure\"".into());
    }
    let Some(class) = value.get("class") else {
        return Err(format!("no \"class\" says how: {CLASSES}"));
    };
    let class: Class = serde_json::from_value(class.clone()).map_err(|_| {
        format!(
            "the class {} is none of {CLASSES}",
            sanitise::fit(&class.to_string(), 40)
        )
    })?;
    if let Class::Lost | Class::KilledByUs | Class::Timeout = class {
        return Err(format!("that class is crew's to say; yours are {CLASSES}"));
    }
    let message = value.get("message").and_then(Value::as_str).unwrap_or_default();
    let until_ms = match value.get("until_ms") {
        None | Some(Value::Null) => None,
        Some(until) => Some(until.as_u64().ok_or("until_ms is no whole number")?),
    };
    let message = sanitise::line(message);
    Ok(Failure {
        until_ms,
        ..Failure::new(
            class,
            if message.is_empty() {
                "it said no more"
            } else {
                &message
            },
        )
    })
}

fn usage(line: &str) -> Result<Usage, String> {
    let value = parse_json(line)?;
    if value.get("crew").and_then(Value::as_str) != Some("usage") {
        return Err("\"crew\" is not \"usage\"".into());
    }
    let count = |key: &str| match value.get(key) {
        None => Ok(0),
        Some(count) => count
            .as_u64()
            .filter(|count| *count <= IMPLAUSIBLE)
            .ok_or_else(|| {
                format!(
                    "{key} is no plausible number of tokens: {}",
                    sanitise::fit(&count.to_string(), 40)
                )
            }),
    };
    let cost_micro_usd = match value.get("cost_usd") {
        None => 0,
        Some(cost) => cost.as_f64().and_then(money::micro).ok_or_else(|| {
            format!(
                "cost_usd is no plausible number of dollars: {}",
                sanitise::fit(&cost.to_string(), 40)
            )
        })?,
    };
    Ok(Usage {
        input_tokens: count("input_tokens")?,
        output_tokens: count("output_tokens")?,
        cost_micro_usd,
    })
}
