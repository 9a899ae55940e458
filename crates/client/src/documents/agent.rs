//! An agent, as `ps` has it.

use model::attempt::{self, Mode};
use model::view::{self, Status};
use model::{AgentName, Moment, RunId, SessionId, TicketId};
use schemars::JsonSchema;
use serde::Serialize;

use super::Usage;

/// An agent of the roster. What belongs to its work is of the attempt that it is at.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Agent {
    /// Its name.
    name: AgentName,
    /// Where it stands.
    state: Status,
    /// The same as a symbol: `○` idle, `◐` preparing or ready, `●` working, `◌` waiting, `◍` verifying, `✓`
    /// done, `!` stuck.
    symbol: &'static str,
    /// What it works on; `null` when it is idle.
    ticket: Option<TicketId>,
    /// The ticket's title.
    title: Option<String>,
    /// The ticket's n-th attempt, from 1.
    attempt: Option<u32>,
    /// The step that runs, or the last that ended well; 0 before the first.
    step: u32,
    /// Whether a process of that step may be alive.
    running: bool,
    /// The run of that step, or of the last one: a folder in `.crew/runs/`.
    run: Option<RunId>,
    /// The client's session.
    session: Option<SessionId>,
    /// How it goes about the task, while it is working.
    mode: Option<Mode>,
    /// In this state since.
    since: Option<Moment>,
    /// It has the ticket since.
    assigned_at: Option<Moment>,
    /// What it waits for, in words; `null` when it waits for nothing.
    waits_for: Option<String>,
    /// Until when it waits at most; `null` when nothing but a fact ends it.
    waits_until: Option<Moment>,
    /// What crew has to do for its ticket and cannot, however often it tries, and why.
    failing: Vec<String>,
    /// Failed steps in a row.
    errors: u32,
    /// The last of them, or what its service asked it to wait for.
    failure: Option<Failure>,
    /// What this attempt used.
    usage: Usage,
    /// Over all its tickets.
    totals: Totals,
}

/// What an agent did over all its tickets.
#[derive(Debug, Serialize, JsonSchema)]
struct Totals {
    /// When it was spawned.
    spawned_at: Option<Moment>,
    /// When its last step began or ended.
    last_step_at: Option<Moment>,
    /// Steps that ended well.
    steps: u64,
    /// Tickets that landed.
    landed: u32,
    /// What all its steps used.
    usage: Usage,
}

/// How a step failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Failure {
    /// Its kind.
    class: attempt::Class,
    /// What was seen.
    message: String,
    /// When the service takes work again, where it said so.
    until: Option<Moment>,
}

impl Agent {
    /// Of the view; `failing` is what cannot be done for its ticket.
    pub fn of(agent: view::Agent, failing: Vec<String>) -> Self {
        let (waits_for, waits_until) = match agent.waits {
            Some(waits) => (Some(waits.what), waits.until),
            None => (None, None),
        };
        Self {
            name: agent.name,
            state: agent.status,
            symbol: agent.status.symbol(),
            ticket: agent.ticket,
            title: agent.title,
            attempt: agent.attempt,
            step: agent.step,
            running: agent.running,
            run: agent.run,
            session: agent.session,
            mode: agent.mode,
            since: agent.since.map(Moment),
            assigned_at: agent.assigned_at.map(Moment),
            waits_for,
            waits_until: waits_until.map(Moment),
            failing,
            errors: agent.errors,
            failure: agent.failure.as_ref().map(Failure::of),
            usage: Usage::of(agent.usage),
            totals: Totals {
                spawned_at: agent.totals.spawned_at.map(Moment),
                last_step_at: agent.totals.last_step_at.map(Moment),
                steps: agent.totals.steps,
                landed: agent.totals.landed,
                usage: Usage::of(agent.totals.usage),
            },
        }
    }
}

impl Failure {
    /// Of a failed step.
    pub fn of(failure: &attempt::Failure) -> Self {
        Self {
            class: failure.class,
            message: failure.message.clone(),
            until: failure.until.map(Moment),
        }
    }
}
