//! `[checks]`: what must pass before work lands, and in which surroundings.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::duration;
use super::parse::{inner_path, section, variable, variables};
use super::reader::{Reader, Table, Value, Zero};

/// `[checks]`: what must pass, on the merged result in a clean checkout, before work lands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Checks {
    /// Shell commands that set up the check checkout. They run in a fresh one, and again in a fresh one when
    /// something that they depend on has changed: a manifest or lock file that crew knows, a file of
    /// `setup_inputs`, a file of the repository that they name, a submodule's commit, the commands
    /// themselves, or the environment. Where the repository has none of these files, they run for every
    /// commit. Files that they make stay until then.
    pub setup: Vec<String>,
    /// Files, and folders with all that is in them, relative to the repository's root, that the set-up
    /// depends on beside the manifests and lock files that crew knows (docs/settings.md lists those).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub setup_inputs: Vec<String>,
    /// Ignored folders that stay in the check checkout from one candidate to the next, such as `"target"`:
    /// every other file that is not the commit's, and was not made by `setup`, is removed. A name without `/`
    /// means each folder of that name, wherever it stands. They go when the set-up runs anew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub keep: Vec<String>,
    /// Variables added to the environment of set-up and checks.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub env: BTreeMap<String, String>,
    /// Names of variables of crew's own environment that set-up and checks get, beside those which toolchains
    /// need, such as CARGO_HOME and JAVA_HOME (docs/settings.md lists them).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub pass_env: Vec<String>,
    /// Programs, each with its arguments, whose answers name the toolchain: `["rustc", "--version"]`. They
    /// are asked when an engine starts, and when the settings change. If one answers otherwise, everything is
    /// set up and checked anew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Vec<String>>")]
    pub toolchain: Vec<Vec<String>>,
    /// The longest that one command may take.
    #[serde(serialize_with = "duration::serialize")]
    #[schemars(with = "duration::Text")]
    pub timeout: Duration,
    /// What is done about a command that is known to run tests and passes although crew has broken the
    /// sources on purpose: it looks at another tree.
    pub blind: Blind,
    /// Shell commands run in order, in the same files; all must pass. With none, nothing guards the target.
    pub commands: Vec<String>,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            setup: Vec::new(),
            setup_inputs: Vec::new(),
            keep: Vec::new(),
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            toolchain: Vec::new(),
            timeout: Duration::from_mins(5),
            blind: Blind::Refuse,
            commands: Vec::new(),
        }
    }
}

/// The reaction to a check that does not look at the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Blind {
    /// No agent is started.
    #[default]
    Refuse,
    /// Nobody tries whether the checks look at the tree.
    Allow,
}

pub(super) fn read<'t>(reader: &mut Reader<'t>, mut table: Table<'t>) -> Checks {
    let mut checks = Checks::default();
    let mut list = |key, read: fn(&mut Reader<'t>, Value<'t>) -> Option<String>| {
        let listed = table.take(key).and_then(|value| reader.each(value, read));
        listed.unwrap_or_default()
    };
    checks.setup = list("setup", |r, v| r.filled(&v));
    checks.setup_inputs = list("setup_inputs", |r, v| set_up_input(r, &v));
    checks.keep = list("keep", |r, v| kept_folder(r, &v));
    checks.commands = list("commands", |r, v| r.filled(&v));
    checks.pass_env = list("pass_env", |r, v| variable(r, &v));
    if let Some(listed) = table.take("toolchain") {
        checks.toolchain = reader.each(listed, program).unwrap_or_default();
    }
    if let Some(env) = section(reader, &mut table, "env") {
        checks.env = variables(reader, env);
    }
    table.set(reader, "timeout", &mut checks.timeout, |r, v| {
        r.duration(&v, Zero::Refused)
    });
    table.set(reader, "blind", &mut checks.blind, |r, v| {
        let blind = r.string(&v)?;
        match blind.as_str() {
            "refuse" => Some(Blind::Refuse),
            "allow" => Some(Blind::Allow),
            _ => {
                let hint = Some("`refuse` or `allow`".to_owned());
                r.refuse(&v, &blind, "is no reaction to a blind check", hint);
                None
            }
        }
    });
    reader.finish("checks", table);
    checks
}

/// A program and its arguments.
fn program<'t>(reader: &mut Reader<'t>, value: Value<'t>) -> Option<Vec<String>> {
    let (name, span) = (value.name.clone(), value.span.clone());
    let words = reader.each(value, |r, v| r.filled(&v))?;
    let (why, hint) = match words.first() {
        None => ("names no program", "name one like [\"rustc\", \"--version\"]"),
        Some(first) if first.contains('/') && !first.starts_with('/') => (
            "is a program by a relative path, and an agent could have written that file",
            "name a program that is on the PATH of checks, or its whole path",
        ),
        Some(_) => return Some(words),
    };
    reader.report(span, format!("`{name}` {why}"), Some(hint.to_owned()));
    None
}

fn set_up_input(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<String> {
    let why = "is a pattern, and inputs of the set-up are taken literally";
    literal_path(
        reader,
        value,
        why,
        "name a file, or a folder for all that is in it",
    )
}

fn kept_folder(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<String> {
    let why = "is a pattern, and folders to keep are taken literally";
    literal_path(
        reader,
        value,
        why,
        "name a folder: without `/`, each folder of that name is kept",
    )
}

/// A path inside of the repository that is no pattern.
pub(super) fn literal_path(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    why: &str,
    hint: &str,
) -> Option<String> {
    let path = inner_path(reader, value)?;
    if path.contains(['*', '?', '[']) || path.starts_with('!') {
        reader.refuse(value, &path, why, Some(hint.to_owned()));
        return None;
    }
    Some(path)
}
