//! The tests, in two tiers: what each suite took, the slowest tests, and how many there were.
//!
//! A test of the deep tier is in a module named `deep`: the default filter of `.config/nextest.toml` leaves
//! those modules out, and its profile `deep` runs everything.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::scratch::Scratch;
use crate::{Outcome, program};

/// How much is tested. Each tier has all of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// What every change must pass.
    First,
    /// Everything.
    Deep,
}

/// Tests that are named with what they took.
const SLOWEST: usize = 20;
/// Tests at once without nextest, as `.config/nextest.toml` has it with it.
const AT_ONCE: &str = "--test-threads=12";
/// The binary whose suites are its modules.
const END_TO_END: &str = "crew::e2e";

impl Tier {
    /// The profile of `.config/nextest.toml`.
    #[expect(clippy::disallowed_methods, reason = "CI says by it that it is CI")]
    fn profile(self) -> &'static str {
        match self {
            Self::First if env::var_os("CI").is_some() => "ci",
            Self::First => "default",
            Self::Deep => "deep",
        }
    }
}

/// Builds all that tests are and start, in one go: apart, each build would wait for a last crate by itself.
///
/// # Errors
///
/// Something does not compile.
pub(crate) fn build(root: &Path) -> Outcome {
    let how: &[&str] = match has_nextest(root) {
        true => &["nextest", "run"],
        false => &["test"],
    };
    let all = [how, &["--no-run", "--locked", "--workspace"]].concat();
    program::run(root, "cargo", &all)
}

fn has_nextest(root: &Path) -> bool {
    program::works(root, "cargo", &["nextest", "--version"])
}

/// Runs the tests of a tier. Without nextest they run too, but the times of single tests are not known.
///
/// # Errors
///
/// A test failed, or the two tiers are no longer two.
pub(crate) fn run(root: &Path, tier: Tier) -> Outcome {
    let scratch = Scratch::in_memory();
    let temporary = scratch.as_ref().map(Scratch::path);
    if let Some(folder) = temporary {
        println!("in {}: TMPDIR names another folder", folder.display());
    }
    if !has_nextest(root) {
        return without_nextest(root, tier, temporary);
    }
    let profile = format!("--profile={}", tier.profile());
    let all = [
        "nextest",
        "run",
        "--locked",
        "--workspace",
        "--no-fail-fast",
        &profile,
    ];
    let outcome = program::run_with(root, "cargo", &all, temporary);
    let report = root.join("target/nextest").join(tier.profile()).join("junit.xml");
    match fs::read_to_string(&report) {
        Ok(report) => print!("{}", table(&read(&report))),
        Err(error) => eprintln!("{}: {error}", report.display()),
    }
    let counted = count(root)?;
    println!("\n{}", counted.sentence(tier));
    outcome.and_then(|()| counted.are_two())
}

fn without_nextest(root: &Path, tier: Tier, temporary: Option<&Path>) -> Outcome {
    println!(
        "cargo-nextest is not installed: `cargo test` runs the same tests, more slowly, and without the time of each; \
         `cargo install --locked cargo-nextest` brings it"
    );
    // Without `--all-targets`, which would build the examples that tests start as tests themselves.
    let mut arguments = vec!["test", "--locked", "--workspace", "--no-fail-fast", "--", AT_ONCE];
    match tier {
        Tier::First => arguments.extend(["--skip", "deep::"]),
        Tier::Deep => {}
    }
    let said = program::passed_on(root, "cargo", &arguments, temporary);
    let (Ok(text) | Err((_, text))) = &said;
    println!("\n{} tests were run", passed_and_failed(text));
    said.map(drop).map_err(|(why, _)| why)
}

/// Counts the tests in the results that `cargo test` prints for each test program.
fn passed_and_failed(said: &str) -> u64 {
    let results = said.lines().filter_map(|line| line.strip_prefix("test result: "));
    let parts = results.flat_map(|result| result.split([';', '.']));
    let counts = parts.filter_map(|part| {
        part.trim()
            .strip_suffix(" passed")
            .or(part.trim().strip_suffix(" failed"))
    });
    counts.filter_map(|count| count.parse::<u64>().ok()).sum()
}

/// A test and what it took.
#[derive(Debug, PartialEq)]
struct Test {
    suite: String,
    name: String,
    seconds: f64,
    /// It failed, and passed when it was run once more.
    flaky: bool,
}

/// Reads nextest's report in the format of JUnit: an element `testcase` for each test.
fn read(report: &str) -> Vec<Test> {
    let elements = report.split("<testcase ").skip(1);
    let test = |element: &str| {
        let (attributes, _) = element.split_once('>')?;
        let value = |name: &str| {
            let (_, from) = attributes.split_once(&format!("{name}=\""))?;
            from.split('"').next()
        };
        let (binary, name) = (value("classname")?, value(" name").or(value("name"))?);
        let module = name.split_once("::").map(|(module, _)| module);
        let suite = match module {
            Some(module) if binary == END_TO_END => format!("{binary} {module}"),
            Some(_) | None => binary.to_owned(),
        };
        Some(Test {
            suite,
            name: name.to_owned(),
            seconds: value(" time").and_then(|time| time.parse().ok())?,
            flaky: element.contains("<flakyFailure"),
        })
    };
    elements.filter_map(test).collect()
}

