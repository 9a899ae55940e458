//! `[[check]]`: a check with a name and limits of its own.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::checks::literal_path;
use super::reader::{Reader, Table, Value, Zero};
use super::{duration, names};
use crate::ticket::TestCount;

/// `[[check]]`: a check with a name and limits of its own. These run after `[checks] commands`, in their
/// order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Check {
    /// Its name, by which crew shows it: letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// The shell command that must pass.
    pub command: String,
    /// Files, and folders with all that is in them, relative to the repository's root. The check is skipped
    /// for work that changes none of them; without any, it runs for all work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, with = "Vec<String>")]
    pub paths: Vec<String>,
    /// The longest that it may take; without it, the `timeout` of `[checks]`.
    #[serde(serialize_with = "of_its_own", skip_serializing_if = "Option::is_none")]
    #[schemars(default, with = "duration::Text")]
    pub timeout: Option<Duration>,
    /// The way in which the tests that it ran are counted: `"auto"` reads the output of the runners that crew
    /// knows, `"none"` counts nothing, and a regular expression finds the number in its first group. Where
    /// the target's last pass ran some, work with which it runs none does not pass.
    #[serde(serialize_with = "as_text", skip_serializing_if = "TestCount::is_auto")]
    #[schemars(default, with = "String")]
    pub tests: TestCount,
    /// How often a failure is repeated, in files that are made anew: a check that passes then counts as
    /// passed, and is recorded as flaky.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(default, range(min = 0, max = 10))]
    pub retry: u32,
}

fn as_text<S: serde::Serializer>(tests: &TestCount, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match tests {
        TestCount::Auto => "auto",
        TestCount::None => "none",
        TestCount::Pattern(pattern) => pattern,
    })
}

/// The most repeats of a check: more of them hide a test that is broken.
const MAX_RETRY: u32 = 10;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[expect(clippy::ref_option, reason = "the signature is serde's")]
fn of_its_own<S: serde::Serializer>(timeout: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match timeout {
        Some(timeout) => duration::serialize(timeout, serializer),
        None => serializer.serialize_none(),
    }
}

impl Check {
    /// Whether work that changes these paths needs it.
    pub fn is_touched<'p>(&self, mut changed: impl Iterator<Item = &'p str>) -> bool {
        self.paths.is_empty() || changed.any(|path| self.paths.iter().any(|of| is_in(path, of)))
    }

    /// The paths of its filter that hold none of these files.
    pub fn paths_without<'p>(&self, files: &(impl Iterator<Item = &'p str> + Clone)) -> Vec<&str> {
        let has_none = |of: &&String| !files.clone().any(|path| is_in(path, of));
        self.paths.iter().filter(has_none).map(String::as_str).collect()
    }
}

/// Whether a path is this file, or one in this folder.
pub(super) fn is_in(path: &str, of: &str) -> bool {
    path.strip_prefix(of)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Reads all of them; those that are refused are left out.
pub(super) fn read<'t>(reader: &mut Reader<'t>, value: Value<'t>) -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    for table in reader.tables(value).unwrap_or_default() {
        let Some((check, name_span)) = one(reader, table) else {
            continue;
        };
        if checks.iter().any(|other| other.name == check.name) {
            let message = format!("a second [[check]] has the name \"{}\"", check.name);
            let hint = "verdicts are shown by the names of checks: give each one of its own".to_owned();
            reader.report(name_span, message, Some(hint));
            continue;
        }
        checks.push(check);
    }
    checks
}

/// Reads one of them, with the place of its name.
fn one<'t>(reader: &mut Reader<'t>, mut table: Table<'t>) -> Option<(Check, std::ops::Range<usize>)> {
    let span = table.span();
    let mut required = |reader: &mut Reader<'t>, key: &str, example: &str| {
        let value = table.take(key);
        if value.is_none() {
            let hint = format!("add {key} = \"{example}\"");
            reader.report(span.clone(), format!("a [[check]] has no `{key}`"), Some(hint));
        }
        value
    };
    let name = required(reader, "name", "docs");
    let command = required(reader, "command", "make docs");
    let name = name.and_then(|value| Some((check_name(reader, &value)?, value.span)));
    let command = command.and_then(|value| reader.filled(&value));
    let mut check = Check::default();
    if let Some(value) = table.take("paths") {
        check.paths = reader.each(value, |r, v| path(r, &v)).unwrap_or_default();
    }
    table.set(reader, "timeout", &mut check.timeout, |r, v| {
        r.duration(&v, Zero::Refused).map(Some)
    });
    table.set(reader, "tests", &mut check.tests, |r, v| tests(r, &v));
    table.set(reader, "retry", &mut check.retry, |r, v| {
        r.whole(&v, 0..=MAX_RETRY)
    });
    reader.finish("check", table);
    let (name, name_span) = name?;
    Some((
        Check {
            name,
            command: command?,
            ..check
        },
        name_span,
    ))
}

