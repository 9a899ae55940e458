//! The core's picture of the journal, and the one way in which it changes: a write.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::command::{OnStop, Outcome};
use model::journal::{EffectId, Entry, Fact, Ordered, State, Stream, TimerRef, Write};
use model::machine::{Machine as _, Rejected};
use model::policy::{route, stall};
use model::project::{self, Project};
use model::settings::Settings;
use model::ticket::{self, Effect, Ticket, TimerKey};
use model::{Actor, AgentName, RunId, SessionId, TicketId, Time};

use crate::ready_queue::ReadyQueue;
use crate::spending::Spending;
use crate::{Error, Input, Output, failing};

/// The engine's core.
#[derive(Clone, Debug)]
pub struct Core {
    pub(crate) settings: Settings,
    /// The namespace of session ids: the journal's own id.
    pub(crate) journal: uuid::Uuid,
    pub(crate) project: Project,
    pub(crate) project_version: u64,
    pub(crate) tickets: BTreeMap<TicketId, Arc<Ticket>>,
    pub(crate) versions: BTreeMap<TicketId, u64>,
    /// The files that exist.
    pub(crate) files: BTreeMap<TicketId, route::File>,
    /// crew's own tags in the files that can be read.
    pub(crate) tags: BTreeMap<TicketId, BTreeSet<String>>,
    /// Files of known tickets that are not there, since when.
    pub(crate) gone: BTreeMap<TicketId, Time>,
    /// Effects ordered and not yet reported that make a file's status lag behind the journal.
    pub(crate) filing: BTreeMap<TicketId, u32>,
    /// Writings that found no file, since when: the last of each ticket.
    pub(crate) missed: BTreeMap<TicketId, (EffectId, Time)>,
    /// Writings of files that were reported: one that is reported twice has arrived once.
    pub(crate) filed: BTreeSet<EffectId>,
    /// Effects that fail and are performed again, as a person was told.
    pub(crate) failing: BTreeMap<(TicketId, failing::Of), failing::Failing>,
    /// What was seen of the steps and checks that run, since this core has been up.
    pub(crate) watches: BTreeMap<RunId, stall::Watch>,
    /// Whether the ticket folder was read since this core has been up: nothing is given out before.
    pub(crate) read: bool,
    /// Something changed that could let a ticket be given out.
    pub(crate) dirty: bool,
    /// Tickets with an attempt: of those in `tickets`, the ones that every input may move.
    pub(crate) active: BTreeMap<TicketId, Arc<Ticket>>,
    /// What may be given out.
    pub(crate) ready: ReadyQueue,
    /// What was spent, as far as budgets ask.
    pub(crate) spending: Spending,
    /// Deadlines ahead, so that the next one is found without a search.
    deadlines: BTreeMap<Time, BTreeSet<TicketId>>,
    pub(crate) duty: Duty,
    pub(crate) stopping: Option<OnStop>,
    pub(crate) out: Output,
    pub(crate) now: Time,
}

/// What the engine is up for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duty {
    /// The whole queue.
    Drain,
    /// One command's own effects: no ticket is given out, no agent stepped.
    Command {
        /// The ticket that is also brought through checking and landing, behind whatever is on its way there
        /// already.
        lands: Option<TicketId>,
    },
}

/// What a core is loaded from: the journal as it is.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Every stream with its version.
    pub streams: Vec<(Stream, u64, State)>,
    /// Effects that are ordered and not done.
    pub pending: Vec<Ordered>,
}

/// What a write answers, beside its facts.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteMeta {
    pub(crate) cause: String,
    pub(crate) completes: Option<EffectId>,
    pub(crate) fires: Option<TimerRef>,
    pub(crate) answers: Option<(String, Outcome)>,
}

impl WriteMeta {
    pub(crate) fn because(cause: impl Into<String>) -> Self {
        Self {
            cause: cause.into(),
            ..Self::default()
        }
    }
}

impl Core {
    /// Takes up a journal. Nothing is decided before the first [`Core::step`].
    ///
    /// # Errors
    /// When a stream holds a state of another kind.
    pub fn load(settings: Settings, journal: uuid::Uuid, loaded: Loaded) -> Result<Self, Error> {
        let mut core = Self {
            settings,
            journal,
            project: Project::default(),
            project_version: 0,
            tickets: BTreeMap::new(),
            versions: BTreeMap::new(),
            files: BTreeMap::new(),
            tags: BTreeMap::new(),
            gone: BTreeMap::new(),
            filing: BTreeMap::new(),
            missed: BTreeMap::new(),
            filed: BTreeSet::new(),
            failing: BTreeMap::new(),
            watches: BTreeMap::new(),
            read: false,
            dirty: true,
            active: BTreeMap::new(),
            ready: ReadyQueue::default(),
            spending: Spending::default(),
            deadlines: BTreeMap::new(),
            duty: Duty::Drain,
            stopping: None,
            out: Output::default(),
            now: Time::default(),
        };
        for (stream, version, state) in loaded.streams {
            match (stream, state) {
                (Stream::Project, State::Project(project)) => {
                    (core.project, core.project_version) = (project, version);
                }
                (Stream::Ticket(id), State::Ticket(ticket)) => {
                    core.put(id, ticket, version);
                }
                (stream, _) => return Err(Error::WrongKind { stream }),
            }
        }
        for one in loaded.pending {
            core.ordered(&one.ticket, &one.effect);
        }
        Ok(core)
    }

