//! Engine: the process that runs a repository's agents, as its lock shows it.

use std::fmt;

use git::Holder;
use model::project::State;
use model::view::Snapshot;
use model::{Look, Time};
use process::Life;
use runtime::{Place, life_of};

use crate::clock;
use crate::error::Result;

/// The engine that holds a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Its process, when that is known.
    pub pid: Option<u32>,
    /// The host it runs on.
    pub host: String,
    /// The time at which it took the repository, when that is known.
    pub since: Option<Time>,
    life: Life,
    holder: Holder,
}

impl Engine {
    /// The engine of a repository, if one holds it.
    ///
    /// # Errors
    /// The lock cannot be read.
    pub fn of(place: &Place) -> Result<Option<Self>> {
        Ok(place.engine()?.map(|holder| Self {
            pid: holder.pid,
            host: holder.host.clone(),
            since: holder
                .started
                .and_then(|seconds| i64::try_from(seconds).ok())
                .map(|seconds| Time(seconds.saturating_mul(1000))),
            life: life_of(&holder),
            holder,
        }))
    }

    /// Its process, where a signal has stopped that: only a person lets it go on.
    #[must_use]
    pub fn stopped(&self) -> Option<u32> {
        self.pid.filter(|_| self.life == Life::Stopped)
    }

    /// Its process has ended, and a git that it started has not.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.life == Life::Gone
    }
}

/// A look at a project now, at which this engine was found.
#[must_use]
pub fn look(engine: Option<&Engine>) -> Look {
    Look {
        now: clock::now(),
        engine: engine.is_some_and(|engine| !engine.is_dead()),
    }
}

/// What an engine that was asked to stop waits for; none where it was not asked.
#[must_use]
pub fn stopping(crew: &Snapshot) -> Option<String> {
    if crew.project.state != State::ShuttingDown {
        return None;
    }
    let runs = crew.under_way().flat_map(|ticket| ticket.live_runs());
    let (checks, steps): (Vec<_>, Vec<_>) = runs.partition(|run| run.is_check());
    let waits_for = [(steps.len(), "step"), (checks.len(), "check")];
    let waits_for: Vec<String> = waits_for
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| text::counted(count, what))
        .collect();
    let at_once = match steps.len() {
        0 => "",
        1 => "; `crew stop --kill` ends it at once",
        _ => "; `crew stop --kill` ends them at once",
    };
    Some(match waits_for.is_empty() {
        true => "stopping".to_owned(),
        false => format!("stopping: waits for {}{at_once}", waits_for.join(" and ")),
    })
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.holder.fmt(f)
    }
}
