//! The merge train.

use model::view::TrainEntry as Entry;
use model::{AgentName, Moment, Oid, TicketId};
use schemars::JsonSchema;
use serde::Serialize;

/// The merge train.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Train {
    /// The most entries that one run of the checks decides on.
    pub batch: u32,
    /// The number of checkouts in which checks run at once.
    pub slots: u32,
    /// The entries in the order in which they land, then the submitted tickets that wait for a place.
    pub entries: Vec<TrainEntry>,
}

/// A submitted ticket in the train, or waiting for it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrainEntry {
    /// Its place, counted from the target; `null` while it waits for one.
    place: Option<u32>,
    /// The ticket's id.
    ticket: TicketId,
    /// Its title.
    title: String,
    /// The agent that did the work.
    agent: AgentName,
    /// Its state: `queued`, `merging`, `in the train`, `checking`, `landing` …
    state: &'static str,
    /// More about the state, in words.
    what: Option<String>,
    /// The time since which it is in this state.
    since: Moment,
    /// The entry that it is merged on; `null` where that is the target.
    on: Option<TicketId>,
    /// The merged result.
    commit: Option<Oid>,
    /// The verdict on all entries up to it: `untried`, `running`, `passed` or `failed`; `null` before it is
    /// merged.
    trial: Option<&'static str>,
    /// The checkout in which its checks run.
    slot: Option<u32>,
    /// The last reason for which it was taken out of the train, in words.
    uncoupled: Option<String>,
    /// The time at which it was taken out.
    uncoupled_at: Option<Moment>,
}

impl TrainEntry {
    /// The document of the snapshot's value.
    pub fn of(entry: Entry) -> Self {
        Self {
            place: entry.place,
            ticket: entry.ticket,
            title: entry.title,
            agent: entry.agent,
            state: entry.word,
            what: entry.what,
            since: Moment(entry.since),
            on: entry.ahead,
            commit: entry.commit,
            trial: entry.trial,
            slot: entry.slot.map(|slot| slot.0),
            uncoupled: entry.uncoupled.as_ref().map(|uncoupled| uncoupled.why.words()),
            uncoupled_at: entry.uncoupled.map(|uncoupled| Moment(uncoupled.at)),
        }
    }
}
