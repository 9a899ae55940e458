//! `crew run --detach`: the same engine in the background.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use client::documents;
use client::error::Doing as _;
use client::outputs;
use runtime::Place;

use crate::background;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui::Style;

/// How often it is looked whether the engine runs.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes at the end of what an engine printed that are shown where it has ended already.
const END: u64 = 16 << 10;

/// Starts the engine of these arguments in the background, and waits until it holds the repository, or has
/// ended.
pub(super) async fn detach(context: &mut Context, place: &Place, words: &[OsString]) -> Result<Exit> {
    let log = place.crew_dir.join("logs/run.log");
    let output = begin(&log)?;
    let mut child = background::start_this(words, &context.dir, &output)?;
    let pid = child.id();
    if let Some(ended) = until_up(place, &mut child).await? {
        return over(context, &log, ended);
    }
    let shown = log
        .strip_prefix(&place.root)
        .unwrap_or(&log)
        .display()
        .to_string();
    if context.json {
        context.out.json(&documents::Detached { pid, log: shown })?;
        return Ok(Exit::Done);
    }
    let out = &mut context.out;
    out.line(&format!("the engine runs in the background: process {pid}"))?;
    out.line(&format!("  what it prints: {shown}"))?;
    out.styled(
        "  crew ps and crew dashboard show it, crew stop ends it",
        Style::Dim,
    )?;
    Ok(Exit::Done)
}

/// The file with what the engine prints, emptied: the log of engines, which stays, is another.
fn begin(log: &Path) -> Result<File> {
    let folder = log.parent().unwrap_or(log);
    let mut private = DirBuilder::new();
    private
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .doing("make", folder)?;
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(true).mode(0o600);
    Ok(options.open(log).doing("write", log)?)
}

/// How the engine has ended; none once it runs.
async fn until_up(place: &Place, child: &mut Child) -> Result<Option<ExitStatus>> {
    loop {
        // In this order: an engine that has ended held the repository before.
        let ended = child.try_wait().doing("wait for", "the engine")?;
        if ended.is_some() {
            return Ok(ended);
        }
        let by = place.engine()?;
        if by.is_some_and(|by| by.pid == Some(child.id())) {
            return Ok(None);
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The engine had nothing to do, or could not begin: what it printed says which.
fn over(context: &mut Context, log: &Path, ended: ExitStatus) -> Result<Exit> {
    let printed = text::sanitise::text(&outputs::end(log, END));
    let exit = match ended.code() {
        Some(0) => Exit::Done,
        Some(2) => Exit::Usage,
        Some(3) => Exit::Held,
        Some(4) => Exit::Taken,
        Some(130) => Exit::Interrupted,
        Some(_) | None => Exit::Failed,
    };
    match exit {
        Exit::Done | Exit::Held => {
            context.out.write(&printed)?;
            Ok(exit)
        }
        Exit::Failed | Exit::Usage | Exit::Taken | Exit::Interrupted => Err(Error::refused(
            format!("the engine has ended:\n{}", printed.trim_end()),
            "crew run, without --detach, shows it as it happens",
        )),
    }
}
