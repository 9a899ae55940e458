//! Everything that must be green, in order, with what each step took.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::{Outcome, clients, deps, doctests, fuzz, generate, picture, program, setup};

/// What a failed step does to the ones after it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    Stop,
    KeepGoing,
}

struct Step {
    name: &'static str,
    run: fn(&Path) -> Outcome,
}

const STEPS: &[Step] = &[
    Step {
        name: "set-up",
        run: setup::check,
    },
    Step {
        name: "agent clients",
        run: clients::install,
    },
    Step {
        name: "fmt",
        run: |root| program::run(root, "cargo", &["fmt", "--all", "--check"]),
    },
    Step {
        name: "clippy",
        run: clippy,
    },
    Step {
        name: "deps",
        run: |root| deps::check(root).map(|seen| println!("{seen}")),
    },
    Step {
        name: "generated files",
        run: generate::check,
    },
    Step {
        name: "picture",
        run: picture::check,
    },
    Step {
        name: "tests",
        run: tests,
    },
    Step {
        name: "made-up input",
        run: |root| fuzz::run(root, &fuzz::Options::all()),
    },
    Step {
        name: "examples in docstrings",
        run: examples,
    },
];

/// Runs the steps and prints a summary.
///
/// # Errors
///
/// A step failed; nothing is tested on a machine whose set-up failed.
pub(crate) fn run(root: &Path, on_failure: OnFailure) -> Outcome {
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    let mut total = Duration::ZERO;
    for step in STEPS {
        let skip = !failed.is_empty() && (on_failure == OnFailure::Stop || failed.contains(&"set-up"));
        if skip {
            lines.push(format!("  not run         {}", step.name));
            continue;
        }
        println!("\n── {}", step.name);
        let begun = now();
        let outcome = (step.run)(root);
        let took = begun.elapsed();
        total += took;
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        lines.push(format!("  {word:<7} {:>6.1} s {}", took.as_secs_f64(), step.name));
        if let Err(why) = outcome {
            eprintln!("{why}");
            failed.push(step.name);
        }
    }
    println!(
        "\n── summary\n{}\n  {:>14.1} s in all",
        lines.join("\n"),
        total.as_secs_f64()
    );
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("failed: {}", failed.join(", ")))
    }
}

fn clippy(root: &Path) -> Outcome {
    let arguments = [
        "clippy",
        "--locked",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ];
    program::run(root, "cargo", &arguments)
}

/// With nextest where it is installed: it runs every test in its own process. Its absence costs time, not tests.
fn tests(root: &Path) -> Outcome {
    if program::works(root, "cargo", &["nextest", "--version"]) {
        return program::run(
            root,
            "cargo",
            &["nextest", "run", "--locked", "--workspace", "--no-fail-fast"],
        );
    }
    println!("cargo-nextest is not installed: `cargo test` runs the same tests, more slowly");
    // Without `--all-targets`, which would build the examples that tests start as tests themselves.
    program::run(
        root,
        "cargo",
        &["test", "--locked", "--workspace", "--no-fail-fast"],
    )
}

fn examples(root: &Path) -> Outcome {
    if !doctests::any(root)? {
        println!("there are none");
        return Ok(());
    }
    program::run(root, "cargo", &["test", "--locked", "--workspace", "--doc"])
}

#[expect(
    clippy::disallowed_methods,
    reason = "a developer wants to know what each step took"
)]
fn now() -> Instant {
    Instant::now()
}
