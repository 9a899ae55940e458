//! A table of the file, taken apart key by key, each refusal noted at its place.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of a TOML value are not ours: every kind that is not expected is mistyped"
)]

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::money::Usd;

use super::diagnostic::Diagnostic;
use super::price::PerMillion;
use super::{duration, keys};

/// The reader of one file: it gathers the diagnostics.
pub(super) struct Reader<'t> {
    file: &'t str,
    text: &'t str,
    found: Vec<Diagnostic>,
}

/// A value of the file: its key's full name (`run.max_steps`, `agents.names[2]`) and both places.
pub(super) struct Value<'t> {
    pub(super) name: String,
    pub(super) key_span: Range<usize>,
    pub(super) span: Range<usize>,
    value: DeValue<'t>,
}

/// A table of the file. A key that nobody has taken by [`Reader::finish`] is unknown.
pub(super) struct Table<'t> {
    /// As the file has it: `harness.scripted`; empty at the top.
    name: String,
    /// The place of the table in the text.
    span: Range<usize>,
    entries: BTreeMap<String, Value<'t>>,
}

impl Value<'_> {
    /// True if it is a table.
    pub(super) fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// True if it is exactly this string.
    pub(super) fn is_text(&self, text: &str) -> bool {
        self.value.as_str() == Some(text)
    }
}

impl<'t> Table<'t> {
    pub(super) fn new(name: String, span: Range<usize>, table: DeTable<'t>) -> Self {
        let entries = table.into_iter().map(|(key, value)| {
            let (key_span, key) = (key.span(), key.into_inner().into_owned());
            let name = if name.is_empty() {
                shown_key(&key)
            } else {
                format!("{name}.{}", shown_key(&key))
            };
            (
                key,
                Value {
                    name,
                    key_span,
                    span: value.span(),
                    value: value.into_inner(),
                },
            )
        });
        let entries = entries.collect();
        Self { name, span, entries }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Takes a key out.
    pub(super) fn take(&mut self, key: &str) -> Option<Value<'t>> {
        self.entries.remove(key)
    }

    /// Takes every key out: for a table whose keys are names of the user's own.
    pub(super) fn take_all(&mut self) -> BTreeMap<String, Value<'t>> {
        std::mem::take(&mut self.entries)
    }

    /// Takes a key out and puts what it reads as into its place. Absent or refused, the place stays.
    pub(super) fn set<T>(
        &mut self,
        reader: &mut Reader<'_>,
        key: &str,
        place: &mut T,
        read: impl FnOnce(&mut Reader<'_>, Value<'t>) -> Option<T>,
    ) {
        if let Some(value) = self.take(key)
            && let Some(read) = read(reader, value)
        {
            *place = read;
        }
    }
}

impl<'t> Reader<'t> {
    pub(super) fn new(file: &'t str, text: &'t str) -> Self {
        Self {
            file,
            text,
            found: Vec::new(),
        }
    }

    /// Notes a problem.
    pub(super) fn report(&mut self, span: Range<usize>, message: String, hint: Option<String>) {
        self.found
            .push(Diagnostic::new(self.file, self.text, span, message, hint));
    }

    /// The problems, in the order of the text.
    pub(super) fn into_found(mut self) -> Vec<Diagnostic> {
        self.found
            .sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
        self.found
    }

    pub(super) fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    /// Reports what is left in a table. `kind` is the table's name in [`keys::KNOWN`].
    pub(super) fn finish(&mut self, kind: &str, table: Table<'_>) {
        for (key, value) in table.entries {
            let is_table = table.name.is_empty() && matches!(value.value, DeValue::Table(_));
            if let Some(why) = keys::later(kind, &key) {
                let hint = "remove it: nothing would honour it".to_owned();
                let shown = if is_table {
                    format!("[{}]", value.name)
                } else {
                    format!("`{}`", value.name)
                };
                self.report(
                    value.key_span,
                    format!("{shown} is not in this build: {why}"),
                    Some(hint),
                );
                continue;
            }
            if let Some(new) = keys::renamed(kind, &key) {
                self.report(
                    value.key_span,
                    format!("`{}` is now called `{new}`", shown_key(&key)),
                    Some(format!("write `{new}` in its place")),
                );
                continue;
            }
            let message = match (is_table, table.name.as_str()) {
                (true, _) => format!("unknown table [{}]", value.name),
                (false, "") => format!("unknown key `{}`", value.name),
                (false, place) => format!("unknown key `{}` in [{place}]", shown_key(&key)),
            };
            let hint = keys::hint(kind, &table.name, &key);
            self.report(value.key_span, message, Some(hint));
        }
    }

