//! The driver: what stands between the core and the world, without any I/O of its own.
//!
//! A shell turns the world into [`Event`]s, has [`Driver::handle`] decide on them, makes the [`Batch`]
//! durable in one transaction, and performs the [`Action`]s that [`Driver::recorded`] returns then. The
//! runtime is such a shell around the real world, the simulator one around a made-up world: the order of
//! effects, the watch over runs, the inbox and the end of the engine are the same for both.

mod batch;
mod effect_queues;
mod event;
mod finish;
mod load;
mod refusals;
mod wanted;

use std::collections::BTreeSet;
use std::sync::Arc;

use model::command::{Command, OnStop};
use model::journal::{EffectId, Ordered, TimerRef};
use model::settings::Settings;
use model::ticket::{Effect, Ticket, TimerChange, TimerKey};
use model::{Actor, RunId, TicketId, Time, attempt};

pub use self::batch::Batch;
use self::effect_queues::EffectQueues;
pub use self::event::{Action, Event, Performance, Performed, Purpose};
use self::refusals::Refusals;
pub use self::refusals::TooManyRefusals;
use crate::{Core, Duty, Error, Input, Loaded, Output, Report};

/// The id of a stop that the driver asks for by itself. Ids in the inbox are UUIDs.
const OWN_STOP: &str = "own";

/// A core with everything that must be remembered between two events.
#[derive(Clone, Debug)]
pub struct Driver {
    core: Core,
    /// The namespace of session ids: the journal's own id.
    journal: uuid::Uuid,
    duty: Duty,
    queues: EffectQueues,
    /// Ends of runs that wait until the inbox was read: a command that was submitted before a run ended is
    /// carried out before that end.
    ends: Vec<Input>,
    /// The journal was last asked for timers that were due then.
    looked: Time,
    /// Timers of the last look that only end a wait, such as a backoff. One stays in the journal until a
    /// claim or a step removes it, and passing it to the core at each look would be work for nothing.
    passed: BTreeSet<TimerRef>,
    /// The number of the last command that was read from the inbox.
    inbox: u64,
    wake_at: Option<Time>,
    /// The core has nothing more to do.
    ended: bool,
    /// Runs whose end is waited for.
    watched: BTreeSet<RunId>,
    /// Effects to be performed again, once that is durable.
    postponed: Vec<(EffectId, Time)>,
    /// Actions that wait until what was decided is durable.
    actions: Vec<Action>,
    /// Effects that an earlier engine left to be done, until the first decisions are durable.
    left: Vec<Ordered>,
    /// Landings that an earlier engine ordered: a command goes on with one only to end it.
    left_to_end: Vec<Ordered>,
    /// Runs whose start is left to another engine. A stop that comes before the start would stop nothing, so
    /// it is left too, and a process that lives already is asked to stop beside that.
    left_to_start: BTreeSet<RunId>,
    refusals: Refusals,
    /// The choice for running steps, where the engine was asked to stop while a core was being loaded.
    asked_to_stop: Option<OnStop>,
}

impl Driver {
    /// A driver that knows nothing yet: [`Driver::load`] and [`Driver::open`] come next.
    ///
    /// # Errors
    /// Never for an empty journal.
    pub fn new(settings: Settings, journal: uuid::Uuid, duty: Duty) -> Result<Self, Error> {
        Ok(Self {
            core: Core::load(settings, journal, Loaded::default())?,
            journal,
            duty,
            queues: EffectQueues::default(),
            ends: Vec::new(),
            looked: Time::default(),
            passed: BTreeSet::new(),
            inbox: 0,
            wake_at: None,
            ended: false,
            watched: BTreeSet::new(),
            postponed: Vec::new(),
            actions: Vec::new(),
            left: Vec::new(),
            left_to_end: Vec::new(),
            left_to_start: BTreeSet::new(),
            refusals: Refusals::default(),
            asked_to_stop: None,
        })
    }

