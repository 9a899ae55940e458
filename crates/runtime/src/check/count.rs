//! The number of tests that a check ran, from its output: a suite that is gone passes too.

#[cfg(test)]
mod tests;

use std::io::BufRead;

use model::ticket::TestCount;

/// More of the end of an output than this is not searched for a person's pattern, in bytes.
const SEARCHED: usize = 4 << 20;

/// The number of tests that ran, passed or not, from all that a check printed: its standard output, then
/// its standard error. None where that shows no number.
pub(super) fn tests_in(mut printed: impl BufRead, how: &TestCount) -> Option<u64> {
    match how {
        TestCount::None => None,
        TestCount::Pattern(pattern) => {
            let pattern = regex_lite::Regex::new(pattern).ok()?;
            let mut output = Vec::new();
            printed.read_to_end(&mut output).ok()?;
            let end = output.len().saturating_sub(SEARCHED);
            let output = String::from_utf8_lossy(&output[end..]);
            let output = without_colours(&output);
            let found = pattern.captures_iter(&output).last()?;
            found.get(1)?.as_str().parse().ok()
        }
        TestCount::Auto => {
            let mut counter = Counter::default();
            let mut line = Vec::new();
            loop {
                line.clear();
                if printed.read_until(b'\n', &mut line).ok()? == 0 {
                    return counter.count();
                }
                // A progress bar writes over its line.
                for part in line.split(|byte| *byte == b'\r') {
                    counter.line(&without_colours(&String::from_utf8_lossy(part)));
                }
            }
        }
    }
}

/// Counts the tests of the runners that it knows, line by line.
#[derive(Default)]
struct Counter {
    /// The sum of the numbers so far; none where no runner printed any.
    sum: Option<u64>,
    /// The number of the last summary of unittest, until its next line tells how many were skipped.
    unittest: Option<u64>,
    /// The tests in a summary of bun so far, until its last line tells that it is one.
    bun: u64,
    go: Go,
}

impl Counter {
    fn line(&mut self, line: &str) {
        self.go.line(line.trim_end());
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        if let Some(ran) = self.unittest.take() {
            self.add(ran.saturating_sub(skipped(line)));
        }
        self.unittest = unittest(line);
        self.bun += words(line, ",", &["pass", "fail"]).unwrap_or(0);
        if is_end_of_bun(line) {
            let ran = std::mem::take(&mut self.bun);
            self.add(ran);
        }
        if let Some(count) = of_line(line) {
            self.add(count);
        }
    }

    fn add(&mut self, count: u64) {
        self.sum = Some(self.sum.unwrap_or(0).saturating_add(count));
    }

    fn count(mut self) -> Option<u64> {
        if let Some(ran) = self.unittest.take() {
            self.add(ran);
        }
        match (self.sum, self.go.count()) {
            (None, None) => None,
            (sum, go) => Some(sum.unwrap_or(0) + go.unwrap_or(0)),
        }
    }
}

/// The number in a line with which a known runner sums up its tests. Those that were skipped have not run.
fn of_line(line: &str) -> Option<u64> {
    // cargo test: one line for each binary.
    if let Some(rest) = line.strip_prefix("test result: ") {
        let (_, rest) = rest.split_once(". ")?;
        return words(rest, "; ", &["passed", "failed"]);
    }
    // cargo nextest: `3 tests run`, or `1/3 tests run` where it was cut short.
    if let Some(rest) = line.strip_prefix("Summary [") {
        let run = rest.split_once("] ")?.1.split_once(':')?.0;
        let run = run.split_once('/').map_or(run, |(_, of)| of);
        return words(run, ":", &["tests run", "test run"]);
    }
    // node --test, in both of its formats, and other runners that print TAP.
    for sign in ["# ", "ℹ "] {
        let count = line.strip_prefix(sign);
        let count = count.and_then(|rest| rest.strip_prefix("pass ").or(rest.strip_prefix("fail ")));
        if let Some(count) = count {
            return count.trim().parse().ok();
        }
    }
    // jest, and vitest without the colon; where no test is left, only the words for skipped ones stand there.
    if let Some(rest) = line.strip_prefix("Tests:") {
        let run = words(rest, ", ", &["passed", "failed"]);
        return run.or_else(|| words(rest, ", ", &["total"]).map(|_| 0));
    }
    if let Some(rest) = line.strip_prefix("Tests  ") {
        let Some((rest, _)) = rest.split_once('(') else {
            return (rest == "no tests").then_some(0);
        };
        let run = words(rest, " | ", &["passed", "failed"]);
        return run.or_else(|| words(rest, " | ", &["skipped", "todo"]).map(|_| 0));
    }
    if line == "No tests found, exiting with code 0" || line == "No test files found, exiting with code 0" {
        return Some(0);
    }
    mocha(line)
        .or_else(|| dotnet(line))
        .or_else(|| rspec_or_mix(line))
        .or_else(|| pytest(line))
}