    pub(super) fn table(&mut self, value: Value<'t>) -> Option<Table<'t>> {
        match value.value {
            DeValue::Table(table) => Some(Table::new(value.name, value.span, table)),
            DeValue::Array(ref items) if items.iter().any(|item| item.get_ref().is_table()) => {
                let message = format!("`{}` must be one table, not a list of tables", value.name);
                let hint = format!("write [{0}] instead of [[{0}]]", value.name);
                self.report(value.key_span, message, Some(hint));
                None
            }
            _ => self.mistyped(
                &value,
                "a table",
                format!("write [{}] on a line of its own", value.name),
            ),
        }
    }

    pub(super) fn string(&mut self, value: &Value<'_>) -> Option<String> {
        let DeValue::String(text) = &value.value else {
            return self.mistyped(value, "a string", "put the value in quotes".to_owned());
        };
        if text.contains('\0') {
            let message = format!(
                "`{}` has a NUL character, which no program can be given",
                value.name
            );
            self.report(value.span.clone(), message, None);
            return None;
        }
        Some(text.clone().into_owned())
    }

    /// A string that is not empty or blank.
    pub(super) fn filled(&mut self, value: &Value<'_>) -> Option<String> {
        let text = self.string(value)?;
        if text.trim().is_empty() {
            let hint = Some("fill it in or remove it".to_owned());
            self.report(value.span.clone(), format!("`{}` is empty", value.name), hint);
            return None;
        }
        Some(text)
    }

    pub(super) fn boolean(&mut self, value: &Value<'_>) -> Option<bool> {
        let DeValue::Boolean(boolean) = &value.value else {
            return self.mistyped(value, "true or false", "write it without quotes".to_owned());
        };
        Some(*boolean)
    }

    pub(super) fn whole(&mut self, value: &Value<'_>, range: RangeInclusive<u32>) -> Option<u32> {
        let bounds = format!("a whole number from {} to {}", range.start(), range.end());
        let DeValue::Integer(integer) = &value.value else {
            let hint = match &value.value {
                DeValue::String(text) if text.parse::<u32>().is_ok() => "write it without quotes".to_owned(),
                _ => format!("write it as a number such as {}", range.start().max(&3)),
            };
            return self.mistyped(value, &bounds, hint);
        };
        let number = i128::from_str_radix(integer.as_str(), integer.radix()).ok();
        let number = number
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| range.contains(number));
        if number.is_none() {
            let message = format!(
                "`{}` must be {bounds}, not {}",
                value.name,
                shown(&integer.to_string())
            );
            self.report(value.span.clone(), message, None);
        }
        number
    }

    pub(super) fn duration(&mut self, value: &Value<'_>, zero: Zero) -> Option<Duration> {
        let hint = "write it like \"90s\", \"5m\", \"500ms\" or \"1h30m\"".to_owned();
        let DeValue::String(text) = &value.value else {
            return self.mistyped(value, "a duration in quotes", hint);
        };
        let read = duration::parse(text).and_then(|duration| match zero {
            Zero::Refused if duration.is_zero() => Err("must be longer than nothing"),
            Zero::Refused | Zero::Taken => Ok(duration),
        });
        match read {
            Ok(duration) => Some(duration),
            Err(why) => {
                let message = format!("`{}` = \"{}\" {why}", value.name, shown(text));
                self.report(value.span.clone(), message, Some(hint));
                None
            }
        }
    }

