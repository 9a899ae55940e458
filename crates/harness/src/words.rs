//! The words by which an agent speaks to crew, each alone on a line.

use crate::duration;
use crate::event::Mode;
use crate::outcome::Signal;
use crate::sanitise;

/// What a line means. All text in it is sanitised.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Word {
    /// `DONE`, `BLOCKED: why`, `QUESTION: text`, `WAKEUP: 10m why`.
    Signal(Signal),
    /// `MODE: plan`.
    Mode(Mode),
    /// `SUMMARY: text`.
    Summary(String),
    /// It was meant as one of these and is none: what and why, for people.
    Note(String),
}

/// The word that a line is; `None`: it is text. Spaces, tabs and a carriage return may follow; anything else before or
/// after, and it is text: "not done yet" is not done.
pub(crate) fn read(line: &str) -> Option<Word> {
    let line = line.trim_end_matches([' ', '\t', '\r']);
    if line == "DONE" {
        return Some(Word::Signal(Signal::Done));
    }
    with_text(line)
}

/// The word that a line begins with which has a text after it, as `QUESTION: …`. No more of that is kept than [`sanitise::EXCERPT`],
/// so that the beginning of a line which is too long to be read says as much as all of it.
pub(crate) fn with_text(line: &str) -> Option<Word> {
    let (word, rest) = line.split_once(':')?;
    if !["BLOCKED", "QUESTION", "MODE", "SUMMARY", "WAKEUP"].contains(&word) {
        return None;
    }
    let text = sanitise::excerpt(rest);
    if text.is_empty() {
        return Some(Word::Note(format!("{word}: with nothing after it")));
    }
    Some(match word {
        "BLOCKED" => Word::Signal(Signal::Blocked { why: text }),
        "QUESTION" => Word::Signal(Signal::Asked { question: text }),
        "WAKEUP" => wakeup(&text),
        "MODE" => Mode::named(&text).map_or_else(
            || {
                let known = Mode::ALL.map(Mode::name).join(", ");
                Word::Note(format!(
                    "MODE: {}, which is none of {known}",
                    sanitise::fit(&text, 40)
                ))
            },
            Word::Mode,
        ),
        _ => Word::Summary(text),
    })
}

/// `10m why`.
fn wakeup(text: &str) -> Word {
    let (when, why) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    match duration::parse(when) {
        Ok(after) => Word::Signal(Signal::Wakeup {
            after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            why: why.trim().to_owned(),
        }),
        Err(fault) => Word::Note(format!("WAKEUP: {} {fault}", sanitise::fit(when, 40))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wakeup_has_a_time_and_a_reason() {
        let wakeup = |after_ms, why: &str| {
            Some(Word::Signal(Signal::Wakeup {
                after_ms,
                why: why.into(),
            }))
        };
        assert_eq!(
            read("WAKEUP: 10m the build runs"),
            wakeup(600_000, "the build runs")
        );
        assert_eq!(read("WAKEUP:90s\r"), wakeup(90_000, ""));
        for nonsense in [
            "WAKEUP: soon",
            "WAKEUP: 0s x",
            "WAKEUP: 400d x",
            "WAKEUP:",
            "WAKEUP: -1m",
        ] {
            assert!(matches!(read(nonsense), Some(Word::Note(_))), "{nonsense}");
        }
        assert_eq!(read(" WAKEUP: 10m"), None);
        assert_eq!(read("Wakeup: 10m"), None);
    }
}
