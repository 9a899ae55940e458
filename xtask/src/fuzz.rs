//! Input that is made up, guided by what it reaches, for every place where crew reads what others wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{Outcome, program};

/// The folders of `crates/fuzz/corpus`, and what `FUZZ_TARGET` may say.
const TARGETS: [&str; 6] = [
    "front-matter",
    "names",
    "records",
    "sanitiser",
    "settings",
    "stream",
];

/// Counters at every edge and comparison for libFuzzer to see. All of it is in the stable compiler.
const COUNTED: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// Targets at once.
const AT_ONCE: usize = 2;

/// What is to be fuzzed, and for how long.
pub(crate) struct Options<'a> {
    seconds: u32,
    targets: Vec<&'a str>,
}

impl<'a> Options<'a> {
    /// Each target for a minute.
    pub(crate) fn all() -> Self {
        Self {
            seconds: 60,
            targets: TARGETS.to_vec(),
        }
    }

    /// Each target for as long as the deep tier of tests takes for it.
    pub(crate) fn deep() -> Self {
        Self {
            seconds: 180,
            ..Self::all()
        }
    }

    /// `[--seconds N] [target]`; `None` for anything else.
    pub(crate) fn read(arguments: &[&'a str]) -> Option<Self> {
        let mut options = Self::all();
        let mut rest = arguments;
        if let ["--seconds", seconds, behind @ ..] = rest {
            options.seconds = seconds.parse().ok().filter(|seconds| *seconds > 0)?;
            rest = behind;
        }
        match rest {
            [] => Some(options),
            [target] if TARGETS.contains(target) => {
                options.targets = vec![target];
                Some(options)
            }
            _ => None,
        }
    }
}

/// Builds the fuzzer and runs it.
///
/// # Errors
///
/// It cannot be built; an input broke a target's property, took too long or too much memory: where it is.
pub(crate) fn run(root: &Path, options: &Options<'_>) -> Outcome {
    let fuzzer = build(root)?;
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(target) = options.targets.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match fuzz(root, &fuzzer, target, options.seconds) {
                        Ok(said) => println!("  {target:<13} {said}"),
                        Err(why) => failed.lock().unwrap_or_else(PoisonError::into_inner).push(why),
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if failed.is_empty() {
        Ok(())
    } else {
        Err(failed.join("\n"))
    }
}

/// The fuzzer, built with counters in the code: not the build of the tests, which has none.
fn build(root: &Path) -> Result<PathBuf, String> {
    let version = program::output(root, "rustc", &["-vV"])?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .ok_or("`rustc -vV` names no host")?;
    let folder = root.join("target/fuzz");
    // With `--target`, the flags are for what is fuzzed alone, not for build scripts and macros.
    let status = program::command(
        root,
        "cargo",
        &[
            "build",
            "--locked",
            "--package=fuzz",
            "--features=libfuzzer",
            "--target",
            host,
            "--config=profile.dev.opt-level=1",
        ],
    )
    .arg("--target-dir")
    .arg(&folder)
    .env("RUSTFLAGS", COUNTED)
    .stdin(Stdio::null())
    .status()
    .map_err(|error| format!("`cargo build` of the fuzzer cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!("the fuzzer cannot be built ({status})"));
    }
    Ok(folder.join(host).join("debug/fuzz"))
}

/// One target, and in words what was tried.
fn fuzz(root: &Path, fuzzer: &Path, target: &str, seconds: u32) -> Result<String, String> {
    let kept = root.join("crates/fuzz/corpus").join(target);
    // What libFuzzer learns stays here for the next time; what is worth keeping for everybody is committed by
    // hand.
    let learnt = root.join("target/fuzz/learnt").join(target);
    let found = root.join("target/fuzz/found");
    let log = root.join("target/fuzz").join(format!("{target}.log"));
    for folder in [&learnt, &found] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let file = fs::File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let status = program::command::<&str>(root, &fuzzer.to_string_lossy(), &[])
        .args([&learnt, &kept])
        .arg(format!("-max_total_time={seconds}"))
        .args([
            "-rss_limit_mb=256",
            "-timeout=10",
            "-max_len=8192",
            "-print_final_stats=1",
        ])
        .arg(format!("-artifact_prefix={}/{target}-", found.display()))
        .env("FUZZ_TARGET", target)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file)
        .status()
        .map_err(|error| format!("{} cannot be started: {error}", fuzzer.display()))?;
    let said = text(&log)?;
    if !status.success() {
        let fuzzer = fuzzer.display();
        let again = said.lines().find_map(|line| line.split_once("Test unit written to ")).map_or_else(
            || format!("all that was said is in {}", log.display()),
            |(_, input)| {
                format!(
                    "the input is {input}\n  again:    FUZZ_TARGET={target} {fuzzer} {input}\n  \
                     smaller:  FUZZ_TARGET={target} {fuzzer} -minimize_crash=1 -max_total_time=60 {input}\n  \
                     mended:   put it into {} under a name that says what it is; the tests of `fuzz` replay it from then on",
                    kept.display()
                )
            },
        );
        return Err(format!(
            "{target}: an input breaks what must hold ({status})\n{}\n{again}",
            why(&said)
        ));
    }
    let number = |key: &str| {
        let value = said.lines().find_map(|line| line.strip_prefix(key));
        value.map_or("?", str::trim).to_owned()
    };
    Ok(format!(
        "{} inputs in {seconds} s, {} MiB at most",
        number("stat::number_of_executed_units:"),
        number("stat::peak_rss_mb:"),
    ))
}

/// What was said of the input that failed: the broken property and its values, else the end, where too long
/// or too large is told.
fn why(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    let from = lines.iter().rposition(|line| line.contains(" panicked at "));
    let Some(from) = from else {
        return lines[lines.len().saturating_sub(40)..].join("\n");
    };
    let told = lines[from..]
        .iter()
        .take_while(|line| !line.starts_with("stack backtrace:") && !line.starts_with("=="));
    told.take(40).copied().collect::<Vec<_>>().join("\n")
}

/// A log, which has what the inputs made the targets print.
fn text(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_its_folder_of_inputs() {
        for target in TARGETS {
            let folder = crate::root().join("crates/fuzz/corpus").join(target);
            assert!(folder.is_dir(), "{}", folder.display());
        }
    }

    #[test]
    fn of_a_broken_property_its_words_are_told_and_else_the_end() {
        let said = "INFO: Seed: 1\nthread '<unnamed>' (1) panicked at crates/fuzz/src/names.rs:1:2:\n\"a\"\nstack backtrace:\n 0: x\n";
        assert_eq!(
            why(said),
            "thread '<unnamed>' (1) panicked at crates/fuzz/src/names.rs:1:2:\n\"a\""
        );
        let lines: Vec<String> = (0..99).map(|number| number.to_string()).collect();
        let end = why(&lines.join("\n"));
        assert!(end.starts_with("59\n") && end.ends_with("\n98"), "{end}");
    }

    #[test]
    fn options_are_seconds_and_a_target() {
        let read = |arguments: &[&'static str]| {
            Options::read(arguments).map(|options| (options.seconds, options.targets.len()))
        };
        assert_eq!(read(&[]), Some((60, TARGETS.len())));
        assert_eq!(read(&["--seconds", "5", "names"]), Some((5, 1)));
        assert_eq!(read(&["names"]), Some((60, 1)));
        assert_eq!(read(&["nams"]), None);
        assert_eq!(read(&["--seconds", "0"]), None);
    }
}
