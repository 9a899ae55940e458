//! The core's picture of the journal, and the one way in which it changes: a write.

mod batch;
mod budget;
mod calls;
mod checks;
mod children;
mod commands;
mod commitments;
mod conflicts;
mod delegation;
mod dispatch;
mod doubt;
mod files;
mod harness_pause;
mod last_runs;
mod modes;
mod moved;
mod own_checks;
mod parts;
mod people;
mod recovery;
mod refused;
mod reports;
mod rest;
mod restore;
mod review;
mod runs;
mod slots;
mod target;
#[cfg(test)]
mod tests;
mod train;
mod unheeded;
mod waiting;

use std::sync::Arc;

use model::command::{OnStop, Outcome};
use model::journal::{EffectId, Entry, Fact, Ordered, State, Stream, TimerRef, Write};
use model::machine::Rejected;
use model::project::{self, Project};
use model::settings::Settings;
use model::target::Verdict;
use model::ticket::{self, Ticket, TimerKey, Why};
use model::{RunId, SessionId, TicketId, Time};

use crate::failures::Failures;
use crate::hindrances::Hindrances;
use crate::project::ProjectStream;
use crate::ready_queue::ReadyQueue;
use crate::renames::Renames;
use crate::spending::Spending;
use crate::ticket_folder::TicketFolder;
use crate::tickets::Tickets;
use crate::watches::Watches;
use crate::{Error, Input, Output};

use last_runs::LastRuns;
pub use rest::{Rest, Waits};
use target::Proven;
pub use target::TargetCheck;
use train::TrainWindow;

/// The engine's core: its parts, each with rules of its own, and the decisions that need several of them,
/// which the modules below this one make.
#[derive(Clone, Debug)]
pub struct Core {
    settings: Settings,
    /// Whether a person may have changed the settings, and they were not read since: no paid work begins
    /// under the old ones.
    has_touched_settings: bool,
    /// The journal's own id, which is the namespace of session ids.
    journal: uuid::Uuid,
    project: ProjectStream,
    tickets: Tickets,
    folder: TicketFolder,
    renames: Renames,
    failures: Failures,
    hindrances: Hindrances,
    watches: Watches,
    ready: ReadyQueue,
    spending: Spending,
    proven: Proven,
    last_runs: LastRuns,
    /// Whether the verdict on the target is in doubt: its checks run anew at the next look.
    doubts_target: bool,
    train: TrainWindow,
    duty: Duty,
    stopping: Option<OnStop>,
    /// The decisions on the present input.
    out: Output,
    now: Time,
}

/// The purpose of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duty {
    /// The whole queue.
    Drain,
    /// One command's own effects: no ticket is given out, no agent stepped.
    Command {
        /// The ticket that is also brought through checking and landing, behind whatever is being merged,
        /// checked or landed at that moment.
        lands: Option<TicketId>,
    },
}

/// The content of the journal, from which a core is loaded.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Every stream with its version.
    pub streams: Vec<(Stream, u64, State)>,
    /// Effects that are ordered and not done.
    pub pending: Vec<Ordered>,
}

/// The cause of a write, and the things that it completes, fires and answers.
#[derive(Clone, Debug, Default)]
struct WriteMeta {
    cause: String,
    completes: Option<EffectId>,
    fires: Option<TimerRef>,
    answers: Option<(String, Outcome)>,
}

impl WriteMeta {
    fn because(cause: impl Into<String>) -> Self {
        Self {
            cause: cause.into(),
            ..Self::default()
        }
    }

    fn write(self, stream: Stream, expected: u64, entries: Vec<Entry>, at: Time) -> Write {
        Write {
            stream,
            expected,
            fence: None,
            new_fence: None,
            entries,
            at,
            cause: self.cause,
            timers: Vec::new(),
            slots: Vec::new(),
            completes: self.completes,
            fires: self.fires,
            answers: self.answers,
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
            has_touched_settings: false,
            journal,
            project: ProjectStream::default(),
            tickets: Tickets::default(),
            folder: TicketFolder::default(),
            renames: Renames::default(),
            failures: Failures::default(),
            hindrances: Hindrances::default(),
            watches: Watches::default(),
            ready: ReadyQueue::default(),
            spending: Spending::default(),
            proven: Proven::default(),
            last_runs: LastRuns::default(),
            doubts_target: false,
            train: TrainWindow::default(),
            duty: Duty::Drain,
            stopping: None,
            out: Output::default(),
            now: Time::default(),
        };
        for (stream, version, state) in loaded.streams {
            match (stream, state) {
                (Stream::Project, State::Project(project)) => {
                    core.project = ProjectStream::new(project, version);
                }
                (Stream::Ticket(_), State::Ticket(ticket)) => core.put(ticket, version),
                (stream, _) => return Err(Error::WrongKind { stream }),
            }
        }
        for one in loaded.pending {
            core.folder.ordered(&one.ticket, &one.effect);
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
            self.apply_to_project(events, "the engine has started");
            self.retry_what_may_be_mended("the engine has started");
        }
        self.take_output()
    }

