//! The settings file, `crew.toml`.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use model::settings::Settings;
use runtime::Place;

use crate::{Area, Finding};
use client::error::Error;

const AREA: Area = Area::Settings;

/// The settings, when they can be used.
pub(super) fn look(place: &Place, found: &mut Vec<Finding>) -> Option<Settings> {
    match client::repository::settings(place) {
        Ok(settings) => {
            found.push(Finding::fine(AREA, "crew.toml can be used"));
            found.extend(open_to_a_group(&place.settings_path));
            if !settings.has_checks() {
                let target = &settings.project.target;
                found.push(Finding::note(
                    AREA,
                    format!("no checks: nothing guards {target}, every commit of an agent lands"),
                    "name the commands that must pass in crew.toml: [checks] commands = [\"…\"]",
                ));
            }
            // Another part of the examination shows a target that cannot be read.
            let of_review = runtime::idle_review_paths(place, &settings).unwrap_or_default();
            let held = runtime::idle_hold_paths(place, &settings).unwrap_or_default();
            for (of, idle, hint) in [
                (
                    "the paths of [review] when",
                    of_review,
                    "mend `paths` in [review] when, if it is a slip",
                ),
                (
                    "[land] hold_paths",
                    held,
                    "mend `hold_paths` in [land], if it is a slip",
                ),
            ] {
                if !idle.is_empty() {
                    let (target, paths) = (&settings.project.target, idle.join(", "));
                    let says = format!("{of} match no file on {target}: {paths}");
                    found.push(Finding::note(AREA, says, hint));
                }
            }
            if let Err(error) = runtime::try_prompts(place, &settings) {
                found.push(Finding::error(AREA, &error.into()));
            }
            Some(settings)
        }
        Err(Error::Settings { file, diagnostics }) => {
            let name = file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            found.extend(diagnostics.into_iter().map(|one| {
                let says = format!("{name}:{}:{}: {}", one.line, one.column, one.message);
                Finding::wrong(
                    AREA,
                    says,
                    one.hint.unwrap_or_else(|| "mend that line".to_owned()),
                )
            }));
            None
        }
        Err(error) => {
            found.push(Finding::error(AREA, &error));
            None
        }
    }
}

/// A file that is written under a umask of 002 belongs to the user's own group; another group was chosen, so
/// that it is reported.
fn open_to_a_group(path: &Path) -> Option<Finding> {
    let meta = path.metadata().ok()?;
    let is_open = meta.mode() & 0o020 != 0 && meta.gid() != rustix::process::getegid().as_raw();
    is_open.then(|| {
        Finding::note(
            AREA,
            format!(
                "everybody in the group {} can change crew.toml, and its commands run as you",
                meta.gid()
            ),
            "if that is not meant: chmod g-w crew.toml",
        )
    })
}
