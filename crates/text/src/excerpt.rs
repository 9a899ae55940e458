//! Excerpts: the lines of a long output that tell a person most.

/// At most this number of lines of an output: its last ones. Where these leave out lines that name a failure,
/// the first such lines stand before them, and take up to a third of the lines. A line `…` stands in each
/// gap, and is not counted.
#[must_use]
pub fn excerpt(output: &str, most: usize) -> Vec<&str> {
    let lines: Vec<&str> = output.lines().collect();
    let Some(left_out) = lines.len().checked_sub(most).filter(|left_out| *left_out > 0) else {
        return lines;
    };
    let named: Vec<usize> = (0..left_out)
        .filter(|at| names_failure(lines[*at]))
        .take(most / 3)
        .collect();
    let end = left_out + named.len();
    let (mut shown, mut next) = (Vec::new(), 0);
    for at in named.into_iter().chain(end..lines.len()) {
        if at > next {
            shown.push("…");
        }
        shown.push(lines[at]);
        next = at + 1;
    }
    shown
}

/// Whether a line of a compiler's or a test runner's output names a failure.
#[must_use]
pub fn names_failure(line: &str) -> bool {
    let line = line.trim();
    let begins = [
        "not ok ", "✖ ", "✗ ", "✕ ", "× ", "● ", "(fail) ", "FAIL ", "FAIL:", "FAIL\t", "FAILED ", "FAILED:",
        "--- FAIL", "E   ", "error[", "error:", "ERROR:", "ERROR ", "fatal:", "panic:",
    ];
    let contains = ["Error: ", "error: ", " error TS", "panicked at ", "Exception: "];
    begins.iter().any(|begin| line.starts_with(begin))
        || contains.iter().any(|part| line.contains(part))
        || line.ends_with("... FAILED")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_shown_and_before_it_what_failed_first() {
        let output = "TAP version 13\n# a.test.js:1\n# SyntaxError: missing )\nnot ok 1 - a.test.js\n  ---\n  \
                      exitCode: 1\n  ...\n1..1\n# tests 1\n# pass 0\n# fail 1";
        assert_eq!(
            excerpt(output, 6),
            [
                "…",
                "# SyntaxError: missing )",
                "not ok 1 - a.test.js",
                "…",
                "1..1",
                "# tests 1",
                "# pass 0",
                "# fail 1"
            ]
        );
        assert_eq!(excerpt(output, 11), output.lines().collect::<Vec<_>>());
        assert_eq!(
            excerpt(output, 9),
            [
                "…",
                "# SyntaxError: missing )",
                "not ok 1 - a.test.js",
                "  ---",
                "  exitCode: 1",
                "  ...",
                "1..1",
                "# tests 1",
                "# pass 0",
                "# fail 1"
            ],
            "what the end has is shown once"
        );
        assert_eq!(excerpt("a\nb\nc\nd", 2), ["…", "c", "d"]);
        assert_eq!(
            excerpt("error: a\nb\nc\nd", 2),
            ["…", "c", "d"],
            "there is no room for more than the end"
        );
        assert_eq!(excerpt("error: a\nb\nc\nd", 3), ["error: a", "…", "c", "d"]);
        assert_eq!(excerpt("a\nb", 0), Vec::<&str>::new());
        assert_eq!(excerpt("", 3), Vec::<&str>::new());
    }

    #[test]
    fn a_line_names_a_failure_in_the_words_of_its_tool() {
        for line in [
            "error[E0425]: cannot find value `x`",
            "test it::works ... FAILED",
            "thread 'it::works' panicked at src/lib.rs:3:5:",
            "--- FAIL: TestAdd (0.00s)",
            "E       assert 1 == 2",
            "FAILED tests/test_a.py::test_b - assert 1 == 2",
            "src/a.ts(3,5): error TS2322: Type 'string' is not assignable",
            "  ● adds › two numbers",
        ] {
            assert!(names_failure(line), "{line}");
        }
        for line in [
            "0 errors",
            "test result: ok. 3 passed; 0 failed",
            "# fail 0",
            "Failures:",
        ] {
            assert!(!names_failure(line), "{line}");
        }
    }
}
