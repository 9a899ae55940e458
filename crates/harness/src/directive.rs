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

/// The words that directives with a text begin with.
const WITH_TEXT: [&str; 5] = ["BLOCKED", "QUESTION", "MODE", "SUMMARY", "WAKEUP"];

/// The most characters at the beginning of a line that are read: enough for an excerpt that is full of
/// control sequences. The beginning of a very long line parses like the whole line.
const READ: usize = sanitise::EXCERPT * 4;

/// Parses a line; `None` when it is text. Only blanks and characters that a terminal does not show may stand
/// around a directive: "not DONE yet" is text. A directive in decoration, as `**DONE**`, is invalid.
pub(crate) fn parse(line: &str) -> Option<Directive> {
    also_over_progress(line, parse_line)
}

/// Parses a directive that has a text, as `QUESTION: …`. At most [`sanitise::EXCERPT`] characters of the
/// text are kept.
pub(crate) fn parse_with_text(line: &str) -> Option<Directive> {
    also_over_progress(line, parse_text)
}

/// Parses the line or, where that is no valid directive, the rest of it after its last return: a terminal
/// writes that over a spinner or the progress before it.
fn also_over_progress(line: &str, parse: fn(&str) -> Option<Directive>) -> Option<Directive> {
    let whole = parse(line);
    match (&whole, line.trim_end_matches('\r').rsplit_once('\r')) {
        (None | Some(Directive::Invalid(_)), Some((_, rest))) => parse(rest).or(whole),
        _ => whole,
    }
}

fn parse_line(line: &str) -> Option<Directive> {
    if !line.contains("DONE") {
        return parse_text(line);
    }
    let is_code = is_code(line);
    let line = line.trim();
    let shown = shown(line);
    let is_whole = line.chars().nth(READ).is_none();
    if is_whole && shown == "DONE" && !is_code {
        return Some(Directive::Signal(Signal::Done));
    }
    if is_whole && bare(&shown) == "DONE" {
        return Some(decorated(&shown, "DONE"));
    }
    parse_text(line)
}

fn parse_text(line: &str) -> Option<Directive> {
    // Most lines have no colon, and are not searched for each word.
    if !line.contains(':') || !WITH_TEXT.iter().any(|keyword| line.contains(keyword)) {
        return None;
    }
    let is_code = is_code(line);
    let line = shown(line);
    let (keyword, rest) = line.split_once(':')?;
    if !WITH_TEXT.contains(&keyword) || is_code {
        let meant = WITH_TEXT.iter().find(|known| bare(keyword) == **known)?;
        return Some(decorated(&line, &format!("{meant}: …")));
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

/// The beginning of a line as a terminal shows it, without the blanks around it.
fn shown(line: &str) -> String {
    let head: String = line.chars().take(READ).collect();
    sanitise::text(&head).trim().to_owned()
}

/// Whether a line is indented as a block of code is in Markdown: an agent quotes its task so.
fn is_code(line: &str) -> bool {
    line.starts_with("    ")
}

/// The text without the punctuation around it.
fn bare(text: &str) -> &str {
    text.trim_matches(|character: char| character.is_ascii_punctuation() || character.is_whitespace())
}

/// A line whose directive has something around it, which it may not have.
fn decorated(line: &str, directive: &str) -> Directive {
    let line = sanitise::fit(&sanitise::line(line), 40);
    Directive::Invalid(format!(
        "{line}, which counts only as `{directive}` with nothing around it"
    ))
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
        assert_eq!(parse(" WAKEUP: 10m"), wakeup(600_000, ""));
        assert_eq!(parse("Wakeup: 10m"), None);
    }

    #[test]
    fn characters_that_a_terminal_does_not_show_may_stand_around_every_directive() {
        let question = Some(Directive::Signal(Signal::Asked {
            question: "which?".into(),
        }));
        for line in [
            "\u{1b}[1mQUESTION:\u{1b}[0m which?",
            "\u{1b}]0;a: title\u{7}QUESTION: which?\u{200b}",
            "\u{1b}[38:5:1mQUESTION\u{1b}[m: which?",
            "\u{a0}\u{feff}\t QUESTION: which?\u{a0}",
        ] {
            assert_eq!(parse(line), question, "{line:?}");
        }
    }

    #[test]
    fn a_directive_may_be_written_over_the_progress_before_it() {
        let done = Some(Directive::Signal(Signal::Done));
        for line in ["10%\r100%\rDONE", "10%\r\u{1b}[2K\rDONE\r", "DONE\r\r"] {
            assert_eq!(parse(line), done, "{line:?}");
        }
        let question = Some(Directive::Signal(Signal::Asked {
            question: "which?".into(),
        }));
        assert_eq!(parse("|\r/\rQUESTION: which?"), question);
        assert!(matches!(
            parse("QUESTION: red\r or blue?"),
            Some(Directive::Signal(Signal::Asked { .. }))
        ));
        assert_eq!(parse("DONE\rstill at it"), None, "a terminal shows no directive");
    }

    #[test]
    fn a_directive_in_decoration_is_invalid() {
        for (line, directive) in [
            ("**QUESTION:** which?", "QUESTION: …"),
            ("`BLOCKED`: no key", "BLOCKED: …"),
            ("**BLOCKED: no key**", "BLOCKED: …"),
            ("- WAKEUP: 10m", "WAKEUP: …"),
            ("**DONE**", "DONE"),
            ("DONE.", "DONE"),
        ] {
            let Some(Directive::Invalid(text)) = parse(line) else {
                panic!("{line} is not invalid")
            };
            let expected = format!("{line}, which counts only as `{directive}` with nothing around it");
            assert_eq!(text, expected);
        }
        for line in [
            "It is BLOCKED: no key",
            "UNDONE",
            "DONE DONE",
            "(see QUESTION 5): x",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