    /// The core, to be asked.
    #[must_use]
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// The purpose of the engine.
    #[must_use]
    pub fn duty(&self) -> &Duty {
        &self.duty
    }

    /// The number of the look at the ticket folder that this core waits for.
    #[must_use]
    pub fn look(&self) -> u64 {
        self.queues.generation()
    }

    /// The number of the last command that was read: the inbox is read from there.
    #[must_use]
    pub fn inbox(&self) -> u64 {
        self.inbox
    }

    /// Whether a command could be carried out now. The files decide about a command, so none is read before
    /// they were.
    #[must_use]
    pub fn can_read_inbox(&self) -> bool {
        self.core.has_read()
    }

    /// When [`Event::Woken`] is to come next; nothing when no moment is waited for.
    #[must_use]
    pub fn next_wake(&self) -> Option<Time> {
        // The core got the timers that were due at the last look; those since, and those ahead, are in the
        // core's own states.
        let deadline = self.core.next_deadline(self.looked);
        [self.wake_at, self.queues.next_wake(), deadline]
            .into_iter()
            .flatten()
            .min()
    }

    /// The archived tickets that these events may be about: they are to be restored before the events are
    /// handled.
    #[must_use]
    pub fn unknown(&self, events: &[Event]) -> BTreeSet<TicketId> {
        let mut unknown = BTreeSet::new();
        for event in events {
            match event {
                Event::Observed { seen, .. } => unknown.extend(self.core.unknown_in(seen)),
                Event::InboxRead(asked) => {
                    let named = asked.iter().filter_map(|asked| asked.command.ticket());
                    unknown.extend(self.core.not_here(named));
                }
                Event::Input(input) => unknown.extend(self.core.unknown(input)),
                Event::Performed(_)
                | Event::RunEnded(_)
                | Event::CheckEnded(_)
                | Event::Woken { .. }
                | Event::StopAsked(_)
                | Event::SettingsTouched
                | Event::SettingsRead(_) => {}
            }
        }
        unknown
    }

    /// Restores an archived ticket as the journal has it.
    pub fn restore(&mut self, id: TicketId, version: u64, ticket: Arc<Ticket>) {
        self.core.restore(id, version, ticket);
    }

    /// Forgets tickets that were archived.
    pub fn forget(&mut self, ids: &BTreeSet<TicketId>) {
        self.core.forget(ids);
    }

    /// Decides on events, in order. What was decided is to be made durable, all of it or nothing;
    /// [`Driver::recorded`] or [`Driver::refused`] comes next.
    pub fn handle(&mut self, events: impl IntoIterator<Item = Event>, now: Time) -> Batch {
        let had_read = self.core.has_read();
        let mut batch = Batch::default();
        for event in events {
            self.handle_one(event, now, &mut batch);
        }
        if self.core.has_read() {
            if !had_read || !self.ends.is_empty() {
                self.actions.push(Action::ReadInbox);
            }
        } else if self.core.stopping().is_some() {
            // Nothing in the inbox is carried out any more.
            self.step_ends(now, &mut batch);
        }
        batch
    }

