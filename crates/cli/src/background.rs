//! Work in the background: this program once more, apart from the terminal that it was started in.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use client::error::Doing as _;

use crate::error::Result;

/// The first word of the arguments of a program that is to leave the terminal at once: no command has it.
pub(crate) const DETACHED: &str = "detached";

/// This very executable, even when its file was replaced by an upgrade.
const THIS_EXECUTABLE: &str = "/proc/self/exe";

/// Starts this very executable with these arguments, in this folder, with an empty input and both outputs in
/// a file. It still belongs to the terminal: where the first argument is [`DETACHED`], its first act is to be
/// [`leave_terminal`].
///
/// # Errors
/// The system refuses to start it.
pub(crate) fn start_this(args: &[OsString], dir: &Path, output: &File) -> Result<Child> {
    let (doing, engine) = ("start", "an engine in the background");
    let out = output.try_clone().doing(doing, engine)?;
    let err = output.try_clone().doing(doing, engine)?;
    #[expect(
        clippy::disallowed_methods,
        reason = "an engine is no run: nothing stands above it, and it stays when this process ends"
    )]
    let mut command = Command::new(THIS_EXECUTABLE);
    command
        .arg0("crew")
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err);
    Ok(command.spawn().doing(doing, engine)?)
}

/// Has this very executable start an engine in the background, and waits until it runs. What it says is
/// returned, or the reason why none runs.
///
/// # Errors
/// The reason why no engine runs.
pub(crate) fn run_detached(dir: &Path) -> std::result::Result<String, String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "an engine is no run: nothing stands above it, and it stays when this process ends"
    )]
    let mut command = Command::new(THIS_EXECUTABLE);
    command.arg0("crew").args(["run", "--detach"]).current_dir(dir);
    let ended = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| text::os_message(&error))?;
    let says = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if ended.status.success() {
        let out = says(&ended.stdout);
        return Ok(out.lines().next().unwrap_or_default().to_owned());
    }
    Err(says(&ended.stderr))
}

/// Makes this process the first of a session of its own, which has no terminal: neither Ctrl-C there nor the
/// terminal's end reaches it. One that leads a session, or a group of processes, stays as it is.
pub(crate) fn leave_terminal() {
    let _ = rustix::process::setsid();
}
