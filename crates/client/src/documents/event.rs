//! The events of the journal.

use model::Moment;
use model::journal::{Fact, State};
use model::machine::Machine as _;
use model::view::{self, Notice};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use store::Recorded;

/// A row of the journal.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Event {
    /// Its place in the journal, from 1.
    seq: u64,
    /// The time at which it happened.
    at: Moment,
    /// The same in milliseconds since 1970: checks may take less than a second.
    at_ms: i64,
    /// The stream that it happened to: `project`, or `ticket/` and the ticket's id.
    stream: String,
    /// The stream's n-th event, from 1.
    version: u64,
    /// Its name.
    kind: &'static str,
    /// The cause in words; empty where there is none.
    cause: String,
    /// The event in words.
    says: String,
    /// The stream's state after it, by name.
    state: String,
    /// Its own fields, as the journal keeps them: other ones for each kind, and more with a new version of
    /// crew. Moments in it are milliseconds since 1970.
    event: Value,
}

/// The events, newest last.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Events {
    /// The latest.
    pub events: Vec<Event>,
}

/// The notices for whoever leads the agents, newest last.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Notices {
    /// The latest.
    pub notices: Vec<Notice>,
}

/// Something that the engine warns of.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Warning {
    /// The warning, maybe of several lines.
    pub warning: String,
}

impl Event {
    /// The document of a row.
    pub fn of(fold: &Recorded) -> Self {
        let body = match &fold.fact {
            Fact::Project(event) => serde_json::to_value(event),
            Fact::Ticket(event) => serde_json::to_value(event),
        };
        Self {
            seq: fold.seq,
            at: Moment(fold.at),
            at_ms: fold.at.0,
            stream: fold.stream.to_string(),
            version: fold.version,
            kind: fold.fact.name(),
            cause: fold.cause.clone(),
            says: view::describe_with(&fold.fact, &fold.after),
            state: state_name(&fold.after),
            event: body.unwrap_or_default(),
        }
    }
}

/// A stream's state by name.
pub fn state_name(state: &State) -> String {
    match state {
        State::Project(project) => model::project::Machine::state_name(project),
        State::Ticket(ticket) => ticket.state_name(),
    }
}
