//! The dispatcher: hear, decide, make durable, perform, and hear again.

mod archive;
mod end;
mod files;
mod load;
mod perform;
mod refusals;
mod wait_for_journal;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::{Core, Duty, Input, Loaded, Observation, Output, Postponed, Report, Rest};
use model::command::{OnStop, Outcome};
use model::journal::{EffectId, TimerRef};
use model::ticket::TimerChange;
use model::{Actor, RunId, Time};
use store::{Journal as _, Ledger, Ordered};
use tokio::sync::{Notify, Semaphore, mpsc, watch};

use self::end::{is_own, own_stop};
use self::files::{Rereading, watch_files, watch_journal};
use self::refusals::Refusals;
use self::wait_for_journal::Health;
use crate::check::CheckOrder;
use crate::clock::Stopwatch;
use crate::effect_queues::{EffectQueues, Turn};
use crate::executor::{Executor, Owner};
use crate::queue::{Ask, Queue};
use crate::{Error, Options, Result, Signal, clock, points, state_file, timing};

/// Everything is looked at again this often, whatever was or was not told.
const TICK: Duration = Duration::from_secs(30);
/// The inbox is looked at this often, should the file system not tell of a write.
const POLL: Duration = Duration::from_secs(2);
/// Effects performed at once. More would only wait for the same disk and cores.
const CONCURRENT_EFFECTS: usize = 16;
/// Inputs decided on in one transaction.
const BATCH: usize = 64;

/// An event of the loop.
#[derive(Debug)]
pub(crate) enum Event {
    /// Something for the core.
    Input(Input),
    /// Ticket files were seen, in a look of this number: the rest of a look for an earlier core is not for
    /// this core.
    Observed {
        look: u64,
        seen: Vec<Observation>,
        whole: bool,
    },
    /// An effect was performed.
    Performed {
        ordered: Ordered,
        report: Report,
        turn: Turn,
    },
    /// Something was written to the journal: perhaps a command.
    JournalChanged,
    /// `crew.toml` or a prompt template may have changed.
    SettingsTouched,
    /// The settings were read again: the executor under them, if they are others; none when they could not be
    /// read now.
    SettingsRead(Option<Result<Option<Box<Executor>>>>),
}

/// When the loop ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// When it is asked to.
    Stopped,
    /// When nothing can move any more.
    Idle,
    /// When a command's own effects are done.
    CarriedOut(String),
}

/// The outcome of decisions.
enum Recorded {
    All,
    /// Not one of them is durable.
    Refused,
}

/// The engine: a core with its journal and its executor.
pub(crate) struct Dispatcher {
    options: Options,
    ledger: Ledger,
    journal: uuid::Uuid,
    executor: Arc<Executor>,
    duty: Duty,
    core: Core,
    heard: mpsc::UnboundedReceiver<Event>,
    tell: mpsc::UnboundedSender<Event>,
    queue: Queue,
    queues: EffectQueues,
    /// Steps that have ended, until the inbox was read: a command that was submitted before an end comes
    /// before it.
    ends: Vec<Input>,
    /// The checks that are being performed, with the means to call them off.
    checks: BTreeMap<EffectId, (Ordered, CheckOrder)>,
    /// Checks that an earlier engine ordered, and that a command goes on with only when they are to be ended.
    left_checks: Vec<Ordered>,
    /// When the notes were decided on that are not written yet.
    notes: BTreeMap<EffectId, Time>,
    /// Timers this core has heard of: one is told once.
    told: BTreeSet<TimerRef>,
    /// The journal was last asked for timers that are due then: every timer that became due since is still to
    /// be passed to the core.
    looked: Time,
    /// The last command heard.
    inbox: u64,
    wake_at: Option<Time>,
    ended: bool,
    room: Arc<Semaphore>,
    /// Runs that are watched, each with what tells its watcher that it was asked to stop.
    watched: BTreeMap<RunId, Arc<Notify>>,
    state_file: state_file::StateFile,
    /// Why the journal could not be taken up, or not be written, a moment ago.
    trouble: Option<Error>,
    /// How it has been.
    health: Health,
    /// The journal's refusals.
    refusals: Refusals,
    /// Whether the settings are being read again.
    rereading: Rereading,
    /// Why the settings file as it is now is not in force; told once.
    settings_error: Option<String>,
    /// Watches the settings and the prompt templates; none when they cannot be watched, and then they are
    /// polled.
    watcher: Option<notify::RecommendedWatcher>,
    /// The folder of prompt templates that tells of changes too.
    watched_prompts: Option<PathBuf>,
    /// Whether the journal has tickets that the core does not know.
    has_archived: bool,
    /// The time when outputs were last looked through.
    trimmed: Option<Time>,
    /// The look at the ticket folder that was begun for this core.
    look: u64,
    /// Whether it is noted where everything stands.
    is_noted: bool,
    /// The choice for running steps, when the engine was asked to stop while it is loaded anew.
    asked_to_stop: Option<OnStop>,
}

