//! Samples: the first states of each machine, an alphabet of events that names its guards, and the
//! differences between states that matter. The diagrams, the matrices and the random histories of the tests
//! are made of these.

pub mod attempt;
pub mod commitment;
pub mod project;
pub mod review;
pub mod session;
pub mod task_mode;
pub mod ticket;
pub mod worker;

use crate::attempt::HarnessId;
use crate::machine::{self, Explored, Sample};
use crate::policy::budget::Budget;
use crate::settings::{Harness, HarnessKind, Settings, Train};
use crate::ticket::Part;
use crate::{AgentName, Fence, Oid, RunId, SessionId, TicketId, Time};

/// A machine, explored.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Its name.
    pub name: &'static str,
    /// A description in a sentence or two.
    pub about: &'static str,
    /// All that was found.
    pub explored: Explored,
    /// Its diagram, in Mermaid.
    pub diagram: String,
}

/// Every machine's name, the outermost first.
pub const NAMES: [&str; 8] = [
    "project",
    "ticket",
    "attempt",
    "task_mode",
    "session",
    "worker",
    "review",
    "commitment",
];

/// The description of the machine of that name; empty when there is no such machine.
#[must_use]
pub fn about(name: &str) -> &'static str {
    match name {
        "project" => project::ABOUT,
        "ticket" => ticket::ABOUT,
        "attempt" => attempt::ABOUT,
        "task_mode" => task_mode::ABOUT,
        "session" => session::ABOUT,
        "worker" => worker::ABOUT,
        "review" => review::ABOUT,
        "commitment" => commitment::ABOUT,
        _ => "",
    }
}

/// Explores the machine of that name; none when there is no such machine.
#[must_use]
pub fn picture(name: &str) -> Option<Picture> {
    let name = NAMES.into_iter().find(|known| *known == name)?;
    let explored = match name {
        "project" => project::explored(),
        "ticket" => ticket::explored(),
        "attempt" => attempt::explored(),
        "task_mode" => task_mode::explored(),
        "session" => session::explored(),
        "worker" => worker::explored(),
        "review" => review::explored(),
        "commitment" => commitment::explored(),
        _ => return None,
    };
    let about = about(name);
    let modes = (name == "attempt").then(task_mode::explored);
    let inside: Vec<(&str, &Explored)> = modes.iter().map(|modes| ("working", modes)).collect();
    let boxed = |state: &str| match name {
        "ticket" => ticket::boxed(state),
        _ => state.to_owned(),
    };
    let diagram = explored.mermaid(boxed, &inside);
    Some(Picture {
        name,
        about,
        explored,
        diagram,
    })
}

/// Explores every machine.
#[must_use]
pub fn machines() -> Vec<Picture> {
    NAMES.iter().filter_map(|name| picture(name)).collect()
}

/// An alphabet being written down.
struct Alphabet<E>(Vec<Sample<E>>);

impl<E> Alphabet<E> {
    fn new() -> Self {
        Self(Vec::new())
    }

    /// An event whose fields decide nothing.
    fn event(&mut self, event: E) -> &mut Self {
        self.when("", event)
    }

    fn when(&mut self, guard: &'static str, event: E) -> &mut Self {
        self.0.push(Sample { guard, event });
        self
    }

    /// The events of a child, each in an event of the parent.
    fn each<C>(
        &mut self,
        samples: impl IntoIterator<Item = Sample<C>>,
        parent: impl Fn(C) -> E,
    ) -> &mut Self {
        for Sample { guard, event } in samples {
            self.when(guard, parent(event));
        }
        self
    }
}

/// An alphabet that is the same in every state.
fn fixed<S, E: Clone>(samples: Vec<Sample<E>>) -> impl Fn(&S) -> Vec<Sample<E>> {
    move |_| samples.clone()
}

fn explore_plain<M>(initial: &[M::State], events: impl IntoIterator<Item = M::Event>) -> Explored
where
    M: machine::Machine,
{
    let samples = events
        .into_iter()
        .map(|event| Sample { guard: "", event })
        .collect();
    machine::explore::<M>(initial, fixed(samples), |state| vec![M::state_name(state)])
}

/// A harness, for attempts to which it does not matter which they have.
#[must_use]
pub fn harness() -> HarnessId {
    HarnessId {
        name: "scripted".to_owned(),
        kind: HarnessKind::Command,
    }
}

/// Settings with every default and a harness.
#[must_use]
pub fn settings() -> Settings {
    let mut settings = Settings::default();
    let harness = harness();
    settings.train = Train::SINGLE;
    settings.agents.harness = Some(harness.name.clone());
    settings.harness.insert(harness.name, Harness::new(harness.kind));
    settings
}

/// Another harness, of another kind.
fn other_harness() -> HarnessId {
    HarnessId {
        name: "claude".to_owned(),
        kind: HarnessKind::Claude,
    }
}

// Names that are known to be good; nothing depends on which they are.

fn agent(text: &str) -> AgentName {
    good(AgentName::new(text))
}

fn ticket_id(text: &str) -> TicketId {
    good(TicketId::new(text))
}

fn oid(digit: char) -> Oid {
    good(Oid::new(String::from(digit).repeat(40)))
}

fn run(fence: Fence, n: u32) -> RunId {
    RunId::of_step(&ticket_id("t-1"), fence, n)
}

fn session_id(n: u32) -> SessionId {
    SessionId(uuid::Uuid::from_u128(u128::from(n)))
}

fn part() -> Part {
    Part {
        ticket: ticket_id("t-2"),
        title: "A part".to_owned(),
        result: None,
    }
}

fn budget() -> Budget {
    Budget {
        spent_micro_usd: 4_100_000,
        limit_micro_usd: 5_000_000,
    }
}

fn good<T>(name: Result<T, crate::ids::Error>) -> T {
    name.unwrap_or_else(|error| unreachable!("a sample is not a name: {error}"))
}

/// A time before all others.
const EARLY: Time = Time(1_000);
/// A time after all others.
const LATE: Time = Time(9_000);

#[cfg(test)]
mod tests;
