//! The things that a clean takes away, by name and size: a person is asked before.

use std::path::Path;

use model::ticket::Ticket;
use runtime::Place;

use super::attempts::Made;
use crate::disk_use::{bytes_below, in_words};
use crate::error::Result;
use crate::follow;
use crate::repository::{journal, settings};

/// The things that a clean takes away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Each in words, with its size: not sanitised.
    pub things: Vec<String>,
    /// The tickets whose work has not landed, each with its title: not sanitised.
    pub unlanded: Vec<String>,
}

impl Loss {
    /// Whether there is nothing to lose.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.things.is_empty() && self.unlanded.is_empty()
    }
}

/// Looks what a clean would take away. `warn` is called with a message when another process holds the
/// repository for long.
///
/// # Errors
/// [`runtime::Error::Held`] while an engine runs.
pub async fn loss(place: &Place, warn: impl Fn(&str)) -> Result<Loss> {
    if let Some(by) = place.lasting_holder(warn).await? {
        return Err(runtime::Error::Held { by }.into());
    }
    let ledger = journal(place).await?;
    let crew = follow::present(ledger.as_ref()).await?;
    let workspaces = place.workspaces_dir(&settings(place)?)?;
    let spaces = Made::of(ledger.as_ref(), &crew).await?.workspaces(&workspaces)?;
    if let Some(ledger) = ledger {
        ledger.close().await;
    }
    let mut loss = Loss::default();
    let mut add = |what: String, bytes: u64| {
        if bytes > 0 {
            loss.things.push(format!("{what}: {}", in_words(bytes)));
        }
    };
    let tickets = crew.tickets.len() + crew.archived.tickets.len();
    add(
        format!(
            "the journal, with the history and the costs of {}",
            text::counted(tickets, "ticket")
        ),
        journal_bytes(&place.crew_dir),
    );
    for (runs, what) in [(&place.runs_dir, "step"), (&place.check_runs_dir(), "check")] {
        let count = runtime::folders(runs).unwrap_or_default().len();
        add(
            format!("the output of {}", text::counted(count, what)),
            bytes_below(runs),
        );
    }
    for (name, folder) in spaces {
        add(format!("the workspace {name}"), bytes_below(&folder));
    }
    let slots = place.check_slots_dir();
    add(
        "the checkouts of checks, with what their set-up made".to_owned(),
        slots.map_or(0, |slots| bytes_below(&slots)),
    );
    let tickets = crew.tickets.values().map(AsRef::as_ref);
    let unlanded = tickets.filter(|ticket: &&Ticket| ticket.attempt().is_some());
    loss.unlanded = unlanded
        .map(|ticket| format!("{}  {}", ticket.id, ticket.spec.title))
        .collect();
    Ok(loss)
}

fn journal_bytes(crew_dir: &Path) -> u64 {
    let entries = std::fs::read_dir(crew_dir).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"journal"))
        .filter_map(|entry| Some(entry.metadata().ok()?.len()))
        .sum()
}
