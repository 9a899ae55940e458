//! Another program, run to its end: the one place of these commands that starts any.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What a git hook leaves in the environment of what it runs; it would lead the tests' own repositories
/// astray.
const GIT_LOCAL: [&str; 8] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
];

/// Runs a program with the terminal as its own.
///
/// # Errors
///
/// The program cannot be started, or does not end with 0.
pub(crate) fn run<S: AsRef<OsStr>>(directory: &Path, program: &str, arguments: &[S]) -> Result<(), String> {
    run_with(directory, program, arguments, None)
}

/// The same, with another folder for what is temporary, where one is given.
pub(crate) fn run_with<S: AsRef<OsStr>>(
    directory: &Path,
    program: &str,
    arguments: &[S],
    temporary: Option<&Path>,
) -> Result<(), String> {
    let shown = shown(program, arguments);
    let status = command(directory, program, arguments)
        .envs(temporary.map(|folder| ("TMPDIR", folder)))
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("`{shown}` cannot be started: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{shown}` failed ({status})"))
    }
}

/// Runs a program for its standard output.
///
/// # Errors
///
/// The program cannot be started, does not end with 0 (its standard error is in the text), or prints no
/// UTF-8.
pub(crate) fn output<S: AsRef<OsStr>>(
    directory: &Path,
    program: &str,
    arguments: &[S],
) -> Result<String, String> {
    let shown = shown(program, arguments);
    let Output {
        status,
        stdout,
        stderr,
    } = command(directory, program, arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`{shown}` cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!(
            "`{shown}` failed ({status})\n{}",
            String::from_utf8_lossy(&stderr).trim_end()
        ));
    }
    String::from_utf8(stdout).map_err(|_| format!("`{shown}` printed something that is not text"))
}

/// Runs a program as [`run_with`] does, whose standard output is passed on as it comes, and kept.
///
/// # Errors
///
/// As [`run`]; the text beside the reason is what was printed all the same.
pub(crate) fn passed_on<S: AsRef<OsStr>>(
    directory: &Path,
    program: &str,
    arguments: &[S],
    temporary: Option<&Path>,
) -> Result<String, (String, String)> {
    let shown = shown(program, arguments);
    let mut said = String::new();
    let mut child = command(directory, program, arguments)
        .envs(temporary.map(|folder| ("TMPDIR", folder)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| (format!("`{shown}` cannot be started: {error}"), String::new()))?;
    for line in child
        .stdout
        .take()
        .into_iter()
        .flat_map(|out| BufReader::new(out).split(b'\n'))
    {
        let Ok(line) = line else { break };
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        said.push_str(&line);
        said.push('\n');
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(said),
        Ok(status) => Err((format!("`{shown}` failed ({status})"), said)),
        Err(error) => Err((format!("`{shown}`: {error}"), said)),
    }
}

/// Whether a program is there and ends well.
pub(crate) fn works<S: AsRef<OsStr>>(directory: &Path, program: &str, arguments: &[S]) -> bool {
    output(directory, program, arguments).is_ok()
}

fn shown<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> String {
    let arguments = arguments
        .iter()
        .map(|argument| argument.as_ref().to_string_lossy());
    std::iter::once(program.into())
        .chain(arguments)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A program to be started in a folder.
#[expect(
    clippy::disallowed_methods,
    reason = "a developer's command is programs run in a row"
)]
pub(crate) fn command<S: AsRef<OsStr>>(directory: &Path, program: &str, arguments: &[S]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory);
    for name in GIT_LOCAL {
        command.env_remove(name);
    }
    command
}
