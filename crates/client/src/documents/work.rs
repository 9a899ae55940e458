//! The work of each agent.

use model::view;
use model::{AgentName, Moment, Oid, TicketId};
use schemars::JsonSchema;
use serde::Serialize;

use super::Usage;
use crate::commits::Done;

/// The work of all agents.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// The agents by name.
    pub agents: Vec<Worked>,
}

/// The work of one agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Worked {
    /// The agent's name.
    pub agent: AgentName,
    /// Tickets that landed, over all its work.
    pub landed: u32,
    /// Steps that ended well, over all its work.
    pub steps: u64,
    /// The usage of all its steps.
    pub usage: Usage,
    /// Its attempts, the latest first: five, unless it is named or `--all` is given.
    pub work: Vec<Work>,
}

/// An attempt at a ticket, and its result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Work {
    /// The ticket.
    ticket: TicketId,
    /// Its title.
    title: String,
    /// The ticket's n-th attempt, from 1.
    attempt: u32,
    /// The time since which the agent had the ticket.
    since: Moment,
    /// The time at which it ended; `null` while it goes on.
    until: Option<Moment>,
    /// Its state or its result, in a word or two.
    came_to: String,
    /// The merge commit on the target, when it landed.
    commit: Option<Oid>,
    /// Steps that ended well.
    steps: u32,
    /// The usage of its steps, failed ones too.
    usage: Usage,
    /// A summary of the work in the agent's words; `null` when it gave none.
    summary: Option<String>,
    /// The commits that git has of it; `null` when there are none.
    git: Option<Commits>,
}

/// The commits of an attempt, as git has them.
#[derive(Debug, Serialize, JsonSchema)]
struct Commits {
    /// Their subjects, the newest first; five at most.
    subjects: Vec<String>,
    /// Paths that they change; twenty at most.
    files: Vec<String>,
    /// The number of paths that they change.
    changed: usize,
}

impl Work {
    /// The document of an attempt, with its commits.
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
            summary: work.summary.clone(),
            git: deed.map(|deed| Commits {
                subjects: deed.subjects,
                files: deed.files,
                changed: deed.changed,
            }),
        }
    }
}
