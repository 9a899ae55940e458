//! The summary of a demonstration.

use std::time::Duration;

use model::view::Landed;

use super::Tally;
use super::project::ALL;
use super::tally::Counts;
use crate::error::Result;
use crate::ui::{self, Out, Style, Table};
use client::documents;

/// For people: the tickets, the figures, the history.
pub(crate) fn show(out: &mut Out, tally: &Tally, graph: &[String]) -> Result<()> {
    let landed = tally.landed.len();
    let seconds = ui::span(tally.took());
    out.line("")?;
    if landed == ALL {
        let says = format!("all {ALL} tickets landed, in {seconds}");
        out.wrapped(&says, 0, Style::Green)?;
    } else {
        let says = format!("{landed} of {ALL} tickets landed, in {seconds}");
        out.wrapped(&says, 0, Style::Red)?;
    }
    out.line("")?;
    let head = ["TICKET", "TOOK", "STEPS", "TITLE, AND WHAT CREW DID"];
    let mut table = Table::new(&head, &[1, 2]).giving_way(&[2, 1]).wrapped();
    for (id, counts) in &tally.tickets {
        table.row([
            id.to_string().into(),
            counts.took().map(ui::span).unwrap_or_default().into(),
            counts.steps.to_string().into(),
            counts.title.as_str().into(),
        ]);
        for did in did(counts) {
            table.below(3, did, Style::Dim);
        }
    }
    out.table(&table)?;
    out.line("")?;
    let steps = tally.sum(|counts| counts.steps);
    let again = tally.sum(|counts| counts.failed);
    let figures = [
        format!("{}, {again} of them tried again", text::counted(steps, "step")),
        format!(
            "{} tested, {} kept off main",
            text::counted(tally.checked, "merged result"),
            tally.sum(|counts| counts.checks_failed)
        ),
        format!(
            "{} resolved",
            text::counted(tally.sum(|counts| counts.conflicts), "conflict")
        ),
        format!(
            "{} answered",
            text::counted(tally.sum(|counts| counts.answered), "question")
        ),
        format!(
            "{} sent back by a gatekeeper",
            text::counted(tally.sum(|counts| counts.rejected), "result")
        ),
    ];
    let batch = (tally.batch > 1).then(|| format!("up to {} results landed at once", tally.batch));
    let figures: Vec<String> = figures.into_iter().chain(batch).collect();
    out.wrapped(&figures.join("; "), 0, Style::Plain)?;
    out.line("")?;
    out.styled("git log --graph --oneline", Style::Dim)?;
    for line in graph {
        commit(out, line)?;
    }
    Ok(())
}

/// For programs.
pub(crate) fn document(
    tally: &Tally,
    landed: &[Landed],
    interrupted: bool,
    kept: Option<String>,
) -> documents::Demonstrated {
    let tickets = tally.tickets.iter().map(|(id, counts)| documents::DemoTicket {
        ticket: id.clone(),
        title: counts.title.clone(),
        took_ms: counts.took().map(millis),
        steps: counts.steps,
        failed_steps: counts.failed,
        did: did(counts),
    });
    documents::Demonstrated {
        summary: documents::DemoSummary {
            landed: landed.iter().map(documents::Landed::of).collect(),
            tickets: tickets.collect(),
            checked: tally.checked,
            took_ms: millis(tally.took()),
            interrupted,
            kept,
        },
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// What crew did about what was particular with a ticket.
fn did(counts: &Counts) -> Vec<&'static str> {
    [
        (counts.priority == 0, "gave it out first, as it was urgent"),
        (
            !counts.needs.is_empty(),
            "held it back until what it needs had landed",
        ),
        (counts.asked > 0, "passed its question on, and the answer back"),
        (counts.checks_failed > 0, "kept a wrong result off main"),
        (counts.unmet > 0, "held it to its promise"),
        (counts.rejected > 0, "sent it back with the gatekeeper's reason"),
        (counts.conflicts > 0, "had its conflict resolved"),
        (counts.shared, "landed it with others, by one run of the tests"),
        (
            counts.parts > 0,
            "gave its parts to other agents, and landed the whole",
        ),
        (counts.is_part, "landed it with the whole"),
        (counts.crashed > 0, "started the crashed agent again"),
        (counts.hung > 0, "ended the agent that hung, and started it again"),
    ]
    .into_iter()
    .filter_map(|(is, what)| is.then_some(what))
    .collect()
}

/// A line of git's graph: what it draws, the commit, its subject.
fn commit(out: &mut Out, line: &str) -> Result<()> {
    let terminal = out.terminal;
    let line = match terminal.columns {
        Some(columns) => text::sanitise::fit(line, columns),
        None => line.to_owned(),
    };
    let drawn = line.find(|c: char| c.is_ascii_hexdigit()).unwrap_or(line.len());
    let (drawn, rest) = line.split_at(drawn);
    let (commit, subject) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
    out.write(&format!(
        "{}{}{}\n",
        terminal.paint(drawn, Style::Cyan),
        terminal.paint(&ui::clean(commit), Style::Yellow),
        if subject.is_empty() {
            String::new()
        } else {
            format!(" {}", ui::clean(subject))
        },
    ))
}
