//! A commitment of a ticket.

use model::commitment;
use schemars::JsonSchema;
use serde::Serialize;

/// A promise about a ticket's work, which has to be met before the work lands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Commitment {
    /// Its number in the ticket.
    id: u32,
    /// Its author: `ticket` for the ticket's file, else the person or the agent.
    by: String,
    /// The promise in words.
    says: String,
    /// The command that verifies it, as it would be typed; `null` where only a person can say that it is met.
    run: Option<String>,
    /// `pending`, `verifying`, `passed`, `failed`, or `waived` by a person.
    #[schemars(extend("enum" = ["pending", "verifying", "passed", "failed", "waived"]))]
    state: &'static str,
}

impl Commitment {
    /// From the journal's commitment.
    #[must_use]
    pub fn of(one: &commitment::Commitment) -> Self {
        Self {
            id: one.id,
            by: one.by.name(),
            says: one.promise.says.clone(),
            run: one.promise.run.as_ref().map(ToString::to_string),
            state: one.state_name(),
        }
    }
}
