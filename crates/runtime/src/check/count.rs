//! The number of tests that a check ran, from its output: a suite that is gone passes too.

use model::ticket::TestCount;

/// The number of tests that ran, passed or not; none where the output shows no number.
pub(super) fn tests_in(output: &str, how: &TestCount) -> Option<u64> {
    let output = without_colours(output);
    match how {
        TestCount::None => None,
        TestCount::Pattern(pattern) => {
            let pattern = regex_lite::Regex::new(pattern).ok()?;
            let found = pattern.captures_iter(&output).last()?;
            found.get(1)?.as_str().parse().ok()
        }
        TestCount::Auto => {
            let mut go = Go::default();
            let mut sum = None;
            for line in output.lines() {
                go.line(line);
                if let Some(count) = of_line(line.trim()) {
                    *sum.get_or_insert(0) += count;
                }
            }
            match (sum, go.count()) {
                (None, None) => None,
                (sum, go) => Some(sum.unwrap_or(0) + go.unwrap_or(0)),
            }
        }
    }
}

/// The number in a line with which a known runner sums up its tests.
fn of_line(line: &str) -> Option<u64> {
    // cargo test: one line for each binary.
    if let Some(rest) = line.strip_prefix("test result: ") {
        let (_, rest) = rest.split_once(". ")?;
        return words(rest, "; ", &["passed", "failed"]);
    }
    // cargo nextest.
    if let Some(rest) = line.strip_prefix("Summary [") {
        return words(rest.split_once("] ")?.1, ":", &["tests run", "test run"]);
    }
    // unittest of Python.
    if let Some(rest) = line.strip_prefix("Ran ") {
        return words(rest.split_once(" in ")?.0, ",", &["tests", "test"]);
    }
    // node --test, in both of its formats.
    if let Some(count) = line.strip_prefix("# tests ").or(line.strip_prefix("ℹ tests ")) {
        return count.trim().parse().ok();
    }
    // jest, and vitest without the colon.
    if let Some(rest) = line.strip_prefix("Tests:") {
        return words(rest, ", ", &["passed", "failed"]);
    }
    if let Some(rest) = line.strip_prefix("Tests  ") {
        return words(rest.split_once('(')?.0, " | ", &["passed", "failed"]);
    }
    pytest(line)
}

/// The last line of pytest: `== 3 passed, 1 skipped in 0.12s ==`.
fn pytest(line: &str) -> Option<u64> {
    let line = line.trim_matches(|character| character == '=' || character == ' ');
    let (counts, time) = line.rsplit_once(" in ")?;
    let seconds = time.split(' ').next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
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
    let mut sum = None;
    for part in text.split(between) {
        if let Some((count, word)) = part.trim().split_once(' ')
            && known.contains(&word.trim())
            && let Ok(count) = count.parse::<u64>()
        {
            *sum.get_or_insert(0) += count;
        }
    }
    sum
}

/// go test: tests by name where it prints them (`-v`), else packages that have some.
#[derive(Default)]
struct Go {
    tests: u64,
    packages: u64,
    is_seen: bool,
}

impl Go {
    fn line(&mut self, line: &str) {
        if line.starts_with("--- PASS: ") || line.starts_with("--- FAIL: ") {
            self.tests += 1;
        }
        let is_of_package = line.starts_with("ok  \t") || line.starts_with("FAIL\t");
        let has_none = line.ends_with("[no tests to run]");
        self.packages += u64::from(is_of_package && !has_none);
        self.is_seen |= is_of_package || line.ends_with("[no test files]");
    }

    fn count(&self) -> Option<u64> {
        let count = if self.tests > 0 { self.tests } else { self.packages };
        self.is_seen.then_some(count)
    }
}

/// The text without the sequences that colour it.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_end = |character: char| character.is_ascii_alphabetic();
        plain.push_str(part.split_once(is_end).map_or("", |(_, rest)| rest));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_tests_is_read_from_the_output_of_each_known_runner() {
        for (output, count) in [
            (
                "test result: ok. 3 passed; 1 failed; 2 ignored; 0 measured\ntest result: ok. 4 passed; 0 failed;",
                Some(8),
            ),
            (
                "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
                Some(0),
            ),
            (
                "     Summary [   5.396s] 597 tests run: 597 passed, 3 skipped",
                Some(597),
            ),
            (
                "     Summary [   0.396s] 1 test run: 1 passed, 0 skipped",
                Some(1),
            ),
            ("=========== 3 passed, 1 skipped in 0.12s ===========", Some(3)),
            ("3 passed, 1 xfailed in 61.02s (0:01:01)", Some(4)),
            ("===== no tests ran in 0.01s =====", Some(0)),
            ("==== 2 skipped in 0.01s ====", Some(0)),
            ("Ran 12 tests in 0.001s\n\nOK", Some(12)),
            ("# tests 5\n# pass 5", Some(5)),
            ("\x1b[34mℹ tests 7\x1b[39m", Some(7)),
            ("Tests:       1 failed, 1 skipped, 5 passed, 7 total", Some(6)),
            (
                "\x1b[2m Test Files \x1b[22m 1 passed (1)\n\x1b[2m      Tests \x1b[22m 5 passed | 1 skipped (6)",
                Some(5),
            ),
            (
                "ok  \texample.org/a\t0.3s\nok  \texample.org/b\t0.1s [no tests to run]",
                Some(1),
            ),
            ("?   \texample.org/a\t[no test files]", Some(0)),
            (
                "--- PASS: TestA (0.00s)\n--- PASS: TestB (0.00s)\nPASS\nok  \texample.org/a\t0.3s",
                Some(2),
            ),
            ("make: Nothing to be done for 'test'.", None),
            ("the work came in 3s", None),
        ] {
            assert_eq!(tests_in(output, &TestCount::Auto), count, "{output}");
            assert_eq!(tests_in(output, &TestCount::None), None);
        }
    }

    #[test]
    fn a_pattern_finds_the_number_that_comes_last() {
        let pattern = TestCount::Pattern(r"(\d+) examples".to_owned());
        assert_eq!(
            tests_in("2 examples\n14 examples, 0 failures", &pattern),
            Some(14)
        );
        assert_eq!(tests_in("no examples", &pattern), None);
    }
}
