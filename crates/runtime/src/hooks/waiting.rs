//! What hooks were not given yet, and whether their programs can be started at all.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;

use model::settings;
use store::{Journal as _, Ledger};

use super::PAGE;
use crate::{Options, Place, Result};

/// Notices of a hook are counted up to so many rows behind its place; then there are more.
const MOST_ROWS: u64 = 2_000;
/// Bytes at the beginning of a script in which its first line ends.
const FIRST_LINE: u64 = 512;

/// A hook that has not been given all notices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingHook {
    /// The hook's key in the settings.
    pub name: &'static str,
    /// The notices that wait for it, at least one.
    pub notices: u32,
    /// There may be more of them than were counted.
    pub are_more: bool,
}

impl WaitingHook {
    /// What waits, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let more = if self.are_more { "more than " } else { "" };
        let (notices, wait) = match self.notices {
            1 => ("notice", "waits"),
            _ => ("notices", "wait"),
        };
        format!(
            "{more}{} {notices} {wait} for the hook `{}`",
            self.notices, self.name
        )
    }
}

/// The hooks of the settings that were not given all their notices.
///
/// # Errors
/// The journal cannot be read.
pub async fn waiting_hooks(ledger: &Ledger, hooks: &settings::Hooks) -> Result<Vec<WaitingHook>> {
    let head = ledger.0.head().await?.0;
    let mut waiting = Vec::new();
    for hook in hooks.each().filter(|hook| !hook.command.is_empty()) {
        let Some(place) = ledger.delivered(hook.name).await?.after else {
            continue;
        };
        let end = head.min(place.saturating_add(MOST_ROWS));
        let (mut after, mut notices) = (place, 0);
        while after < end {
            let rows = ledger.tail(after, PAGE).await?;
            let Some(last) = rows.last() else { break };
            after = last.seq;
            for row in &rows {
                let notice = ledger.notice(row).await?;
                notices +=
                    u32::from(notice.is_some_and(|notice| hook.kind.is_none_or(|kind| kind == notice.kind)));
            }
        }
        if notices > 0 {
            waiting.push(WaitingHook {
                name: hook.name,
                notices,
                are_more: after < head,
            });
        }
    }
    Ok(waiting)
}

/// A hook whose program cannot be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenHook {
    /// The hook's key in the settings.
    pub name: &'static str,
    /// The reason, in words.
    pub why: String,
}

/// The hooks whose program cannot be started here. Nothing is started for that.
///
/// # Errors
/// The environment of hooks cannot be told.
pub fn broken_hooks(place: &Place, hooks: &settings::Hooks, options: &Options) -> Result<Vec<BrokenHook>> {
    let environment = super::delivery::environment(&options.env)?;
    let path = environment.get(OsStr::new("PATH")).map(AsRef::as_ref);
    let broken = hooks.each().filter_map(|hook| {
        let program = hook.command.first()?;
        let why = match process::find_program(Path::new(program), path, &place.root) {
            Ok(found) => fault_of_script(&found, path, &place.root)?,
            Err(not) => not.why,
        };
        Some(BrokenHook { name: hook.name, why })
    });
    Ok(broken.collect())
}

/// Why a script could not be started, by its first line; none for another program.
fn fault_of_script(program: &Path, path: Option<&OsStr>, root: &Path) -> Option<String> {
    let mut beginning = Vec::new();
    let file = std::fs::File::open(program).ok()?;
    file.take(FIRST_LINE).read_to_end(&mut beginning).ok()?;
    let line = beginning
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let shown = program.display();
    let line = String::from_utf8_lossy(line);
    if line.ends_with('\r') {
        return Some(format!(
            "the first line of {shown} ends in a carriage return, which counts as a part of the interpreter's name: save it \
             with Unix line ends (dos2unix)"
        ));
    }
    let mut words = line.split_ascii_whitespace();
    let Some(interpreter) = words.next() else {
        return Some(format!("the first line of {shown} names no interpreter"));
    };
    let found = process::find_program(Path::new(interpreter), None, root);
    let named = match (Path::new(interpreter).file_name(), words.next()) {
        (Some(env), Some(program)) if env == "env" && !program.starts_with('-') => {
            found.and_then(|_| process::find_program(Path::new(program), path, root))
        }
        _ => found,
    };
    let why = named.err()?.why;
    Some(format!(
        "{shown} names an interpreter that cannot be started: {why}"
    ))
}