/// The last line of bun, which counts those that were skipped: `Ran 3 tests across 2 files. [12.00ms]`.
fn is_end_of_bun(line: &str) -> bool {
    let rest = line
        .strip_prefix("Ran ")
        .and_then(|rest| rest.split_once(" across "));
    rest.is_some_and(|(ran, files)| words(ran, ",", &["tests", "test"]).is_some() && files.contains(" file"))
}

/// The last line of rspec, `3 examples, 1 failure, 1 pending`, or of mix test, `5 tests, 0 failures, 2
/// skipped`. Both count those that have not run.
fn rspec_or_mix(line: &str) -> Option<u64> {
    let known = [
        "examples",
        "example",
        "doctests",
        "doctest",
        "properties",
        "property",
        "tests",
        "test",
    ];
    let (left_out, others) = (
        ["pending", "excluded", "skipped", "invalid"],
        [
            "failures",
            "failure",
            "errors occurred outside of examples",
            "error occurred outside of examples",
        ],
    );
    let is_part = |part: &str| {
        let word = part
            .split_once(' ')
            .filter(|(count, _)| count.parse::<u64>().is_ok());
        word.is_some_and(|(_, word)| {
            known.contains(&word) || left_out.contains(&word) || others.contains(&word)
        })
    };
    words(line, ", ", &["failures", "failure"]).filter(|_| line.split(", ").all(is_part))?;
    let all = words(line, ", ", &known)?;
    Some(all.saturating_sub(words(line, ", ", &left_out).unwrap_or(0)))
}

/// The last line of dotnet test: `Passed!  - Failed:     0, Passed:     3, Skipped:     1, Total:     4, …`.
fn dotnet(line: &str) -> Option<u64> {
    let (verdict, facts) = line.split_once(" - ")?;
    if !matches!(verdict.trim(), "Passed!" | "Failed!" | "Skipped!") {
        return None;
    }
    let fact = |name: &str| {
        let mut facts = facts.split(", ");
        facts.find_map(|fact| fact.trim().strip_prefix(name)?.trim().parse::<u64>().ok())
    };
    Some(fact("Passed:")?.saturating_add(fact("Failed:")?))
}

/// A summary of unittest of Python, which counts those that were skipped: `Ran 3 tests in 0.001s`.
fn unittest(line: &str) -> Option<u64> {
    let (run, _) = line.strip_prefix("Ran ")?.split_once(" in ")?;
    words(run, ",", &["tests", "test"])
}

/// The number of skipped tests, from the verdict of unittest: `OK (skipped=2, expected failures=1)`.
fn skipped(line: &str) -> u64 {
    let verdict = line.strip_prefix("OK (").or(line.strip_prefix("FAILED ("));
    let facts = verdict.and_then(|facts| facts.strip_suffix(')'));
    let mut facts = facts.unwrap_or_default().split(", ");
    facts
        .find_map(|fact| fact.strip_prefix("skipped=")?.parse().ok())
        .unwrap_or(0)
}

