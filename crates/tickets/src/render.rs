//! The output of the commands of tk, as text. Titles and names are made harmless for a terminal.

use crate::clean::{clean, clean_line};
use crate::edit::{Dependency, Linked};
use crate::folder::Readings;
use crate::graph::Graph;
use crate::id::Id;
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
pub fn render_list(tickets: &[&Ticket]) -> String {
    lines(tickets, |ticket| {
        format!("{}{}", line(ticket), waits(&ticket.deps))
    })
}

/// `closed`: `id [status] - title`.
pub fn render_closed(tickets: &[&Ticket]) -> String {
    lines(tickets, line)
}

/// `ready`: `id [P2][status] - title`.
pub fn render_ready(tickets: &[&Ticket]) -> String {
    lines(tickets, priority_line)
}

/// `blocked`: as `ready`, and the dependencies that are not closed.
pub fn render_blocked(tickets: &[&Ticket], graph: &Graph) -> String {
    lines(tickets, |ticket| {
        let blockers: Vec<String> = graph
            .blockers(ticket.id.as_str())
            .into_iter()
            .map(|blocker| blocker.id)
            .collect();
        format!("{}{}", priority_line(ticket), waits(&blockers))
    })
}

/// `show`: the file, with the parent's title on the line of the parent, and the related tickets. The text
/// of the file is made harmless only for a terminal.
pub fn render_show(readings: &Readings, graph: &Graph, ticket: &Ticket, terminal: bool) -> String {
    let mut out = file(readings, ticket);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    if terminal {
        out = clean(&out.replace("\r\n", "\n"));
    }
    let id = ticket.id.as_str();
    let blockers = graph.blockers(id);
    let children = readings
        .tickets()
        .filter(|child| child.parent.as_deref() == Some(id))
        .map(|child| child.id.as_str());
    let sections = [
        (
            "Blockers",
            blockers
                .iter()
                .map(|blocker| blocker.id.as_str())
                .collect::<Vec<_>>(),
        ),
        ("Blocking", graph.blocking(id)),
        ("Children", children.collect()),
        ("Linked", ticket.links.iter().map(String::as_str).collect()),
    ];
    for (name, ids) in sections {
        if !ids.is_empty() {
            out.push_str(&format!("\n## {name}\n\n"));
            for id in ids {
                out.push_str(&format!("- {}\n", titled(readings, id)));
            }
        }
    }
    out
}

/// `dep cycle`.
pub fn render_cycles(readings: &Readings, graph: &Graph) -> String {
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
            let (status, title) = status_and_title(readings, id);
            out.push_str(&format!("  {id:<8} [{status}] {title}\n"));
        }
    }
    out
}

/// `id [status] title`, also for a ticket that is missing or unreadable.
pub(crate) fn titled(readings: &Readings, id: &str) -> String {
    let (status, title) = status_and_title(readings, id);
    format!("{} [{status}] {title}", clean_line(id))
        .trim_end()
        .to_owned()
}

fn status_and_title(readings: &Readings, id: &str) -> (String, String) {
    match readings.get(id) {
        Some(ticket) => (clean_line(&ticket.status_text), clean_line(&ticket.title)),
        None => {
            let known = readings
                .0
                .binary_search_by(|reading| reading.name.as_str().cmp(id))
                .is_ok();
            (
                (if known { "unreadable" } else { "missing" }).to_owned(),
                String::new(),
            )
        }
    }
}

/// The text of the file, with the title of the parent.
fn file(readings: &Readings, ticket: &Ticket) -> String {
    let text = ticket.document.text();
    let title = ticket
        .parent
        .as_ref()
        .and_then(|parent| readings.get(parent))
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

fn lines(tickets: &[&Ticket], line: impl Fn(&Ticket) -> String) -> String {
    let mut out = String::new();
    for ticket in tickets {
        out.push_str(&line(ticket));
        out.push('\n');
    }
    out
}

fn line(ticket: &Ticket) -> String {
    format!(
        "{:<8} [{}] - {}",
        ticket.id,
        clean_line(&ticket.status_text),
        clean_line(&ticket.title)
    )
}

fn priority_line(ticket: &Ticket) -> String {
    let (status, title) = (clean_line(&ticket.status_text), clean_line(&ticket.title));
    format!("{:<8} [P{}][{status}] - {title}", ticket.id, ticket.priority)
}

/// The dependencies in brackets.
fn waits(deps: &[String]) -> String {
    if deps.is_empty() {
        String::new()
    } else {
        format!(" <- [{}]", clean_line(&deps.join(", ")))
    }
}
