//! `crew.toml`.

use model::settings::Settings;
use runtime::Place;

use super::{Area, Finding};
use crate::error::Error;

const AREA: Area = Area::Settings;

/// The settings, when they can be used.
pub(super) fn look(place: &Place, found: &mut Vec<Finding>) -> Option<Settings> {
    match crate::context::settings(place) {
        Ok(settings) => {
            found.push(Finding::fine(AREA, "crew.toml can be used"));
            if settings.checks.commands.is_empty() {
                let target = &settings.project.target;
                found.push(Finding::note(
                    AREA,
                    format!("no checks: nothing guards {target}, whatever an agent commits lands"),
                    "name what must pass in crew.toml: [checks] commands = [\"…\"]",
                ));
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
