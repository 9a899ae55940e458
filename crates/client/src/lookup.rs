//! Lookup of the agent or ticket that a person means.

use std::collections::BTreeSet;

use model::ticket::{State, Ticket};
use model::view::Snapshot;
use model::{AgentName, TicketId};
use tickets::Folder;

use crate::error::{Error, Result};
use runtime::Place;

/// An agent that ever was, by its name or an unambiguous beginning of it.
pub fn agent(crew: &Snapshot, asked: &str) -> Result<AgentName> {
    let wanted = AgentName::new(asked).map_err(|error| Error::usage(error.to_string(), AGENTS))?;
    let known: BTreeSet<&AgentName> = crew.project.agents.iter().chain(crew.members.keys()).collect();
    if known.contains(&wanted) {
        return Ok(wanted);
    }
    let begins: Vec<&AgentName> = known
        .iter()
        .copied()
        .filter(|name| name.as_str().starts_with(asked))
        .collect();
    match begins.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let near = model::settings::nearest(asked, known.iter().map(|name| name.as_str()));
            let hint = near.map_or_else(
                || AGENTS.to_owned(),
                |near| format!("did you mean {near}? {AGENTS}"),
            );
            Err(Error::refused(format!("there is no agent named {asked}"), hint))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
            Err(Error::usage(
                format!("several agents begin with {asked}"),
                format!("it could be {}", names.join(", ")),
            ))
        }
    }
}

/// A ticket of the journal or of the queue's folder, by its id or, as tk does, as the only one whose id
/// contains the text.
pub fn ticket(crew: &Snapshot, place: &Place, asked: &str) -> Result<TicketId> {
    let wanted =
        TicketId::try_from(asked.to_owned()).map_err(|error| Error::usage(error.to_string(), TICKETS))?;
    let mut known: BTreeSet<TicketId> = crew
        .tickets
        .keys()
        .chain(&crew.archived.tickets)
        .cloned()
        .collect();
    if let Ok(folder) = Folder::at(&place.tickets_dir) {
        known.extend(
            folder
                .ids()?
                .iter()
                .filter_map(|id| TicketId::new(id.as_str()).ok()),
        );
    }
    if known.contains(&wanted) {
        return Ok(wanted);
    }
    let within: Vec<&TicketId> = known.iter().filter(|id| id.as_str().contains(asked)).collect();
    match within.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(Error::refused(format!("there is no ticket {asked}"), TICKETS)),
        several => {
            let shown: Vec<&str> = several.iter().take(10).map(|id| id.as_str()).collect();
            let more = several.len().saturating_sub(shown.len());
            let rest = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            let hint = format!("it could be {}{rest}", shown.join(", "));
            Err(Error::usage(format!("several tickets contain {asked}"), hint))
        }
    }
}

const AGENTS: &str = "`crew ps` lists the agents";
const TICKETS: &str = "`crew queue` lists the tickets";

/// The meaning of a word that may name an agent or a ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Either {
    /// An agent.
    Agent(AgentName),
    /// A ticket.
    Ticket(TicketId),
}

/// An agent or a ticket: exact names first, agents before tickets; then the only one of both whose name
/// begins with the text or contains it.
pub fn either(crew: &Snapshot, place: &Place, asked: &str) -> Result<Either> {
    let is_agent = |name: &AgentName| crew.project.agents.contains(name) || crew.members.contains_key(name);
    if let Ok(name) = AgentName::new(asked)
        && is_agent(&name)
    {
        return Ok(Either::Agent(name));
    }
    let (as_ticket, as_agent) = (ticket(crew, place, asked), agent(crew, asked));
    match (as_ticket, as_agent) {
        (Ok(id), _) if id.as_str() == asked => Ok(Either::Ticket(id)),
        (Ok(id), Ok(name)) => Err(Error::usage(
            format!("{asked} could be an agent or a ticket"),
            format!("it could be the agent {name} or the ticket {id}"),
        )),
        (Ok(id), Err(Error::Refused { .. })) => Ok(Either::Ticket(id)),
        (Err(Error::Refused { .. }), Ok(name)) => Ok(Either::Agent(name)),
        // The hint may name an agent that was meant.
        (Err(Error::Refused { .. }), Err(Error::Refused { hint, .. })) => Err(Error::refused(
            format!("there is neither an agent nor a ticket named {asked}"),
            format!("{}, {TICKETS}", hint.as_deref().unwrap_or(AGENTS)),
        )),
        // Several of one kind.
        (Err(Error::Refused { .. }) | Ok(_), Err(error)) | (Err(error), _) => Err(error),
    }
}

/// The hint that brings an agent to a ticket that has none.
fn helps(ticket: &Ticket) -> String {
    let id = &ticket.id;
    match &ticket.state {
        _ if ticket.held.is_some() => {
            format!("`crew inbox` shows why it is held, `crew retry {id}` lets it go on")
        }
        State::Done(_) => format!("`crew summary {id}` shows what was done"),
        State::New | State::Open | State::InProgress(_) => {
            format!("`crew assign <agent> {id}` gives it to one now; `crew ps` shows who asks or sleeps")
        }
        State::Verify(_) => "`crew ps` shows who asks or sleeps".to_owned(),
    }
}

/// The agent that is meant by its own name or by the ticket it is at. `crew` has no archived tickets.
pub fn agent_at(crew: &Snapshot, place: &Place, asked: &str) -> Result<AgentName> {
    let id = match either(crew, place, asked)? {
        Either::Agent(name) => return Ok(name),
        Either::Ticket(id) => id,
    };
    let ticket = crew.tickets.get(&id);
    if let Some(agent) = ticket.and_then(|ticket| ticket.slot()) {
        return Ok(agent.clone());
    }
    let (stands, helps) = match ticket {
        None if crew.archived.tickets.contains(&id) => (
            "it was over long ago".to_owned(),
            format!("`crew summary {id}` shows what was done"),
        ),
        None => (
            "no engine has seen it yet".to_owned(),
            "`crew run` gives it to an agent".to_owned(),
        ),
        Some(ticket) => (format!("it is {}", ticket.state_name()), helps(ticket)),
    };
    Err(Error::refused(format!("no agent is at {id}: {stands}"), helps))
}
