//! State machines: pure functions over values, explored to draw themselves.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

/// A machine: `(state, event) → (state, effects)`, without clock, randomness, settings or I/O.
///
/// Times, ids, limits, facts and outcomes arrive inside the event, resolved by the policies before.
pub trait Machine {
    /// Everything the machine remembers.
    type State: Clone + PartialEq;
    /// The events, in the past tense.
    type Event: Clone;
    /// The orders, performed after the event that gave them is durable.
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

    /// The effect's name: an action of the states that order it on every way in, or on every way out.
    fn effect_name(effect: &Self::Effect) -> &'static str;
}

/// An accepted event: the state after it, and what it orders.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<S, E> {
    /// The state after.
    pub state: S,
    /// The orders, in order.
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

/// The result of exploring a machine from its first states with a set of sample events.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The machine's name.
    pub machine: &'static str,
    /// The names of the first states.
    pub first: BTreeSet<String>,
    /// Every state name reached.
    pub states: BTreeSet<String>,
    /// `(from, event, guard)` → the states it leads to.
    pub accepted: BTreeMap<Key, BTreeSet<String>>,
    /// `(from, event, guard)` → the reason of the refusal. An entry that is in both maps depends on more than
    /// the state's name.
    pub rejected: BTreeMap<Key, BTreeSet<String>>,
    /// State → the effects that every way into it from another state orders.
    pub entry: BTreeMap<String, BTreeSet<&'static str>>,
    /// State → the effects that every way out of it to another state orders.
    pub exit: BTreeMap<String, BTreeSet<&'static str>>,
}

/// The box in which a state is drawn, by its name.
type Boxed<'a> = &'a dyn Fn(&str) -> String;

/// The machines that are drawn inside a box, by its name.
type Inside<'a> = &'a [(&'a str, &'a Explored)];

/// A state's name, an event's name and the guard of its sample.
pub type Key = (String, &'static str, &'static str);

/// The aspects of the states that a search has met.
#[derive(Debug, Default)]
pub struct Met(BTreeSet<String>);

impl Met {
    /// Notes a state's aspects. True if one of them is new: the state is to be tried.
    pub fn is_new(&mut self, aspects: impl IntoIterator<Item = String>) -> bool {
        let before = self.0.len();
        self.0.extend(aspects);
        self.0.len() > before
    }
}

/// Tries every sample event in every state reached, breadth first, until no state has a new *aspect*. `visit`
/// gets each state, each event that was tried in it, and the outcome.
///
/// `samples` gives the alphabet for a state, so that a value that an event must fit (the next fence, another
/// session) can be taken from it. `aspects` gives the differences between states that matter, so that
/// counters and ids do not make the search endless. Differences that one transition reads together belong
/// into one aspect. Those that do not concern one another are aspects of their own: the search then meets
/// each of them, but not all their combinations.
pub fn search<M: Machine>(
    initial: &[M::State],
    samples: impl Fn(&M::State) -> Vec<Sample<M::Event>>,
    aspects: impl Fn(&M::State) -> Vec<String>,
    mut visit: impl FnMut(&M::State, &Sample<M::Event>, Result<&Step<M::State, M::Effect>, &Rejected>),
) {
    let mut met = Met::default();
    let mut queue: VecDeque<M::State> = VecDeque::new();
    for state in initial {
        if met.is_new(aspects(state)) {
            queue.push_back(state.clone());
        }
    }
    while let Some(state) = queue.pop_front() {
        for sample in samples(&state) {
            let outcome = M::transition(&state, &sample.event);
            visit(&state, &sample, outcome.as_ref());
            if let Ok(step) = outcome
                && met.is_new(aspects(&step.state))
            {
                queue.push_back(step.state);
            }
        }
    }
}

