use super::*;

fn auto(output: &str) -> Option<u64> {
    tests_in(output.as_bytes(), &TestCount::Auto)
}

/// The output of real runners.
#[test]
fn the_number_of_tests_is_read_from_the_output_of_each_known_runner() {
    macro_rules! printed {
        ($($name:literal: $count:literal,)*) => {
            [$(($name, include_str!(concat!("printed/", $name, ".txt")), $count)),*]
        };
    }
    for (name, output, count) in printed! {
        "cargo": 4,
        "cargo-coloured": 4,
        "nextest": 3,
        "nextest-coloured": 3,
        "pytest": 3,
        "pytest-quiet": 3,
        "pytest-skipped": 0,
        "unittest": 2,
        "unittest-skipped": 0,
        "node-tap": 3,
        "node-spec": 3,
        "node-skipped": 0,
        "jest": 3,
        "jest-coloured": 3,
        "jest-skipped": 0,
        "jest-none": 0,
        "vitest": 2,
        "vitest-coloured": 2,
        "vitest-skipped": 0,
        "vitest-none": 0,
        "mocha": 2,
        "mocha-coloured": 2,
        "mocha-dot": 2,
        "bun": 2,
        "bun-skipped": 0,
        "bun-none": 0,
        "go-verbose": 2,
        "go-json": 2,
        "go-none": 0,
        "go-skipped": 0,
    } {
        assert_eq!(auto(output), Some(count), "{name}");
        assert_eq!(tests_in(output.as_bytes(), &TestCount::None), None);
    }
}

#[test]
fn a_runner_that_names_packages_alone_prints_no_number_of_tests() {
    for output in [
        include_str!("printed/go.txt"),
        include_str!("printed/go-coverage.txt"),
        "--- FAIL: TestOpen (0.00s)\nFAIL\nFAIL\texample.org/app/store\t0.312s\nFAIL\n",
    ] {
        assert_eq!(auto(output), None, "{output}");
    }
}

#[test]
fn summaries_of_failures_other_versions_and_nothing_are_read_too() {
    for (output, count) in [
        (
            "test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured\ntest result: ok. 4 passed; 0 failed;",
            Some(8),
        ),
        (
            "     Summary [   0.396s] 1/3 tests run: 0 passed, 1 failed, 2 not run",
            Some(3),
        ),
        (
            "     Summary [   0.396s] 1 test run: 1 passed (1 flaky), 0 skipped",
            Some(1),
        ),
        ("=== 3 passed, 1 warning in 61.02s (0:01:01) ===", Some(3)),
        ("=== 3 passed in 0.12 seconds ===", Some(3)),
        ("===== no tests ran in 0.01s =====", Some(0)),
        ("1 passed, 2 subtests passed in 0.01s", Some(1)),
        ("Ran 12 tests in 0.001s\n\nFAILED (failures=1)", Some(12)),
        ("Ran 12 tests in 0.001s", Some(12)),
        ("Tests:       1 failed, 1 skipped, 5 passed, 7 total", Some(6)),
        ("  2 passing (1s)\n  1 failing\n", Some(3)),
        ("      Tests  no tests", Some(0)),
        ("3 examples, 1 failure, 1 pending", Some(2)),
        ("0 examples, 0 failures", Some(0)),
        (
            "0 examples, 0 failures, 1 error occurred outside of examples",
            Some(0),
        ),
        ("1 doctest, 5 tests, 0 failures, 2 skipped", Some(4)),
        ("5 tests, 1 failure", Some(5)),
        (
            "Passed!  - Failed:     0, Passed:     3, Skipped:     1, Total:     4, Duration: 5 ms - a.dll (net8.0)",
            Some(3),
        ),
        (
            "Skipped! - Failed:     0, Passed:     0, Skipped:     2, Total:     2, Duration: 1 ms - a.dll (net8.0)",
            Some(0),
        ),
        (" 1 pass\n 1 fail\nRan 2 tests across 1 file. [37.00ms]", Some(2)),
        (" 1 pass\n 1 fail\n", None),
        ("2 tests, and then 0 failures", None),
        ("I see 5 tests, 0 failures", None),
        ("make: Nothing to be done for 'test'.", None),
        ("the work came in 3s", None),
        ("Ran all test suites in 3 projects.", None),
        ("1 passing thought (about tests)", None),
        ("", None),
    ] {
        assert_eq!(auto(output), count, "{output}");
    }
}

#[test]
fn runners_one_after_another_and_a_progress_bar_are_counted() {
    let both = "test result: ok. 3 passed; 0 failed\n# pass 2\n# fail 0\n==== 4 passed in 0.1s ====\n";
    assert_eq!(auto(both), Some(9));
    let progress = "[1/3] a\r[2/3] b\r[3/3] c\r\x1b[2Ktest result: ok. 3 passed; 0 failed\r\n";
    assert_eq!(auto(progress), Some(3));
}

#[test]
fn a_pattern_finds_the_number_that_comes_last() {
    let pattern = TestCount::Pattern(r"(\d+) examples".to_owned());
    let found = |output: &str| tests_in(output.as_bytes(), &pattern);
    assert_eq!(found("2 examples\n14 examples, 0 failures"), Some(14));
    assert_eq!(found("\x1b[32m14\x1b[0m examples, 0 failures"), Some(14));
    assert_eq!(found("no examples"), None);
    let long = format!("9 examples\n{}\n3 examples\n", "x".repeat(SEARCHED));
    assert_eq!(found(&long), Some(3));
}
