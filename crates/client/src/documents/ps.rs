//! The agents, and what holds for all of them.

use model::attempt::Class;
use model::project::HarnessPause;
use model::view::Counts;
use model::{Moment, TicketId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Agent, Pause, Usage};

/// The agents, and what holds for all of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ps {
    /// The roster, by name.
    pub agents: Vec<Agent>,
    /// The engine that runs here; `null` when none does.
    pub engine: Option<Engine>,
    /// How many tickets stand where.
    pub queue: Counts,
    /// The harnesses on which no step is started now.
    pub paused: Vec<Paused>,
    /// What all steps that ever ended used.
    pub usage: Usage,
    /// Locks of checkouts' indexes that a killed engine has left: they keep your git out until `crew run`
    /// ends the landing.
    pub index_locks: Vec<String>,
    /// Set while no step is started at all.
    pub pause: Option<Pause>,
    /// The journal's last row that this is of; 0 before the first.
    pub seq: u64,
}

/// Who holds the repository.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Engine {
    /// Its process, when it is known.
    pid: Option<u32>,
    /// The host it runs on.
    host: String,
    /// Since when, when it is known.
    since: Option<Moment>,
}

/// A harness on which no step is started, since its service refused one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Paused {
    /// The harness, as the settings name it.
    harness: String,
    /// How it refused.
    class: Class,
    /// What was seen.
    message: String,
    /// Until when; `null` when only `crew retry` ends it.
    until: Option<Moment>,
    /// Since when.
    since: Moment,
    /// The ticket whose step was refused.
    ticket: TicketId,
}

impl Engine {
    /// The document of an engine.
    pub fn of(engine: &crate::engine::Engine) -> Self {
        Self {
            pid: engine.pid,
            host: engine.host.clone(),
            since: engine.since.map(Moment),
        }
    }
}

impl Paused {
    /// Of the project's.
    pub fn of(harness: &str, pause: &HarnessPause) -> Self {
        Self {
            harness: harness.to_owned(),
            class: pause.class,
            message: pause.message.clone(),
            until: pause.until.map(Moment),
            since: Moment(pause.since),
            ticket: pause.ticket.clone(),
        }
    }
}
