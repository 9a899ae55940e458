//! The agents, and the facts that hold for all of them.

use model::attempt::Class;
use model::project::HarnessPause;
use model::ticket::{Held, Ticket};
use model::view::Counts;
use model::{Moment, TicketId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Agent, Pause, Target, Usage};

/// The agents, and the facts that hold for all of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ps {
    /// The roster, by name.
    pub agents: Vec<Agent>,
    /// The tickets that are held because their workspace could not be set up.
    pub failed_set_ups: Vec<FailedSetUp>,
    /// The engine that runs here; `null` when none does.
    pub engine: Option<Engine>,
    /// The number of tickets in each state.
    pub queue: Counts,
    /// The first fault of a settings file that cannot be used, with its place; `null` where it can. An engine
    /// that runs goes on with the last good settings, and none starts.
    pub rejected_settings: Option<String>,
    /// The harnesses on which no step is started now.
    pub paused: Vec<Paused>,
    /// The usage of all steps that ever ended.
    pub usage: Usage,
    /// Locks of checkouts' indexes that a killed engine has left: they keep your git out until `crew run`
    /// ends the landing.
    pub index_locks: Vec<String>,
    /// The hooks of the settings whose program failed on the last notice that it got.
    pub failed_hooks: Vec<FailedHook>,
    /// The hooks of the settings that were not given all their notices: `crew run` delivers them.
    pub waiting_hooks: Vec<WaitingHook>,
    /// The pause, while no step is started at all.
    pub pause: Option<Pause>,
    /// The bare target; `null` before an engine has seen one with checks.
    pub target: Option<Target>,
    /// The last row of the journal that this document includes; 0 before the first.
    pub seq: u64,
}

/// The engine that holds the repository.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Engine {
    /// Its process, when it is known.
    pid: Option<u32>,
    /// The host it runs on.
    host: String,
    /// The time at which it took the repository, when that is known.
    since: Option<Moment>,
}

/// A harness on which no step is started, since its service refused one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Paused {
    /// The harness, as the settings name it.
    harness: String,
    /// The class of the refusal.
    class: Class,
    /// The message that was seen.
    message: String,
    /// The end of the pause; `null` when only `crew retry` ends it.
    until: Option<Moment>,
    /// The beginning of the pause.
    since: Moment,
    /// The ticket whose step was refused.
    ticket: TicketId,
}

/// A hook that was not given all its notices.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WaitingHook {
    /// Its key in the settings.
    hook: &'static str,
    /// The notices that wait for it; of very many not all are counted.
    notices: u32,
}

impl WaitingHook {
    /// The document of a hook.
    #[must_use]
    pub fn of(waiting: &runtime::WaitingHook) -> Self {
        Self {
            hook: waiting.name,
            notices: waiting.notices,
        }
    }
}

/// A hook whose program failed on the last notice that it got.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FailedHook {
    /// Its key in the settings.
    hook: &'static str,
    /// The notice, by its id.
    notice: u64,
    /// The time of the failure.
    at: Moment,
    /// How it failed, in words, with the last line that it printed.
    why: String,
}

impl FailedHook {
    /// The document of the failure of a hook.
    pub fn of(hook: &'static str, failed: &store::FailedHook) -> Self {
        Self {
            hook,
            notice: failed.notice,
            at: Moment(failed.at),
            why: failed.why.clone(),
        }
    }
}

/// A ticket whose workspace could not be set up.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FailedSetUp {
    /// The ticket.
    ticket: TicketId,
    /// The reason in words, with the command.
    why: String,
    /// The end of what the command printed, and on the last line how that ended; `null` where nothing was.
    output: Option<String>,
    /// The time since which the ticket is held.
    since: Moment,
    /// The time at which it is tried again.
    retry_at: Option<Moment>,
}

impl FailedSetUp {
    /// The document of a ticket that is held for this.
    pub fn of(ticket: &Ticket, held: &Held) -> Self {
        Self {
            ticket: ticket.id.clone(),
            why: held.note.clone(),
            output: held.output.clone(),
            since: Moment(held.since),
            retry_at: held.retry_at.map(Moment),
        }
    }
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
    /// The document of a pause of the project's.
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
