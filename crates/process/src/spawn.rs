//! Starting a run's program, or explaining exactly why it cannot be started.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::Access;

use crate::record::Fault;
use crate::spec::{MARKER, Spec};

/// The reason why a program was not started.
pub(crate) struct Failure {
    pub(crate) fault: Fault,
    /// The fault in a sentence, for people.
    pub(crate) why: String,
    /// The number of the system's error, where the system refused.
    pub(crate) errno: Option<i32>,
}

/// Starts the program in a process group of its own, its output piped to us.
pub(crate) fn spawn(spec: &Spec, stdin: Stdio) -> Result<Child, Failure> {
    let closed = |why: String, errno: Option<i32>| Failure {
        fault: Fault::WorkingDirectory,
        why: format!("cannot work in {}: {why}", spec.cwd.display()),
        errno,
    };
    let refused = |error: io::Error| closed(text::os_message(&error), error.raw_os_error());
    match spec.cwd.metadata() {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(closed("it is not a directory".to_owned(), None)),
        Err(error) => return Err(refused(error)),
    }
    rustix::fs::access(&spec.cwd, Access::EXEC_OK).map_err(|errno| refused(errno.into()))?;
    let path = spec.env.get(OsStr::new("PATH")).map(AsRef::as_ref);
    let program = find_program(&spec.program, path, &spec.cwd).map_err(|not: NotFound| Failure {
        fault: not.fault,
        why: not.why,
        errno: None,
    })?;

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
        let (fault, why) = match error.kind() {
            // It was there a moment ago.
            io::ErrorKind::NotFound => (
                Fault::Missing,
                "it, or the interpreter its first line names, is missing".to_owned(),
            ),
            io::ErrorKind::PermissionDenied => (Fault::NotExecutable, text::os_message(&error)),
            _ if error.raw_os_error() == Some(libc::ENOEXEC) => (
                Fault::NotExecutable,
                "neither a program of this machine nor a script that begins with #!".to_owned(),
            ),
            _ => (Fault::System, text::os_message(&error)),
        };
        Failure {
            fault,
            why: format!("cannot start {}: {why}", program.display()),
            errno: error.raw_os_error(),
        }
    })
}

/// Finds a program as a run would. A name without a slash is looked up in `path`, absolute entries only: an
/// empty or relative one would mean the working directory, which an agent can write. Any other relative path
/// begins at `cwd`. Starts nothing. An error names the thing that is missing or not executable.
pub fn find_program(program: &Path, path: Option<&OsStr>, cwd: &Path) -> Result<PathBuf, NotFound> {
    let shown = program.display();
    if program.as_os_str().as_bytes().contains(&b'/') {
        let found = cwd.join(program);
        return match look(&found) {
            Ok(()) => Ok(found),
            Err(not) => Err(not.of(&found)),
        };
    }
    let mut refused = None;
    for dir in std::env::split_paths(path.unwrap_or_default()).filter(|dir| dir.is_absolute()) {
        let found = dir.join(program);
        match look(&found) {
            Ok(()) => return Ok(found),
            Err(not) if not.fault == Fault::NotExecutable && refused.is_none() => {
                refused = Some(not.of(&found));
            }
            Err(_) => {}
        }
    }
    // A PATH is long, and who reads this knows where to find it.
    let looked = match path.map(|path| std::env::split_paths(path).count()) {
        None => "PATH, which is not set".to_owned(),
        Some(1) => "the folder of PATH".to_owned(),
        Some(folders) => format!("the {folders} folders of PATH"),
    };
    Err(refused.unwrap_or_else(|| NotFound {
        fault: Fault::Missing,
        why: format!("there is no program {shown} in {looked}"),
    }))
}

/// Why a program cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NotFound {
    /// Missing, or there and not executable.
    pub fault: Fault,
    /// The fault in a sentence, for people, with the file's name.
    pub why: String,
}

impl NotFound {
    fn of(self, path: &Path) -> Self {
        Self {
            why: format!("cannot start {}: {}", path.display(), self.why),
            ..self
        }
    }
}

fn look(path: &Path) -> Result<(), NotFound> {
    let not = |fault, why: String| Err(NotFound { fault, why });
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => not(Fault::NotExecutable, "it is not a file".into()),
        Ok(_) => match rustix::fs::access(path, Access::EXEC_OK) {
            Ok(()) => Ok(()),
            Err(_) => not(
                Fault::NotExecutable,
                "it is not executable (chmod +x makes it so)".into(),
            ),
        },
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            not(Fault::NotExecutable, text::os_message(&error))
        }
        Err(error) => not(Fault::Missing, text::os_message(&error)),
    }
}
