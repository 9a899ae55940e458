//! The shell of a simulated engine: the real driver, its inputs from the world, and its orders to it.

use std::collections::BTreeMap;

use engine::driver::{Action, Driver, Event, Performance, Purpose};
use engine::{Input, Report};
use model::journal::Ordered;
use model::{RunId, Time};

use crate::simulation::target::TargetCheck;

/// An effect whose turn has come.
#[derive(Clone, Debug)]
pub(crate) struct Begun {
    /// The number of the core that ordered it.
    generation: u64,
    pub(crate) performance: Performance,
}

/// A report on its way.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) at: Time,
    pub(crate) begun: Begun,
    pub(crate) report: Report,
}

impl Delivery {
    /// The report as an input of a core.
    pub(crate) fn input(&self) -> Input {
        let Ordered { id, ticket, effect } = self.begun.performance.ordered.clone();
        Input::Reported {
            id,
            ticket,
            effect,
            report: self.report.clone(),
        }
    }
}

/// One engine's life.
#[derive(Clone, Debug)]
pub(crate) struct Shell {
    pub(crate) driver: Driver,
    /// Effects whose turn has come, and which nobody has performed yet.
    pub(crate) begun: Vec<Begun>,
    pub(crate) reports: Vec<Delivery>,
    /// Runs whose end is waited for, with the time of the next look.
    pub(crate) watched: BTreeMap<RunId, Time>,
    /// Events that have come and are not handled yet.
    pub(crate) events: Vec<Event>,
    /// The effects that these events report of to the present core.
    pub(crate) reported: Vec<Ordered>,
    /// Reports of an earlier engine's executor, which reach this one's core.
    pub(crate) late: Vec<Delivery>,
    /// Runs whose end has come, each with the last command that was in the inbox by then.
    pub(crate) ended: Vec<(RunId, u64)>,
    /// The driver asks for a look into the inbox.
    pub(crate) wants_inbox: bool,
    /// The core wants the target looked at.
    pub(crate) wants_look: bool,
    pub(crate) tick_at: Time,
    /// The time at which the first, full look at the tickets is delivered; none when it was.
    pub(crate) first_look: Option<Time>,
    /// The target as it was last looked at.
    pub(crate) target: Option<usize>,
    /// Its checks, while they run.
    pub(crate) target_check: Option<TargetCheck>,
}

/// The interval at which time passes for the driver, even if it waits for no deadline.
const TICK: i64 = 30_000;

impl Shell {
    pub(crate) fn new(driver: Driver, now: Time, first_look: Time) -> Self {
        Self {
            driver,
            begun: Vec::new(),
            reports: Vec::new(),
            watched: BTreeMap::new(),
            events: Vec::new(),
            reported: Vec::new(),
            late: Vec::new(),
            ended: Vec::new(),
            wants_inbox: false,
            wants_look: false,
            tick_at: Time(now.0 + TICK),
            first_look: Some(first_look),
            target: None,
            target_check: None,
        }
    }

    /// Takes the actions of the driver. Gives the runs that are to be stopped if they have begun.
    pub(crate) fn begin(&mut self, actions: Vec<Action>, now: Time) -> Vec<RunId> {
        let mut stops = Vec::new();
        for action in actions {
            match action {
                Action::Perform(performance) => {
                    let is_nothing = performance.purpose == Purpose::Nothing;
                    let begun = Begun {
                        generation: self.driver.look(),
                        performance: *performance,
                    };
                    if is_nothing {
                        self.reports.push(Delivery {
                            at: now,
                            begun,
                            report: Report::Done,
                        });
                    } else {
                        self.begun.push(begun);
                    }
                }
                Action::Watch(run) => {
                    self.watched.insert(run, now);
                }
                Action::StopIfBegun(run) => stops.push(run),
                Action::ReadInbox => self.wants_inbox = true,
                Action::LookAtTarget => self.wants_look = true,
            }
        }
        stops
    }

    /// True if the driver's present core ordered it: only that core gets the report.
    pub(crate) fn is_of_this_core(&self, begun: &Begun) -> bool {
        begun.generation == self.driver.look()
    }

    /// True if a look into the inbox was begun and is not handled.
    pub(crate) fn is_reading_inbox(&self) -> bool {
        let reads = |event: &Event| matches!(event, Event::InboxRead(_));
        self.events.iter().any(reads)
    }

    /// True if the driver waits for a time that has come.
    pub(crate) fn is_to_wake(&self, now: Time) -> bool {
        self.tick_at <= now || self.driver.next_wake().is_some_and(|at| at <= now)
    }

    /// Time has passed: the next tick is a while away.
    pub(crate) fn note_woken(&mut self, now: Time) {
        if self.tick_at <= now {
            self.tick_at = Time(now.0 + TICK);
        }
    }

    /// The machine's clock is set: a span that is measured by a clock that only runs on stays as long as it
    /// was.
    pub(crate) fn set_clock(&mut self, by: i64) {
        let times = self
            .reports
            .iter_mut()
            .chain(&mut self.late)
            .map(|delivery| &mut delivery.at);
        let measured = times.chain(self.watched.values_mut()).chain([&mut self.tick_at]);
        let checks = self.target_check.iter_mut().flat_map(|check| &mut check.reports);
        let checks = checks.map(|(at, _)| at);
        for at in measured.chain(&mut self.first_look).chain(checks) {
            at.0 += by;
        }
    }

    /// True if nothing is under way.
    pub(crate) fn is_quiet(&self) -> bool {
        self.driver.is_at_rest()
            && self.begun.is_empty()
            && self.reports.is_empty()
            && self.events.is_empty()
            && self.target_check.is_none()
    }

    /// The next moment at which something happens by itself.
    pub(crate) fn next(&self, now: Time) -> Option<Time> {
        let times = self.reports.iter().chain(&self.late).map(|delivery| delivery.at);
        times
            .chain(self.watched.values().copied())
            .chain(self.driver.next_wake())
            .chain([self.tick_at])
            .chain(self.first_look)
            .chain(
                self.target_check
                    .iter()
                    .flat_map(|check| &check.reports)
                    .map(|(at, _)| *at),
            )
            .filter(|at| *at > now)
            .min()
    }
}
