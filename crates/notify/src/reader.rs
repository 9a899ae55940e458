//! The tables of `notify.toml`, taken apart key by key, each refusal noted at its place.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of a TOML value are not ours: every kind that is not expected is mistyped"
)]

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use model::settings::{Diagnostic, parse_duration};
use toml::de::{DeTable, DeValue};

/// The reader of one file: it gathers the diagnostics.
pub(crate) struct Reader<'t> {
    file: &'t str,
    text: &'t str,
    found: Vec<Diagnostic>,
}

/// A value of the file: its key, and its place.
pub(crate) struct Value<'t> {
    name: String,
    pub(crate) span: Range<usize>,
    value: DeValue<'t>,
}

/// A table of the file. A key that nobody has taken by [`Reader::finish`] is unknown.
pub(crate) struct Table<'t> {
    /// As a person writes it: `[[to]]`; empty at the top.
    name: &'static str,
    pub(crate) span: Range<usize>,
    entries: BTreeMap<String, (Range<usize>, Value<'t>)>,
}

impl<'t> Table<'t> {
    fn new(name: &'static str, span: Range<usize>, table: DeTable<'t>) -> Self {
        let entries = table.into_iter().map(|(key, value)| {
            let (at, key) = (key.span(), key.into_inner().into_owned());
            let value = Value {
                name: key.clone(),
                span: value.span(),
                value: value.into_inner(),
            };
            (key, (at, value))
        });
        let entries = entries.collect();
        Self { name, span, entries }
    }

    /// Takes a key out.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value<'t>> {
        self.entries.remove(key).map(|(_, value)| value)
    }
}

impl<'t> Reader<'t> {
    /// The reader and the top of a file; its faults where it is no TOML.
    pub(crate) fn open(file: &'t str, text: &'t str) -> Result<(Self, Table<'t>), Vec<Diagnostic>> {
        let mut reader = Self {
            file,
            text,
            found: Vec::new(),
        };
        let (document, broken) = DeTable::parse_recoverable(text);
        for error in broken {
            let span = error.span().unwrap_or(text.len()..text.len());
            let (message, hint) = match error.message() {
                "duplicate key" => ("a key stands here for the second time", "keep one of them"),
                message => (message, "the file must be TOML"),
            };
            reader.report(span, message, hint);
        }
        if !reader.found.is_empty() {
            // A parser that goes on after an error trips over the same line again.
            reader.found.dedup_by_key(|found| found.line);
            return Err(reader.found);
        }
        let top = Table::new("", 0..text.len(), document.into_inner());
        Ok((reader, top))
    }

    /// Notes a problem.
    pub(crate) fn report(&mut self, span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) {
        let found = Diagnostic::new(self.file, self.text, span, message.into(), Some(hint.into()));
        self.found.push(found);
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    /// The problems, in the order of the text.
    pub(crate) fn into_found(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|found| (found.span.start, found.span.end));
        self.found
    }

    /// Reports the keys that nobody has taken. `known` are all that there are.
    pub(crate) fn finish(&mut self, table: Table<'_>, known: &[&str]) {
        for (key, (at, _)) in table.entries {
            let place = match table.name {
                "" => String::new(),
                name => format!(" in {name}"),
            };
            let key = text::escaped(&key);
            let hint = format!("the keys are {}", known.join(", "));
            self.report(at, format!("unknown key `{key}`{place}"), hint);
        }
    }

    /// The tables of a list of tables.
    pub(crate) fn tables(&mut self, name: &'static str, value: Value<'t>) -> Vec<Table<'t>> {
        let DeValue::Array(items) = value.value else {
            self.report(
                value.span,
                format!("`{}` must be a list of tables", value.name),
                format!("write {name} on a line of its own, and its keys below it"),
            );
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in items {
            let span = item.span();
            match item.into_inner() {
                DeValue::Table(table) => tables.push(Table::new(name, span, table)),
                _ => self.report(span, "this must be a table", format!("write {name} instead")),
            }
        }
        tables
    }

    pub(crate) fn string(&mut self, value: &Value<'_>) -> Option<String> {
        let DeValue::String(text) = &value.value else {
            self.mistyped(value, "a string", "put the value in quotes");
            return None;
        };
        if text.contains('\0') {
            self.refuse(
                value,
                "has a NUL character, which no program can be given",
                "remove it",
            );
            return None;
        }
        Some(text.clone().into_owned())
    }

    pub(crate) fn boolean(&mut self, value: &Value<'_>) -> Option<bool> {
        let DeValue::Boolean(boolean) = &value.value else {
            self.mistyped(value, "true or false", "write it without quotes");
            return None;
        };
        Some(*boolean)
    }

    pub(crate) fn duration(&mut self, value: &Value<'_>) -> Option<Duration> {
        let hint = "write it like \"90s\", \"5m\" or \"1h30m\"";
        let DeValue::String(text) = &value.value else {
            self.mistyped(value, "a duration in quotes", hint);
            return None;
        };
        match parse_duration(text) {
            Ok(duration) => Some(duration),
            Err(why) => {
                let why = format!("= \"{}\" {why}", text::escaped(text));
                self.refuse(value, &why, hint);
                None
            }
        }
    }

    /// The strings of a list.
    pub(crate) fn strings(&mut self, value: Value<'t>) -> Option<Vec<(String, Range<usize>)>> {
        let DeValue::Array(items) = value.value else {
            self.mistyped(&value, "a list of strings", "put it in brackets: [\"…\"]");
            return None;
        };
        let name = value.name;
        let items = items.into_iter().map(|item| Value {
            name: name.clone(),
            span: item.span(),
            value: item.into_inner(),
        });
        let items: Vec<_> = items.collect();
        Some(
            items
                .into_iter()
                .filter_map(|item| Some((self.string(&item)?, item.span)))
                .collect(),
        )
    }

    /// Reports that a value is refused: the reason is the end of a sentence that begins with its key.
    pub(crate) fn refuse(&mut self, value: &Value<'_>, why: &str, hint: &str) {
        self.report(value.span.clone(), format!("`{}` {why}", value.name), hint);
    }

    fn mistyped(&mut self, value: &Value<'_>, wanted: &str, hint: &str) {
        let is = match &value.value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a decimal number",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.refuse(value, &format!("must be {wanted}, not {is}"), hint);
    }
}
