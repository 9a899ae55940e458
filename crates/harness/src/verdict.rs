//! The verdict of a gatekeeper: the last line of its output that is not empty.
//!
//! ```text
//! {"crew":"verdict","run_id":"…","verdict":"approve","acceptance_test":"make check","met":[2]}
//! {"crew":"verdict","run_id":"…","verdict":"reject","reason":"…","feedback":"…"}
//! {"crew":"verdict","run_id":"…","verdict":"fail","reason":"…"}
//! ```
//!
//! Only the last line counts, and only with the id of its own run: a file under review that the gatekeeper
//! prints may hold such a line, and no file can hold the id of a run that began after it was written.

use std::collections::BTreeSet;

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
        /// The numbers of the commitments that it names as met.
        #[serde(default)]
        met: Vec<u32>,
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

/// A line that was meant as a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// The id of the run that the line names; empty where it names none.
    pub run_id: String,
    /// The verdict, or the reason for which the line is none.
    pub verdict: Result<Verdict, String>,
}

impl Given {
    /// The verdict that the gatekeeper of this run has given.
    ///
    /// # Errors
    /// The reason for which it is none, in words.
    pub fn of_run(&self, run_id: &str) -> Result<&Verdict, String> {
        if self.run_id.is_empty() {
            return Err("it has no \"run_id\" with the value of CREW_RUN_ID".to_owned());
        }
        if self.run_id != run_id {
            return Err("its \"run_id\" is not the value of CREW_RUN_ID".to_owned());
        }
        self.verdict.as_ref().map_err(Clone::clone)
    }
}

/// The last line of an output, as far as it was meant as a verdict.
#[derive(Debug, Default)]
pub(crate) struct LastLine {
    given: Option<Given>,
}

impl LastLine {
    /// The next line of the output.
    pub(crate) fn push(&mut self, line: &str) {
        if !line.trim().is_empty() {
            self.given = parse(line);
        }
    }

    /// The output goes on in a way that takes back its last line.
    pub(crate) fn clear(&mut self) {
        self.given = None;
    }

    /// The line that the output ends with so far, where it was meant as a verdict.
    pub(crate) fn given(&self) -> Option<&Given> {
        self.given.as_ref()
    }
}

/// Parses a line; `None` when it is not meant as a verdict.
pub(crate) fn parse(line: &str) -> Option<Given> {
    let line = line.trim();
    if !line.starts_with('{') || !line.contains("\"crew\"") {
        return None;
    }
    let value: Value = crate::json::value(line).ok()?;
    let run_id = value.get("run_id").and_then(Value::as_str).unwrap_or_default();
    (value.get("crew").and_then(Value::as_str) == Some("verdict")).then(|| Given {
        run_id: run_id.to_owned(),
        verdict: of(&value),
    })
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
            met: numbers(value.get("met"))?,
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

/// The numbers of commitments, each once.
fn numbers(value: Option<&Value>) -> Result<Vec<u32>, String> {
    let listed = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(listed)) => listed,
        Some(_) => return Err("\"met\" is no list of the numbers of commitments".to_owned()),
    };
    let number = |one: &Value| one.as_u64().and_then(|number| u32::try_from(number).ok());
    let numbers: Option<BTreeSet<u32>> = listed.iter().map(number).collect();
    let numbers = numbers.ok_or_else(|| "\"met\" holds something else than numbers".to_owned())?;
    Ok(numbers.into_iter().collect())
}

fn told(text: &str) -> String {
    let text: String = text.chars().take(LONGEST).collect();
    sanitise::prompt(&text).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(line: &str) -> Option<Verdict> {
        parse(line).and_then(|given| given.verdict.ok())
    }

    #[test]
    fn each_verdict_needs_its_words() {
        let approve = r#"{"crew":"verdict","verdict":"approve","acceptance_test":" make check ","met":[3,1,3],"feedback":"good"}"#;
        let approved = Verdict::Approve {
            acceptance_test: "make check".to_owned(),
            met: vec![1, 3],
            feedback: "good".to_owned(),
        };
        assert_eq!(verdict(approve), Some(approved));
        for malformed in [
            r#"{"crew":"verdict","verdict":"approve"}"#,
            r#"{"crew":"verdict","verdict":"approve","acceptance_test":"  "}"#,
            r#"{"crew":"verdict","verdict":"approve","acceptance_test":"x","met":"all"}"#,
            r#"{"crew":"verdict","verdict":"approve","acceptance_test":"x","met":[-1]}"#,
            r#"{"crew":"verdict","verdict":"reject","feedback":"no"}"#,
            r#"{"crew":"verdict","verdict":"fail","reason":7}"#,
            r#"{"crew":"verdict","verdict":"maybe","reason":"so"}"#,
            r#"{"crew":"verdict"}"#,
        ] {
            assert!(
                parse(malformed).is_some_and(|given| given.verdict.is_err()),
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
        assert!(last.given().is_some());
        last.push("and so on");
        assert_eq!(last.given(), None);
    }

    #[test]
    fn a_verdict_counts_for_the_run_that_it_names() {
        let of = |run_id: &str| {
            let line = format!(r#"{{"crew":"verdict",{run_id}"verdict":"fail","reason":"no"}}"#);
            let given = parse(&line).unwrap();
            given.of_run("t-1.2.1").map(drop)
        };
        assert_eq!(of(r#""run_id":"t-1.2.1","#), Ok(()));
        for forged in [r#""run_id":"t-1.1.1","#, r#""run_id":"","#, r#""run_id":7,"#, ""] {
            assert!(of(forged).unwrap_err().contains("CREW_RUN_ID"), "{forged}");
        }
    }
}
