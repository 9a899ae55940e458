//! The task mode machine: how an agent goes about its task. It is the inside of `working`, and it outlives
//! the waits and failures in between.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::{self, Rejected, Step};

/// The way in which an agent goes about its task, while it is working.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It does the work itself.
    #[default]
    Execute,
    /// It hands the work to others.
    Delegate,
    /// It thinks first.
    Plan,
    /// It splits the work.
    BreakUp,
    /// It brings the parts together.
    Unify,
}

/// Something that happens to a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The agent, or a person, chose a mode.
    Chosen {
        /// The chosen one.
        mode: Mode,
    },
    /// The agent handed tasks to others.
    Delegated,
    /// All tasks that the agent handed to others are over.
    ChildrenOver,
    /// The agent said that it is done.
    SaidDone {
        /// Whether it has made tickets for the parts of its work.
        has_parts: bool,
    },
    /// The work that was submitted came back.
    Returned,
}

/// A mode orders nothing itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {}

/// The machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine;

impl machine::Machine for Machine {
    type State = Mode;
    type Event = Event;
    type Effect = Effect;
    const NAME: &'static str = "task_mode";

    fn transition(mode: &Mode, event: &Event) -> Result<Step<Mode, Effect>, Rejected> {
        use Mode::{BreakUp, Delegate, Execute, Plan, Unify};
        let no = |why: &str| {
            Err(Rejected {
                state: mode.name().to_owned(),
                event: Machine::event_name(event).to_owned(),
                why: why.to_owned(),
            })
        };
        match event {
            Event::Chosen { mode: chosen } => match (mode, chosen) {
                (Execute, Execute)
                | (Plan, Plan)
                | (BreakUp, BreakUp)
                | (Delegate, Delegate)
                | (Unify, Unify) => no("it is in that mode already"),
                (Execute, Plan) | (Plan, Execute | BreakUp) | (BreakUp, Plan) | (Unify, Execute) => {
                    Ok(Step::to(*chosen))
                }
                (Execute | Plan | BreakUp | Unify, Delegate) => {
                    no("delegate begins when work is handed to another agent by the tool `delegate`")
                }
                (Execute | BreakUp | Plan, Unify) => {
                    no("unify is for what came of the parts: it begins by itself when they are over")
                }
                (Delegate, Execute | Plan | BreakUp | Unify) => {
                    no("it waits for those to whom it handed its work: unify follows by itself")
                }
                (Execute, BreakUp) => no("work is broken up after it was planned: plan comes first"),
                (BreakUp, Execute) => no("break_up goes back to plan"),
                (Unify, Plan | BreakUp) => no("unify goes on to execute"),
            },
            Event::Delegated => match mode {
                // An agent that brings parts together may find that more is to be handed out: it counts as at
                // work in execute then.
                Execute | Plan | Delegate | Unify => Ok(Step::to(Delegate)),
                BreakUp => no("in break_up, others get tickets of their own: plan comes before delegate"),
            },
            Event::ChildrenOver => match mode {
                Delegate => Ok(Step::to(Unify)),
                Execute | Plan | BreakUp | Unify => no("it has handed nothing to others"),
            },
            Event::SaidDone { has_parts } => match mode {
                BreakUp if !has_parts => no("in break_up, done means that there are tickets for the parts"),
                BreakUp | Execute | Plan | Delegate | Unify => Ok(Step::to(*mode)),
            },
            // It said that the work was done: what is wrong with it is mended, in whatever mode it was.
            Event::Returned => match mode {
                Execute | Delegate | Plan | BreakUp | Unify => Ok(Step::to(Execute)),
            },
        }
    }

    fn state_name(mode: &Mode) -> String {
        mode.name().to_owned()
    }

    fn effect_name(effect: &Effect) -> &'static str {
        match *effect {}
    }

    fn event_name(event: &Event) -> &'static str {
        match event {
            Event::Chosen { .. } => "chosen",
            Event::Delegated => "delegated",
            Event::ChildrenOver => "children_over",
            Event::SaidDone { .. } => "said_done",
            Event::Returned => "returned",
        }
    }
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 5] = [
        Self::Execute,
        Self::Delegate,
        Self::Plan,
        Self::BreakUp,
        Self::Unify,
    ];

    /// Its word, as agents and people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::Execute => "execute",
            Mode::Delegate => "delegate",
            Mode::Plan => "plan",
            Mode::BreakUp => "break_up",
            Mode::Unify => "unify",
        }
    }

    /// The mode of this word.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// The mode in which an attempt begins; `has_parts`: its ticket was broken up, and the tickets for the
    /// parts are over.
    #[must_use]
    pub fn first(has_parts: bool) -> Self {
        match has_parts {
            true => Mode::Unify,
            false => Mode::Execute,
        }
    }

    /// The mode after an event.
    ///
    /// # Errors
    /// [`Rejected`] when the mode does not accept the event.
    pub fn after(self, event: Event) -> Result<Self, Rejected> {
        use machine::Machine as _;
        Ok(Machine::transition(&self, &event)?.state)
    }
}
