//! Listings of tickets.

use crate::graph::Graph;
use crate::row::{Row, Rows};
use crate::ticket::Status;

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
    fn passes(&self, row: &Row) -> bool {
        self.assignee
            .as_ref()
            .is_none_or(|wanted| row.assignee.as_ref() == Some(wanted))
            && self.tag.as_ref().is_none_or(|wanted| row.tags.contains(wanted))
            && self
                .status
                .as_ref()
                .is_none_or(|wanted| row.status_text == *wanted)
    }
}

/// The tickets that pass the filter, in the order of the file names.
pub fn list<'a>(rows: &'a Rows, filter: &Filter) -> Vec<&'a Row> {
    rows.iter().filter(|row| filter.passes(row)).collect()
}

/// The open and in_progress tickets whose dependencies are all closed, ordered by priority and id.
pub fn ready<'a>(rows: &'a Rows, graph: &Graph<'_>, filter: &Filter) -> Vec<&'a Row> {
    unclosed(rows, filter, |row| !graph.is_blocked(row.id.as_str()))
}

/// The open and in_progress tickets with a dependency that is not closed, ordered by priority and id.
pub fn blocked<'a>(rows: &'a Rows, graph: &Graph<'_>, filter: &Filter) -> Vec<&'a Row> {
    unclosed(rows, filter, |row| graph.is_blocked(row.id.as_str()))
}

/// The `limit` closed tickets whose files changed last, newest first.
pub fn closed<'a>(rows: &'a Rows, filter: &Filter, limit: usize) -> Vec<&'a Row> {
    let mut found = list(rows, filter);
    found.retain(|row| row.status() == Status::Closed);
    found.sort_by(|a, b| {
        b.stamp
            .mtime_ns
            .cmp(&a.stamp.mtime_ns)
            .then_with(|| a.id.cmp(&b.id))
    });
    found.truncate(limit);
    found
}

fn unclosed<'a>(rows: &'a Rows, filter: &Filter, wanted: impl Fn(&Row) -> bool) -> Vec<&'a Row> {
    let mut found = list(rows, filter);
    found.retain(|row| matches!(row.status(), Status::Open | Status::InProgress) && wanted(row));
    found.sort_by(|a, b| a.priority.cmp(&b.priority).then_with(|| a.id.cmp(&b.id)));
    found
}
