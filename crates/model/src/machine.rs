//! What a state machine is here: a pure function over values, explored to draw itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A machine: `(state, event) → (state, effects)`, without clock, randomness, settings or I/O.
///
/// Times, ids, limits, facts and outcomes arrive inside the event, resolved by the policies before.
pub trait Machine {
    /// Everything the machine remembers.
    type State: Clone + PartialEq;
    /// What happened, in the past tense.
    type Event: Clone;
    /// What is ordered, to be performed after the event that ordered it is durable.
    type Effect: Clone;

    /// The machine's name, in diagrams and in rejections.
    const NAME: &'static str;

    /// The next state and its effects.
    ///
    /// # Errors
    /// [`Rejected`] when the state does not accept the event. The state stays as it was.
    fn transition(
        state: &Self::State,
        event: &Self::Event,
    ) -> Result<Step<Self::State, Self::Effect>, Rejected>;

    /// The state's name: one box of the diagram.
    fn state_name(state: &Self::State) -> String;

    /// The event's name: one label of the diagram.
    fn event_name(event: &Self::Event) -> &'static str;
}

/// An accepted event: the state after it, and what it orders.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<S, E> {
    /// The state after.
    pub state: S,
    /// What is ordered, in order.
    pub effects: Vec<E>,
}

impl<S, E> Step<S, E> {
    /// A step that orders nothing.
    pub fn to(state: S) -> Self {
        Self {
            state,
            effects: Vec::new(),
        }
    }

    /// The same step, ordering `effect` as well.
    #[must_use]
    pub fn and(mut self, effect: E) -> Self {
        self.effects.push(effect);
        self
    }
}

/// An event that a state does not accept: a value to be logged and shown, never a silent no-op.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[error("{event} is not possible in {state}: {why}")]
pub struct Rejected {
    /// The state's name.
    pub state: String,
    /// The event's name.
    pub event: String,
    /// The guard or rule that refused, in words.
    pub why: String,
}

/// One event to try while exploring: the guard names the condition that its fields stand for.
#[derive(Clone, Debug)]
pub struct Sample<E> {
    /// Shown as `[guard]`; empty when the event's fields decide nothing.
    pub guard: &'static str,
    /// The event.
    pub event: E,
}

/// What exploring a machine from its first states with a set of sample events has found.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The machine's name.
    pub machine: &'static str,
    /// Every state name reached.
    pub states: BTreeSet<String>,
    /// `(from, event, guard)` → the states it leads to.
    pub accepted: BTreeMap<(String, &'static str, &'static str), BTreeSet<String>>,
    /// `(from, event, guard)` → why it is refused.
    pub rejected: BTreeMap<(String, &'static str, &'static str), BTreeSet<String>>,
}

/// Explores `M` breadth first: every sample event in every state reached, until no new *shape* of state turns up.
///
/// `shape` says which differences between states matter, so that counters and ids do not make the search endless.
pub fn explore<M: Machine>(
    initial: &[M::State],
    samples: &[Sample<M::Event>],
    shape: impl Fn(&M::State) -> String,
) -> Explored {
    let mut found = Explored {
        machine: M::NAME,
        states: BTreeSet::new(),
        accepted: BTreeMap::new(),
        rejected: BTreeMap::new(),
    };
    let mut seen = BTreeSet::new();
    let mut queue: std::collections::VecDeque<M::State> = initial.iter().cloned().collect();
    for state in initial {
        seen.insert(shape(state));
    }
    while let Some(state) = queue.pop_front() {
        let from = M::state_name(&state);
        found.states.insert(from.clone());
        for sample in samples {
            let key = (from.clone(), M::event_name(&sample.event), sample.guard);
            match M::transition(&state, &sample.event) {
                Ok(step) => {
                    found
                        .accepted
                        .entry(key)
                        .or_default()
                        .insert(M::state_name(&step.state));
                    if seen.insert(shape(&step.state)) {
                        queue.push_back(step.state);
                    }
                }
                Err(no) => {
                    found.rejected.entry(key).or_default().insert(no.why);
                }
            }
        }
    }
    found
}

impl Explored {
    /// The machine as a Mermaid state diagram. Events that leave every state alike are drawn once per state all the same:
    /// a diagram that hides an arrow is a diagram that lies.
    #[must_use]
    pub fn mermaid(&self, first: &[&str]) -> String {
        let mut out = String::from("stateDiagram-v2\n");
        let id = |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        for name in &self.states {
            let _ = writeln!(out, "    state \"{name}\" as {}", id(name));
        }
        for name in first {
            let _ = writeln!(out, "    [*] --> {}", id(name));
        }
        let mut arrows: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        for ((from, event, guard), targets) in &self.accepted {
            let label = if guard.is_empty() {
                (*event).to_owned()
            } else {
                format!("{event} [{guard}]")
            };
            for to in targets {
                arrows
                    .entry((id(from), id(to)))
                    .or_default()
                    .insert(label.clone());
            }
        }
        for ((from, to), labels) in arrows {
            for label in labels {
                let _ = writeln!(out, "    {from} --> {to}: {label}");
            }
        }
        out
    }

    /// Every pair of state and event, with where it leads or why it is refused: one line each.
    #[must_use]
    pub fn matrix(&self) -> String {
        let mut out = String::new();
        let keys: BTreeSet<_> = self.accepted.keys().chain(self.rejected.keys()).collect();
        let mut last = "";
        for key in keys {
            let (from, event, guard) = key;
            if from != last {
                let _ = writeln!(out, "{from}");
                last = from;
            }
            let guard = if guard.is_empty() {
                String::new()
            } else {
                format!(" [{guard}]")
            };
            let mut ends: Vec<String> = Vec::new();
            if let Some(targets) = self.accepted.get(key) {
                ends.extend(targets.iter().map(|t| format!("→ {t}")));
            }
            if let Some(whys) = self.rejected.get(key) {
                ends.extend(whys.iter().map(|w| format!("✗ {w}")));
            }
            let _ = writeln!(out, "    {event}{guard}: {}", ends.join(" | "));
        }
        out
    }
}
