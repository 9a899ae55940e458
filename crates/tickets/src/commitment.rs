//! The commitments that a ticket's file lists: promises about the work, most with a command that verifies
//! them.

use std::collections::BTreeMap;

use crate::yaml::{Field, Record, Value};

/// A commitment in a ticket's file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Commitment {
    /// The promise in words.
    pub says: String,
    /// The command that verifies it; none where only a person can say that it is met.
    pub run: Option<Run>,
}

/// The command of a commitment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

    /// The commitment that an `acceptance_test` of another form is: nothing verifies it.
    pub(crate) fn unreadable_test() -> Self {
        Self::said("the acceptance test, which cannot be read: `acceptance_test` is one line for the shell")
    }

    /// The commitment that the value of a mistaken key is: nothing verifies it.
    pub(crate) fn under_mistaken_key(key: &str) -> Self {
        Self::said(&crate::clean::clean_line(&format!(
            "what stands under the key `{key}`, which is not read"
        )))
    }

    fn said(says: &str) -> Self {
        Self {
            says: one_line(says),
            run: None,
        }
    }
}

/// A key that crew does not know, and that is meant as one that has commitments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistaken {
    /// `acceptance` and the like, which other tools have for words.
    Words,
    /// `commitment`, `acceptance-test` and the like: a command is lost.
    Commands,
}

/// What the key is meant as; none where crew knows it, or it is like none of ours.
pub(crate) fn mistaken_key(key: &str) -> Option<Mistaken> {
    if matches!(key, "commitments" | "acceptance_test") {
        return None;
    }
    let plain: String = key.to_lowercase().replace(['-', '_', ' '], "");
    match plain.strip_suffix('s').unwrap_or(&plain) {
        "commitment" | "acceptancetest" => Some(Mistaken::Commands),
        "acceptance" | "acceptancecriteria" | "acceptancecriterion" => Some(Mistaken::Words),
        _ => None,
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

/// The text on one line, with single blanks.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_nearly_one_of_ours_is_known_for_a_mistake() {
        for key in ["commitment", "Commitments", "acceptance-test", "acceptance_tests"] {
            assert_eq!(mistaken_key(key), Some(Mistaken::Commands), "{key}");
        }
        for key in ["acceptance", "acceptanceCriteria", "acceptance_criterion"] {
            assert_eq!(mistaken_key(key), Some(Mistaken::Words), "{key}");
        }
        for key in ["commitments", "acceptance_test", "commit", "tests", "accepted"] {
            assert_eq!(mistaken_key(key), None, "{key}");
        }
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