impl Dispatcher {
    /// Takes the journal up: adopts what runs, then performs what was ordered and not done.
    pub(crate) async fn start(
        ledger: Ledger,
        mut executor: Executor,
        options: Options,
        duty: Duty,
    ) -> Result<Self> {
        let place = executor.place.clone();
        let settings = &executor.settings;
        let journal = ledger
            .0
            .meta("id")
            .await?
            .and_then(|id| id.parse().ok())
            .unwrap_or_default();
        executor.owner = Owner::new(journal, &place.crew_dir);
        let (tell, heard) = mpsc::unbounded_channel();
        let saw = tell.clone();
        let queue = Queue::open(
            &place.tickets_dir,
            duty == Duty::Drain,
            move |look, seen, whole| {
                drop(saw.send(Event::Observed { look, seen, whole }));
            },
        )?;
        watch_journal(ledger.subscribe(), tell.clone());
        let watcher = watch_files(&place, tell.clone());
        let core = Core::load(settings.clone(), journal, Loaded::default())?;
        let state_file = state_file::StateFile::new(&place, settings)?;
        let mut dispatcher = Self {
            options,
            ledger,
            journal,
            executor: Arc::new(executor),
            duty,
            core,
            heard,
            tell,
            queue,
            queues: EffectQueues::default(),
            ends: Vec::new(),
            checks: BTreeMap::new(),
            left_checks: Vec::new(),
            notes: BTreeMap::new(),
            told: BTreeSet::new(),
            looked: Time::default(),
            inbox: 0,
            wake_at: None,
            ended: false,
            room: Arc::new(Semaphore::new(CONCURRENT_EFFECTS)),
            watched: BTreeMap::new(),
            state_file,
            trouble: None,
            health: Health::default(),
            refusals: Refusals::default(),
            rereading: Rereading::default(),
            settings_error: None,
            watcher,
            watched_prompts: None,
            has_archived: false,
            trimmed: None,
            look: 0,
            is_noted: false,
            asked_to_stop: None,
        };
        dispatcher.end_orphans().await?;
        dispatcher.watch_prompts();
        dispatcher.state_file.load(&dispatcher.ledger).await?;
        dispatcher.clear_leftovers();
        match dispatcher.load().await {
            // An engine waits for room; a person who asked for one thing wants to know.
            Err(error) if error.is_passing() && dispatcher.duty == Duty::Drain => {
                dispatcher.trouble = Some(error);
            }
            loaded => loaded?,
        }
        Ok(dispatcher)
    }

    /// Turns until it is time to end; gives what waits for a person then.
    pub(crate) async fn turn(
        &mut self,
        until: Until,
        on_stop: OnStop,
        mut signals: Option<watch::Receiver<Signal>>,
    ) -> Result<Rest> {
        let mut ticks = [TICK, POLL].map(|period| {
            let mut ticks = tokio::time::interval(period);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            ticks
        });
        loop {
            let turned = match self.trouble.take() {
                Some(error) => Err(error),
                None => self.turn_once(&until, on_stop, &mut signals, &mut ticks).await,
            };
            match turned {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if error.is_passing() && self.duty == Duty::Drain => {
                    self.wait_for_journal(error, &mut signals).await?;
                }
                Err(error) => return Err(error),
            }
        }
        self.wind_up().await?;
        Ok(self.core.rest())
    }

    /// Hears of one thing and does what follows; whether there is more to be heard.
    async fn turn_once(
        &mut self,
        until: &Until,
        on_stop: OnStop,
        signals: &mut Option<watch::Receiver<Signal>>,
        [tick, poll]: &mut [tokio::time::Interval; 2],
    ) -> Result<bool> {
        self.state_file.refresh(&self.ledger).await?;
        if self.is_finished() || self.is_over(until).await? {
            return Ok(false);
        }
        let due = self.next_due();
        tokio::select! {
            heard = self.heard.recv() => {
                let Some(first) = heard else { return Ok(false) };
                self.hear(first).await?;
            }
            _ = tokio::time::sleep(due), if due < TICK => self.wake().await?,
            _ = tick.tick() => {
                self.executor.repository.rest();
                self.queue.ask(Ask::Look);
                self.reread_settings();
                self.wake().await?;
                self.archive_tickets().await?;
                self.trim_outputs();
            }
            _ = poll.tick() => self.read_inbox().await?,
            signal = signalled(signals) => {
                let running = match signal {
                    Signal::None => return Ok(true),
                    Signal::Stop => on_stop,
                    Signal::Leave => OnStop::Leave,
                };
                self.step(vec![own_stop(running)]).await?;
                self.read_inbox().await?;
            }
        }
        Ok(true)
    }

