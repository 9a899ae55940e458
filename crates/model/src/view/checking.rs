//! The progress of the checks of a ticket, in words.

use std::time::Duration;

use super::figures::span;
use crate::Time;
use crate::ticket::{CheckTask, Checks};

/// The command that runs now, for how long and until when if `now` is given, and how far that is. None while
/// nothing runs.
#[must_use]
pub fn checking(checks: &Checks, now: Option<Time>) -> Option<String> {
    let run = checks.run.as_ref()?;
    let command = checks.command(run.task)?;
    let limit = span(Duration::from_millis(command.timeout_ms));
    let time = now.map(|now| format!(" for {} of at most {limit}", span(now.since(run.since))));
    let time = time.unwrap_or_default();
    let of = |done: u32, all: usize| match all {
        0 | 1 => String::new(),
        all => format!(", {} of {all}", done + 1),
    };
    Some(match run.task {
        CheckTask::SetUp => {
            let done = of(checks.set_up.unwrap_or(0), checks.plan.setup.len());
            let place = match checks.is_proving() {
                true => ", on the target, since it cannot be done with the work",
                false => "",
            };
            format!("setting up with `{command}`{time}{done}{place}")
        }
        CheckTask::Candidate => {
            let place = of(checks.passed, checks.plan.commands.len());
            let again = match checks.tries_of(command) {
                0 if checks.hindered.is_some() => ", once more, since the target can be run",
                0 => "",
                _ => ", repeated since it failed",
            };
            format!("`{command}`{time}{place}{again}")
        }
        CheckTask::Commitment => {
            let (says, n) = (&checks.owed()?.says, of(checks.met, checks.commitments.len()));
            format!("the commitment “{says}” with `{command}`{time}{n}")
        }
        CheckTask::Target => {
            let failed = checks.failed_command().filter(|failed| *failed != command);
            let failed = failed.map_or_else(|| "it".to_owned(), |failed| format!("`{failed}`"));
            let failed_how = match checks.is_proving() {
                true => "could not be run with the work",
                false => "failed",
            };
            format!("`{command}`{time}, on the target, since {failed} {failed_how}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunId;
    use crate::samples;
    use crate::ticket::{CheckPlan, CheckRun, CheckSlot};

    #[test]
    fn the_command_that_runs_is_named_with_its_time_and_its_place() {
        let list = |commands: &[&str]| commands.iter().copied().map(samples::ticket::check).collect();
        let plan = CheckPlan {
            setup: list(&["npm ci"]),
            commands: list(&["cargo clippy", "cargo test", "npm test"]),
            ..CheckPlan::default()
        };
        let mut checks = Checks::new(samples::ticket::candidate(), plan);
        assert_eq!(checking(&checks, None), None);
        let at = |checks: &mut Checks, task| {
            checks.run = Some(CheckRun {
                run: RunId::new("t-1.1.check-1-1").unwrap(),
                task,
                slot: CheckSlot::FIRST,
                since: Time(1_000),
                stopping: None,
            });
            checking(checks, Some(Time(13_000))).unwrap()
        };
        assert_eq!(
            at(&mut checks, CheckTask::SetUp),
            "setting up with `npm ci` for 12s of at most 5m"
        );
        checks.passed = 1;
        assert_eq!(
            at(&mut checks, CheckTask::Candidate),
            "`cargo test` for 12s of at most 5m, 2 of 3"
        );
        assert_eq!(checking(&checks, None).unwrap(), "`cargo test`, 2 of 3");
        checks.tries.push(crate::ticket::FailedTry {
            check: "cargo test".to_owned(),
            output: String::new(),
        });
        assert_eq!(
            checking(&checks, None).unwrap(),
            "`cargo test`, 2 of 3, repeated since it failed"
        );
        checks.failed = Some("1 failed".to_owned());
        assert_eq!(
            at(&mut checks, CheckTask::Target),
            "`cargo clippy` for 12s of at most 5m, on the target, since `cargo test` failed"
        );
        checks.on_target = 1;
        assert_eq!(
            at(&mut checks, CheckTask::Target),
            "`cargo test` for 12s of at most 5m, on the target, since it failed"
        );
    }
}
