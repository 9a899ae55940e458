//! Work in the background: this program once more, apart from the terminal that it was started in.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::Path;
use std::process::Child;

use client::error::Doing as _;

use crate::error::Result;

/// The first word of the arguments of a program that is to leave the terminal at once: no command has it.
pub(crate) const DETACHED: &str = "detached";

/// Starts an engine with these arguments in this folder, with both outputs in a file. It still belongs to the
/// terminal: where the first argument is [`DETACHED`], leaving it is its first act.
///
/// # Errors
/// The system refuses to start it.
pub(crate) fn start_this(args: &[OsString], dir: &Path, output: &File) -> Result<Child> {
    let started = process::start_again(args, dir, output);
    Ok(started.doing("start", "an engine in the background")?)
}

/// Has this very executable start an engine in the background, and waits until it runs. What it says is
/// returned, or the reason why none runs.
///
/// # Errors
/// The reason why no engine runs.
pub(crate) fn run_detached(dir: &Path) -> std::result::Result<String, String> {
    let words = ["run", "--detach"].map(OsStr::new);
    let ended = process::run_again(&words, dir).map_err(|error| text::os_message(&error))?;
    let says = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if ended.status.success() {
        let out = says(&ended.stdout);
        return Ok(out.lines().next().unwrap_or_default().to_owned());
    }
    Err(says(&ended.stderr))
}