    /// The engine has the repository: opens the project and sees to its roster.
    ///
    /// An engine that is up for one command only opens nothing: it is over before anyone could see it.
    pub fn open(&mut self, now: Time, duty: Duty) -> Output {
        self.now = now;
        self.duty = duty;
        if let Duty::Drain = self.duty {
            let mut events = vec![project::Event::Opened];
            events.extend(self.missing_agents());
            events.push(project::Event::Initialized);
            self.tell_project(events, "the engine has started");
            // A person may have made way while no engine ran.
            for id in self.active() {
                let deadline = self.ticket(&id).and_then(Ticket::deadline);
                if deadline.is_some_and(|d| d.key == TimerKey::Land) {
                    self.tell_or_note(&id, ticket::Event::LandingRetried, "the engine has started");
                }
            }
        }
        self.take_output()
    }

    /// The next moment after `now` at which a ticket's timer is due.
    #[must_use]
    pub fn next_deadline(&self, now: Time) -> Option<Time> {
        self.deadlines
            .range(Time(now.0.saturating_add(1))..)
            .next()
            .map(|(at, _)| *at)
    }

    /// Takes new settings; what is under way goes on under them.
    pub fn set_settings(&mut self, settings: Settings) {
        self.settings = settings;
        self.dirty = true;
    }

    /// What the settings are.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether the ticket folder was read since this core has been up.
    #[must_use]
    pub fn has_read(&self) -> bool {
        self.read
    }

    /// The ticket as the journal has it.
    #[must_use]
    pub fn ticket(&self, id: &TicketId) -> Option<&Ticket> {
        self.tickets.get(id).map(Arc::as_ref)
    }

    /// Whether the ticket's file is there and cannot be read.
    #[must_use]
    pub fn is_unreadable(&self, id: &TicketId) -> bool {
        self.files.get(id).is_some_and(|file| file.unreadable)
    }

    /// What becomes of what runs, once the engine was told to stop.
    #[must_use]
    pub fn stopping(&self) -> Option<OnStop> {
        self.stopping
    }

    /// Every ticket, by id.
    pub fn tickets(&self) -> impl Iterator<Item = &Ticket> {
        self.tickets.values().map(Arc::as_ref)
    }

    /// The project.
    #[must_use]
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The runs whose processes may be alive, each with its ticket: to be watched, by whoever has just loaded
    /// this core.
    pub fn live_runs(&self) -> impl Iterator<Item = (&TicketId, &RunId)> {
        self.active_tickets()
            .flat_map(|(id, ticket)| ticket.live_runs().map(move |run| (id, run)))
    }

    /// Hears `input` and decides.
    pub fn step(&mut self, input: Input, now: Time) -> Output {
        self.now = now;
        match input {
            Input::Observed { seen, whole } => self.observed(seen, whole),
            Input::Commanded { id, by, command } => self.commanded(&id, &by, command),
            Input::TimerDue(timer) => self.timer_due(timer),
            Input::Reported {
                id,
                ticket,
                effect,
                report,
            } => self.reported(id, &ticket, &effect, report),
            Input::RunEnded(end) => self.run_ended(end),
            Input::CheckEnded(end) => self.check_ended(end),
            Input::Sampled { run, sample } => {
                // Each step that runs is looked at all the time, and hardly a look decides anything: what was
                // settled stays so.
                if !self.sampled(&run, sample) {
                    return self.take_output();
                }
            }
            Input::GivenUp { run, failure } => self.given_up(&run, failure),
            Input::Ticked => {}
        }
        self.advance();
        self.take_output()
    }

    fn take_output(&mut self) -> Output {
        std::mem::take(&mut self.out)
    }

