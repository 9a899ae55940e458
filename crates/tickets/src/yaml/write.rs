//! Writing YAML values.

use super::{Value, is_doubtful, is_null, simple, split_comment};

/// Writes a text as a scalar: plain if it reads back as the same text, else in double quotes.
pub(crate) fn scalar(text: &str) -> String {
    let plain = is_plain(text)
        && !text.contains(": ")
        && !text.ends_with(':')
        && simple(text) == Some(Value::Text(text.to_owned()))
        && split_comment(&format!(" {text}")).0.trim() == text;
    if plain { text.to_owned() } else { quoted(text) }
}

/// Writes a list on one line, as tk does: `[a, b]`.
pub(crate) fn list<T: AsRef<str>>(items: &[T]) -> String {
    let written: Vec<String> = items
        .iter()
        .map(AsRef::as_ref)
        .map(|item| {
            let plain = is_plain(item)
                && !item.contains([',', '[', ']', '{', '}', '"', '\'', '#', ':'])
                && !is_null(item);
            if plain { item.to_owned() } else { quoted(item) }
        })
        .collect();
    format!("[{}]", written.join(", "))
}

/// True if every YAML reader takes the text, written plain, as the same text.
fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.trim() == text
        && !text.starts_with([
            '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`',
            '=', '~',
        ])
        && !text.chars().any(is_doubtful)
}

fn quoted(text: &str) -> String {
    // A JSON string is a double-quoted YAML scalar, except for these characters, which YAML wants escaped.
    let json = serde_json::Value::from(text).to_string();
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_doubtful(c) {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}
