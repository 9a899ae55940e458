//! The record of a clean that has begun: a clean that was killed half-way goes on, and none follows another
//! folder than the engine's.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use model::view::Snapshot;
use runtime::Place;

use crate::error::{Doing as _, Error, Result};
use crate::workspaces::is_crews;

/// Attempts whose workspaces were seen when a clean began, one a line; in `.crew`. For an attempt whose work
/// is being verified, the folder of the workspaces was seen.
const BEGUN: &str = "clean";

/// Refuses when a workspace that must be there is missing, or the folder that all of them stand in: work that
/// nobody keeps would be lost with it. Notes the workspaces that are there.
pub(super) fn begin(place: &Place, crew: &Snapshot, workspaces: &Path) -> Result<()> {
    let file = place.crew_dir.join(BEGUN);
    let before = match std::fs::read_to_string(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        other => other.doing("read", &file)?,
    };
    let mut seen: BTreeSet<String> = before.lines().map(str::to_owned).collect();
    let before = seen.len();
    let no_folder = place.missing_workspaces()?;
    let mut missing = Vec::new();
    for ticket in crew.tickets.values() {
        let Some(attempt) = ticket.attempt().filter(|attempt| attempt.may_have_work()) else {
            continue;
        };
        let space = attempt.workspace(&ticket.id);
        let name = format!("{}-{}", space.agent, space.of);
        let line = format!("{name} {}", space.number);
        if seen.contains(&line) {
            continue;
        }
        if let Some(folder) = no_folder {
            return Err(runtime::Error::WorkspacesMissing { folder }.into());
        }
        let stands = match workspaces.join(&name).symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            other => other.doing("look at", workspaces.join(&name))?.is_dir(),
        };
        let is_there = stands && is_crews(workspaces, (&space.agent, &space.of))?;
        // Work that is being verified is on its branch, too, and may be all that there is of the workspace.
        if is_there || !attempt.has_workspace() {
            seen.insert(line);
        } else {
            missing.push(ticket.id.as_str());
        }
    }
    if let Some(first) = missing.first() {
        return Err(Error::refused(
            format!(
                "no workspace in {} for {}",
                workspaces.display(),
                missing.join(", ")
            ),
            format!(
                "crew was run with another HOME, XDG_STATE_HOME or workspace_dir: clean with that; if the workspace is gone, \
                 `crew drop {first}` gives its ticket up"
            ),
        ));
    }
    if seen.len() > before {
        let lines: String = seen.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&file, lines).doing("write", &file)?;
    }
    Ok(())
}