    async fn hear(&mut self, first: Event) -> Result<()> {
        let mut inputs = Vec::new();
        let mut next = Some(first);
        let (mut inbox, mut touched, mut settings) = (false, false, None);
        let mut room = BATCH;
        while let Some(heard) = next {
            match heard {
                Event::Input(input) => {
                    if let Input::RunEnded(end) = &input {
                        self.watched.remove(&end.run);
                        self.ends.push(input);
                    } else {
                        inputs.push(input);
                    }
                }
                Event::Observed { look, seen, whole } => {
                    if look == self.look {
                        // Each file may be a write.
                        room = room.saturating_sub(seen.len());
                        inputs.push(Input::Observed { seen, whole });
                    }
                }
                Event::Performed {
                    ordered,
                    report,
                    turn,
                } => {
                    self.checks.remove(&ordered.id);
                    if !self.queues.performed(&ordered, turn) {
                        next = self.heard.try_recv().ok();
                        continue;
                    }
                    if let (Some(run), Report::StepSpawned | Report::Stopped) =
                        (ordered.effect.run(), &report)
                    {
                        self.watch(run.clone());
                    }
                    let Ordered { id, ticket, effect } = ordered;
                    inputs.push(Input::Reported {
                        id,
                        ticket,
                        effect,
                        report,
                    });
                }
                Event::JournalChanged => inbox = true,
                Event::SettingsTouched => touched = true,
                Event::SettingsRead(read) => settings = Some(read),
            }
            next = if inputs.len() < room {
                self.heard.try_recv().ok()
            } else {
                None
            };
        }
        inbox |= !self.core.has_read();
        self.step(inputs).await?;
        if let Some(read) = settings {
            self.take_settings(read).await?;
        }
        if touched {
            self.reread_settings();
        }
        if inbox || !self.ends.is_empty() {
            self.read_inbox().await?;
        }
        Ok(())
    }

    /// A moment that was waited for has come.
    async fn wake(&mut self) -> Result<()> {
        let now = clock::now();
        if self.wake_at.is_some_and(|at| at <= now) {
            self.wake_at = None;
        }
        self.queues.wake(now);
        self.looked = now;
        let due = self.ledger.due(now).await?;
        let mut inputs: Vec<Input> = due
            .into_iter()
            .filter(|timer| self.told.insert(timer.clone()))
            .map(Input::TimerDue)
            .collect();
        inputs.push(Input::Ticked);
        // The same look at the clock serves both: were the clock set back in between, the core would get
        // timers before their time, and a timer is passed to the core only once.
        self.step_at(inputs, now).await
    }

    fn next_due(&self) -> Duration {
        let now = clock::now();
        let again = self.queues.next_wake();
        // The core got the timers that were due at the last look; those since, and those ahead, are in the
        // core's own states.
        let deadline = self.core.next_deadline(self.looked);
        let next = [self.wake_at, again, deadline, self.state_file.due()]
            .into_iter()
            .flatten()
            .min();
        next.map_or(TICK, |at| at.since(now).max(Duration::from_millis(1)))
    }

    /// Carries out the commands of the inbox, then steps the ends of steps that came meanwhile. An agent's
    /// command is durable before its process ends, and must not be judged by the ticket's state after that
    /// end.
    async fn read_inbox(&mut self) -> Result<()> {
        if self.core.has_read() {
            self.carry_out_commands().await?;
        } else if self.core.stopping().is_none() {
            // The files decide about a command; before they were read nothing can decide, and ends wait too.
            return Ok(());
        }
        let ends = std::mem::take(&mut self.ends);
        if ends.is_empty() {
            return Ok(());
        }
        self.step(ends).await
    }

    async fn carry_out_commands(&mut self) -> Result<()> {
        let asked = self.ledger.asked(self.inbox, clock::now()).await?;
        let mut inputs = Vec::new();
        for asked in asked {
            self.inbox = self.inbox.max(asked.number);
            inputs.push(Input::Commanded {
                id: asked.id,
                by: Actor::person(asked.by),
                command: asked.command,
            });
        }
        if inputs.is_empty() {
            Ok(())
        } else {
            failpoint::hit("inbox.read");
            self.step(inputs).await
        }
    }

