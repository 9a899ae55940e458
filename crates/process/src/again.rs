//! This very program once more: no run, for nothing stands above it, and it may stay when this process ends.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::linux::THIS_EXECUTABLE;

/// Starts this program once more with these arguments, in this folder, with an empty input and both outputs
/// in a file. It still belongs to the terminal, until it is the one to [`leave_terminal`].
///
/// # Errors
/// The system refuses to start it.
pub fn start_again(args: &[OsString], dir: &Path, output: &File) -> io::Result<Child> {
    let (out, err) = (output.try_clone()?, output.try_clone()?);
    again(args, dir).stdout(out).stderr(err).spawn()
}

/// Runs this program once more until it ends, with an empty input, in this folder.
///
/// # Errors
/// The system refuses to start it.
pub fn run_again(args: &[&OsStr], dir: &Path) -> io::Result<Output> {
    again(args, dir).output()
}

fn again<S: AsRef<OsStr>>(args: &[S], dir: &Path) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "an engine in the background is no run: there is nothing for a shim to outlive"
    )]
    let mut command = Command::new(THIS_EXECUTABLE);
    // The name by which it is called decides what it is: it may be `tk`, or a path with another name.
    command
        .arg0("crew")
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null());
    command
}

/// Makes this process the first of a session of its own, which has no terminal: neither Ctrl-C there nor the
/// terminal's end reaches it. One that leads a session, or a group of processes, stays as it is.
pub fn leave_terminal() {
    let _ = rustix::process::setsid();
}