    /// A price of a million tokens.
    pub(super) fn price(&mut self, value: &Value<'_>) -> Option<PerMillion> {
        let hint = "write US dollars per million tokens as a number, such as 3 or 0.25".to_owned();
        let text = match &value.value {
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str(),
            DeValue::Float(float) => float.as_str(),
            _ => return self.mistyped(value, "a number of US dollars", hint),
        };
        let dollars = text.replace('_', "").parse().unwrap_or(f64::NAN);
        match PerMillion::of_dollars(dollars) {
            Ok(price) => Some(price),
            Err(why) => {
                let message = format!("`{}` = {} {why}", value.name, shown(text));
                self.report(value.span.clone(), message, Some(hint));
                None
            }
        }
    }

    /// An amount of money, more than nothing.
    pub(super) fn dollars(&mut self, value: &Value<'_>) -> Option<Usd> {
        let hint = "write US dollars as a number, such as 5 or 0.5".to_owned();
        let read = match &value.value {
            DeValue::Integer(integer) if integer.radix() == 10 => {
                (integer.as_str(), Usd::parse(integer.as_str()))
            }
            DeValue::Float(float) => (float.as_str(), Usd::parse(float.as_str())),
            _ => return self.mistyped(value, "a number of US dollars", hint),
        };
        let (why, hint) = match read {
            (_, Ok(Usd(0))) => (
                "is nothing, and nothing could be started",
                "remove it for no limit".to_owned(),
            ),
            (_, Ok(amount)) => return Some(amount),
            (_, Err(why)) => (why, hint),
        };
        let message = format!("`{}` = {} {why}", value.name, shown(read.0));
        self.report(value.span.clone(), message, Some(hint));
        None
    }

    /// The items of a list. Each item is a value of its own, named by its place from 1.
    pub(super) fn list(&mut self, value: Value<'t>) -> Option<Vec<Value<'t>>> {
        let Value {
            name,
            key_span,
            span,
            value,
        } = value;
        let DeValue::Array(items) = value else {
            let example = match &value {
                DeValue::String(text) if text.len() < 60 => format!("[\"{}\"]", shown(text)),
                _ => "[\"…\"]".to_owned(),
            };
            let hint = format!("put it in brackets: {example}");
            return self.mistyped(
                &Value {
                    name,
                    key_span,
                    span,
                    value,
                },
                "a list of strings",
                hint,
            );
        };
        let items = items
            .into_iter()
            .enumerate()
            .map(|(index, item): (usize, Spanned<DeValue<'t>>)| {
                let (span, value) = (item.span(), item.into_inner());
                Value {
                    name: format!("{name}[{}]", index + 1),
                    key_span: span.clone(),
                    span,
                    value,
                }
            });
        Some(items.collect())
    }

    /// The items of a list, each read by itself; refused ones are reported and left out.
    pub(super) fn each<T>(
        &mut self,
        value: Value<'t>,
        mut read: impl FnMut(&mut Self, Value<'t>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = self.list(value)?;
        Some(items.into_iter().filter_map(|item| read(self, item)).collect())
    }

    /// Reports that a checked string was refused, with the reason as the end of the sentence.
    pub(super) fn refuse(&mut self, value: &Value<'_>, text: &str, why: &str, hint: Option<String>) {
        let message = format!("`{}` = \"{}\" {why}", value.name, shown(text));
        self.report(value.span.clone(), message, hint);
    }

    fn mistyped<T>(&mut self, value: &Value<'_>, wanted: &str, hint: String) -> Option<T> {
        let is = match &value.value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a decimal number",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.report(
            value.span.clone(),
            format!("`{}` must be {wanted}, not {is}", value.name),
            Some(hint),
        );
        None
    }
}

/// Whether a duration may be zero.
#[derive(Clone, Copy)]
pub(super) enum Zero {
    Refused,
    Taken,
}

/// Text of the file for a message: escaped, cut when it is long.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => text::escaped(&text[..end]) + "…",
        None => text::escaped(text),
    }
}

/// A key for a message, in quotes where the file must have it in quotes.
fn shown_key(key: &str) -> String {
    let bare = !key.is_empty()
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if bare {
        shown(key)
    } else {
        format!("\"{}\"", shown(key))
    }
}