/// Explores `M` by a [`search`].
pub fn explore<M: Machine>(
    initial: &[M::State],
    samples: impl Fn(&M::State) -> Vec<Sample<M::Event>>,
    aspects: impl Fn(&M::State) -> Vec<String>,
) -> Explored {
    let mut found = Explored {
        machine: M::NAME,
        first: initial.iter().map(M::state_name).collect(),
        states: BTreeSet::new(),
        accepted: BTreeMap::new(),
        rejected: BTreeMap::new(),
        entry: BTreeMap::new(),
        exit: BTreeMap::new(),
    };
    search::<M>(initial, samples, aspects, |state, sample, outcome| {
        let from = M::state_name(state);
        if !found.states.contains(&from) {
            found.states.insert(from.clone());
        }
        let event = M::event_name(&sample.event);
        match outcome {
            Ok(step) => {
                let to = M::state_name(&step.state);
                if to != from {
                    let ordered: BTreeSet<_> = step.effects.iter().map(M::effect_name).collect();
                    meet(found.exit.entry(from.clone()), &ordered);
                    meet(found.entry.entry(to.clone()), &ordered);
                }
                let key = (from, event, sample.guard);
                found.accepted.entry(key).or_default().insert(to);
            }
            Err(no) => {
                let whys = found.rejected.entry((from, event, sample.guard)).or_default();
                if !whys.contains(&no.why) {
                    whys.insert(no.why.clone());
                }
            }
        }
    });
    found
}

/// Keeps the actions that this way has too.
fn meet(way: Entry<'_, String, BTreeSet<&'static str>>, ordered: &BTreeSet<&'static str>) {
    way.and_modify(|known| known.retain(|effect| ordered.contains(effect)))
        .or_insert_with(|| ordered.clone());
}

/// The effects of every way into a box, or out of it: those that all states in it have in common.
fn ordered_in_box(
    ordered: &BTreeMap<String, BTreeSet<&'static str>>,
    name: &str,
    boxed: Boxed<'_>,
) -> BTreeSet<&'static str> {
    let of_states = ordered.iter().filter(|(state, _)| boxed(state) == name);
    let common = of_states.map(|(_, effects)| effects.clone());
    common.reduce(|some, others| &some & &others).unwrap_or_default()
}

/// `event [guard]`.
fn label(event: &str, guard: &str) -> String {
    if guard.is_empty() {
        event.to_owned()
    } else {
        format!("{event} [{guard}]")
    }
}

/// Events, each with those of its guards that something holds for.
type Guarded = BTreeMap<&'static str, BTreeSet<&'static str>>;

impl Explored {
    /// The machine as a Mermaid state diagram, one box for each name that `boxed` gives: states that share a
    /// box are drawn as one, and an arrow stands for an event that at least one of them accepts. An event
    /// that leaves a box as it is, is not drawn. `inside` has the machines that are drawn inside a box.
    #[must_use]
    pub fn mermaid(&self, boxed: impl Fn(&str) -> String, inside: &[(&str, &Explored)]) -> String {
        let mut out = String::from("stateDiagram-v2\n");
        self.draw(&mut out, (&boxed, inside), "", "    ");
        out
    }

    /// Draws the states and arrows; `prefix` keeps the ids of an inner machine apart.
    fn draw(&self, out: &mut String, (boxed, inside): (Boxed<'_>, Inside<'_>), prefix: &str, indent: &str) {
        let id = |name: &str| -> String {
            let plain = name.replace(|c: char| !c.is_ascii_alphanumeric(), " ");
            let plain = plain.split_whitespace().collect::<Vec<_>>().join("_");
            format!("{prefix}{plain}")
        };
        let mut arrows: BTreeMap<(String, String), Guarded> = BTreeMap::new();
        for ((from, event, guard), targets) in &self.accepted {
            for to in targets {
                let (from, to) = (boxed(from), boxed(to));
                if from != to {
                    let events = arrows.entry((id(&from), id(&to))).or_default();
                    events.entry(event).or_default().insert(guard);
                }
            }
        }
        for name in self
            .states
            .iter()
            .map(|name| boxed(name))
            .collect::<BTreeSet<_>>()
        {
            let id = id(&name);
            match inside.iter().find(|(within, _)| *within == name) {
                Some((_, inner)) => {
                    let _ = writeln!(out, "{indent}state \"{name}\" as {id} {{");
                    let same = |name: &str| name.to_owned();
                    inner.draw(out, (&same, &[]), &format!("{id}_"), &format!("{indent}    "));
                    let _ = writeln!(out, "{indent}}}");
                }
                None => {
                    let _ = writeln!(out, "{indent}state \"{name}\" as {id}");
                    for (way, ordered) in [("entry", &self.entry), ("exit", &self.exit)] {
                        let ordered = ordered_in_box(ordered, &name, boxed);
                        if !ordered.is_empty() {
                            let ordered: Vec<&str> = ordered.into_iter().collect();
                            let _ = writeln!(out, "{indent}{id} : {way} / {}", ordered.join(", "));
                        }
                    }
                }
            }
        }
        for name in self.first.iter().map(|name| boxed(name)).collect::<BTreeSet<_>>() {
            let _ = writeln!(out, "{indent}[*] --> {}", id(&name));
        }
        let guards = self.guards();
        for ((from, to), events) in arrows {
            // One arrow with a line for each event: parallel arrows are drawn over one another.
            let _ = writeln!(
                out,
                "{indent}{from} --> {to} : {}",
                labels(&guards, &events).join("<br/>")
            );
        }
    }

