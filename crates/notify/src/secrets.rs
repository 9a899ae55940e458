//! Secrets: values that agents and checks get in their environment, and that no message may have.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

use model::settings::Settings;
use serde_json::Value;

/// The shortest value that is looked for: a shorter one stands in many a text by chance.
const SHORTEST: usize = 8;
/// The text in its place.
const REMOVED: &str = "[removed]";

/// The values, the longest first.
#[derive(Debug, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// The values that the settings of a repository give to agents and checks, and those of variables that
    /// are handed on by name. A path and a word are no secret.
    pub(crate) fn of<'s>(
        settings: &'s Settings,
        names: impl Iterator<Item = &'s String>,
        env: &BTreeMap<OsString, OsString>,
    ) -> Self {
        let harnesses = settings.harness.values();
        let given = harnesses.clone().flat_map(|harness| harness.env.values());
        let given = given.chain(settings.checks.env.values()).cloned();
        let names = harnesses
            .flat_map(|harness| &harness.pass_env)
            .chain(&settings.checks.pass_env)
            .chain(names);
        let passed = names.filter_map(|name| env.get(OsStr::new(name))?.to_str().map(str::to_owned));
        let is_one = |value: &String| {
            value.len() >= SHORTEST
                && !value.starts_with('/')
                && !value.bytes().all(|byte| byte.is_ascii_alphabetic())
        };
        let values: BTreeSet<String> = given.chain(passed).filter(is_one).collect();
        let mut values: Vec<String> = values.into_iter().collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// A text without them.
    pub(crate) fn removed(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in &self.0 {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), REMOVED);
            }
        }
        text
    }

    /// A document without them.
    pub(crate) fn removed_from(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.removed(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.removed_from(item)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(key, value)| (key, self.removed_from(value)))
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }
}
