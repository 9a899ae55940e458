//! The documents of agents.

use client::activity::Activity;
use client::following::AtWork;
use client::{documents, inbox};
use model::view::Agent;
use model::{AgentName, Look};
use serde::Serialize;

use super::Sources;
use crate::board::document::{Documents, Kind};

/// An agent, with its state in words.
#[derive(Debug, Serialize)]
struct AgentDocument {
    #[serde(flatten)]
    agent: documents::Agent,
    /// What it waits for or does, in words; `null` where nothing is seen of it.
    says: Option<String>,
    /// Its state in words, with its task mode where that is another than the usual one.
    state_in_mode: String,
    /// The steps that an attempt may take.
    max_steps: u32,
}

/// Puts the agents in; gives their keys in order.
pub(super) fn put(documents: &mut Documents, of: &Sources<'_>, look: Look) -> Vec<AgentName> {
    let agents = of.seen.crew.agents().into_iter();
    let put = |agent: Agent| {
        let name = agent.name.clone();
        documents.write(Kind::Agent, name.as_str(), &document(of, agent, look));
        name
    };
    agents.map(put).collect()
}

fn document(of: &Sources<'_>, agent: Agent, look: Look) -> AgentDocument {
    let AtWork { activity, setting_up } = of.seen.at_work.get(&agent.name).cloned().unwrap_or_default();
    // The times since which these last are in the document: words that count seconds would change with each.
    let set_up = setting_up
        .as_ref()
        .map(|it| format!("its workspace is being set up with `{}`", it.command));
    let runs = || activity.as_ref().map(Activity::place);
    let says = set_up.or_else(|| agent.waiting(look)).or_else(runs);
    let state_in_mode = agent.in_mode(agent.status_at(look));
    let failing = &of.seen.files.beside.failing;
    let of_it = agent.ticket.as_ref().map(|ticket| inbox::why_of(failing, ticket));
    AgentDocument {
        says,
        state_in_mode,
        max_steps: of.seen.files.settings.run.max_steps,
        agent: documents::Agent::of(agent, look, of_it.unwrap_or_default(), setting_up, activity),
    }
}
