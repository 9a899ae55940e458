//! The hooks: whether their programs can be started, and what they were not given yet.

use model::settings::Settings;
use runtime::Place;

use crate::{Area, Caller, Finding, Subject};

const AREA: Area = Area::Settings;

/// Checks that the program of each hook can be started. Nothing is started for that.
pub(super) fn look(caller: &Caller<'_>, place: &Place, settings: &Settings, found: &mut Vec<Finding>) {
    let broken = match runtime::broken_hooks(place, &settings.hooks, &caller.options()) {
        Ok(broken) => broken,
        Err(error) => return found.push(Finding::error(AREA, &error.into())),
    };
    found.extend(broken.into_iter().map(|hook| {
        Finding::wrong(
            AREA,
            format!(
                "the hook `{}` cannot be started: {}",
                hook.name,
                text::sanitise::line(&hook.why)
            ),
            "mend the program, or its line below [hooks] in crew.toml: each notice counts as delivered, and nobody gets it",
        )
    }));
}

/// Names the hooks that were not given all their notices while no engine runs that would deliver them.
pub(super) async fn undelivered(subject: &Subject, found: &mut Vec<Finding>) {
    let Some(settings) = subject.settings.as_ref().filter(|_| subject.holder.is_none()) else {
        return;
    };
    let waiting = runtime::waiting_hooks(&subject.ledger, &settings.hooks).await;
    found.extend(waiting.unwrap_or_default().iter().map(|waiting| {
        Finding::note(
            AREA,
            waiting.words(),
            "the next `crew run` delivers what it was not given",
        )
    }));
}
