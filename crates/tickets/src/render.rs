//! The output of the commands of tk, as text. Titles and names are made harmless for a terminal.

use std::fmt::{self, Write as _};

use crate::clean::{clean, clean_line};
use crate::edit::{Dependency, Linked};
use crate::graph::Graph;
use crate::id::Id;
use crate::related::{Related, status_and_title};
use crate::row::{Row, Rows};
use crate::ticket::{Status, Ticket};

/// `status`, `start`, `close`, `reopen`.
pub fn render_status(id: &Id, status: Status) -> String {
    format!("Updated {id} -> {status}\n")
}

/// `add-note`.
pub fn render_note(id: &Id) -> String {
    format!("Note added to {id}\n")
}

/// `dep`.
pub fn render_dep(id: &Id, dep: &Id, outcome: Dependency) -> String {
    match outcome {
        Dependency::Added => format!("Added dependency: {id} -> {dep}\n"),
        Dependency::AlreadyThere => "Dependency already exists\n".to_owned(),
    }
}

/// `undep`.
pub fn render_undep(id: &Id, dep: &str) -> String {
    format!("Removed dependency: {id} -/-> {}\n", clean_line(dep))
}

/// `link`.
pub fn render_link(linked: Linked) -> String {
    match linked.added {
        0 => "All links already exist\n".to_owned(),
        added => format!("Added {added} link(s) between {} tickets\n", linked.tickets),
    }
}

/// `unlink`.
pub fn render_unlink(a: &Id, b: &Id) -> String {
    format!("Removed link: {a} <-> {b}\n")
}

/// `ls`: `id [status] - title <- [dependencies]`.
pub fn render_list(rows: &[&Row]) -> String {
    lines(rows, |out, row| {
        line(out, row)?;
        waits(out, row.deps.iter().map(String::as_str))
    })
}

/// `closed`: `id [status] - title`.
pub fn render_closed(rows: &[&Row]) -> String {
    lines(rows, line)
}

/// `ready`: `id [P2][status] - title`.
pub fn render_ready(rows: &[&Row]) -> String {
    lines(rows, priority_line)
}

/// `blocked`: as `ready`, and the dependencies that are not closed.
pub fn render_blocked(rows: &[&Row], graph: &Graph<'_>) -> String {
    lines(rows, |out, row| {
        priority_line(out, row)?;
        waits(
            out,
            graph.blockers(row.id.as_str()).iter().map(|blocker| blocker.id),
        )
    })
}

/// `show`: the file, with the parent's title on the line of the parent, and the related tickets. The text
/// of the file is made harmless only for a terminal.
pub fn render_show<'a>(rows: &'a Rows, graph: &Graph<'a>, ticket: &'a Ticket, terminal: bool) -> String {
    let mut out = file(rows, ticket);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    if terminal {
        out = clean(&out.replace("\r\n", "\n"));
    }
    let related = Related::of(rows, graph, ticket);
    let blockers = related.blockers.iter().map(|blocker| blocker.id);
    let sections = [
        ("Blockers", blockers.collect()),
        ("Blocking", related.blocking),
        ("Children", related.children),
        ("Linked", related.linked),
    ];
    for (name, ids) in sections {
        if !ids.is_empty() {
            out.push_str(&format!("\n## {name}\n\n"));
            for id in ids {
                out.push_str(&format!("- {}\n", titled(rows, id)));
            }
        }
    }
    out
}

/// `dep cycle`.
pub fn render_cycles(rows: &Rows, graph: &Graph<'_>) -> String {
    let cycles = graph.cycles();
    if cycles.is_empty() {
        return "No dependency cycles found\n".to_owned();
    }
    let mut out = String::new();
    for (at, cycle) in cycles.iter().enumerate() {
        let first = cycle.first().copied().unwrap_or_default();
        let gap = if at > 0 { "\n" } else { "" };
        out.push_str(&format!(
            "{gap}Cycle {}: {} -> {first}\n",
            at + 1,
            cycle.join(" -> ")
        ));
        for id in cycle {
            let (status, title) = status_and_title(rows, id);
            out.push_str(&format!("  {id:<8} [{status}] {title}\n"));
        }
    }
    out
}

/// `id [status] title`, also for a ticket that is missing or unreadable.
pub(crate) fn titled(rows: &Rows, id: &str) -> String {
    let (status, title) = status_and_title(rows, id);
    format!("{} [{status}] {title}", clean_line(id))
        .trim_end()
        .to_owned()
}

/// The text of the file, with the title of the parent.
fn file(rows: &Rows, ticket: &Ticket) -> String {
    let text = ticket.document.text();
    let title = ticket
        .parent
        .as_ref()
        .and_then(|parent| rows.get(parent))
        .map(|parent| clean_line(&parent.title));
    let (Some(title), Some(line)) = (title, ticket.document.line("parent")) else {
        return text.to_owned();
    };
    let with_title = |(at, text): (usize, &str)| {
        let bare = text.trim_end_matches(['\r', '\n']);
        if at + 1 == line {
            format!("{bare}  # {title}{}", &text[bare.len()..])
        } else {
            text.to_owned()
        }
    };
    text.split_inclusive('\n').enumerate().map(with_title).collect()
}

fn lines(rows: &[&Row], line: impl Fn(&mut String, &Row) -> fmt::Result) -> String {
    let mut out = String::new();
    for row in rows {
        let written = line(&mut out, row);
        debug_assert!(written.is_ok(), "a string takes any text");
        out.push('\n');
    }
    out
}

fn line(out: &mut String, row: &Row) -> fmt::Result {
    let (status, title) = (clean_line(&row.status_text), clean_line(&row.title));
    write!(out, "{:<8} [{status}] - {title}", row.id)
}

fn priority_line(out: &mut String, row: &Row) -> fmt::Result {
    let (status, title) = (clean_line(&row.status_text), clean_line(&row.title));
    write!(out, "{:<8} [P{}][{status}] - {title}", row.id, row.priority)
}

/// The dependencies in brackets.
fn waits<'a>(out: &mut String, deps: impl Iterator<Item = &'a str>) -> fmt::Result {
    let deps: Vec<&str> = deps.collect();
    match deps.as_slice() {
        [] => Ok(()),
        deps => write!(out, " <- [{}]", clean_line(&deps.join(", "))),
    }
}
