//! The verdict of a gatekeeper: the last line of its output that is not empty.
//!
//! ```text
//! {"crew":"verdict","verdict":"approve","acceptance_test":"make check","feedback":"…"}
//! {"crew":"verdict","verdict":"reject","reason":"…","feedback":"…"}
//! {"crew":"verdict","verdict":"fail","reason":"…"}
//! ```
//!
//! Only the last line counts: a file under review that the gatekeeper prints may hold such a line.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::sanitise;

/// The most characters of each text of a verdict.
const LONGEST: usize = 4000;

/// A gatekeeper's verdict. Texts are sanitised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The work may land.
    Approve {
        /// The way in which the gatekeeper tested the work; not empty.
        acceptance_test: String,
        /// Its advice; may be empty.
        feedback: String,
    },
    /// The work goes back.
    Reject {
        /// The reason; not empty.
        reason: String,
        /// Its advice; may be empty.
        feedback: String,
    },
    /// The task cannot be done.
    Fail {
        /// The reason; not empty.
        reason: String,
    },
}

/// The last line of an output, as far as it is a verdict.
#[derive(Debug, Default)]
pub(crate) struct LastLine {
    verdict: Option<Verdict>,
}

impl LastLine {
    /// The next line of the output.
    pub(crate) fn push(&mut self, line: &str) {
        if !line.trim().is_empty() {
            self.verdict = parse(line).and_then(Result::ok);
        }
    }

    /// The output goes on in a way that takes back its last line.
    pub(crate) fn clear(&mut self) {
        self.verdict = None;
    }

    /// The verdict that the output ends with so far.
    pub(crate) fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }
}

/// Parses a line; `None` when it is not meant as a verdict, and what is wrong with one that does not count.
pub(crate) fn parse(line: &str) -> Option<Result<Verdict, String>> {
    let line = line.trim();
    if !line.starts_with('{') || !line.contains("\"crew\"") {
        return None;
    }
    let value: Value = serde_json::from_str(line).ok()?;
    (value.get("crew").and_then(Value::as_str) == Some("verdict")).then(|| of(&value))
}

fn of(value: &Value) -> Result<Verdict, String> {
    let text = |key: &str| match value.get(key) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(told(text)),
        Some(_) => Err(format!("\"{key}\" is no text")),
    };
    let filled = |key: &str| match text(key)? {
        text if text.is_empty() => Err(format!("\"{key}\" is missing or empty")),
        text => Ok(text),
    };
    match value.get("verdict").and_then(Value::as_str) {
        Some("approve") => Ok(Verdict::Approve {
            acceptance_test: filled("acceptance_test")?,
            feedback: text("feedback")?,
        }),
        Some("reject") => Ok(Verdict::Reject {
            reason: filled("reason")?,
            feedback: text("feedback")?,
        }),
        Some("fail") => Ok(Verdict::Fail {
            reason: filled("reason")?,
        }),
        _ => Err("\"verdict\" is none of approve, reject and fail".to_owned()),
    }
}

fn told(text: &str) -> String {
    let text: String = text.chars().take(LONGEST).collect();
    sanitise::prompt(&text).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(line: &str) -> Option<Verdict> {
        parse(line).and_then(Result::ok)
    }

    #[test]
    fn each_verdict_needs_its_words() {
        let approve =
            r#"{"crew":"verdict","verdict":"approve","acceptance_test":" make check ","feedback":"good"}"#;
        let approved = Verdict::Approve {
            acceptance_test: "make check".to_owned(),
            feedback: "good".to_owned(),
        };
        assert_eq!(verdict(approve), Some(approved));
        for malformed in [
            r#"{"crew":"verdict","verdict":"approve"}"#,
            r#"{"crew":"verdict","verdict":"approve","acceptance_test":"  "}"#,
            r#"{"crew":"verdict","verdict":"reject","feedback":"no"}"#,
            r#"{"crew":"verdict","verdict":"fail","reason":7}"#,
            r#"{"crew":"verdict","verdict":"maybe","reason":"so"}"#,
            r#"{"crew":"verdict"}"#,
        ] {
            assert!(
                parse(malformed).is_some_and(|parsed| parsed.is_err()),
                "{malformed}"
            );
        }
        for other in [
            "DONE",
            "{}",
            r#"{"crew":"usage"}"#,
            r#"{"crew":"verdict","#,
            "approve",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn only_the_last_line_that_is_not_empty_counts() {
        let reject = r#"{"crew":"verdict","verdict":"reject","reason":"no"}"#;
        let mut last = LastLine::default();
        last.push(reject);
        last.push("");
        assert!(last.verdict().is_some());
        last.push("and so on");
        assert_eq!(last.verdict(), None);
    }
}
