//! Why a ticket is, or is not, given out.

use model::policy::route::Refusal;
use model::{Moment, TicketId};
use schemars::JsonSchema;
use serde::Serialize;

use super::Failure;

/// Why a ticket is, or is not, given out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explanation {
    /// Which.
    pub ticket: TicketId,
    /// Its title; empty when it cannot be read.
    pub title: String,
    /// Its state, with that of its attempt; `unknown` when it cannot be read.
    pub state: String,
    /// Whether an engine runs.
    pub engine: bool,
    /// Why, in words.
    pub says: String,
    /// The same for programs; `null` when nothing is in the way.
    pub refusal: Option<Refusal>,
    /// What its agent waits for, in words.
    pub waits_for: Option<String>,
    /// Until when its agent waits at most.
    pub waits_until: Option<Moment>,
    /// The failure that it waits or is held for.
    pub failure: Option<Failure>,
    /// What crew has to do for the ticket and cannot, however often it tries, and why: partly git's or the
    /// system's words.
    pub failing: Vec<String>,
    /// The end of what the check printed that it is held for, and how that ended, in words; `null` where it
    /// is held for nothing of the kind.
    pub printed: Option<String>,
}
