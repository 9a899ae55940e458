//! The documents of agents.

use client::activity::Activity;
use client::outputs::SettingUp;
use client::{documents, inbox};
use model::view::Agent;
use model::{AgentName, Look};
use serde::Serialize;

use super::Seen;
use crate::board::document::{Documents, Kind};

/// What an agent is at, as the files of its run show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AtWork {
    /// What runs in its step.
    pub(crate) activity: Option<Activity>,
    /// The command that sets up its workspace.
    pub(crate) setting_up: Option<SettingUp>,
}

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
pub(super) fn put(documents: &mut Documents, seen: &Seen<'_>, look: Look) -> Vec<AgentName> {
    let agents = seen.crew.agents().into_iter();
    let put = |agent: Agent| {
        let name = agent.name.clone();
        documents.write(Kind::Agent, name.as_str(), &document(seen, agent, look));
        name
    };
    agents.map(put).collect()
}

fn document(seen: &Seen<'_>, agent: Agent, look: Look) -> AgentDocument {
    let AtWork { activity, setting_up } = seen.at_work.get(&agent.name).cloned().unwrap_or_default();
    // The times since which these last are in the document: words that count seconds would change with each.
    let set_up = setting_up
        .as_ref()
        .map(|it| format!("its workspace is being set up with `{}`", it.command));
    let runs = || activity.as_ref().map(Activity::place);
    let says = set_up.or_else(|| agent.waiting(look)).or_else(runs);
    let state_in_mode = agent.in_mode(agent.status_at(look));
    let failing = &seen.files.beside.failing;
    let of_it = agent.ticket.as_ref().map(|ticket| inbox::why_of(failing, ticket));
    AgentDocument {
        says,
        state_in_mode,
        max_steps: seen.files.settings.run.max_steps,
        agent: documents::Agent::of(agent, of_it.unwrap_or_default(), setting_up, activity),
    }
}
