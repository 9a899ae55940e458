//! Engine: the process that runs a repository's agents, as its lock shows it.

use std::fmt;

use git::Holder;
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

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.holder.fmt(f)
    }
}