fn check_name(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<String> {
    let name = reader.string(value)?;
    if let Err(why) = names::harness_name(&name) {
        reader.refuse(value, &name, why, Some("name it like \"docs\"".to_owned()));
        return None;
    }
    Some(name)
}

fn tests(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<TestCount> {
    let text = reader.filled(value)?;
    let hint =
        "`auto`, `none`, or a regular expression with the number in its first group, such as `(\\d+) passed`";
    let why = match (text.as_str(), regex_lite::Regex::new(&text)) {
        ("auto", _) => return Some(TestCount::Auto),
        ("none", _) => return Some(TestCount::None),
        (_, Ok(pattern)) if pattern.captures_len() > 1 => return Some(TestCount::Pattern(text)),
        (_, Ok(_)) => "has no group for the number".to_owned(),
        (_, Err(error)) => format!("is no regular expression: {error}"),
    };
    reader.refuse(value, &text, &why, Some(hint.to_owned()));
    None
}

fn path(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<String> {
    let why = "is a pattern, and paths of a check are taken literally";
    let hint = "name a file, or a folder for all that is in it";
    literal_path(reader, value, why, hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn named_checks_are_read_in_their_order() {
        let text = "[checks]\ncommands = [\"make\"]\n\
                    [[check]]\nname = \"docs\"\ncommand = \"make docs\"\npaths = [\"./docs/\"]\ntimeout = \"3s\"\n\
                    [[check]]\nname = \"lint\"\ncommand = \"make lint\"\n";
        let settings = Settings::parse(text, "crew.toml").unwrap();
        let [docs, lint] = &settings.check[..] else {
            panic!("{:?}", settings.check)
        };
        assert_eq!((docs.name.as_str(), docs.command.as_str()), ("docs", "make docs"));
        assert_eq!(
            (&docs.paths[..], docs.timeout),
            (&["docs".to_owned()][..], Some(Duration::from_secs(3)))
        );
        assert_eq!((lint.name.as_str(), lint.timeout), ("lint", None));
        let plan = crate::ticket::CheckPlan::of(&settings);
        assert_eq!(plan.names(), ["make", "docs", "lint"]);
        let limits: Vec<u64> = plan.commands.iter().map(|check| check.timeout_ms).collect();
        assert_eq!(limits, [300_000, 3_000, 300_000]);
        let work = plan.clone().without(&["docs".to_owned()]);
        assert_eq!(work.names(), ["make", "lint"]);
        assert!(work.covers(&plan) && !plan.covers(&work));
    }

    #[test]
    fn a_named_check_that_cannot_be_meant_is_refused_with_its_reason() {
        let named = "[[check]]\nname = \"docs\"\ncommand = \"make docs\"\n";
        for (text, says) in [
            ("[[check]]\ncommand = \"make\"\n".to_owned(), "has no `name`"),
            ("[[check]]\nname = \"docs\"\n".to_owned(), "has no `command`"),
            (
                "[[check]]\nname = \"a b\"\ncommand = \"make\"\n".to_owned(),
                "other than letters",
            ),
            (
                format!("{named}{named}"),
                "a second [[check]] has the name \"docs\"",
            ),
            (format!("{named}paths = [\"docs/*\"]\n"), "is a pattern"),
            (format!("{named}paths = [\"../docs\"]\n"), "`check[1].paths[1]`"),
            (format!("{named}timeot = \"3s\"\n"), "did you mean `timeout`?"),
            (format!("{named}timeout = \"0s\"\n"), "longer than nothing"),
            (format!("{named}tests = '(\\d+'\n"), "is no regular expression"),
            (
                format!("{named}tests = \"every\"\n"),
                "has no group for the number",
            ),
            (format!("{named}retry = 11\n"), "a whole number from 0 to 10"),
            (
                "[check]\nname = \"docs\"\ncommand = \"make\"\n".to_owned(),
                "a list of tables",
            ),
            (
                "[run]\npaths = [\"docs\"]\n".to_owned(),
                "belongs in a [[check]] table",
            ),
        ] {
            let found = Settings::parse(&text, "crew.toml").unwrap_err();
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found.len(), 1, "{found:#?}");
            assert!(found[0].contains(says), "{}", found[0]);
        }
    }

    #[test]
    fn a_path_filter_is_a_file_or_all_that_is_in_a_folder() {
        let mut check = Check::default();
        let touches = |check: &Check, path: &'static str| check.is_touched(std::iter::once(path));
        assert!(touches(&check, "src/lib.rs"));
        check.paths = vec!["docs".to_owned(), "src/lib.rs".to_owned()];
        assert!(touches(&check, "docs/guide/a.md"));
        assert!(touches(&check, "src/lib.rs"));
        assert!(!touches(&check, "docs.md"));
        assert!(!touches(&check, "src/lib.rs.orig"));
        assert_eq!(check.paths_without(&std::iter::once("docs/a.md")), ["src/lib.rs"]);
    }
}
