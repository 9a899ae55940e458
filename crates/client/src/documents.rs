//! The documents of `--json`: a type per document and per piece of one. Their schema is
//! docs/json.schema.json, and with it docs/json.md; nothing else reaches standard output as JSON.

mod agent;
mod answer;
mod checks;
mod commitment;
mod cost;
mod demo;
mod diff;
mod event;
mod explain;
mod finding;
mod history;
mod item;
mod listed;
mod machine;
mod notified;
mod output;
mod pause;
mod ps;
mod pull_request;
mod queue;
mod repository;
mod run;
mod schema;
mod target;
mod train;
mod usage;
mod web;
mod work;

pub use agent::{Activity, Agent, Failure, Progress};
pub use answer::Answer;
pub use checks::{Checks, ForgotVerdicts, Tool};
pub use commitment::Commitment;
pub use cost::Cost;
pub use demo::{DemoSummary, DemoTicket, Demonstrated};
pub use diff::{Diff, WorkFolder};
pub use event::{Event, Events, Notices, Warning, state_name};
pub use explain::{Explanation, KeptWork, LandedWork, Remedy};
pub use finding::{Area, Doctor, Finding, Level};
pub use history::{History, HistoryEvent, Past};
pub use item::{FoundSecret, Inbox, Item, News};
pub use listed::{ListedTicket, ListedTickets, ShownTicket};
pub use machine::{Machine, Machines};
pub use notified::Notified;
pub use output::{OutputLine, Peek, StepPrompt};
pub use pause::Pause;
pub use ps::{Engine, FailedHook, FailedSetUp, Paused, Ps, WaitingHook};
pub use pull_request::PullRequest;
pub use queue::{Held, Landed, Queue, Ticket};
pub use repository::{Clean, ForgotSetUp, Init, Kept, Removed};
pub use run::{Detached, Ran, RunSummary, Waits};
pub use schema::{of_documents, of_settings};
pub use target::Target;
pub use train::{Train, TrainEntry};
pub use usage::Usage;
pub use web::{WebDevice, WebDevices, WebPairing, WebRevoked, WebServed};
pub use work::{Summary, Work, Worked};

use model::view::Notice;
use serde::Serialize;

/// All that a command prints.
pub trait Document: Serialize {}

/// One of the lines that a command prints.
pub trait Line: Serialize {}

/// A document that ends with a list. The document is written with an empty list, and then the list's items
/// one by one.
pub trait Listed: Document {
    /// The type of the list's items.
    type Entry: Serialize;
}

impl Listed for Events {
    type Entry = Event;
}

impl Listed for Notices {
    type Entry = Notice;
}

impl Listed for History {
    type Entry = HistoryEvent;
}

/// Says of each type whether it is a whole document or a line, and which commands print it.
macro_rules! printed {
    ($($kind:ident $name:ident: $($command:literal),+;)*) => {
        $(impl $kind for $name {})*

        /// Every command with its documents.
        const PRINTED: &[schema::Printed] = &[
            $($(schema::Printed::new::<$name>($command, stringify!($kind)),)+)*
        ];
    };
}

printed! {
    Document Init: "init";
    Line Event: "run", "demo", "events -f";
    Line Warning: "run", "demo";
    Line Ran: "run";
    Document Detached: "run --detach";
    Line Demonstrated: "demo";
    Document Ps: "ps";
    Document Peek: "peek";
    Line OutputLine: "logs";
    Line StepPrompt: "logs --prompt";
    Document WorkFolder: "path";
    Document Diff: "diff";
    Document Queue: "queue";
    Document ListedTickets: "ticket ls", "ticket ready", "ticket blocked", "ticket closed";
    Document ShownTicket: "ticket show";
    Document Train: "train";
    Document Inbox: "inbox";
    Line News: "inbox -f";
    Line Notified: "notify";
    Document Summary: "summary";
    Document Explanation: "explain";
    Document History: "history";
    Document Past: "history --at";
    Document Checks: "checks";
    Document ForgotVerdicts: "checks --forget";
    Document Cost: "cost";
    Document Events: "events";
    Document Answer: "spawn", "assign", "delegate", "kill", "cleanup", "merge", "retry", "drop", "waive", "approve", "reject", "commit-to", "revert", "answer", "wake", "say", "mode", "bait", "reap", "rewind", "stop";
    Document Notices: "events --leader";
    Line Notice: "events --leader -f";
    Document Clean: "clean";
    Document Removed: "clean --older";
    Document ForgotSetUp: "clean --checks";
    Document Doctor: "doctor";
    Document Machines: "diagram";
    Document Machine: "diagram <machine>";
    Line WebServed: "web", "demo";
    Document WebPairing: "web pair";
    Document WebDevices: "web devices";
    Document WebRevoked: "web revoke";
}
