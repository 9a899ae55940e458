//! The outcome of a check: its verdict, from how its run has ended and what it printed.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::time::Duration;

use model::ticket::{CheckOutcome, Loss};
use process::{Exit, Reason, Run, Stream, Tail};

use super::missing::{make_found_none, missing_in};

/// How much of a failed check's output its agent gets to see.
const OUTPUT: usize = 8 * 1024;
/// How many lines that name a failure stand before that end, and how much of each, in characters.
const FAILURES: usize = 6;
const LONGEST_LINE: usize = 300;
/// How much of the beginning of an output is searched for them, in bytes.
const SEARCHED: u64 = 4 << 20;
/// The exit codes of a shell for a command that it cannot find or execute.
const NOT_A_COMMAND: [i32; 2] = [126, 127];
/// Signals that a program brings on itself, as an `assert` or a bad address does: ILL, TRAP, ABRT, BUS, FPE,
/// SEGV, SYS. Of any other, somebody else ended it.
const OWN_FAULT: [i32; 7] = [4, 5, 6, 7, 8, 11, 31];

/// The verdict of a command, from its end. `missing`: the program that it does not find; `hint`: a cause that
/// may lie outside of the repository.
pub(crate) fn outcome(
    command: &str,
    exit: &Exit,
    run_dir: &Path,
    limit: Option<Duration>,
    (missing, hint): (Option<&str>, Option<&str>),
) -> CheckOutcome {
    let hint = hint.map(|hint| format!("\n({hint})")).unwrap_or_default();
    let failed = |how: &str| CheckOutcome::Failed {
        output: format!("{}{}\n({how}){hint}", first_failures(run_dir), tail(run_dir))
            .trim_start_matches('\n')
            .to_owned(),
    };
    let lost = |how| CheckOutcome::Lost { how };
    match (&exit.reason, exit.code) {
        (Reason::Exited, Some(0)) => CheckOutcome::Passed,
        (Reason::Exited, Some(code)) => {
            let printed = tail(run_dir);
            if !NOT_A_COMMAND.contains(&code) && !make_found_none(&printed) {
                return failed(&format!("exit code {code}"));
            }
            let missing = missing.map(str::to_owned).or_else(|| missing_in(&printed));
            let cause = match missing {
                Some(program) => format!(", since {program} is not found on its PATH"),
                None => format!(" (exit code {code})"),
            };
            CheckOutcome::CouldNotRun {
                why: format!("`{command}` cannot be run{cause}:\n{printed}{hint}"),
            }
        }
        (Reason::TimedOut, _) => failed(&format!(
            "timed out after {}",
            in_words(limit.unwrap_or_default())
        )),
        (Reason::Exited, None) => match exit.signal.unwrap_or_default() {
            signal if OWN_FAULT.contains(&signal) => failed(&format!("ended by signal {signal}")),
            signal => lost(Loss::Signal { signal }),
        },
        (Reason::Stopped, _) => lost(Loss::Stopped),
        (Reason::Lost, _) => lost(Loss::Vanished),
        (Reason::SpawnFailed { error, .. }, _) => CheckOutcome::CouldNotRun {
            why: format!("`{command}` could not be started: {error}"),
        },
    }
}

/// A time limit as a person would write it: `3 s`, `1 h 30 min`.
fn in_words(limit: Duration) -> String {
    let ms = limit.as_millis();
    let parts = [
        (ms / 3_600_000, "h"),
        (ms / 60_000 % 60, "min"),
        (ms / 1_000 % 60, "s"),
        (ms % 1_000, "ms"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count} {unit}"))
        .collect();
    parts.join(" ")
}

/// The end of what a run printed, fit to be shown.
pub(super) fn tail(run_dir: &Path) -> String {
    let Ok(run) = Run::open(run_dir) else {
        return String::new();
    };
    let mut text = String::new();
    for stream in [Stream::Out, Stream::Err] {
        let path = run_dir.join(stream.file());
        let length = std::fs::metadata(path).map_or(0, |m| m.len());
        let from = length.saturating_sub(OUTPUT as u64);
        let said = Tail::new(&run, stream, from)
            .read_ended_text(OUTPUT)
            .unwrap_or_default();
        if !text.is_empty() && !said.is_empty() {
            text.push('\n');
        }
        text.push_str(said.trim_end());
    }
    text::sanitise::text(&text)
}

/// The first lines of a long output that name a failure and stand before its end, with `…` below them; empty
/// where there are none. The end of many runners' output is a summary.
fn first_failures(run_dir: &Path) -> String {
    let mut lines: Vec<String> = Vec::new();
    for stream in [Stream::Out, Stream::Err] {
        let Ok(file) = std::fs::File::open(run_dir.join(stream.file())) else {
            continue;
        };
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let before_end = length.saturating_sub(OUTPUT as u64).min(SEARCHED);
        let before_end = BufReader::new(file.take(before_end)).split(b'\n');
        let named = before_end
            .map_while(Result::ok)
            .map(|line| text::sanitise::indented_line(String::from_utf8_lossy(&line).trim_end()))
            .filter(|line| text::names_failure(line));
        lines.extend(named.take(FAILURES - lines.len()));
    }
    let cut = |line: &String| line.chars().take(LONGEST_LINE).collect::<String>();
    let mut lines: Vec<String> = lines.iter().map(cut).collect();
    if !lines.is_empty() {
        lines.push("…\n".to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_before_the_end_of_a_long_output_are_found() {
        let run = tempfile::tempdir().unwrap();
        let (out, err) = (Stream::Out.file(), Stream::Err.file());
        let write = |file: &str, begins: &str| {
            let output = format!("{begins}{}", "ok 3\n".repeat(OUTPUT));
            std::fs::write(run.path().join(file), output).unwrap();
        };
        assert_eq!(first_failures(run.path()), "", "nothing was printed");
        write(out, "");
        assert_eq!(first_failures(run.path()), "");
        write(
            out,
            "ok 1\n\x1b[31mnot ok 2 - adds\x1b[0m\n  error: 'one'\nok 3\n",
        );
        write(err, "error: two\n");
        assert_eq!(
            first_failures(run.path()),
            "not ok 2 - adds\n  error: 'one'\nerror: two\n…\n"
        );
        write(out, &"not ok 4\n".repeat(2 * FAILURES));
        assert_eq!(first_failures(run.path()).lines().count(), FAILURES + 1);
    }

    #[test]
    fn a_time_limit_is_said_in_its_units() {
        let said = |ms| in_words(Duration::from_millis(ms));
        assert_eq!(
            [3_000, 300_000, 5_400_000, 1_500].map(said),
            ["3 s", "5 min", "1 h 30 min", "1 s 500 ms"]
        );
    }
}
