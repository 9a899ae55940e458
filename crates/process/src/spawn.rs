//! Starting a run's program, and telling exactly why it could not be started.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::Access;

use crate::record::Fault;
use crate::spec::{MARKER, Spec};

/// Why, and the same for people.
type Failure = (Fault, String);

/// Starts the program in a process group of its own, its output piped to us.
pub(crate) fn spawn(spec: &Spec, stdin: Stdio) -> Result<Child, Failure> {
    let cwd = spec.cwd.display();
    let closed =
        |why: &dyn std::fmt::Display| (Fault::WorkingDirectory, format!("cannot work in {cwd}: {why}"));
    match spec.cwd.metadata() {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(closed(&"it is not a directory")),
        Err(error) => return Err(closed(&error)),
    }
    rustix::fs::access(&spec.cwd, Access::EXEC_OK).map_err(|errno| closed(&io::Error::from(errno)))?;
    let program = resolve(
        &spec.program,
        spec.env.get(OsStr::new("PATH")).map(AsRef::as_ref),
        &spec.cwd,
    )?;

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that starts a run's program"
    )]
    let mut command = Command::new(&program);
    command
        .arg0(&spec.program)
        .args(&spec.args)
        .current_dir(&spec.cwd);
    command.env_clear().envs(&spec.env).env(MARKER, &spec.run_id);
    command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command.spawn().map_err(|error| {
        let shown = program.display();
        match error.kind() {
            // It was there a moment ago.
            io::ErrorKind::NotFound => (
                Fault::Missing,
                format!("cannot start {shown}: it, or the interpreter its first line names, is missing"),
            ),
            io::ErrorKind::PermissionDenied => {
                (Fault::NotExecutable, format!("cannot start {shown}: {error}"))
            }
            _ if error.raw_os_error() == Some(libc::ENOEXEC) => (
                Fault::NotExecutable,
                format!(
                    "cannot start {shown}: neither a program of this machine nor a script that begins with #!"
                ),
            ),
            _ => (Fault::System, format!("cannot start {shown}: {error}")),
        }
    })
}

/// Where the program is. A name without a slash is looked up in `path`, absolute entries only: an empty or relative
/// one would mean the working directory, which an agent can write.
fn resolve(program: &Path, path: Option<&OsStr>, cwd: &Path) -> Result<PathBuf, Failure> {
    let shown = program.display();
    if program.as_os_str().as_bytes().contains(&b'/') {
        let found = cwd.join(program);
        return match look(&found) {
            Found::Executable => Ok(found),
            Found::Not(fault, why) => Err((fault, format!("cannot start {}: {why}", found.display()))),
        };
    }
    let mut refused = None;
    for dir in std::env::split_paths(path.unwrap_or_default()).filter(|dir| dir.is_absolute()) {
        let found = dir.join(program);
        match look(&found) {
            Found::Executable => return Ok(found),
            Found::Not(Fault::NotExecutable, why) if refused.is_none() => {
                refused = Some((
                    Fault::NotExecutable,
                    format!("cannot start {}: {why}", found.display()),
                ));
            }
            Found::Not(..) => {}
        }
    }
    let path = path.map_or_else(|| "which is not set".into(), |path| format!("{}", path.display()));
    Err(refused.unwrap_or_else(|| {
        (
            Fault::Missing,
            format!("there is no program {shown} in PATH, {path}"),
        )
    }))
}

enum Found {
    Executable,
    Not(Fault, String),
}

fn look(path: &Path) -> Found {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => Found::Not(Fault::NotExecutable, "it is not a file".into()),
        Ok(_) => match rustix::fs::access(path, Access::EXEC_OK) {
            Ok(()) => Found::Executable,
            Err(_) => Found::Not(
                Fault::NotExecutable,
                "it is not executable (chmod +x makes it so)".into(),
            ),
        },
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Found::Not(Fault::NotExecutable, error.to_string())
        }
        Err(error) => Found::Not(Fault::Missing, error.to_string()),
    }
}
