//! The tickets: those that are not over, the held ones, those that landed.

use std::collections::BTreeSet;

use model::policy::route::Refusal;
use model::ticket::{self, Label, Why};
use model::view::{self, Counts};
use model::{AgentName, Moment, Oid, TicketId, Time};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::{Commitment, Pause, PullRequest, Usage};

/// The tickets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Queue {
    /// The number of tickets in each state.
    pub counts: Counts,
    /// The tickets that are not over, the nearest to the target first.
    pub tickets: Vec<Ticket>,
    /// The tickets that are held.
    pub held: Vec<Held>,
    /// The tickets that landed, the oldest first.
    #[serde(serialize_with = "each_landed")]
    #[schemars(with = "Vec<Landed>")]
    pub landed: Vec<view::Landed>,
    /// The faults of files in the ticket folder.
    pub problems: Vec<String>,
    /// The pause, while no step is started at all.
    pub pause: Option<Pause>,
}

/// A ticket that is not over.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ticket {
    /// Its id: the name of its file without `.md`.
    id: TicketId,
    /// Its title.
    title: String,
    /// Its type: `task`, `bug`, `epic` …
    #[serde(rename = "type")]
    kind: String,
    /// 0 comes first.
    priority: u8,
    /// The tickets that it waits for.
    deps: Vec<TicketId>,
    /// Its state, with that of its attempt: `open`, `in_progress/working`, `verify/checking` …
    state: String,
    /// The time since which it is in this state.
    since: Moment,
    /// The agent that has it.
    agent: Option<AgentName>,
    /// The tags that crew gave it.
    labels: BTreeSet<Label>,
    /// The time of the last change of its file by another hand than crew's.
    file_changed_at: Option<Moment>,
    /// The reason why it is not dispatched, in words; `null` when nothing is in the way.
    why_not: Option<String>,
    /// The same for programs.
    refusal: Option<Refusal>,
    /// The change of its file on which nothing was decided, because it is no person's word, in words; `null`
    /// when there is none.
    file_change: Option<String>,
    /// The tasks that crew has for it and cannot do, however often it tries, each with the reason.
    failing: Vec<String>,
    /// The commitments that its work must meet before it lands.
    commitments: Vec<Commitment>,
    /// Its pull request, where work lands by them; `null` before there is one.
    pull_request: Option<PullRequest>,
}

/// A ticket that is held.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Held {
    /// The ticket's id.
    ticket: TicketId,
    /// Its title.
    title: String,
    /// The reason's kind.
    #[schemars(extend("enum" = Why::NAMES))]
    why: &'static str,
    /// The reason in words.
    note: String,
    /// The time at which the wait began.
    since: Moment,
    /// The time at which crew tries again by itself; `null` when only a person moves it on.
    retry_at: Option<Moment>,
    /// `true` when its work is submitted, so that a person may wave it through.
    submitted: bool,
}

/// A ticket that landed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Landed {
    /// The ticket's id.
    ticket: TicketId,
    /// Its title.
    title: String,
    /// The agent that did the work.
    agent: Option<AgentName>,
    /// The merge commit on the target.
    commit: Oid,
    /// The time of the landing.
    at: Moment,
    /// The journal's row that records it.
    seq: u64,
    /// Steps of the attempt that landed.
    steps: u32,
    /// The usage of that attempt.
    usage: Usage,
}

/// Each is made as it is written: there may be a great many.
fn each_landed<S: Serializer>(landed: &[view::Landed], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(landed.iter().map(Landed::of))
}

impl Ticket {
    /// From the journal's ticket; `changed_at` is of its file, `refusal` is the reason why no agent gets the
    /// ticket, and `failing` names the effects that cannot be done for it.
    pub fn of(
        ticket: &ticket::Ticket,
        changed_at: Option<Time>,
        refusal: Option<&Refusal>,
        failing: Vec<String>,
    ) -> Self {
        Self {
            id: ticket.id.clone(),
            title: ticket.spec.title.clone(),
            kind: ticket.spec.kind.clone(),
            priority: ticket.spec.priority,
            deps: ticket.spec.deps.iter().cloned().collect(),
            state: ticket.state_name(),
            since: Moment(ticket.since),
            agent: ticket.attempt().map(|attempt| attempt.claim.agent.clone()),
            labels: ticket.labels_now(),
            file_changed_at: changed_at.map(Moment),
            why_not: refusal.map(ToString::to_string),
            refusal: refusal.cloned(),
            file_change: ticket.unheeded.as_ref().map(ticket::Unheeded::words),
            failing,
            commitments: ticket.commitments.iter().map(Commitment::of).collect(),
            pull_request: PullRequest::of(ticket),
        }
    }
}

impl Held {
    /// The document of the snapshot's value.
    pub fn of(held: view::Held) -> Self {
        Self {
            ticket: held.ticket,
            title: held.title,
            why: held.why,
            note: held.note,
            since: Moment(held.since),
            retry_at: held.retry_at.map(Moment),
            submitted: held.submitted,
        }
    }
}

impl Landed {
    /// The document of the snapshot's value.
    pub fn of(landed: &view::Landed) -> Self {
        Self {
            ticket: landed.ticket.clone(),
            title: landed.title.clone(),
            agent: landed.agent.clone(),
            commit: landed.commit.clone(),
            at: Moment(landed.at),
            seq: landed.seq,
            steps: landed.steps,
            usage: Usage::of(landed.usage),
        }
    }
}
