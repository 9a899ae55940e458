//! What the agents are at, as the files of their runs show it.

use std::collections::BTreeMap;

use model::view::Snapshot;
use model::{AgentName, Time};

use crate::activity::Activity;
use crate::outputs::SettingUp;
use runtime::Place;

/// What an agent is at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtWork {
    /// What runs in its step.
    pub activity: Option<Activity>,
    /// The command that sets up its workspace.
    pub setting_up: Option<SettingUp>,
}

/// What the agents are at now, those at nothing left out.
pub(super) fn at_work(
    place: &Place,
    crew: &Snapshot,
    engine: bool,
    now: Time,
) -> BTreeMap<AgentName, AtWork> {
    let agents = crew.agents().into_iter();
    let found = agents.filter_map(|agent| {
        let ticket = agent.ticket.as_ref().and_then(|id| crew.tickets.get(id));
        let at_work = AtWork {
            activity: Activity::of(place, &agent, engine, now),
            setting_up: ticket.and_then(|ticket| SettingUp::of(place, ticket)),
        };
        (at_work != AtWork::default()).then_some((agent.name, at_work))
    });
    found.collect()
}
