//! Everything that must be green, in order, with what each step took.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::tiers::{self, Tier};
use crate::{Outcome, clients, deps, doctests, fuzz, generate, picture, program, setup, web, words};

/// What a failed step does to the ones after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnFailure {
    Stop,
    KeepGoing,
}

/// How `cargo xtask test` was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    tier: Tier,
    on_failure: OnFailure,
}

impl Options {
    /// Reads what follows `cargo xtask test`; none when it cannot be meant.
    pub(crate) fn read(arguments: &[&str]) -> Option<Self> {
        let mut options = Self {
            tier: Tier::First,
            on_failure: OnFailure::Stop,
        };
        for argument in arguments {
            match *argument {
                "--deep" => options.tier = Tier::Deep,
                "--keep-going" => options.on_failure = OnFailure::KeepGoing,
                _ => return None,
            }
        }
        Some(options)
    }
}

struct Step {
    name: &'static str,
    run: fn(&Path, Tier) -> Outcome,
}

const STEPS: &[Step] = &[
    Step {
        name: "set-up",
        run: setup::check,
    },
    Step {
        name: "agent clients",
        run: |root, _| clients::install(root),
    },
    Step {
        name: "fmt",
        run: |root, _| program::run(root, "cargo", &["fmt", "--all", "--check"]),
    },
    Step {
        name: "deps",
        run: |root, _| deps::check(root).map(|seen| println!("{seen}")),
    },
    Step {
        name: "words",
        run: |root, _| words::check(root),
    },
    Step {
        name: "web page",
        run: |root, _| web::check(root),
    },
    Step {
        name: "clippy",
        run: |root, _| clippy(root),
    },
    Step {
        name: "build",
        run: |root, _| tiers::build(root),
    },
    Step {
        name: "generated files",
        run: |root, _| generate::check(root),
    },
    Step {
        name: "picture",
        run: |root, _| picture::check(root),
    },
    Step {
        name: "tests",
        run: tiers::run,
    },
    Step {
        name: "browser",
        run: |root, tier| web::browse(root, tier, None),
    },
    Step {
        name: "made-up input",
        run: made_up_input,
    },
    Step {
        name: "examples in docstrings",
        run: |root, _| examples(root),
    },
];

/// Runs the steps and prints a summary.
///
/// # Errors
///
/// A step failed; nothing is tested on a machine whose set-up failed.
pub(crate) fn run(root: &Path, options: Options) -> Outcome {
    let Options { tier, on_failure } = options;
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
        let outcome = (step.run)(root, tier);
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

/// In the deep tier. In the first, the tests of `fuzz` make up input without libFuzzer, whose build with
/// counters takes longer than all that it would find in ten seconds is worth.
fn made_up_input(root: &Path, tier: Tier) -> Outcome {
    match tier {
        Tier::First => {
            println!("the tests of `fuzz` made some up; libFuzzer does with --deep");
            Ok(())
        }
        Tier::Deep => fuzz::run(root, &fuzz::Options::deep()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_and_what_a_failure_does_are_read_and_nothing_else() {
        let read =
            |arguments: &[&str]| Options::read(arguments).map(|options| (options.tier, options.on_failure));
        assert_eq!(read(&[]), Some((Tier::First, OnFailure::Stop)));
        assert_eq!(read(&["--deep"]), Some((Tier::Deep, OnFailure::Stop)));
        assert_eq!(
            read(&["--keep-going", "--deep"]),
            Some((Tier::Deep, OnFailure::KeepGoing))
        );
        assert_eq!(read(&["--dep"]), None);
    }
}
