//! The commitments that a ticket's file lists: promises about the work, most with a command that verifies
//! them.

use std::collections::BTreeMap;

use crate::yaml::{Field, Record, Value};

/// A commitment in a ticket's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commitment {
    /// The promise in words.
    pub says: String,
    /// The command that verifies it; none where only a person can say that it is met.
    pub run: Option<Run>,
}

/// The command of a commitment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// A text for the shell.
    Shell(String),
    /// A program and its arguments.
    Argv(Vec<String>),
}

/// The words of an entry that cannot be read.
const UNREADABLE: &str = "(an entry of `commitments` that cannot be read)";

impl Commitment {
    /// The commitment that `acceptance_test` is.
    pub(crate) fn acceptance_test(run: &str) -> Self {
        Self {
            says: "the acceptance test passes".to_owned(),
            run: Some(Run::Shell(run.to_owned())),
        }
    }

    fn said(says: &str) -> Self {
        Self {
            says: one_line(says),
            run: None,
        }
    }
}

/// The commitments of the key `commitments`, and whether all of it could be read.
pub(crate) fn in_front_matter(value: Option<&Value>) -> (Vec<Commitment>, bool) {
    let unreadable = || Commitment::said(UNREADABLE);
    match value {
        None | Some(Value::Empty) => (Vec::new(), true),
        Some(Value::Text(says)) if !says.trim().is_empty() => (vec![Commitment::said(says)], true),
        Some(Value::Text(_)) => (Vec::new(), true),
        Some(Value::List(items)) => {
            let items = items.iter().filter(|says| !says.trim().is_empty());
            (items.map(|says| Commitment::said(says)).collect(), true)
        }
        Some(Value::Records(records)) => {
            let read: Vec<Option<Commitment>> = records.iter().map(of_record).collect();
            let is_read = read.iter().all(Option::is_some);
            let items = read.into_iter().map(|one| one.unwrap_or_else(unreadable));
            (items.collect(), is_read)
        }
        Some(Value::Other) => (vec![unreadable()], false),
    }
}

fn of_record(record: &Record) -> Option<Commitment> {
    match record {
        Record::Text(says) => Some(Commitment::said(says)).filter(|one| !one.says.is_empty()),
        Record::Map(fields) => of_map(fields),
    }
}

/// A map with a key that is not known cannot be read: it may have been meant as the command.
fn of_map(fields: &BTreeMap<String, Field>) -> Option<Commitment> {
    if fields.keys().any(|key| !matches!(key.as_str(), "says" | "run")) {
        return None;
    }
    let run = match fields.get("run") {
        None => None,
        Some(Field::Text(text)) if text.trim().is_empty() => return None,
        Some(Field::Text(text)) => Some(Run::Shell(text.trim().to_owned())),
        Some(Field::List(words)) if words.first().is_none_or(String::is_empty) => return None,
        Some(Field::List(words)) => Some(Run::Argv(words.clone())),
    };
    let says = match (fields.get("says"), &run) {
        (Some(Field::Text(says)), _) if !says.trim().is_empty() => one_line(says),
        (None, Some(Run::Shell(text))) => one_line(text),
        (None, Some(Run::Argv(words))) => words.join(" "),
        (Some(_) | None, _) => return None,
    };
    Some(Commitment { says, run })
}

/// The commitments under `## Acceptance Criteria`: each item of a list with a code span that begins with
/// `$ `. Nothing else is a command: a person reads the other items.
pub(crate) fn in_criteria(text: &str) -> Vec<Commitment> {
    let mut fence = None;
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => found.extend(item(line).and_then(of_item)),
            (Some(_), _) => {}
        }
    }
    found
}

/// The text of an item of a list, without its mark and its box.
fn item(line: &str) -> Option<&str> {
    let bullet = line.strip_prefix(['-', '*', '+']);
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix(['.', ')']).filter(|_| rest.len() < line.len())
    };
    let text = bullet.or_else(numbered)?.strip_prefix([' ', '\t'])?.trim();
    let unboxed = ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|mark| text.strip_prefix(mark));
    Some(unboxed.unwrap_or(text).trim())
}

fn of_item(text: &str) -> Option<Commitment> {
    let run = code_spans(text).find_map(|span| Some(span.strip_prefix("$ ")?.trim()))?;
    (!run.is_empty()).then(|| Commitment {
        says: text.to_owned(),
        run: Some(Run::Shell(run.to_owned())),
    })
}

/// The code spans of a line: each between two runs of as many backticks.
fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find('`')?..];
            let width = rest.len() - rest.trim_start_matches('`').len();
            let (open, after) = rest.split_at(width);
            let mut at = 0;
            let end = loop {
                let Some(found) = after[at..].find('`').map(|found| at + found) else {
                    break None;
                };
                let run = after[found..].len() - after[found..].trim_start_matches('`').len();
                if run == open.len() {
                    break Some(found);
                }
                at = found + run;
            };
            rest = after;
            if let Some(end) = end {
                rest = &after[end + width..];
                return Some(&after[..end]);
            }
        }
    })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_code_span_that_begins_with_a_dollar_is_a_command() {
        let text = "It works.\n\n- [ ] The page says hello: `$ grep hello page`\n* run `make` by hand\n1. all of it ``$ echo `date` ``\n\
                    - `not` but `$ true`\n`$ false`\n```\n- `$ false`\n```\n- a lone ` and `$ `\n";
        let found = in_criteria(text);
        let commands: Vec<_> = found.iter().map(|one| one.run.clone().unwrap()).collect();
        let shell = |text: &str| Run::Shell(text.to_owned());
        assert_eq!(
            commands,
            [shell("grep hello page"), shell("echo `date`"), shell("true")]
        );
        assert_eq!(found[0].says, "The page says hello: `$ grep hello page`");
    }

    #[test]
    fn an_entry_that_cannot_be_read_is_a_commitment_that_nothing_verifies() {
        let text = |text: &str| Field::Text(text.to_owned());
        let map = |fields: &[(&str, Field)]| {
            let fields = fields
                .iter()
                .map(|(key, field)| ((*key).to_owned(), field.clone()));
            Record::Map(fields.collect())
        };
        let argv = Field::List(vec!["test".to_owned(), "-e".to_owned(), "a".to_owned()]);
        let records = vec![
            map(&[("says", text("It is  there")), ("run", argv)]),
            map(&[("run", text("make test"))]),
            map(&[("says", text("x")), ("comand", text("false"))]),
            Record::Text("a person looks".to_owned()),
        ];
        let (read, is_read) = in_front_matter(Some(&Value::Records(records)));
        assert!(!is_read);
        let says: Vec<&str> = read.iter().map(|one| one.says.as_str()).collect();
        assert_eq!(says, ["It is there", "make test", UNREADABLE, "a person looks"]);
        assert_eq!(read[1].run, Some(Run::Shell("make test".to_owned())));
        assert_eq!((&read[2].run, &read[3].run), (&None, &None));
        assert_eq!(in_front_matter(Some(&Value::Other)).0.len(), 1);
    }
}