    fn handle_one(&mut self, event: Event, now: Time, batch: &mut Batch) {
        match event {
            Event::Input(input) => self.step(input, now, batch),
            Event::Observed { look, seen, whole } => {
                if look == self.look() {
                    let back = self.core.with_file_back(&seen);
                    self.step(Input::Observed { seen, whole }, now, batch);
                    self.queues.go_on(&back);
                }
            }
            Event::Performed(performed) => self.performed(performed, now, batch),
            Event::RunEnded(end) => {
                self.watched.remove(&end.run);
                self.ends.push(Input::RunEnded(end));
            }
            Event::CheckEnded(end) => {
                self.watched.remove(&end.run);
                self.ends.push(Input::CheckEnded(end));
            }
            Event::InboxRead(commands) => {
                for asked in commands {
                    self.inbox = self.inbox.max(asked.number);
                    let commanded = Input::Commanded {
                        by: asked.actor(),
                        id: asked.id,
                        command: asked.command,
                    };
                    self.step(commanded, now, batch);
                }
                self.step_ends(now, batch);
            }
            Event::Woken { due } => {
                if self.wake_at.is_some_and(|at| at <= now) {
                    self.wake_at = None;
                }
                self.queues.wake(now);
                self.looked = now;
                let passed = std::mem::take(&mut self.passed);
                for timer in due {
                    if ends_a_wait_only(&timer) {
                        self.passed.insert(timer.clone());
                    }
                    if !passed.contains(&timer) {
                        self.step(Input::TimerDue(timer), now, batch);
                    }
                }
                self.step(Input::Ticked, now, batch);
            }
            Event::StopAsked(running) => self.step(own_stop(running), now, batch),
            Event::SettingsTouched => self.core.await_settings(),
            Event::SettingsRead(settings) => {
                match settings {
                    Some(settings) => self.core.set_settings(*settings),
                    None => self.core.keep_settings(),
                }
                self.step(Input::Ticked, now, batch);
            }
        }
    }

    fn performed(&mut self, performed: Performed, now: Time, batch: &mut Batch) {
        let Performed {
            ordered,
            report,
            turn,
        } = performed;
        if !self.queues.performed(&ordered, turn) {
            return;
        }
        if let (Some(run), Report::StepSpawned | Report::CheckSpawned | Report::Stopped) =
            (ordered.effect.run(), &report)
            && self.waits_for(run)
        {
            self.watch(run.clone());
        }
        let Ordered { id, ticket, effect } = ordered;
        let reported = Input::Reported {
            id,
            ticket,
            effect,
            report,
        };
        self.step(reported, now, batch);
    }

    /// Whether the end of a run is still to come, and somebody waits for it.
    fn waits_for(&self, run: &RunId) -> bool {
        let has_come = |end: &Input| match end {
            Input::RunEnded(end) => end.run == *run,
            Input::CheckEnded(end) => end.run == *run,
            Input::Observed { .. }
            | Input::GitMoved
            | Input::FolderReplaced
            | Input::Commanded { .. }
            | Input::TimerDue(_)
            | Input::Reported { .. }
            | Input::Sampled { .. }
            | Input::GivenUp { .. }
            | Input::ModesAnnounced { .. }
            | Input::TargetSeen(_)
            | Input::TargetChecked { .. }
            | Input::Ticked => false,
        };
        self.core.live_runs().any(|(_, live)| live == run) && !self.ends.iter().any(has_come)
    }

    /// Steps the ends of runs that waited for the inbox.
    fn step_ends(&mut self, now: Time, batch: &mut Batch) {
        for end in std::mem::take(&mut self.ends) {
            self.step(end, now, batch);
        }
    }

    fn step(&mut self, input: Input, now: Time, batch: &mut Batch) {
        let output = self.core.step(input, now);
        self.absorb(output, now, batch);
    }

    fn absorb(&mut self, output: Output, now: Time, batch: &mut Batch) {
        self.ended |= output.ended;
        self.wake_at = earlier(self.wake_at, output.wake_at);
        if output.looks_at_target && !self.actions.contains(&Action::LookAtTarget) {
            self.actions.push(Action::LookAtTarget);
        }
        // A timer that was set for a moment that has passed since the journal was last asked would be missed.
        let is_late =
            |timer: &TimerChange| matches!(timer, TimerChange::Set(deadline) if deadline.at <= self.looked);
        if output.writes.iter().flat_map(|write| &write.timers).any(is_late) {
            self.wake_at = earlier(self.wake_at, Some(now));
        }
        let again = output.postponed.iter().map(|one| (one.effect, one.at));
        self.postponed.extend(again);
        batch.absorb(output);
    }

