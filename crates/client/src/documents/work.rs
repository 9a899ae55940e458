//! The work of each agent.

use model::view;
use model::{AgentName, Moment, Oid, TicketId};
use schemars::JsonSchema;
use serde::Serialize;

use super::Usage;
use crate::commits::Done;

/// What each agent did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// By name.
    pub agents: Vec<Worked>,
}

/// What one agent did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Worked {
    /// Who.
    pub agent: AgentName,
    /// Tickets that landed, over all its work.
    pub landed: u32,
    /// Steps that ended well, over all its work.
    pub steps: u64,
    /// What all its steps used.
    pub usage: Usage,
    /// Its attempts, the latest first: five, unless it is named or `--all` is given.
    pub work: Vec<Work>,
}

/// An attempt at a ticket, and what came of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Work {
    /// The ticket.
    ticket: TicketId,
    /// Its title.
    title: String,
    /// The ticket's n-th attempt, from 1.
    attempt: u32,
    /// Since when the agent had the ticket.
    since: Moment,
    /// Until when; `null` while it goes on.
    until: Option<Moment>,
    /// Where it stands, or what came of it, in a word or two.
    came_to: String,
    /// The merge commit on the target, when it landed.
    commit: Option<Oid>,
    /// Steps that ended well.
    steps: u32,
    /// What its steps used, failed ones too.
    usage: Usage,
    /// What was done, in the agent's words; `null` when it said nothing.
    summary: Option<String>,
    /// What git knows of it; `null` when that is nothing.
    git: Option<Commits>,
}

/// The commits of an attempt, as git has them.
#[derive(Debug, Serialize, JsonSchema)]
struct Commits {
    /// Their subjects, the newest first; five at most.
    subjects: Vec<String>,
    /// Paths that they change; twenty at most.
    files: Vec<String>,
    /// How many paths they change.
    changed: usize,
}

impl Work {
    /// Of the view, with what git knows of it.
    pub fn of(work: &view::AttemptSummary, deed: Option<Done>) -> Self {
        Self {
            ticket: work.ticket.clone(),
            title: work.title.clone(),
            attempt: work.attempt,
            since: Moment(work.since),
            until: work.until.map(Moment),
            came_to: work.came_to.clone(),
            commit: work.landed.clone(),
            steps: work.steps,
            usage: Usage::of(work.usage),
            summary: work.said.clone(),
            git: deed.map(|deed| Commits {
                subjects: deed.subjects,
                files: deed.files,
                changed: deed.changed,
            }),
        }
    }
}
