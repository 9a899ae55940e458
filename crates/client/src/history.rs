//! History: the rows about a ticket, an agent or the project, and the effects that they ordered.

use std::collections::BTreeMap;

use model::journal::{EffectId, Fact, State, Stream};
use model::project::Event;
use model::ticket::Effect;
use model::view::{self, Context, Item, Snapshot};
use model::{AgentName, TicketId};
use store::{Journal as _, Ledger, Recorded};

use crate::error::Result;
use crate::lookup::Either;
use crate::outputs;

/// Calls `each` for the rows about a ticket, an agent or, without one, the project: one stream after the
/// other. `crew` is the snapshot without archived tickets.
///
/// # Errors
/// The journal cannot be read.
pub async fn each(
    ledger: &Ledger,
    crew: &Snapshot,
    which: Option<&Either>,
    mut each: impl FnMut(&Recorded),
) -> Result<()> {
    let agent = match which {
        None => return Ok(ledger.each_of(&Stream::Project, 0, |fold| each(&fold)).await?),
        Some(Either::Ticket(id)) => {
            let stream = Stream::Ticket(id.clone());
            return Ok(ledger.each_of(&stream, 0, |fold| each(&fold)).await?);
        }
        Some(Either::Agent(agent)) => agent,
    };
    let of_project = |fold: Recorded| match &fold.fact {
        Fact::Project(Event::AgentSpawned { name } | Event::AgentRetired { name }) if name == agent => {
            each(&fold);
        }
        Fact::Project(_) | Fact::Ticket(_) => {}
    };
    ledger.each_of(&Stream::Project, 0, of_project).await?;
    outputs::rows(ledger, crew, agent, |before, row| {
        if is_its(&row.after, agent) || before.is_some_and(|before| is_its(before, agent)) {
            each(row);
        }
    })
    .await?;
    Ok(())
}

/// An entry of the inbox that waited once.
#[derive(Debug)]
pub struct Waited {
    /// The entry, as it was last.
    pub item: Item,
    /// The row with which it was settled; none where no row says so yet.
    pub settled: Option<Recorded>,
}

/// The entry of an id that waited for a person about a ticket, by the rows of the ticket; none where none
/// ever did. Entries that depend on other things than the ticket, such as a dependency, are in no row.
///
/// # Errors
/// The journal cannot be read.
pub async fn waited(ledger: &Ledger, ticket: &TicketId, item: &str) -> Result<Option<Waited>> {
    let mut found: Option<Waited> = None;
    let look = |row: Recorded| {
        let State::Ticket(after) = &row.after else { return };
        let alone = BTreeMap::from([(ticket.clone(), after.clone())]);
        let items = view::inbox(&alone, &Context::default());
        match (items.into_iter().find(|one| one.id == item), &mut found) {
            (Some(item), _) => found = Some(Waited { item, settled: None }),
            (None, Some(waited)) if waited.settled.is_none() => waited.settled = Some(row),
            (None, _) => {}
        }
    };
    ledger.each_of(&Stream::Ticket(ticket.clone()), 0, look).await?;
    Ok(found)
}

/// Whether a ticket is the agent's in this state.
fn is_its(state: &State, agent: &AgentName) -> bool {
    match state {
        State::Ticket(ticket) => ticket
            .attempt()
            .is_some_and(|attempt| attempt.claim.agent == *agent),
        State::Project(_) => false,
    }
}

/// The effects that an event ordered, in order.
///
/// # Errors
/// The journal cannot be read.
pub async fn effects(ledger: &Ledger, seq: u64) -> Result<Vec<Effect>> {
    let mut found = Vec::new();
    for index in 0.. {
        let Some(stored) = ledger.0.effect(EffectId { seq, index }).await? else {
            break;
        };
        // One that an older crew wrote and this one cannot read is passed over: it was done long ago.
        found.extend(serde_json::from_str(&stored.body));
    }
    Ok(found)
}
