//! Related tickets: those that a ticket waits for, blocks, consists of and is linked with.

use crate::clean::clean_line;
use crate::graph::{Blocker, Graph};
use crate::row::Rows;
use crate::ticket::Ticket;

/// The tickets that one is related to, by their ids. Those that it names itself may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related<'a> {
    /// The dependencies that it waits for.
    pub blockers: Vec<Blocker<'a>>,
    /// The unclosed tickets that wait for it.
    pub blocking: Vec<&'a str>,
    /// The tickets that are a part of it.
    pub children: Vec<&'a str>,
    /// The tickets that it links.
    pub linked: Vec<&'a str>,
}

impl<'a> Related<'a> {
    /// Those of a ticket.
    pub fn of(rows: &'a Rows, graph: &Graph<'a>, ticket: &'a Ticket) -> Related<'a> {
        let id = ticket.id.as_str();
        let children = rows.iter().filter(|child| child.parent.as_deref() == Some(id));
        Related {
            blockers: graph.blockers(id),
            blocking: graph.blocking(id),
            children: children.map(|child| child.id.as_str()).collect(),
            linked: ticket.links.iter().map(String::as_str).collect(),
        }
    }
}

/// The status and the title of a ticket that another one names; `missing` or `unreadable`, and no title,
/// where there is no such ticket. Both are harmless for a terminal.
pub fn status_and_title(rows: &Rows, id: &str) -> (String, String) {
    match rows.get(id) {
        Some(row) => (clean_line(&row.status_text), clean_line(&row.title)),
        None => {
            let is_there = rows.unreadable().contains_key(id);
            let status = if is_there { "unreadable" } else { "missing" };
            (status.to_owned(), String::new())
        }
    }
}
