//! The tickets of a folder, as their files have them: listings, and one ticket in full.

use model::{Moment, Time};
use schemars::JsonSchema;
use serde::Serialize;
use tickets::{BlockReason, Graph, Related, Row, Rows};

/// The tickets of a listing, in its order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedTickets {
    /// The tickets.
    tickets: Vec<ListedTicket>,
    /// The files in the folder that cannot be read as tickets, each with the reason, whatever is listed.
    unreadable: Vec<String>,
}

/// A ticket, as its file has it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedTicket {
    /// Its id: the name of its file without `.md`.
    id: String,
    /// Its title.
    title: String,
    /// Its status: `open`, `in_progress` or `closed`, and whatever else the file has.
    status: String,
    /// Its type: `task`, `bug`, `epic` …
    #[serde(rename = "type")]
    kind: String,
    /// 0 comes first.
    priority: u8,
    /// The tickets that it waits for, closed ones too.
    deps: Vec<String>,
    /// Those of them that are in its way.
    blockers: Vec<Blocker>,
    /// The tickets that it is linked with.
    links: Vec<String>,
    /// The ticket that it is a part of.
    parent: Option<String>,
    /// Its tags.
    tags: Vec<String>,
    /// The person or agent that is to do it.
    assignee: Option<String>,
    /// Its id in another tracker.
    external_ref: Option<String>,
    /// The time of its creation.
    created: Option<Moment>,
    /// The time of the last change of its file.
    changed_at: Moment,
}

/// A dependency that is in the way.
#[derive(Debug, Serialize, JsonSchema)]
struct Blocker {
    /// The dependency, as the file has it.
    id: String,
    /// `unclosed`; `missing`: there is no such ticket; `unreadable`: its file is no ticket.
    #[schemars(extend("enum" = ["unclosed", "missing", "unreadable"]))]
    reason: &'static str,
}

/// A ticket in full.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownTicket {
    #[serde(flatten)]
    ticket: ListedTicket,
    /// The text between the title and the first section.
    description: String,
    /// The text below the heading `Acceptance Criteria`, else the key `acceptance_test`.
    acceptance: Option<String>,
    /// Its notes, in the order of the file.
    notes: Vec<TicketNote>,
    /// The whole text of the file.
    text: String,
    /// The path of the file.
    file: String,
    /// The faults of the file that do not keep it from being read.
    problems: Vec<String>,
    /// The unclosed tickets that wait for it.
    blocking: Vec<RelatedTicket>,
    /// The tickets that are a part of it.
    children: Vec<RelatedTicket>,
    /// The tickets that it is linked with.
    linked: Vec<RelatedTicket>,
}

/// A note of a ticket.
#[derive(Debug, Serialize, JsonSchema)]
struct TicketNote {
    /// The time at which it was written.
    at: Moment,
    /// Its text.
    text: String,
}

/// A ticket that another one is related to.
#[derive(Debug, Serialize, JsonSchema)]
struct RelatedTicket {
    /// Its id.
    id: String,
    /// Its status; `missing` or `unreadable` where there is no such ticket.
    status: String,
    /// Its title; empty where there is no such ticket.
    title: String,
}

impl ListedTickets {
    /// From the rows that are listed, among all.
    pub(crate) fn of(listed: &[&Row], rows: &Rows, graph: &Graph<'_>) -> Self {
        Self {
            tickets: listed.iter().map(|row| ListedTicket::of(row, graph)).collect(),
            unreadable: rows.unreadable().values().map(ToString::to_string).collect(),
        }
    }
}

impl ListedTicket {
    fn of(row: &Row, graph: &Graph<'_>) -> Self {
        let blocker = |blocker: tickets::Blocker<'_>| Blocker {
            id: blocker.id.to_owned(),
            reason: match blocker.reason {
                BlockReason::Unclosed => "unclosed",
                BlockReason::Missing => "missing",
                BlockReason::Unreadable => "unreadable",
            },
        };
        let changed_at = i64::try_from(row.stamp.mtime_ns / 1_000_000).unwrap_or_default();
        Self {
            id: row.id.to_string(),
            title: row.title.clone(),
            status: row.status_text.clone(),
            kind: row.kind.clone(),
            priority: row.priority,
            deps: row.deps.clone(),
            blockers: graph.blockers(row.id.as_str()).into_iter().map(blocker).collect(),
            links: row.links.clone(),
            parent: row.parent.clone(),
            tags: row.tags.clone(),
            assignee: row.assignee.clone(),
            external_ref: row.external_ref.clone(),
            created: row.created_ms.map(|at| Moment(Time(at))),
            changed_at: Moment(Time(changed_at)),
        }
    }
}

impl ShownTicket {
    /// From a ticket, among all.
    pub(crate) fn of(
        ticket: &tickets::Ticket,
        file: &std::path::Path,
        rows: &Rows,
        graph: &Graph<'_>,
    ) -> Self {
        let related = |ids: Vec<&str>| {
            let one = |id: &str| RelatedTicket::of(id, rows);
            ids.into_iter().map(one).collect()
        };
        let note = |note: &tickets::Note| TicketNote {
            at: Moment(Time(note.at.as_millisecond())),
            text: note.text.clone(),
        };
        let of = Related::of(rows, graph, ticket);
        Self {
            ticket: ListedTicket::of(&Row::of(ticket), graph),
            description: ticket.description.clone(),
            acceptance: ticket.acceptance.clone(),
            notes: ticket.notes.iter().map(note).collect(),
            text: ticket.document.text().to_owned(),
            file: file.to_string_lossy().into_owned(),
            problems: ticket.problems.iter().map(ToString::to_string).collect(),
            blocking: related(of.blocking),
            children: related(of.children),
            linked: related(of.linked),
        }
    }
}

impl RelatedTicket {
    fn of(id: &str, rows: &Rows) -> Self {
        let (status, title) = tickets::status_and_title(rows, id);
        let id = id.to_owned();
        Self { id, status, title }
    }
}
