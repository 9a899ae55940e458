//! The line by which an agent adds a commitment to its ticket, alone on a line of its output:
//!
//! ```text
//! {"crew":"commitment","says":"…","run":["program","argument",…]}
//! ```

use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::sanitise;

/// The most commitments that one step may add.
pub(crate) const MOST: usize = 20;
/// The most words of a command.
const MOST_WORDS: usize = 100;
/// The most bytes of a command.
const MOST_BYTES: usize = 8 * 1024;

/// A commitment that an agent has made: its work is to be verified by this command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commitment {
    /// The promise in words, sanitised.
    pub says: String,
    /// The program and its arguments. No shell reads them.
    pub run: Vec<String>,
}

/// Parses a line; `None` when it is not meant as a commitment. A fault is not sanitised.
pub(crate) fn parse(line: &str) -> Option<Result<Commitment, String>> {
    let line = line.trim_end_matches([' ', '\t', '\r']);
    if !(line.starts_with('{') && line.contains("\"crew\"") && line.contains("\"commitment\"")) {
        return None;
    }
    match crate::json::value::<Value>(line) {
        // Whatever else stands in an agent's own JSON is text.
        Ok(value) if value.get("crew").and_then(Value::as_str) != Some("commitment") => None,
        Ok(value) => Some(read(&value)),
        Err(error) => Some(Err(format!("it is no JSON: {error}"))),
    }
}

fn read(value: &Value) -> Result<Commitment, String> {
    let says = value.get("says").and_then(Value::as_str).unwrap_or_default();
    let says = sanitise::excerpt(says);
    if says.is_empty() {
        return Err("no \"says\" says what is promised".to_owned());
    }
    match command(value) {
        Ok(run) => Ok(Commitment { says, run }),
        // Of several commitments the agent has to know which one is meant.
        Err(why) => Err(format!("{why} (“{}”)", sanitise::fit(&says, 80))),
    }
}

/// The program of a commitment and its arguments.
fn command(value: &Value) -> Result<Vec<String>, String> {
    let words = match value.get("run") {
        None => return Err("no \"run\" has the command that verifies it".to_owned()),
        Some(Value::Array(words)) => words,
        Some(_) => {
            return Err(
                "\"run\" is a list, the program and each argument for itself: crew runs no shell for it"
                    .to_owned(),
            );
        }
    };
    let words: Option<Vec<String>> = words
        .iter()
        .map(|word| word.as_str().map(str::to_owned))
        .collect();
    let Some(run) = words.filter(|words| words.first().is_some_and(|program| !program.is_empty())) else {
        return Err("\"run\" is not a program and its arguments, each a text".to_owned());
    };
    if run.len() > MOST_WORDS || run.iter().map(String::len).sum::<usize>() > MOST_BYTES {
        return Err(format!(
            "\"run\" is longer than {MOST_WORDS} words or {MOST_BYTES} bytes"
        ));
    }
    // A person who reads the command must see all of it.
    if run.iter().any(|word| word.chars().any(is_unseen)) {
        return Err("\"run\" has a character in it that nobody would see".to_owned());
    }
    Ok(run)
}

fn is_unseen(character: char) -> bool {
    character.is_control() || text::hides(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commitment_is_a_text_and_an_argument_vector() {
        let line = r#"{"crew":"commitment","says":"it \u001b[31mworks","run":["test","-e","a; touch b"]}"#;
        let read = parse(line).unwrap().unwrap();
        assert_eq!(read.says, "it works");
        assert_eq!(read.run, ["test", "-e", "a; touch b"]);
    }

    #[test]
    fn a_shell_line_and_every_other_fault_is_named() {
        for (rest, fault) in [
            (r#""says":"x","run":"make test""#, "crew runs no shell"),
            (r#""says":"x","run":[]"#, "not a program"),
            (r#""says":"x","run":["a",1]"#, "not a program"),
            (r#""says":"x","run":["a\u0000"]"#, "nobody would see"),
            (r#""says":" ","run":["a"]"#, "no \"says\""),
            (r#""says":"x""#, "no \"run\""),
            (r#""says":"x","run":["a""#, "no JSON"),
        ] {
            let line = format!("{{\"crew\":\"commitment\",{rest}}}");
            let line = if fault == "no JSON" {
                line.trim_end_matches('}')
            } else {
                &line
            };
            let why = parse(line).unwrap().unwrap_err();
            assert!(why.contains(fault), "{line}: {why}");
        }
        assert_eq!(parse(r#"{"crew":"usage","note":"commitment"}"#), None);
        assert_eq!(parse(r#" {"crew":"commitment"}"#), None);
    }
}
