//! Listings of tickets.

use crate::folder::Readings;
use crate::graph::Graph;
use crate::ticket::{Status, Ticket};

/// The tickets that a listing shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those of this assignee.
    pub assignee: Option<String>,
    /// Only those with this tag.
    pub tag: Option<String>,
    /// Only those of this status, as the file has it.
    pub status: Option<String>,
}

impl Filter {
    fn passes(&self, ticket: &Ticket) -> bool {
        self.assignee
            .as_ref()
            .is_none_or(|wanted| ticket.assignee.as_ref() == Some(wanted))
            && self
                .tag
                .as_ref()
                .is_none_or(|wanted| ticket.tags.contains(wanted))
            && self
                .status
                .as_ref()
                .is_none_or(|wanted| ticket.status_text == *wanted)
    }
}

/// The tickets that pass the filter, in the order of the file names.
pub fn list<'a>(readings: &'a Readings, filter: &Filter) -> Vec<&'a Ticket> {
    readings
        .tickets()
        .filter(|ticket| filter.passes(ticket))
        .collect()
}

/// The open and in_progress tickets whose dependencies are all closed, ordered by priority and id.
pub fn ready<'a>(readings: &'a Readings, graph: &Graph, filter: &Filter) -> Vec<&'a Ticket> {
    unclosed(readings, filter, |ticket| !graph.is_blocked(ticket.id.as_str()))
}

/// The open and in_progress tickets with a dependency that is not closed, ordered by priority and id.
pub fn blocked<'a>(readings: &'a Readings, graph: &Graph, filter: &Filter) -> Vec<&'a Ticket> {
    unclosed(readings, filter, |ticket| graph.is_blocked(ticket.id.as_str()))
}

/// The `limit` closed tickets whose files changed last, newest first.
pub fn closed<'a>(readings: &'a Readings, filter: &Filter, limit: usize) -> Vec<&'a Ticket> {
    let mut found = list(readings, filter);
    found.retain(|ticket| ticket.is_closed());
    found.sort_by(|a, b| {
        b.stamp
            .mtime_ns
            .cmp(&a.stamp.mtime_ns)
            .then_with(|| a.id.cmp(&b.id))
    });
    found.truncate(limit);
    found
}

fn unclosed<'a>(
    readings: &'a Readings,
    filter: &Filter,
    wanted: impl Fn(&Ticket) -> bool,
) -> Vec<&'a Ticket> {
    let mut found = list(readings, filter);
    found.retain(|ticket| matches!(ticket.status, Status::Open | Status::InProgress) && wanted(ticket));
    found.sort_by(|a, b| a.priority.cmp(&b.priority).then_with(|| a.id.cmp(&b.id)));
    found
}
