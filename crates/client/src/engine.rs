//! Engine: the process that runs a repository's agents, as its lock shows it.

use std::fmt;

use git::Holder;
use model::project::State;
use model::view::Snapshot;
use model::{Look, Time};
use process::Life;
use runtime::{Place, life_of};
use serde::Serialize;

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

/// What is wrong with the engine of a project, and what helps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// The trouble, in words.
    pub says: String,
    /// The line to type.
    pub line: String,
}

/// The trouble with the engine, where there is one: it is stopped, dead, or gone without a word.
#[must_use]
pub fn trouble(engine: Option<&Engine>, crew: &Snapshot) -> Option<Trouble> {
    let run = || "crew run".to_owned();
    let Some(engine) = engine else {
        let is_gone = match crew.project.state {
            State::Initializing | State::Ready | State::Busy | State::ShuttingDown => true,
            State::Uninitialized | State::Closed => false,
        };
        return is_gone.then(|| Trouble {
            says: format!(
                "the engine is gone without a word: it was killed, or the machine went down; the last event is of {}. \
                 `crew run` starts another, which goes on where it was",
                crew.at
            ),
            line: run(),
        });
    };
    let since = engine.since.map(|at| format!(" since {at}")).unwrap_or_default();
    if let Some(pid) = engine.stopped() {
        let line = format!("kill -CONT {pid}");
        return Some(Trouble {
            says: format!("the engine is stopped by a signal ({engine}{since}): `{line}` lets it go on"),
            line,
        });
    }
    engine.is_dead().then(|| Trouble {
        says: format!(
            "the engine is dead, and a git that it started has not ended yet ({engine}{since}): once that has, \
             `crew run` starts another"
        ),
        line: run(),
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(life: Life) -> Engine {
        Engine {
            pid: Some(7),
            host: "vm".to_owned(),
            since: Some(Time(1_000)),
            life,
            holder: Holder {
                pid: Some(7),
                host: "vm".to_owned(),
                started: Some(1),
                is_command: false,
            },
        }
    }

    #[test]
    fn an_engine_that_cannot_say_so_is_said_to_be_stopped_dead_or_gone() {
        let mut crew = Snapshot::default();
        let line = |engine: Option<&Engine>, crew: &Snapshot| trouble(engine, crew).map(|it| it.line);
        assert_eq!(line(None, &crew), None, "none has run yet");
        crew.project.state = State::Busy;
        assert_eq!(line(None, &crew).as_deref(), Some("crew run"));
        let stopped = engine(Life::Stopped);
        assert_eq!(line(Some(&stopped), &crew).as_deref(), Some("kill -CONT 7"));
        let dead = trouble(Some(&engine(Life::Gone)), &crew).unwrap();
        let says = "the engine is dead, and a git that it started has not ended yet (process 7 on vm since \
                    1970-01-01T00:00:01Z)";
        assert!(dead.says.starts_with(says), "{}", dead.says);
        crew.project.state = State::Closed;
        assert_eq!(line(None, &crew), None, "it has ended in good order");
    }
}
