//! Target `front-matter`: an unchanged ticket's file keeps every byte, and a change of one key changes
//! nothing else.

use std::path::Path;

use tickets::{Document, Id, Stamp, Ticket, Value};

use crate::shown;

pub(crate) fn check(bytes: &[u8]) {
    let document = match Document::parse(Path::new("t-1.md"), bytes) {
        Ok(document) => document,
        Err(problem) => {
            let lines = bytes.split(|byte| *byte == b'\n').count();
            assert!(
                problem.line.is_none_or(|line| (1..=lines).contains(&line)),
                "{problem:?}"
            );
            shown::one_line(&problem.to_string());
            assert!(!problem.hint().is_empty(), "{problem:?}");
            return;
        }
    };
    assert_eq!(
        document.render(),
        bytes,
        "an unchanged document renders its bytes"
    );
    text(&document);
    let keys: Vec<(String, Value)> = document
        .keys()
        .map(|(key, value)| (key.to_owned(), value.clone()))
        .collect();
    for (key, value) in &keys {
        setting_the_same_value(&document, key, value);
    }
    let texts = [
        "closed",
        "Jo: Smith",
        "# no comment",
        "a\nb",
        "",
        "~",
        "[a, b]",
        "\"'",
        "2",
        " x ",
    ];
    let pick = bytes
        .iter()
        .fold(0usize, |sum, byte| sum.wrapping_add(usize::from(*byte)));
    let text = texts[pick % texts.len()];
    let names = ["status", "new-key"]
        .into_iter()
        .chain(keys.first().map(|(key, _)| key.as_str()));
    for key in names {
        let mut changed = document.clone();
        changed.set_text(key, text);
        other_keys(&document, &changed, key);
        assert_eq!(
            changed.get(key),
            Some(&Value::Text(text.to_owned())),
            "{key} of {}",
            changed.text()
        );
        let mut changed = document.clone();
        changed.set_list(key, &["a-1", "b: c", "d, e"]);
        other_keys(&document, &changed, key);
        let mut changed = document.clone();
        changed.remove(key);
        other_keys(&document, &changed, key);
        assert_eq!(changed.get(key), None, "{key} of {}", changed.text());
    }
    let mut longer = document.clone();
    longer.append("\n**note**\n\nDONE\n---\nstatus: closed\n");
    assert!(longer.render().starts_with(bytes), "the old text stays");
    other_keys(&document, &longer, "");
}

/// Panics unless what is read of the text can be shown.
fn text(document: &Document) {
    let Ok(id) = Id::new("t-1") else { return };
    let ticket = Ticket::read(id, Path::new("t-1.md"), document.clone(), Stamp::default());
    for one in &ticket.commitments {
        shown::one_line(&one.says);
    }
    for problem in &ticket.problems {
        shown::one_line(&problem.to_string());
    }
}

/// Panics unless setting a key to its current value changes no byte.
fn setting_the_same_value(document: &Document, key: &str, value: &Value) {
    let mut same = document.clone();
    match value {
        Value::Text(text) => same.set_text(key, text),
        Value::List(items) => same.set_list(key, items),
        Value::Empty | Value::Records(_) | Value::Other => return,
    }
    assert_eq!(same, *document, "{key} set to its own value");
}

/// Panics unless all other keys and the body are unchanged, and the new document reads back as it is in
/// memory.
#[track_caller]
fn other_keys(before: &Document, after: &Document, key: &str) {
    let others = |document: &Document| -> Vec<(String, Value)> {
        let keys = document.keys().filter(|(name, _)| *name != key);
        keys.map(|(name, value)| (name.to_owned(), value.clone()))
            .collect()
    };
    assert_eq!(others(before), others(after), "{}", after.text());
    assert!(after.body().starts_with(before.body()), "{}", after.text());
    let again = Document::parse(Path::new("t-1.md"), after.render());
    assert_eq!(again.as_ref(), Ok(after), "{}", after.text());
}
