//! Events that a shell passes to the driver, and actions that the driver asks of the shell.

use std::sync::Arc;

use model::RunId;
use model::command::{Asked, OnStop};
use model::journal::{Ordered, TimerRef};
use model::settings::Settings;
use model::ticket::Ticket;

use super::effect_queues::Turn;
use crate::{CheckEnd, Input, Observation, Report, RunEnd};

/// Something that happened in the world.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An input of the core that needs nothing else: a sample of a run, for instance.
    Input(Input),
    /// Ticket files were observed, in the look of this number ([`Driver::look`](super::Driver::look)).
    Observed {
        /// The number of the look.
        look: u64,
        /// The observation of each file, in order.
        seen: Vec<Observation>,
        /// Whether that is every file there is.
        whole: bool,
    },
    /// An effect was performed.
    Performed(Performed),
    /// The run of a step has ended.
    RunEnded(RunEnd),
    /// The run of a check has ended.
    CheckEnded(CheckEnd),
    /// The inbox was read: these commands are in it, in order, from [`Driver::inbox`](super::Driver::inbox)
    /// on.
    InboxRead(Vec<Asked>),
    /// A moment that was waited for has come, or a while has passed. `due` are all timers that are due.
    Woken {
        /// The timers.
        due: Vec<TimerRef>,
    },
    /// The engine is asked to stop, by a signal for instance.
    StopAsked(OnStop),
    /// The settings may have changed. [`Event::SettingsRead`] comes once they were read; no paid work begins
    /// until then.
    SettingsTouched,
    /// The settings were read again: the new ones, or none when those in force stay.
    SettingsRead(Option<Box<Settings>>),
}

/// Something that the shell is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Perform an effect.
    Perform(Box<Performance>),
    /// Watch a run for its end, which is an [`Event::RunEnded`] or an [`Event::CheckEnded`]; where it is
    /// watched already, look whether it is to stop.
    Watch(RunId),
    /// Ask a run to stop, if it has begun. Its start is not recorded, and is left to the next engine with its
    /// stop; but its process may live already.
    StopIfBegun(RunId),
    /// Read the inbox, which is an [`Event::InboxRead`].
    ReadInbox,
    /// Look at the target, and ask its remote for it where there is one, which is an
    /// [`Input::TargetSeen`](crate::Input::TargetSeen).
    LookAtTarget,
}

/// An effect whose turn has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Performance {
    /// The effect.
    pub ordered: Ordered,
    /// The ticket as it was when the effect's turn came.
    pub ticket: Arc<Ticket>,
    /// The purpose of performing it.
    pub purpose: Purpose,
    pub(super) turn: Turn,
}

impl Performance {
    /// The event for the end of it.
    #[must_use]
    pub fn ended(self, report: Report) -> Event {
        Event::Performed(Performed {
            ordered: self.ordered,
            report,
            turn: self.turn,
        })
    }
}

/// The purpose of performing an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It is performed.
    Perform,
    /// Nobody waits for it any more: what an earlier engine began of it is brought to an end, and nothing
    /// else is begun.
    End,
    /// Nobody waits for it any more, and there is nothing to bring to an end: it is reported as done.
    Nothing,
}

/// An effect that was performed.
#[derive(Clone, Debug, PartialEq)]
pub struct Performed {
    /// The effect.
    pub ordered: Ordered,
    /// The outcome.
    pub report: Report,
    pub(super) turn: Turn,
}
