//! Names: those that a person may type on a command line here, each with a few words about it, for the
//! completions of a shell.

use std::collections::BTreeSet;

use model::AgentName;
use model::ticket::Ticket;
use runtime::Place;
use tickets::{Folder, Id};

use crate::error::Result;
use crate::outbox::Outbox;
use crate::repository::{journal, settings_or_default};
use crate::{clock, follow, inbox};

/// The names that there are, those that are meant most often first.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The agents of the roster and the gatekeepers, then those that were.
    pub agents: Vec<Name>,
    /// The tickets of the queue in its order, then those that are over.
    pub tickets: Vec<Name>,
    /// The harnesses of the settings.
    pub harnesses: Vec<Name>,
}

/// A name that may be typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub name: String,
    /// What it names, in a line without control characters; empty where there is nothing to say.
    pub about: String,
}

impl Name {
    fn new(name: &str, about: &str) -> Self {
        Self {
            name: name.to_owned(),
            about: text::sanitise::line(about),
        }
    }
}

/// The names of a repository as they are now.
///
/// # Errors
/// The journal or the ticket folder cannot be read.
pub async fn known(place: &Place) -> Result<Names> {
    let (settings, _) = settings_or_default(place);
    let ledger = journal(place).await?;
    let crew = follow::present(ledger.as_ref()).await?;
    let outbox = Outbox::read(ledger.as_ref()).await?;
    let crew = inbox::seen(&crew, place, &settings, &outbox, clock::now())?;

    let mut agents = Vec::new();
    for agent in crew.agents() {
        let about = match &agent.ticket {
            Some(ticket) => format!("{ticket}: {}", agent.title.unwrap_or_default()),
            None => "idle".to_owned(),
        };
        agents.push(Name::new(agent.name.as_str(), &about));
    }
    add_missing(&mut agents, crew.members.keys().map(AgentName::as_str));

    let of_ticket = |ticket: &Ticket| Name::new(ticket.id.as_str(), &ticket.spec.title);
    let mut tickets: Vec<Name> = crew.order().into_iter().map(of_ticket).collect();
    let in_queue: BTreeSet<String> = tickets.iter().map(|ticket| ticket.name.clone()).collect();
    let over = crew.tickets.values().map(AsRef::as_ref);
    tickets.extend(
        over.filter(|ticket: &&Ticket| !in_queue.contains(ticket.id.as_str()))
            .map(of_ticket),
    );
    let files = Folder::at(&place.tickets_dir)
        .and_then(|folder| folder.ids())
        .unwrap_or_default();
    add_missing(&mut tickets, files.iter().map(Id::as_str));

    let harnesses = settings.harness.iter();
    Ok(Names {
        agents,
        tickets,
        harnesses: harnesses
            .map(|(name, harness)| Name::new(name, harness.kind.name()))
            .collect(),
    })
}

/// Adds the names that are not among the names yet, of which there is nothing to say.
fn add_missing<'n>(names: &mut Vec<Name>, more: impl Iterator<Item = &'n str>) {
    let known: BTreeSet<String> = names.iter().map(|name| name.name.clone()).collect();
    names.extend(
        more.filter(|name| !known.contains(*name))
            .map(|name| Name::new(name, "")),
    );
}