/// The lines of mocha: `2 passing (28ms)` and `1 failing`.
fn mocha(line: &str) -> Option<u64> {
    let failing = line.strip_suffix(" failing");
    let passing = || {
        line.strip_suffix(')')?
            .split_once(" passing (")
            .map(|(count, _)| count)
    };
    failing.or_else(passing)?.parse().ok()
}

/// The last line of pytest: `== 3 passed, 1 skipped in 0.12s ==`.
fn pytest(line: &str) -> Option<u64> {
    let line = line.trim_matches(|character| character == '=' || character == ' ');
    let (counts, time) = line.rsplit_once(" in ")?;
    let mut time = time.split(' ');
    let number = time.next()?;
    let is_time = match number.strip_suffix('s') {
        Some(seconds) => seconds.parse::<f64>().is_ok(),
        None => number.parse::<f64>().is_ok() && time.next() == Some("seconds"),
    };
    if !is_time {
        return None;
    }
    if counts == "no tests ran" {
        return Some(0);
    }
    let is_other = |part: &str| {
        ["skipped", "deselected", "warning", "warnings"]
            .iter()
            .any(|word| part.ends_with(word))
    };
    let run = words(
        counts,
        ", ",
        &["passed", "failed", "error", "errors", "xfailed", "xpassed"],
    );
    run.or_else(|| counts.split(", ").all(is_other).then_some(0))
}

/// The sum of the numbers before one of these words; none where no part has one.
fn words(text: &str, between: &str, known: &[&str]) -> Option<u64> {
    let mut sum: Option<u64> = None;
    for part in text.split(between) {
        if let Some((count, word)) = part.trim().split_once(' ')
            && known.contains(&word.trim())
            && let Ok(count) = count.parse::<u64>()
        {
            sum = Some(sum.unwrap_or(0).saturating_add(count));
        }
    }
    sum
}

/// go test: the tests that it names, with `-v` or `-json`. Without, it names packages, and the number of
/// their tests is not known, unless none of them has any.
#[derive(Default)]
struct Go {
    tests: u64,
    /// Whether a package with tests was named.
    has_tests: bool,
    /// Whether a package was named.
    is_seen: bool,
    /// Whether each test is named.
    is_by_name: bool,
}

/// An event of `go test -json`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoEvent {
    action: String,
    #[serde(rename = "Package")]
    _package: String,
    test: Option<String>,
}

impl Go {
    fn line(&mut self, line: &str) {
        if line.starts_with('{')
            && let Ok(event) = serde_json::from_str(line)
        {
            return self.event(&event);
        }
        let is_of_test = line.starts_with("--- PASS: ") || line.starts_with("--- FAIL: ");
        self.tests += u64::from(is_of_test);
        self.is_by_name |= line.starts_with("=== RUN ");
        let is_of_package = line.starts_with("ok  \t") || line.starts_with("FAIL\t");
        self.has_tests |= is_of_package && !line.ends_with("[no tests to run]");
        self.is_seen |= is_of_package || line.ends_with("[no test files]");
    }

    fn event(&mut self, event: &GoEvent) {
        let has_run = matches!(event.action.as_str(), "pass" | "fail");
        match &event.test {
            // A test is counted with its parts.
            Some(test) => self.tests += u64::from(has_run && !test.contains('/')),
            None => self.is_seen |= has_run || event.action == "skip",
        }
        self.is_by_name = true;
    }

    fn count(&self) -> Option<u64> {
        match (self.is_seen, self.is_by_name, self.has_tests) {
            (true, true, _) => Some(self.tests),
            (true, false, false) => Some(0),
            (true, false, true) | (false, _, _) => None,
        }
    }
}

/// The text without the sequences that colour it.
fn without_colours(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains('\x1b') {
        return text.into();
    }
    let mut parts = text.split("\x1b[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_end = |character: char| character.is_ascii_alphabetic();
        plain.push_str(part.split_once(is_end).map_or("", |(_, rest)| rest));
    }
    // A switch of the character set, which the test programs of cargo print.
    plain.replace("\x1b(B", "").into()
}