    /// The batch is durable; `ordered` are the effects that were ordered with it, in order. Returns
    /// what is to be done now.
    pub fn recorded(&mut self, ordered: Vec<Ordered>, now: Time) -> Vec<Action> {
        for (effect, at) in std::mem::take(&mut self.postponed) {
            self.queues.again(effect, at);
        }
        self.queues.finish_performed();
        let mut actions = std::mem::take(&mut self.actions);
        let core = &self.core;
        let unwanted = self.left_to_end.extract_if(.., |one| !is_wanted(core, one));
        let unwanted: Vec<Ordered> = unwanted.collect();
        let left = std::mem::take(&mut self.left);
        let all = left.into_iter().chain(ordered).chain(unwanted);
        for one in all {
            if let Effect::Attempt(attempt::Effect::StopRun { run }) = &one.effect
                && self.left_to_start.contains(run)
            {
                actions.push(Action::StopIfBegun(run.clone()));
                continue;
            }
            if let Some((ordered, turn)) = self.queues.add(one) {
                actions.push(Action::Perform(self.performance(ordered, turn)));
            }
        }
        self.queues.hasten(|one| !is_wanted(core, one));
        for (ordered, turn) in self.queues.next(now) {
            actions.push(Action::Perform(self.performance(ordered, turn)));
        }
        actions
    }

    /// The journal refused what was decided: the core's picture of it was out of date, and a new core is to
    /// be loaded.
    ///
    /// # Errors
    /// [`TooManyRefusals`] when loading a new core has not helped again and again. `why` names
    /// versions and fences, so that another's write in between makes it another refusal.
    pub fn refused(&mut self, why: String) -> Result<(), TooManyRefusals> {
        self.refusals.note(why)
    }

    /// Has a run watched. One that is watched already is to be looked at: it may have been asked to stop.
    fn watch(&mut self, run: RunId) {
        self.watched.insert(run.clone());
        self.actions.push(Action::Watch(run));
    }

    fn performance(&self, ordered: Ordered, turn: effect_queues::Turn) -> Box<Performance> {
        let id = &ordered.ticket;
        let ticket = self
            .core
            .ticket(id)
            .cloned()
            .unwrap_or_else(|| Ticket::new(id.clone()));
        let purpose = if self.queues.is_outdated(&ordered) {
            Purpose::Nothing
        } else {
            wanted::purpose(&ticket, &ordered.effect)
        };
        Box::new(Performance {
            ordered,
            ticket: ticket.into(),
            purpose,
            turn,
        })
    }

    /// Whether work of any ticket may be in a workspace.
    #[must_use]
    pub fn is_work_under_way(&self) -> bool {
        let mut attempts = self
            .core
            .active_tickets()
            .filter_map(|(_, ticket)| ticket.attempt());
        self.queues.is_keeping() || attempts.any(attempt::Attempt::may_have_work)
    }
}

/// A stop that the driver itself asks for: no inbox has it, and nobody is to be answered.
fn own_stop(running: OnStop) -> Input {
    Input::Commanded {
        id: OWN_STOP.to_owned(),
        by: Actor::Engine,
        command: Command::Stop { running },
    }
}

/// Whether a timer changes no state by itself: the core may give out its ticket, or step it, from then on.
fn ends_a_wait_only(timer: &TimerRef) -> bool {
    match TimerKey::parse(&timer.key) {
        Some(TimerKey::Due | TimerKey::Step | TimerKey::Review) => true,
        Some(TimerKey::Retry | TimerKey::Wakeup | TimerKey::Answer | TimerKey::Land | TimerKey::Proposal)
        | None => false,
    }
}

fn is_wanted(core: &Core, ordered: &Ordered) -> bool {
    core.ticket(&ordered.ticket)
        .is_some_and(|ticket| wanted::purpose(ticket, &ordered.effect) == Purpose::Perform)
}

fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    [one, other].into_iter().flatten().min()
}
