//! The YAML value of one key: reading it. Only this module uses the YAML library.
//!
//! tk writes texts unquoted (`assignee: Jo: Smith`), which YAML does not permit. Therefore a text on one
//! line that does not begin like a YAML structure is read as tk reads it, except for characters that YAML
//! does not permit at all. Every other value is parsed as YAML, and anchors, aliases and merge keys are
//! refused.

mod record;
mod write;

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_saphyr::options::MergeKeyPolicy;

use crate::problem::ProblemKind;

pub use record::{Field, Record};
pub(crate) use write::{list, scalar};

/// The most items of a list.
const MAX_ITEMS: usize = 20_000;

/// The deepest nesting of a value.
const MAX_DEPTH: usize = 16;

/// The value of a key of the front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing, `~` or `null`.
    Empty,
    /// A scalar, with its own spelling (`2`, `007`, `yes`).
    Text(String),
    /// A list of scalars.
    List(Vec<String>),
    /// A list of texts and of maps, at least one of which is a map.
    Records(Vec<Record>),
    /// A structure that crew keeps and does not read.
    Other,
}

/// The reason why a value is not valid, and the line, counted from 0 at the line of the key.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) line: usize,
    pub(crate) kind: ProblemKind,
}

impl Fault {
    fn malformed(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            kind: ProblemKind::Malformed(message.into()),
        }
    }
}

/// Parses the value of one entry. `entry` is its whole text from the key on, `first` the rest of its first
/// line after the colon, `lines` the number of its lines.
pub(crate) fn parse(entry: &str, first: &str, lines: usize) -> Result<Value, Fault> {
    check_characters(entry)?;
    let simple = if lines == 1 {
        simple(split_comment(first).0.trim())
    } else {
        None
    };
    let value = simple.map_or_else(|| parsed(entry), Ok)?;
    match value {
        Value::List(items) if items.len() > MAX_ITEMS => Err(too_long()),
        value => Ok(value),
    }
}

/// Refuses characters that YAML does not permit, in the value and in a comment: a value that tk accepts as
/// it is may later be written as YAML, on the same line as the comment.
fn check_characters(entry: &str) -> Result<(), Fault> {
    for (number, line) in entry.split_terminator('\n').enumerate() {
        let line = line.trim_end_matches('\r');
        if let Some(c) = line.chars().find(|c| !is_printable(*c)) {
            return Err(Fault {
                line: number,
                kind: ProblemKind::Unprintable(c),
            });
        }
    }
    Ok(())
}

fn too_long() -> Fault {
    Fault::malformed(0, format!("a list of more than {MAX_ITEMS} items"))
}

/// Refuses a key, given with its colon, that is not valid YAML: its value may later be written as YAML.
pub(crate) fn check_key(written: &str) -> Result<(), Fault> {
    let is_usual_char = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_usual = written.starts_with(is_usual_char)
        && written
            .chars()
            .all(|c| is_usual_char(c) || matches!(c, '-' | ':'));
    if is_usual {
        return Ok(());
    }
    let entry = format!("{written} 1\n");
    read::<IgnoredAny>(&entry)
        .map(|_| ())
        .map_err(|fault| match fault.kind {
            ProblemKind::Malformed(why) if why.contains("merge keys") => Fault::malformed(0, why),
            _ => Fault::malformed(0, "expected `key: value`"),
        })
}

/// True if a character is printable to YAML (c-printable), line ends excluded.
fn is_printable(c: char) -> bool {
    matches!(c, '\t' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// True if YAML readers disagree on a character that is not escaped.
fn is_doubtful(c: char) -> bool {
    c.is_control() || !is_printable(c) || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}')
}

fn simple(text: &str) -> Option<Value> {
    if is_null(text) {
        return Some(Value::Empty);
    }
    if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        if inner.contains(['[', ']', '{', '}', '"', '\'', '\t']) {
            return None;
        }
        let items: Vec<&str> = inner
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .collect();
        let plain = items.len() <= MAX_ITEMS
            && items
                .iter()
                .all(|item| !item.starts_with(['&', '*', '!', '|', '>']));
        return plain.then(|| Value::List(items.into_iter().map(str::to_owned).collect()));
    }
    let structural = text.starts_with(['"', '\'', '[', ']', '{', '}', '|', '>', '&', '*', '!']);
    (!structural).then(|| Value::Text(text.to_owned()))
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn parsed(entry: &str) -> Result<Value, Fault> {
    if let Ok(list) = read::<Vec<Option<String>>>(entry) {
        let items: Vec<String> = list.into_iter().flatten().collect();
        if items.len() > MAX_ITEMS {
            return Err(too_long());
        }
        return Ok(Value::List(items));
    }
    if let Ok(text) = read::<Option<String>>(entry) {
        return Ok(text.map_or(Value::Empty, Value::Text));
    }
    if let Ok(records) = read::<Vec<Record>>(entry) {
        if records.len() > MAX_ITEMS {
            return Err(too_long());
        }
        return Ok(Value::Records(records));
    }
    read::<IgnoredAny>(entry).map(|_| Value::Other)
}

fn read<T: serde::de::DeserializeOwned>(entry: &str) -> Result<T, Fault> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_aliases: 0,
            max_anchors: 0,
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_documents: 1,
            max_nodes: 50_000,
            max_events: 100_000,
            max_merge_keys: 0,
        },
        merge_keys: MergeKeyPolicy::Error,
        with_snippet: false,
    };
    match serde_saphyr::from_str_with_options::<BTreeMap<String, T>>(entry, options) {
        Ok(map) => map
            .into_values()
            .next()
            .ok_or_else(|| Fault::malformed(0, "a key without a name")),
        Err(error) => {
            let line = error
                .location()
                .map_or(0, |at| usize::try_from(at.line()).unwrap_or(1).saturating_sub(1));
            Err(Fault::malformed(line, describe(error.without_snippet())))
        }
    }
}

