//! The reasons why tickets are not given to an agent, as the router gives them.

use std::collections::BTreeMap;

use model::policy::capacity;
use model::policy::route::{self, Refusal};
use model::settings::Settings;
use model::{AgentName, TicketId};

use crate::queue_facts::Facts;

/// The reasons why the router dispatches tickets to nobody, for all tickets.
pub fn refusals(facts: &Facts, settings: &Settings) -> BTreeMap<TicketId, Refusal> {
    among_the_idle(facts, settings, |idle, free| {
        let why = route::explanations(facts.queue(), idle, free);
        why.into_iter().map(|(id, why)| (id.clone(), why)).collect()
    })
}

/// The reason why the router does not dispatch one ticket; none where it does.
#[must_use]
pub fn refusal(facts: &Facts, settings: &Settings, id: &TicketId) -> Option<Refusal> {
    among_the_idle(facts, settings, |idle, free| {
        route::explain(facts.queue(), id, idle, free)
    })
}

/// Calls `ask` with the idle agents and the number of others that may be busy; agents that crew would name
/// count as idle ones.
fn among_the_idle<T>(facts: &Facts, settings: &Settings, ask: impl FnOnce(&[&AgentName], u32) -> T) -> T {
    let queue = facts.queue();
    let tickets = || facts.tickets.values().map(AsRef::as_ref);
    let limits = capacity::Limits::new(&settings.agents, &settings.run);
    let work = route::order(queue).len();
    let more = capacity::further(tickets(), queue.roster, limits, work);
    let named: Vec<AgentName> = (0..more)
        .filter_map(|n| AgentName::new(format!("_next-{n}")).ok())
        .collect();
    let mut idle = capacity::idle(tickets(), queue.roster);
    idle.extend(&named);
    ask(&idle, capacity::free(tickets(), limits))
}