    async fn step(&mut self, inputs: Vec<Input>) -> Result<()> {
        self.step_at(inputs, clock::now()).await
    }

    async fn step_at(&mut self, inputs: Vec<Input>, now: Time) -> Result<()> {
        if self.has_archived {
            let unknown = inputs.iter().flat_map(|input| self.core.unknown(input));
            self.restore(unknown.collect()).await?;
        }
        let outputs = inputs
            .into_iter()
            .map(|input| self.core.step(input, now))
            .collect();
        self.absorb(outputs).await
    }

    /// Makes decisions durable, then performs their effects. A decision that the journal refuses was made on
    /// an old picture of it: everything begins again from the journal's present content.
    async fn absorb(&mut self, outputs: Vec<Output>) -> Result<()> {
        match self.record(outputs).await? {
            Recorded::All => self.end_unwanted_checks().await,
            Recorded::Refused => self.load().await,
        }
    }

    async fn record(&mut self, outputs: Vec<Output>) -> Result<Recorded> {
        let now = clock::now();
        let (mut writes, mut finished, mut postponed, mut answers) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for output in outputs {
            writes.extend(output.writes);
            finished.extend(output.finished);
            postponed.extend(output.postponed);
            answers.extend(output.answers);
            for no in output.refused {
                tracing::info!("{no}");
            }
            for warning in output.warnings {
                tracing::warn!("{warning}");
            }
            if let Some(at) = output.wake_at {
                self.wake_at = Some(self.wake_at.map_or(at, |old| old.min(at)));
            }
            self.ended |= output.ended;
        }
        self.state_file.behind |= !writes.is_empty();
        let timers = writes.iter().flat_map(|write| &write.timers);
        let late = |timer: &TimerChange| matches!(timer, TimerChange::Set(at) if at.at <= self.looked);
        if timers.into_iter().any(late) {
            self.wake_at = Some(now);
        }
        // A signal's stop came from no inbox, so there is nobody to be answered.
        for write in &mut writes {
            write.answers.take_if(|(id, _)| is_own(id));
        }
        let (count, watch) = (writes.len(), Stopwatch::start());
        let decided = points::decided(&writes);
        failpoint::hit_each("decided", || decided.iter().copied());
        let recorded = self.ledger.record(writes).await;
        timing::recorded(count, watch);
        let ordered = match recorded {
            Ok(ordered) => ordered,
            Err(error) => return self.refused(error),
        };
        failpoint::hit_each("durable", || decided.iter().copied());
        if let Err(error) = self.finish(&finished, answers, postponed, now).await {
            return self.refused(error);
        }
        for id in self.queues.settled() {
            self.notes.remove(&id);
        }
        self.enqueue(ordered).await?;
        Ok(Recorded::All)
    }

    /// Notes what is settled without a fact.
    async fn finish(
        &mut self,
        finished: &[EffectId],
        answers: Vec<(String, Outcome)>,
        postponed: Vec<Postponed>,
        now: Time,
    ) -> store::Result<()> {
        self.ledger.finish(finished, now).await?;
        for (id, outcome) in answers {
            if !is_own(&id) {
                self.ledger.answer(&id, &outcome, now).await?;
            }
        }
        for Postponed { effect, at, why } in postponed {
            self.ledger.postpone(effect, at, why).await?;
            self.queues.again(effect, at);
        }
        Ok(())
    }

    /// Where the journal says otherwise than the core, the core begins anew with what it says.
    fn refused(&mut self, error: store::Error) -> Result<Recorded> {
        if !is_conflict(&error) {
            return Err(Error::Store(error));
        }
        tracing::warn!(
            "a decision was refused, and crew starts over from the journal: {}",
            text::with_causes(&error)
        );
        self.refusals.note(error)?;
        Ok(Recorded::Refused)
    }
}

/// Whether an append was refused because the core's picture is out of date.
fn is_conflict(error: &store::Error) -> bool {
    matches!(
        error,
        store::Error::VersionConflict { .. }
            | store::Error::StaleFence { .. }
            | store::Error::StaleTimer { .. }
            | store::Error::SlotTaken { .. }
            | store::Error::AlreadyDone { .. }
            | store::Error::AlreadyAnswered { .. }
    )
}

async fn signalled(signals: &mut Option<watch::Receiver<Signal>>) -> Signal {
    match signals {
        Some(receiver) => match receiver.changed().await {
            Ok(()) => *receiver.borrow_and_update(),
            // Nobody is left who could signal.
            Err(_) => {
                *signals = None;
                Signal::None
            }
        },
        None => std::future::pending().await,
    }
}