    /// Every pair of state and event, with where it leads or why it is refused: one line each.
    #[must_use]
    pub fn matrix(&self) -> String {
        let mut out = String::new();
        for state in &self.states {
            let _ = writeln!(out, "{state}");
            for key in self.keys(state) {
                let to = self
                    .accepted
                    .get(key)
                    .into_iter()
                    .flatten()
                    .map(|t| format!("→ {t}"));
                let no = self
                    .rejected
                    .get(key)
                    .into_iter()
                    .flatten()
                    .map(|w| format!("✗ {w}"));
                let ends: Vec<String> = to.chain(no).collect();
                let _ = writeln!(out, "    {}: {}", label(key.1, key.2), ends.join(" | "));
            }
        }
        out
    }

    /// The matrix for reading, in Markdown: for each state what it accepts, as a table, and what it refuses,
    /// by reason.
    #[must_use]
    pub fn tables(&self) -> String {
        let guards = self.guards();
        let mut out = String::new();
        for state in &self.states {
            let _ = writeln!(out, "### `{state}`\n");
            let mut rows: BTreeMap<(&str, String, String), Guarded> = BTreeMap::new();
            let mut refused: BTreeMap<&str, Guarded> = BTreeMap::new();
            for key @ (_, event, guard) in self.keys(state) {
                let whys = self.rejected.get(key);
                if let Some(targets) = self.accepted.get(key) {
                    let to = |t: &String| {
                        if t == state {
                            "stays".to_owned()
                        } else {
                            format!("`{t}`")
                        }
                    };
                    let to: Vec<String> = targets.iter().map(to).collect();
                    let but: Vec<&str> = whys.into_iter().flatten().map(String::as_str).collect();
                    let row = rows.entry((event, to.join(" or "), but.join(" / "))).or_default();
                    row.entry(event).or_default().insert(guard);
                } else {
                    for why in whys.into_iter().flatten() {
                        refused
                            .entry(why)
                            .or_default()
                            .entry(event)
                            .or_default()
                            .insert(guard);
                    }
                }
            }
            for (way, ordered) in [("in", self.entry.get(state)), ("out", self.exit.get(state))] {
                let ordered: Vec<String> = ordered
                    .into_iter()
                    .flatten()
                    .map(|one| format!("`{one}`"))
                    .collect();
                if !ordered.is_empty() {
                    let _ = writeln!(out, "Ordered on every way {way}: {}.\n", ordered.join(", "));
                }
            }
            if rows.is_empty() {
                let _ = writeln!(out, "Accepts nothing.\n");
            } else {
                let _ = writeln!(out, "| event | leads to | refused when |\n|---|---|---|");
                for ((_, to, but), events) in &rows {
                    let _ = writeln!(out, "| {} | {to} | {but} |", labels(&guards, events).join(", "));
                }
                out.push('\n');
            }
            for (why, events) in &refused {
                let _ = writeln!(out, "* refused, {why}: {}", labels(&guards, events).join(", "));
            }
            if !refused.is_empty() {
                out.push('\n');
            }
        }
        out
    }

    fn keys(&self, state: &str) -> BTreeSet<&Key> {
        self.accepted
            .keys()
            .chain(self.rejected.keys())
            .filter(|key| key.0 == state)
            .collect()
    }

    /// Every event that was tried, with every guard it was tried with.
    fn guards(&self) -> Guarded {
        let mut all = Guarded::new();
        for (_, event, guard) in self.accepted.keys().chain(self.rejected.keys()) {
            all.entry(event).or_default().insert(guard);
        }
        all
    }
}

/// One label for each event: with the guards it holds for, or without, when it holds for all there are.
fn labels(all: &Guarded, events: &Guarded) -> Vec<String> {
    let one = |(event, some): (&&'static str, &BTreeSet<&'static str>)| {
        if all.get(event) == Some(some) {
            return (*event).to_owned();
        }
        label(event, &some.iter().copied().collect::<Vec<_>>().join(" / "))
    };
    events.iter().map(one).collect()
}