/// Describes an error to the author of the ticket. The library's position is left out, since it is relative
/// to the entry; the problem has the line of the file.
fn describe(error: &serde_saphyr::Error) -> String {
    use serde_saphyr::budget::BudgetBreach;
    if let serde_saphyr::Error::Budget { breach, .. } = error {
        return match breach {
            BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. } => {
                "anchors and aliases (`&a`, `*a`) are not taken".to_owned()
            }
            BudgetBreach::MergeKeys { .. } => "merge keys (`<<`) are not taken".to_owned(),
            BudgetBreach::Depth { .. } => format!("nested more than {MAX_DEPTH} deep"),
            _ => "the value is too large".to_owned(),
        };
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    if first.contains("recursion limit exceeded") {
        return format!("nested more than {MAX_DEPTH} deep");
    }
    if first.contains("quoted scalar") {
        return if first.contains("trailing content") {
            "text after the closing quote".to_owned()
        } else if first.contains("indentation") || first.contains("document indicator") {
            "a quote that is never closed".to_owned()
        } else {
            "an escape (`\\…`) that YAML does not have".to_owned()
        };
    }
    first
        .rsplit_once(" at line ")
        .map_or(first, |(what, _)| what)
        .to_owned()
}

/// Splits the text after the colon into the value and its comment, which keeps the white space before it.
pub(crate) fn split_comment(text: &str) -> (&str, &str) {
    let mut quote = None;
    let mut before = ' ';
    let mut escaped = false;
    let opens_quoted = |before: char| matches!(before, ' ' | '\t' | '[' | ',' | '{');
    for (at, c) in text.char_indices() {
        match quote {
            Some('"') if escaped => escaped = false,
            Some('"') if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') && opens_quoted(before) && may_quote(text) => quote = Some(c),
            None if c == '#' && matches!(before, ' ' | '\t') => {
                let value = text[..at].trim_end();
                return (value, &text[value.len()..]);
            }
            None => {}
        }
        before = c;
    }
    let value = text.trim_end();
    (value, &text[value.len()..])
}