/// What each suite took, the longest first, the slowest tests, and those that passed only when run once more.
fn table(tests: &[Test]) -> String {
    let mut suites: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for test in tests {
        let (count, seconds) = suites.entry(&test.suite).or_default();
        *count += 1;
        *seconds += test.seconds;
    }
    let mut suites: Vec<_> = suites.into_iter().collect();
    suites.sort_by(|(_, (_, one)), (_, (_, other))| other.total_cmp(one));
    let mut slowest: Vec<&Test> = tests.iter().collect();
    slowest.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    let mut text = String::from("\n── suites (the sum of what their tests took, several of them at once)\n");
    for (suite, (count, seconds)) in suites {
        text.push_str(&format!("  {seconds:>8.1} s {count:>5} tests  {suite}\n"));
    }
    text.push_str("\n── slowest tests\n");
    for test in slowest.into_iter().take(SLOWEST) {
        let Test {
            suite, name, seconds, ..
        } = test;
        text.push_str(&format!("  {seconds:>8.1} s  {suite} {name}\n"));
    }
    let mut flaky = tests.iter().filter(|test| test.flaky).peekable();
    if flaky.peek().is_some() {
        text.push_str("\n── flaky: failed, then passed; each is a fault of the test or of crew\n");
    }
    for Test { suite, name, .. } in flaky {
        text.push_str(&format!("  {suite} {name}\n"));
    }
    text
}

/// How many tests there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    first: usize,
    deep: usize,
}

impl Counted {
    fn sentence(self, tier: Tier) -> String {
        let Self { first, deep } = self;
        match tier {
            Tier::First => format!("{first} tests were run; {deep} more are of the deep tier (--deep)"),
            Tier::Deep => format!(
                "{} tests were run: {first} of the first tier and {deep} of the deep one",
                first + deep
            ),
        }
    }

    /// A filter that finds nothing, or everything, has rotted.
    fn are_two(self) -> Outcome {
        if self.first > 0 && self.deep > 0 {
            return Ok(());
        }
        Err(format!(
            "{} tests are of the first tier and {} of the deep one: the default filter of .config/nextest.toml no longer separates \
             them",
            self.first, self.deep
        ))
    }
}

/// Asks nextest which tests the default filter leaves out.
fn count(root: &Path) -> Result<Counted, String> {
    let arguments = [
        "nextest",
        "list",
        "--locked",
        "--workspace",
        "--message-format=json",
    ];
    let list = program::output(root, "cargo", &arguments)?;
    let list = serde_json::from_str(&list).map_err(|error| format!("`cargo nextest list`: {error}"))?;
    counted(&list).ok_or_else(|| "`cargo nextest list` has another shape than expected".to_owned())
}

fn counted(list: &Value) -> Option<Counted> {
    let mut counted = Counted::default();
    for suite in list.get("rust-suites")?.as_object()?.values() {
        for test in suite.get("testcases")?.as_object()?.values() {
            let filter = test.get("filter-match")?;
            if filter.get("status")? == "matches" {
                counted.first += 1;
            } else if filter.get("reason")? == "default-filter" {
                counted.deep += 1;
            }
        }
    }
    Some(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_and_told_by_suite_with_the_slowest_first() {
        let report = r#"<testsuites name="nextest-run" tests="3" time="9.0">
            <testsuite name="crew::e2e" tests="2">
                <testcase name="kill::storm" classname="crew::e2e" timestamp="2026-01-01T00:00:00Z" time="8.500">
                    <failure>&lt;testcase name="no" classname="no" time="1"></failure>
                </testcase>
                <testcase name="kill::adopt::a" classname="crew::e2e" timestamp="2026-01-01T00:00:00Z" time="0.250">
                </testcase>
            </testsuite>
            <testcase name="tests::one" classname="git" timestamp="2026-01-01T00:00:00Z" time="0.004">
                <flakyFailure type="test failure"></flakyFailure></testcase>"#;
        let tests = read(report);
        assert_eq!(tests.len(), 3, "{tests:?}");
        let table = table(&tests);
        assert!(
            table.contains("       8.8 s     2 tests  crew::e2e kill\n"),
            "{table}"
        );
        assert!(
            table.contains("slowest tests\n       8.5 s  crew::e2e kill kill::storm\n"),
            "{table}"
        );
        assert!(table.ends_with("of crew\n  git tests::one\n"), "{table}");
    }

    #[test]
    fn what_the_default_filter_leaves_out_is_of_the_deep_tier() {
        let test = |status: &str, reason: &str| serde_json::json!({"ignored": false, "filter-match": {"status": status, "reason": reason}});
        let list = serde_json::json!({"rust-suites": {"a": {"testcases": {
            "b": test("matches", ""),
            "deep::c": test("mismatch", "default-filter"),
            "d": test("mismatch", "ignored"),
        }}}});
        let counted = counted(&list).unwrap();
        assert_eq!(counted, Counted { first: 1, deep: 1 });
        assert_eq!(counted.are_two(), Ok(()));
        assert!(Counted { first: 2, deep: 0 }.are_two().is_err());
    }

    #[test]
    fn results_of_cargo_test_are_added_up() {
        let said = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.5s\n\
                    test a ... ok\ntest result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(passed_and_failed(said), 15);
    }
}