    /// The next moment after `now` at which a ticket's timer is due.
    #[must_use]
    pub fn next_deadline(&self, now: Time) -> Option<Time> {
        self.tickets.next_deadline(now)
    }

    /// Begins no paid work until the settings were read again: whoever changes them and then adds a ticket
    /// means the new ones for it.
    pub fn await_settings(&mut self) {
        self.has_touched_settings = true;
    }

    /// Goes on under the settings in force: they were read again, and are the same or cannot be used.
    pub fn keep_settings(&mut self) {
        if std::mem::take(&mut self.has_touched_settings) {
            self.ready.touch();
        }
    }

    /// Takes new settings; what is under way goes on under them.
    pub fn set_settings(&mut self, settings: Settings) {
        self.has_touched_settings = false;
        let is_set_up_otherwise = self.settings.workspace != settings.workspace;
        self.settings = settings;
        self.ready.touch();
        if is_set_up_otherwise {
            let is_meant = |ticket: &Ticket| ticket.failed_set_up().is_some();
            self.retry_all(is_meant, "the settings have changed");
        }
    }

    /// Tries again whatever a person may have mended while crew could not see it: work that could not be set
    /// up, checked or landed, and landings that wait for edits. A try that is due is made at once: an engine
    /// that ends when nothing moves would end before the timer fires.
    fn retry_what_may_be_mended(&mut self, cause: &'static str) {
        let now = self.now;
        let may_be_mended = |ticket: &Ticket| match &ticket.held {
            None => true,
            Some(held) => {
                let is_for_it = matches!(held.why, Why::CouldNotRun | Why::Landing | Why::Diverged);
                // While its file is away or in doubt, it waits for its time.
                is_for_it && ticket.unheeded.is_none() || held.retry_at.is_some_and(|at| at <= now)
            }
        };
        self.retry_all(may_be_mended, cause);
    }