/// True if quotes have a meaning in a value: only in a quoted text and in a flow collection.
fn may_quote(text: &str) -> bool {
    text.trim_start().starts_with(['"', '\'', '[', '{'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str) -> Value {
        parse(&format!("k: {text}\n"), &format!(" {text}"), 1).unwrap()
    }

    #[test]
    fn values_read_as_tk_or_yaml_reads_them() {
        let text = |t: &str| Value::Text(t.to_owned());
        let list = |items: &[&str]| Value::List(items.iter().map(|i| (*i).to_owned()).collect());
        assert_eq!(value("open # later"), text("open"));
        assert_eq!(value("Jo: Smith"), text("Jo: Smith"));
        assert_eq!(value("it's fine"), text("it's fine"));
        assert_eq!(value("@ada"), text("@ada"));
        assert_eq!(value("007"), text("007"));
        assert_eq!(value("\"a # b\""), text("a # b"));
        assert_eq!(value("'it''s'"), text("it's"));
        assert_eq!(value("\"x\\\"y\" # c"), text("x\"y"));
        assert_eq!(value("~"), Value::Empty);
        assert_eq!(value("[]"), list(&[]));
        assert_eq!(value("[a, b-1,c d] # x"), list(&["a", "b-1", "c d"]));
        assert_eq!(value("[\"a, b\", 'c']"), list(&["a, b", "c"]));
        assert_eq!(value("{a: 1}"), Value::Other);
        let record = |fields: &[(&str, Field)]| {
            let fields = fields
                .iter()
                .map(|(key, field)| ((*key).to_owned(), field.clone()));
            Record::Map(fields.collect())
        };
        let of = |text: &str| Field::Text(text.to_owned());
        let list_of = |items: &[&str]| Field::List(items.iter().map(|i| (*i).to_owned()).collect());
        assert_eq!(
            parse(
                "k:\n- says: It works\n  run: true\n- plain\n- {says: a, run: [b, \"c; d\", 007]}\n",
                "",
                5
            )
            .unwrap(),
            Value::Records(vec![
                record(&[("says", of("It works")), ("run", of("true"))]),
                Record::Text("plain".to_owned()),
                record(&[("says", of("a")), ("run", list_of(&["b", "c; d", "007"]))]),
            ])
        );
        assert_eq!(
            parse("k:\n- a: {b: c}\n", "", 2).unwrap(),
            Value::Other,
            "no deeper structure is read"
        );
        assert_eq!(parse("k:\n- 007\n- b # c\n", "", 3).unwrap(), list(&["007", "b"]));
        assert_eq!(
            parse("k: |\n  two\n  lines\n", " |", 3).unwrap(),
            text("two\nlines\n")
        );
    }

    #[test]
    fn a_wrong_quoted_text_is_described_in_words() {
        for (text, wanted) in [
            ("\"open", "a quote that is never closed"),
            ("'open", "a quote that is never closed"),
            ("\"a\" b", "text after the closing quote"),
            ("\"C:\\q\"", "an escape (`\\…`) that YAML does not have"),
        ] {
            let fault = parse(&format!("k: {text}\n"), &format!(" {text}"), 1).unwrap_err();
            assert_eq!(fault.kind, ProblemKind::Malformed(wanted.to_owned()), "{text}");
        }
    }

    #[test]
    fn bombs_and_broken_values_are_refused_with_their_line() {
        for (entry, line) in [
            ("k: &a [x]\n", 0),
            ("k: *a\n", 0),
            ("k: [a\n", 0),
            ("k: \"open\n", 0),
            ("k:\n  - a\n  - [b\n", 2),
            (
                "k: {a: {b: {c: {d: {e: {f: {g: {h: {i: {j: {k: {l: {m: {n: {o: {p: {q: 1}}}}}}}}}}}}}}}}}\n",
                0,
            ),
        ] {
            let first = entry.lines().next().unwrap().strip_prefix("k:").unwrap();
            let fault = parse(entry, first, entry.lines().count()).unwrap_err();
            assert!(fault.line >= line, "{entry:?} {fault:?}");
            assert!(matches!(fault.kind, ProblemKind::Malformed(why) if !why.is_empty()));
        }
    }

    /// A value that is read as tk reads it may later be written as YAML, with the comment that it had.
    #[test]
    fn a_character_that_is_accepted_is_valid_yaml_too() {
        let few = ('\0'..'\u{300}')
            .chain('\u{2000}'..'\u{2070}')
            .chain([
                '\u{d7ff}',
                '\u{e000}',
                '\u{feff}',
                '\u{fffd}',
                '\u{fffe}',
                '\u{ffff}',
                '\u{10000}',
                '\u{10ffff}',
            ])
            .filter(|c| *c != '\n');
        for c in few {
            let taken = parse(&format!("k: a #b{c}c\n"), &format!(" a #b{c}c"), 1);
            let strict = parsed(&format!("k: \"a\" #b{c}c\n"));
            assert_eq!(taken.is_ok(), strict.is_ok(), "{c:?} {strict:?}");
            if let Err(fault) = taken {
                assert_eq!(fault.kind, ProblemKind::Unprintable(c));
            }
            let inside = parse(&format!("k: a{c}b\n"), &format!(" a{c}b"), 1);
            assert_eq!(inside.is_ok(), strict.is_ok(), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_what_is_read(text in "[ -~é\u{1}\u{85}\u{2028}\u{fffe}\u{ffff}\n\t]{0,30}", items in prop::collection::vec("[ -~é\u{fffe}\n]{1,9}", 0..4)) {
            let written = scalar(&text);
            prop_assert!(!written.contains('\n'));
            let read = parse(&format!("k: {written}\n"), &format!(" {written}"), 1).unwrap();
            prop_assert_eq!(read, Value::Text(text.clone()));
            // Any YAML reader agrees.
            prop_assert_eq!(parsed(&format!("k: {written}\n")).unwrap(), Value::Text(text));
            let written = list(&items);
            let read = parse(&format!("k: {written}\n"), &format!(" {written}"), 1).unwrap();
            prop_assert_eq!(read, Value::List(items));
        }
    }
}
