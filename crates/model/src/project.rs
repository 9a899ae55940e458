//! The project machine: the life of one engine on one repository, and the roster of its agents.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::attempt::Class;
use crate::machine::{self, Rejected, Step};
use crate::moved::{Moved, Tip};
use crate::policy::budget::{Budget, Pause};
use crate::target::Target;
use crate::time::Day;
use crate::{Actor, AgentName, TicketId, Time};

/// One repository's crew.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Project {
    /// The state of its engine.
    pub state: State,
    /// Everyone who can be given a ticket.
    pub agents: BTreeSet<AgentName>,
    /// Names that are never given again.
    pub retired: BTreeSet<AgentName>,
    /// Harnesses, by name, on which no step is started, or was not until a time that may have passed.
    pub paused: BTreeMap<String, HarnessPause>,
    /// No step is started for now: the day's budget is spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
    /// The day and the budget, in millionths of a US dollar, that people were last warned of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warned: Option<(Day, u64)>,
    /// The bare target with the verdict of its checks; none before an engine has seen one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Box<Target>>,
    /// Where the target branch was seen last; none before an engine has seen one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<Box<Tip>>,
}

/// The answer of a service to one agent holds for all of them: no step is started into the same refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HarnessPause {
    /// `RateLimited`, `Overloaded`, `NoProgram` or `Auth`.
    pub class: Class,
    /// The message of the service, in one line.
    pub message: String,
    /// Until when; none when only a person can end it.
    pub until: Option<Time>,
    /// The time of the refusal.
    pub since: Time,
    /// The ticket whose step was refused.
    pub ticket: TicketId,
}

impl HarnessPause {
    /// True if a step must not be started at `now`.
    #[must_use]
    pub fn holds(&self, now: Time) -> bool {
        self.until.is_none_or(|until| until > now)
    }

    /// True if a person has to mend its cause.
    #[must_use]
    pub fn asks_person(&self) -> bool {
        self.until.is_none() || self.class == Class::NoProgram
    }

    /// True if it ends no sooner than a pause `until` then would.
    #[must_use]
    pub fn outlasts(&self, until: Option<Time>) -> bool {
        match (self.until, until) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(mine), Some(other)) => mine >= other,
        }
    }
}

/// The state of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No engine has run here.
    #[default]
    Uninitialized,
    /// An engine is taking over: adopting, then reading timers.
    Initializing,
    /// Up, and no attempt is active.
    Ready,
    /// Up, and an attempt is active.
    Busy,
    /// It takes nothing new.
    ShuttingDown,
    /// It has ended in good order.
    Closed,
}

/// Something that happened to the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// An engine has the repository's lock. This is also the first event after a crash: the state before
    /// shows that.
    Opened,
    /// Everything is adopted.
    Initialized,
    /// An attempt became active.
    AgentsBusy,
    /// The last attempt ended.
    AgentsIdle,
    /// The engine was asked to stop.
    Closing,
    /// It has stopped.
    Closed,
    /// There is one more agent.
    AgentSpawned {
        /// Its name.
        name: AgentName,
    },
    /// An agent is no more, and its name is not given again.
    AgentRetired {
        /// Its name.
        name: AgentName,
    },
    /// A step was refused for a reason that holds for every agent of the harness.
    HarnessPaused {
        /// The harness's name in the settings.
        harness: String,
        /// The reason, and the end.
        pause: HarnessPause,
    },
    /// A person asked to try again.
    HarnessFreed {
        /// The harness's name.
        harness: String,
        /// The actor who did it.
        by: Actor,
    },
    /// Most of the day's budget is spent.
    DayBudgetLow {
        /// The day.
        day: Day,
        /// The amount spent, and its limit.
        budget: Budget,
    },
    /// The day's budget is spent: no step of any ticket is started before it ends.
    DayBudgetSpent {
        /// The amount spent, its limit, and when the pause ends.
        pause: Pause,
    },
    /// There is money again: a new day has begun, or a person has raised the budget.
    DayBudgetFree,
    /// The target was seen anew, or its checks have gone on or come to a verdict.
    Target(Box<Target>),
    /// The target branch was seen elsewhere than where crew has left it, or for the first time.
    Moved(Box<Moved>),
}

/// A project orders nothing itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {}

/// The machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine;

impl machine::Machine for Machine {
    type State = Project;
    type Event = Event;
    type Effect = Effect;
    const NAME: &'static str = "project";

