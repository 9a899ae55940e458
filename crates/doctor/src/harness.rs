//! The agents' clients.

use model::settings::Settings;
use runtime::Place;

use crate::Caller;
use crate::{Area, Finding};
use client::error::Error;

const AREA: Area = Area::Harness;

/// Checks that each client that the settings name can be started here.
pub(super) fn look(caller: &Caller<'_>, place: &Place, settings: &Settings, found: &mut Vec<Finding>) {
    let chosen = settings.chosen_harness(None).map(|(name, _)| name.to_owned());
    if chosen.is_none() {
        let hint = runtime::Error::NoHarness.hint().unwrap_or_default();
        found.push(Finding::wrong(AREA, runtime::Error::NoHarness.to_string(), hint));
    }
    for name in settings.harness.keys() {
        let is_chosen = chosen.as_deref() == Some(name.as_str());
        match runtime::client(place, settings, &caller.options(), name) {
            Ok(facts) => {
                let version = facts
                    .version
                    .map(|version| format!(" {version}"))
                    .unwrap_or_default();
                let used = if is_chosen { "; the agents run on it" } else { "" };
                found.push(Finding::fine(
                    AREA,
                    format!("{name}{version}, {}{used}", facts.program.display()),
                ));
            }
            Err(error) => {
                let error = Error::Runtime(error);
                let mut finding = Finding::error(AREA, &error);
                if !is_chosen {
                    finding.level = crate::Level::Note;
                    finding.says.push_str(" (no agent runs on it)");
                }
                found.push(finding);
            }
        }
    }
}
