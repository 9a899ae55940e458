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
