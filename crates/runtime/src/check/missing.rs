//! Programs that checks need and would not find.

use std::ffi::OsStr;
use std::path::Path;

use harness::environment::Environment;
use model::commitment::Promise;
use model::settings::{Settings, first_program};
use model::ticket::{CheckCommand, CheckPlan};
use process::Fault;

use super::CheckEnvironment;
use crate::{Options, Place, Result};

/// The program that a command starts first, if no entry of the environment's `PATH` has it.
pub(crate) fn missing_program(command: &str, environment: &Environment) -> Option<String> {
    missing_on_path(first_program(command)?, environment)
}

fn missing_on_path(program: &str, environment: &Environment) -> Option<String> {
    let path = environment.get(OsStr::new("PATH"))?;
    // A relative entry is a folder of the tree, where the set-up may put it.
    if !std::env::split_paths(path).all(|entry| entry.is_absolute()) {
        return None;
    }
    let found = process::find_program(Path::new(program), Some(path), Path::new("/"));
    let is_missing = found.is_err_and(|not| not.fault == Fault::Missing);
    is_missing.then(|| program.to_owned())
}

/// The same of a command of the checks; none of one that no shell reads.
pub(crate) fn missing_of(command: &CheckCommand, environment: &Environment) -> Option<String> {
    match command {
        CheckCommand::Shell(line) => missing_program(line, environment),
        CheckCommand::Argv(_) => None,
    }
}

/// The program of an agent's commitment, if no entry of the environment's `PATH` has it. One with a path is
/// the work's own, and may be made later.
pub(crate) fn missing_of_promise(promise: &Promise, environment: &Environment) -> Option<String> {
    match &promise.run {
        Some(CheckCommand::Argv(words)) => {
            let program = words.first().filter(|program| !program.contains('/'))?;
            missing_on_path(program, environment)
        }
        Some(CheckCommand::Shell(_)) | None => None,
    }
}

/// The program that a shell or `make` says it has not found, in the end of what a command has printed. A path
/// is none: it is the repository's own.
pub(crate) fn missing_in(printed: &str) -> Option<String> {
    let named = |line: &str| {
        let line = line.trim_end();
        let program = match line.strip_suffix(": No such file or directory") {
            // Other programs say the same of any file.
            Some(begins) if is_of_make(begins) => begins,
            Some(_) => return None,
            None => ["command not found", "not found"]
                .iter()
                .find_map(|end| line.strip_suffix(end)?.strip_suffix(": "))?,
        };
        let program = program.rsplit(": ").next()?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
        (!program.is_empty() && program.chars().all(is_name)).then(|| program.to_owned())
    };
    printed.lines().rev().find_map(named)
}

/// Whether `make` says that a command of a rule could not be found or executed: it ends with a code of its
/// own then.
pub(crate) fn make_found_none(printed: &str) -> bool {
    let says = |line: &str| {
        let line = line.trim_end();
        is_of_make(line)
            && line.contains(" *** [")
            && ["Error 126", "Error 127"].iter().any(|end| line.ends_with(end))
    };
    printed.lines().any(says)
}

fn is_of_make(line: &str) -> bool {
    line.starts_with("make: ")
        || line.starts_with("make[")
        || line.starts_with("gmake: ")
        || line.starts_with("gmake[")
}

/// A command of the checks whose program would not be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingProgram {
    /// The command.
    pub command: String,
    /// The program.
    pub program: String,
    /// Whether no command runs before it that could install it.
    pub is_first: bool,
}

/// The commands of the checks, set-up first, whose program would not be found. Nothing is run.
///
/// # Errors
/// The environment of checks cannot be told.
pub fn missing_programs(
    place: &Place,
    settings: &Settings,
    options: &Options,
) -> Result<Vec<MissingProgram>> {
    let environment = CheckEnvironment::of(place, &options.env, &settings.checks)?;
    let plan = CheckPlan::of(settings);
    let all = plan.setup.iter().chain(&plan.commands).enumerate();
    let missing = all.filter_map(|(n, command)| {
        Some(MissingProgram {
            program: missing_of(&command.command, &environment.variables)?,
            command: command.to_string(),
            is_first: n == 0,
        })
    });
    Ok(missing.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_that_a_runner_does_not_find_is_read_in_what_it_prints() {
        for (printed, program) in [
            ("/bin/sh: 1: jest: not found\n", Some("jest")),
            ("ok\nbash: line 1: g++: command not found\nend", Some("g++")),
            (
                "make: cargo: No such file or directory\nmake: *** [Makefile:2: test] Error 127",
                Some("cargo"),
            ),
            ("cat: notes: No such file or directory", None),
            ("sh: 1: ./scripts/test.sh: not found", None),
            ("page not found", None),
            ("", None),
        ] {
            assert_eq!(missing_in(printed).as_deref(), program, "{printed}");
        }
    }

    #[test]
    fn only_make_itself_says_that_a_rule_could_not_be_run() {
        for (printed, says) in [
            ("make: *** [Makefile:2: test] Error 127", true),
            ("make[1]: *** [test] Error 126\nmake: *** [all] Error 2", true),
            ("make: *** [Makefile:2: test] Error 1", false),
            ("assertion failed: *** [x] Error 127", false),
        ] {
            assert_eq!(make_found_none(printed), says, "{printed}");
        }
    }
}