    fn transition(project: &Project, event: &Event) -> Result<Step<Project, Effect>, Rejected> {
        let no = |why: &str| {
            Err(Rejected {
                state: Self::state_name(project),
                event: Self::event_name(event).to_owned(),
                why: why.to_owned(),
            })
        };
        let to = |state| {
            Ok(Step::to(Project {
                state,
                ..project.clone()
            }))
        };
        match (project.state, event) {
            (_, Event::AgentSpawned { name }) => {
                if project.retired.contains(name) {
                    return no("the name was retired");
                }
                let mut next = project.clone();
                if !next.agents.insert(name.clone()) {
                    return no("there is an agent of that name");
                }
                Ok(Step::to(next))
            }
            (_, Event::AgentRetired { name }) => {
                let mut next = project.clone();
                if !next.agents.remove(name) {
                    return no("there is no agent of that name");
                }
                next.retired.insert(name.clone());
                Ok(Step::to(next))
            }
            (_, Event::HarnessPaused { harness, pause }) => {
                if project
                    .paused
                    .get(harness)
                    .is_some_and(|old| old.outlasts(pause.until))
                {
                    return no("it is paused for as long already");
                }
                let mut next = project.clone();
                next.paused.insert(harness.clone(), pause.clone());
                Ok(Step::to(next))
            }
            (_, Event::HarnessFreed { harness, .. }) => {
                let mut next = project.clone();
                if next.paused.remove(harness).is_none() {
                    return no("it is not paused");
                }
                Ok(Step::to(next))
            }
            (
                State::Uninitialized | State::Closed,
                Event::DayBudgetLow { .. } | Event::DayBudgetSpent { .. } | Event::DayBudgetFree,
            ) => no("no engine runs"),
            (State::Uninitialized | State::Closed, Event::Target(_) | Event::Moved(_)) => {
                no("no engine runs")
            }
            (_, Event::Target(target)) => {
                if project.target.as_ref() == Some(target) {
                    return no("that is recorded already");
                }
                Ok(Step::to(Project {
                    target: Some(target.clone()),
                    ..project.clone()
                }))
            }
            (_, Event::Moved(moved)) => {
                let is_same = |tip: &Tip| (&tip.branch, &tip.commit) == (&moved.to.branch, &moved.to.commit);
                if moved.lost.is_empty() && project.tip.as_deref().is_some_and(is_same) {
                    return no("that is recorded already");
                }
                Ok(Step::to(Project {
                    tip: Some(Box::new(moved.to.clone())),
                    ..project.clone()
                }))
            }
            (_, Event::DayBudgetLow { day, budget }) => {
                let warned = Some((*day, budget.limit_micro_usd));
                if project.warned == warned {
                    return no("that is recorded already");
                }
                Ok(Step::to(Project {
                    warned,
                    ..project.clone()
                }))
            }
            (_, Event::DayBudgetSpent { pause }) => {
                if project.pause.as_ref() == Some(pause) {
                    return no("that is recorded already");
                }
                Ok(Step::to(Project {
                    pause: Some(*pause),
                    ..project.clone()
                }))
            }
            (_, Event::DayBudgetFree) => {
                if project.pause.is_none() {
                    return no("no budget is in the way");
                }
                Ok(Step::to(Project {
                    pause: None,
                    ..project.clone()
                }))
            }
            // A crashed engine leaves any state behind; the next one starts over from each of them. It
            // records each obstacle anew, for the person who started it.
            (_, Event::Opened) => Ok(Step::to(Project {
                state: State::Initializing,
                pause: None,
                ..project.clone()
            })),
            (State::Initializing, Event::Initialized) | (State::Busy, Event::AgentsIdle) => to(State::Ready),
            (State::Ready, Event::AgentsBusy) => to(State::Busy),
            (State::Initializing | State::Ready | State::Busy, Event::Closing) => to(State::ShuttingDown),
            (State::ShuttingDown, Event::Closed) => to(State::Closed),
            (State::Uninitialized | State::Closed, _) => no("no engine runs"),
            (State::Initializing, Event::AgentsBusy | Event::AgentsIdle | Event::Closed) => {
                no("the engine is taking over")
            }
            (State::Ready | State::Busy, Event::Initialized) => no("the engine is up"),
            (State::Ready, Event::AgentsIdle) => no("no attempt is active"),
            (State::Busy, Event::AgentsBusy) => no("an attempt is active already"),
            (State::Ready | State::Busy, Event::Closed) => no("it is asked to stop first"),
            (
                State::ShuttingDown,
                Event::Initialized | Event::AgentsBusy | Event::AgentsIdle | Event::Closing,
            ) => no("the engine is stopping"),
        }
    }

    fn state_name(project: &Project) -> String {
        match project.state {
            State::Uninitialized => "uninitialized",
            State::Initializing => "initializing",
            State::Ready => "ready",
            State::Busy => "busy",
            State::ShuttingDown => "shutting_down",
            State::Closed => "closed",
        }
        .to_owned()
    }

    fn effect_name(effect: &Effect) -> &'static str {
        match *effect {}
    }

    fn event_name(event: &Event) -> &'static str {
        event.name()
    }
}

impl Event {
    /// The event's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Event::Opened => "opened",
            Event::Initialized => "initialized",
            Event::AgentsBusy => "agents_busy",
            Event::AgentsIdle => "agents_idle",
            Event::Closing => "closing",
            Event::Closed => "closed",
            Event::AgentSpawned { .. } => "agent_spawned",
            Event::AgentRetired { .. } => "agent_retired",
            Event::HarnessPaused { .. } => "harness_paused",
            Event::HarnessFreed { .. } => "harness_freed",
            Event::DayBudgetLow { .. } => "day_budget_low",
            Event::DayBudgetSpent { .. } => "day_budget_spent",
            Event::DayBudgetFree => "day_budget_free",
            Event::Target(target) => target.verdict.event_name(),
            Event::Moved(moved) if moved.is_first() => "branch_seen",
            Event::Moved(_) => "branch_moved",
        }
    }
}
