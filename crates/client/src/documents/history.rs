//! The history of a ticket, an agent or the project.

use model::journal::State;
use model::ticket::Effect;
use model::view::describe_effect;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use store::Recorded;

use super::Event;

/// The events of a ticket or an agent, or of the project: its engines, its agents and the checks of the bare
/// target.
#[derive(Debug, Serialize, JsonSchema)]
pub struct History {
    /// The ticket or agent, as it was asked for; `null` for the project.
    pub of: Option<String>,
    /// Its events, newest last.
    pub events: Vec<HistoryEvent>,
}

/// An event, and the effects that it ordered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HistoryEvent {
    #[serde(flatten)]
    event: Event,
    /// The effects that it ordered, in order.
    effects: Vec<Ordered>,
}

/// An effect that an event ordered.
#[derive(Debug, Serialize, JsonSchema)]
struct Ordered {
    /// The effect in words.
    says: String,
    /// Its own fields, as the journal keeps them: other ones for each kind of effect.
    effect: Value,
}

/// A state as it was.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Past {
    #[serde(flatten)]
    event: Event,
    /// The state of its stream after it, whole, as the journal keeps it: it may grow with a new version of
    /// crew.
    state_after: Value,
}

impl HistoryEvent {
    /// The document of a row, with the effects that it ordered.
    pub fn of(fold: &Recorded, effects: &[Effect]) -> Self {
        let ordered = effects.iter().map(|effect| Ordered {
            says: describe_effect(effect, &fold.after),
            effect: serde_json::to_value(effect).unwrap_or_default(),
        });
        Self {
            event: Event::of(fold),
            effects: ordered.collect(),
        }
    }
}

impl Past {
    /// The document of a row.
    pub fn of(fold: &Recorded) -> Self {
        let state = match &fold.after {
            State::Project(project) => serde_json::to_value(project),
            State::Ticket(ticket) => serde_json::to_value(ticket),
        };
        Self {
            event: Event::of(fold),
            state_after: state.unwrap_or_default(),
        }
    }
}