    /// Applies `events` to a ticket, in order, as one write; all of them or none.
    pub(crate) fn tell(
        &mut self,
        id: &TicketId,
        events: impl IntoIterator<Item = ticket::Event>,
        answering: WriteMeta,
    ) -> Result<(), Rejected> {
        let version = self.versions.get(id).copied().unwrap_or(0);
        let mut ticket = self
            .tickets
            .get(id)
            .cloned()
            .unwrap_or_else(|| Ticket::new(id.clone()).into());
        let fence = ticket.fence;
        let (mut entries, mut timers, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        for event in events {
            let change = ticket.after(&event, self.now)?;
            ticket = Arc::new(change.ticket);
            timers.extend(change.timers);
            slots.extend(change.slots);
            let after = State::Ticket(Arc::clone(&ticket));
            let mut effects = change.effects;
            let is_dropped_in_its_file = matches!(
                &ticket.state,
                ticket::State::Done(ticket::Done::Dropped { by: Actor::File, .. })
            );
            if is_dropped_in_its_file && self.gone.contains_key(id) {
                // Whoever writes a file of that name next begins anew: what is said of the old one would be
                // said of it.
                effects.retain(|effect| !matches!(effect, Effect::WriteFile(_)));
            }
            entries.push(Entry {
                fact: Fact::Ticket(event),
                after,
                effects,
            });
        }
        for entry in &entries {
            for effect in &entry.effects {
                self.ordered(id, effect);
            }
        }
        let version_after = version + entries.len() as u64;
        self.out.writes.push(Write {
            stream: Stream::Ticket(id.clone()),
            expected: version,
            fence: (version > 0).then_some(fence),
            new_fence: (ticket.fence > fence).then_some(ticket.fence),
            entries,
            at: self.now,
            cause: answering.cause,
            timers,
            slots,
            completes: answering.completes,
            fires: answering.fires,
            answers: answering.answers,
        });
        self.put(id.clone(), ticket, version_after);
        Ok(())
    }

    pub(crate) fn put(&mut self, id: TicketId, ticket: Arc<Ticket>, version: u64) {
        self.dirty = true;
        self.versions.insert(id.clone(), version);
        let old = self.tickets.get(&id).map(Arc::as_ref);
        self.ready.moved(old, &ticket);
        self.spending.moved(old, &ticket);
        if let Some(old) = old.and_then(Ticket::deadline)
            && let Some(there) = self.deadlines.get_mut(&old.at)
        {
            there.remove(&id);
            if there.is_empty() {
                self.deadlines.remove(&old.at);
            }
        }
        if let Some(new) = ticket.deadline() {
            self.deadlines.entry(new.at).or_default().insert(id.clone());
        }
        if ticket.attempt().is_some() {
            self.active.insert(id.clone(), Arc::clone(&ticket));
        } else {
            self.active.remove(&id);
        }
        self.tickets.insert(id, ticket);
    }

    /// Tickets with an attempt, by id.
    pub(crate) fn active(&self) -> Vec<TicketId> {
        self.active.keys().cloned().collect()
    }

    /// Tells, and notes a refusal for the log.
    pub(crate) fn tell_or_note(&mut self, id: &TicketId, event: ticket::Event, cause: &str) -> bool {
        match self.tell(id, [event], WriteMeta::because(cause)) {
            Ok(()) => true,
            Err(no) => {
                self.out.refused.push(format!("{id}: {no}"));
                false
            }
        }
    }

    /// Applies `events` to the project as one write; one that it does not accept is left out and noted.
    pub(crate) fn tell_project(&mut self, events: impl IntoIterator<Item = project::Event>, cause: &str) {
        let answering = WriteMeta::because(cause);
        self.tell_project_answering(events, answering);
    }

    pub(crate) fn tell_project_answering(
        &mut self,
        events: impl IntoIterator<Item = project::Event>,
        answering: WriteMeta,
    ) {
        let version = self.project_version;
        let mut entries = Vec::new();
        for event in events {
            match project::Machine::transition(&self.project, &event) {
                Ok(step) => {
                    self.project = step.state;
                    let after = State::Project(self.project.clone());
                    entries.push(Entry {
                        fact: Fact::Project(event),
                        after,
                        effects: Vec::new(),
                    });
                }
                Err(no) => self.out.refused.push(format!("project: {no}")),
            }
        }
        if entries.is_empty() {
            if let Some((id, outcome)) = answering.answers {
                self.out.answers.push((id, outcome));
            }
            return;
        }
        self.project_version += entries.len() as u64;
        self.out.writes.push(Write {
            stream: Stream::Project,
            expected: version,
            fence: None,
            new_fence: None,
            entries,
            at: self.now,
            cause: answering.cause,
            timers: Vec::new(),
            slots: Vec::new(),
            completes: answering.completes,
            fires: answering.fires,
            answers: answering.answers,
        });
    }

    /// Remembers what an outstanding effect makes lag behind.
    fn ordered(&mut self, ticket: &TicketId, effect: &Effect) {
        if let Effect::WriteFile(_) = effect {
            *self.filing.entry(ticket.clone()).or_default() += 1;
        }
    }

    /// The agent at work on, or waiting with, a ticket.
    pub(crate) fn ticket_of(&self, agent: &AgentName) -> Option<&TicketId> {
        self.active_tickets()
            .find(|(_, ticket)| ticket.slots().any(|(name, _)| name == agent))
            .map(|(id, _)| id)
    }

    /// The next session id of a ticket's attempt.
    pub(crate) fn fresh_session(&self, id: &TicketId) -> SessionId {
        let ticket = self.ticket(id);
        let (fence, number) = ticket
            .and_then(Ticket::attempt)
            .map_or((model::Fence::default(), 0), |a| {
                (a.claim.fence, a.conversation.session.number + 1)
            });
        SessionId::of_attempt(self.journal, id, fence, number)
    }

    /// Asks to be woken at `at`, or earlier.
    pub(crate) fn wake_at(&mut self, at: Time) {
        self.out.wake_at = Some(self.out.wake_at.map_or(at, |old| old.min(at)));
    }
}
