//! Completion: a shell calls this program with the words of a command line so far, and is given those that
//! may come next.
//!
//! What a shell is given is a word that it reads as nothing but that word, with a line about it. Titles and
//! descriptions are others' text, and are only ever such a line.

mod grammar;
mod tk;

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap_complete::Shell;
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};
use client::names::Names;
use runtime::Place;

use crate::context::Context;
use crate::short;
use crate::wait::wait;

/// The variable in which the script of a shell says which shell asks.
const SHELL: &str = "CREW_COMPLETE";
/// Set by the scripts of shells that complete in the middle of a line: the number of the word.
const INDEX: &str = "_CLAP_COMPLETE_INDEX";
/// Whoever presses a key is not kept waiting for a journal that somebody has locked.
const PATIENCE: Duration = Duration::from_secs(2);

/// The script that has a shell ask this program.
pub(crate) fn script(shell: Shell) -> std::io::Result<String> {
    let mut text = Vec::new();
    completer(shell).write_registration(SHELL, "crew", "crew", "crew", &mut text)?;
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    Ok(match shell {
        // Where there is nothing to offer, bash offers files, and quotes their names itself.
        Shell::Bash => text.replace("-o bashdefault", "-o bashdefault -o default") + "\n",
        // zsh loads a file of its `fpath` at the first completion, and runs it as that completion.
        Shell::Zsh => format!(
            "{text}\nif [[ $funcstack[1] == _crew ]]; then\n    _clap_dynamic_completer_crew \"$@\"\nfi\n"
        ),
        _ => text + "\n",
    })
}

fn completer(shell: Shell) -> &'static dyn EnvCompleter {
    match shell {
        Shell::Bash => &Bash,
        Shell::Elvish => &Elvish,
        Shell::Fish => &Fish,
        Shell::PowerShell => &Powershell,
        _ => &Zsh,
    }
}

/// Answers a shell, where one asks: the words of its command line stand behind `--`, which no command does.
pub(crate) fn answer(arguments: &[OsString]) -> Option<ExitCode> {
    let [_, dashes, words @ ..] = arguments else {
        return None;
    };
    let shell: Shell = variable(SHELL).filter(|_| dashes == "--")?.parse().ok()?;
    Some(match offer(shell, words) {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody is told: what would be shown would stand in the middle of the command line.
        Err(_) => ExitCode::FAILURE,
    })
}

fn offer(shell: Shell, words: &[OsString]) -> std::io::Result<()> {
    let at = variable(INDEX).and_then(|index| index.parse().ok());
    let at = at.unwrap_or(words.len().saturating_sub(1));
    let before = words.get(..at).unwrap_or(words);
    let line = Line {
        shell,
        is_empty: words.get(at).is_none_or(|word| word.is_empty()),
        folder: folder(before),
    };
    let whole = short::written_out(before.to_vec(), &grammar::shown());
    let mut all = whole.unwrap_or_else(|_| before.to_vec());
    all.extend(words.get(at..).unwrap_or_default().iter().cloned());
    let mut offered = Vec::new();
    completer(shell).write_complete(&mut grammar::of(&line), all, Some(Path::new(".")), &mut offered)?;
    std::io::stdout().write_all(&offered)
}

/// A command line that is to be completed.
struct Line {
    shell: Shell,
    /// Whether nothing of the word is there yet.
    is_empty: bool,
    /// The folder in which the command would work, where the line names one.
    folder: Option<PathBuf>,
}

fn folder(before: &[OsString]) -> Option<PathBuf> {
    let at = before.iter().position(|word| word == "-C")?;
    before.get(at + 1).map(PathBuf::from)
}

/// The names that there are, where they can be read.
fn names(folder: Option<&Path>) -> Option<Names> {
    let context = Context::read(folder, false).ok()?;
    let place = Place::find(&context.dir, &context.env).ok()?;
    let known = wait(async { Ok(tokio::time::timeout(PATIENCE, client::names::known(&place)).await) });
    known.ok()?.ok()?.ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a frontend: it tells the rest what the environment says"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var_os(OsStr::new(name))?.into_string().ok()
}
