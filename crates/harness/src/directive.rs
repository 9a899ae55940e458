//! The directives that an agent gives to crew, each alone on a line: `DONE`, `BLOCKED: why` …

use crate::duration;
use crate::mode::Mode;
use crate::outcome::Signal;
use text::sanitise;

/// A directive. All text in it is sanitised.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Directive {
    /// `DONE`, `BLOCKED: why`, `QUESTION: text`, `WAKEUP: 10m why`.
    Signal(Signal),
    /// `MODE: plan`.
    Mode(Mode),
    /// `SUMMARY: text`.
    Summary(String),
    /// A line that was meant as a directive and is not valid: a message for people.
    Invalid(String),
}

/// Parses a line; `None` when it is text. Only spaces, tabs and a carriage return may follow a directive,
/// and nothing may precede it: "not DONE yet" is text.
pub(crate) fn parse(line: &str) -> Option<Directive> {
    let line = line.trim_end_matches([' ', '\t', '\r']);
    if line == "DONE" {
        return Some(Directive::Signal(Signal::Done));
    }
    parse_with_text(line)
}

/// Parses a directive that has a text, as `QUESTION: …`. At most [`sanitise::EXCERPT`] characters of the
/// text are kept, so the beginning of a very long line parses like the whole line.
pub(crate) fn parse_with_text(line: &str) -> Option<Directive> {
    let (keyword, rest) = line.split_once(':')?;
    if !["BLOCKED", "QUESTION", "MODE", "SUMMARY", "WAKEUP"].contains(&keyword) {
        return None;
    }
    let text = sanitise::excerpt(rest);
    if text.is_empty() {
        return Some(Directive::Invalid(format!("{keyword}: with nothing after it")));
    }
    Some(match keyword {
        "BLOCKED" => Directive::Signal(Signal::Blocked { why: text }),
        "QUESTION" => Directive::Signal(Signal::Asked { question: text }),
        "WAKEUP" => wakeup(&text),
        "MODE" => Mode::named(&text).map_or_else(
            || {
                let known = Mode::ALL.map(Mode::name).join(", ");
                Directive::Invalid(format!(
                    "MODE: {}, which is none of {known}",
                    sanitise::fit(&text, 40)
                ))
            },
            Directive::Mode,
        ),
        _ => Directive::Summary(text),
    })
}

/// Parses `10m why`.
fn wakeup(text: &str) -> Directive {
    let (when, why) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    match duration::parse(when) {
        Ok(after) => Directive::Signal(Signal::Wakeup {
            after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            why: why.trim().to_owned(),
        }),
        Err(fault) => Directive::Invalid(format!("WAKEUP: {} {fault}", sanitise::fit(when, 40))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wakeup_has_a_time_and_a_reason() {
        let wakeup = |after_ms, why: &str| {
            Some(Directive::Signal(Signal::Wakeup {
                after_ms,
                why: why.into(),
            }))
        };
        assert_eq!(
            parse("WAKEUP: 10m the build runs"),
            wakeup(600_000, "the build runs")
        );
        assert_eq!(parse("WAKEUP:90s\r"), wakeup(90_000, ""));
        for nonsense in [
            "WAKEUP: soon",
            "WAKEUP: 0s x",
            "WAKEUP: 400d x",
            "WAKEUP:",
            "WAKEUP: -1m",
        ] {
            assert!(
                matches!(parse(nonsense), Some(Directive::Invalid(_))),
                "{nonsense}"
            );
        }
        assert_eq!(parse(" WAKEUP: 10m"), None);
        assert_eq!(parse("Wakeup: 10m"), None);
    }
}