    /// Tries again, before their time, the tickets that are tried again by themselves and that are meant.
    pub(super) fn retry_all(&mut self, is_meant: impl Fn(&Ticket) -> bool, cause: &'static str) {
        let retried = self.tickets().filter(|ticket| is_meant(ticket));
        let retried = retried.filter_map(|ticket| match ticket.deadline()?.key {
            TimerKey::Retry => Some((ticket.id.clone(), ticket::Event::RetryDue)),
            TimerKey::Land => Some((ticket.id.clone(), ticket::Event::LandingRetried)),
            TimerKey::Proposal => Some((ticket.id.clone(), ticket::Event::LookOrdered)),
            TimerKey::Due | TimerKey::Step | TimerKey::Wakeup | TimerKey::Answer | TimerKey::Review => None,
        });
        for (id, event) in retried.collect::<Vec<_>>() {
            self.apply_or_note(&id, event, cause);
        }
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether the ticket folder was read since this core has been up.
    #[must_use]
    pub fn has_read(&self) -> bool {
        self.folder.is_read()
    }

    /// The ticket as the journal has it.
    #[must_use]
    pub fn ticket(&self, id: &TicketId) -> Option<&Ticket> {
        self.tickets.get(id)
    }

    /// Whether the ticket's file is there and cannot be read.
    #[must_use]
    pub fn is_unreadable(&self, id: &TicketId) -> bool {
        self.folder.is_unreadable(id)
    }

    /// The choice for running steps, once the engine was asked to stop.
    #[must_use]
    pub fn stopping(&self) -> Option<OnStop> {
        self.stopping
    }

    /// Every ticket, by id.
    pub fn tickets(&self) -> impl Iterator<Item = &Ticket> {
        self.tickets.all().values().map(Arc::as_ref)
    }

    /// The project.
    #[must_use]
    pub fn project(&self) -> &Project {
        self.project.project()
    }

    /// The runs whose processes may be alive, each with its ticket: to be watched, by whoever has just loaded
    /// this core.
    pub fn live_runs(&self) -> impl Iterator<Item = (&TicketId, &RunId)> {
        self.active_tickets()
            .flat_map(|(id, ticket)| ticket.live_runs().map(move |run| (id, run)))
    }

    /// Tickets with an attempt, by id.
    pub fn active_tickets(&self) -> impl Iterator<Item = (&TicketId, &Ticket)> + Clone {
        self.tickets.active()
    }

    /// Takes an input, and decides.
    pub fn step(&mut self, input: Input, now: Time) -> Output {
        self.now = now;
        match input {
            Input::Observed { seen, whole } => self.observed(seen, whole),
            Input::GitMoved => self.folder.git_moved(),
            Input::FolderReplaced => self.folder.replaced(),
            Input::Commanded { id, by, command } => self.commanded(&id, &by, command),
            Input::TimerDue(timer) => self.timer_due(timer),
            Input::Reported {
                id,
                ticket,
                effect,
                report,
            } => self.reported(id, &ticket, &effect, report),
            Input::RunEnded(end) => self.run_ended(end),
            Input::CheckEnded(end) => self.check_ended(&end),
            Input::Sampled { run, sample } => {
                // Each step that runs is looked at all the time, and hardly a look decides anything: what was
                // settled stays so.
                if !self.sampled(&run, &sample) {
                    return self.take_output();
                }
            }
            Input::GivenUp { run, failure } => self.given_up(&run, failure),
            Input::ModesAnnounced { run, modes } => {
                // Reported at each look at the step, and new at few of them.
                if !self.modes_announced(&run, &modes) {
                    return self.take_output();
                }
            }
            Input::TargetSeen(seen) => self.target_seen(seen),
            Input::TargetChecked { round, found } => self.target_checked(round, found),
            Input::Ticked => {}
        }
        self.advance();
        self.take_output()
    }

    fn take_output(&mut self) -> Output {
        std::mem::take(&mut self.out)
    }

    /// Applies `events` to a ticket, in order, as one write; all of them or none.
    fn apply(
        &mut self,
        id: &TicketId,
        events: impl IntoIterator<Item = ticket::Event>,
        meta: WriteMeta,
    ) -> Result<(), Rejected> {
        let expected = self.tickets.version(id);
        let mut ticket = self.tickets.shared(id);
        let fence = ticket.fence;
        let (mut entries, mut timers, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        for event in events {
            let is_of_train = !(self.has_train() && self.is_beside(&ticket));
            let mut change = ticket.after(&event, self.now)?;
            if let (
                ticket::Event::ChecksPassed { tree, .. } | ticket::Event::TrialPassed { tree, .. },
                Some(checks),
            ) = (&event, ticket.checks())
            {
                // What was skipped is as good as it was on the target.
                let target = self.project().target.as_deref();
                let is_green = target.is_some_and(|target| target.verdict == Verdict::Passed);
                if checks.plan.skipped.is_empty() || is_green {
                    self.proven.note(tree, &checks.plan);
                }
            }
            self.folder.keep_wanted(&change.ticket, &mut change.effects);
            ticket = Arc::new(change.ticket);
            let doubted_set_up = self.hindrances.doubts_set_up();
            self.hindrances.followed(&event, &ticket, self.now);
            if doubted_set_up || self.hindrances.doubts_set_up() {
                self.ready.touch();
            }
            timers.extend(change.timers);
            slots.extend(change.slots);
            if is_of_train {
                self.train.note(&event, self.settings.train.batch);
            }
            entries.push(Entry {
                fact: Fact::Ticket(event),
                after: State::Ticket(Arc::clone(&ticket)),
                effects: change.effects,
            });
        }
        for effect in entries.iter().flat_map(|entry| &entry.effects) {
            self.folder.ordered(id, effect);
        }
        let is_landing = |entry: &Entry| matches!(&entry.fact, Fact::Ticket(ticket::Event::Landed { .. }));
        let has_landed = entries.iter().any(is_landing);
        let version = expected + entries.len() as u64;
        let write = Write {
            fence: (expected > 0).then_some(fence),
            new_fence: (ticket.fence > fence).then_some(ticket.fence),
            timers,
            slots,
            ..meta.write(Stream::Ticket(id.clone()), expected, entries, self.now)
        };
        self.out.writes.push(write);
        self.put(ticket, version);
        if has_landed {
            self.follow_recovery(id);
        }
        Ok(())
    }

    /// Shows a ticket, as it is now, to every part that follows the tickets.
    fn put(&mut self, ticket: Arc<Ticket>, version: u64) {
        let old = self.tickets.get(&ticket.id);
        self.ready.moved(old, &ticket);
        self.spending.moved(old, &ticket);
        self.tickets.put(ticket, version);
    }

    /// As [`Core::apply`]; a refusal is noted for the log.
    fn apply_or_note(&mut self, id: &TicketId, event: ticket::Event, cause: &str) {
        if let Err(no) = self.apply(id, [event], WriteMeta::because(cause)) {
            self.note_refusal(id, &no);
        }
    }

    /// Notes for the log that a ticket refused an event.
    fn note_refusal(&mut self, id: &TicketId, no: &Rejected) {
        self.out.refused.push(format!("{id}: {no}"));
    }

    /// Applies `events` to the project as one write; one that it does not accept is left out and noted.
    fn apply_to_project(&mut self, events: impl IntoIterator<Item = project::Event>, cause: &str) {
        let expected = self.project.version();
        let mut entries = Vec::new();
        for event in events {
            match self.project.apply(event) {
                Ok(entry) => entries.push(entry),
                Err(no) => self.out.refused.push(format!("project: {no}")),
            }
        }
        if !entries.is_empty() {
            let meta = WriteMeta::because(cause);
            let write = meta.write(Stream::Project, expected, entries, self.now);
            self.out.writes.push(write);
        }
    }

    /// The next session id of a ticket's attempt.
    fn fresh_session(&self, id: &TicketId) -> SessionId {
        let ticket = self.ticket(id);
        let (fence, number) = ticket
            .and_then(Ticket::attempt)
            .map_or((model::Fence::default(), 0), |a| {
                (a.claim.fence, a.conversation.session.number + 1)
            });
        SessionId::of_attempt(self.journal, id, fence, number)
    }

    /// Asks to be woken at `at`, or earlier.
    fn wake_at(&mut self, at: Time) {
        self.out.wake_at = Some(self.out.wake_at.map_or(at, |old| old.min(at)));
    }
}
