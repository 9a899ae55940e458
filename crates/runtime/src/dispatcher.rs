//! The dispatcher: the shell around the engine's driver. It turns the world into events, makes decisions
//! durable, and has their effects performed.

mod archive;
mod event;
mod files;
mod finish;
mod load;
mod perform;
mod permits;
mod stillness;
mod target;
mod wait_for_journal;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::driver::{self, Action, Batch, Driver};
use engine::{Duty, Rest};
use model::RunId;
use model::command::OnStop;
use model::journal::Ordered;
use store::{Journal as _, Ledger};
use tokio::sync::{Notify, mpsc, watch};

pub(crate) use self::event::Event;
use self::files::{Rereading, watch_files, watch_journal};
pub(crate) use self::finish::Until;
use self::permits::Permits;
use self::wait_for_journal::Health;
use crate::calls::Notices;
use crate::clock::Stopwatch;
use crate::executor::{Executor, Owner};
use crate::hooks::Hooks;
use crate::queue::{Ask, Queue};
use crate::set_up::SetUps;
use crate::{Error, Options, Result, Signal, clock, log, points, state_file, timing};

/// Everything is looked at again this often, whether or not there was a notice of a change.
const TICK: Duration = Duration::from_secs(30);
/// The inbox is looked at this often, should the file system give no notice of a write.
const POLL: Duration = Duration::from_secs(2);
/// Events decided on in one transaction.
const BATCH: usize = 64;

/// The engine's shell: a driver with its journal and its executor.
pub(crate) struct Dispatcher {
    options: Options,
    ledger: Ledger,
    executor: Arc<Executor>,
    driver: Driver,
    events: mpsc::UnboundedReceiver<Event>,
    sender: mpsc::UnboundedSender<Event>,
    queue: Queue,
    permits: Permits,
    /// The watchers of runs, each with the means to wake it.
    watchers: BTreeMap<RunId, Arc<Notify>>,
    /// Gives notice of the calls of runs.
    notices: Arc<Notices>,
    /// The workspaces that are being made and set up.
    set_ups: SetUps,
    hooks: Hooks,
    state_file: state_file::StateFile,
    /// Why the journal could not be loaded, or not be written, a moment ago.
    trouble: Option<Error>,
    health: Health,
    /// Whether the settings are being read again.
    rereading: Rereading,
    /// Why the settings file as it is now is not in force; a person is warned once.
    settings_error: Option<String>,
    /// Whether it was told that git's settings for files are others than those in force.
    has_told_file_settings: bool,
    /// Watches the settings and the prompt templates; none when they cannot be watched, and then they are
    /// polled.
    watcher: Option<::watch::Watcher>,
    /// The folder of prompt templates that gives notice of changes too.
    watched_prompts: Option<PathBuf>,
    /// Whether the journal has tickets that the core does not know.
    has_archived: bool,
    /// The time when outputs were last looked through.
    trimmed: Option<model::Time>,
    /// Whether the record of the repository's place was written.
    is_noted: bool,
    /// Whether the target was looked at since the engine started.
    has_seen_target: bool,
    /// The checks of the bare target that run now.
    checking_target: Option<target::Checking>,
    /// Those that are being ended, since nobody wants them any more.
    ending_target_checks: Vec<tokio::task::JoinHandle<()>>,
    /// Gives notice of a target that moves; none where it cannot be watched, and then it is polled.
    _target_watcher: Option<::watch::Watcher>,
    /// Whether the journal has begun with this engine.
    is_journal_new: bool,
}

/// What the loop goes on with.
#[expect(clippy::large_enum_variant, reason = "the common one is the large one")]
enum Next {
    /// An event of the channel.
    Event(Option<Event>),
    /// A moment that the driver waits for.
    Wake,
    Tick,
    Poll,
    Signal(Signal),
}

/// The outcome of making decisions durable.
enum Recorded {
    /// They are durable, and this is to be done now.
    All(Vec<Action>),
    /// Not one of them is durable.
    Refused,
}

impl Dispatcher {
    /// Loads the journal: adopts what runs, then performs what was ordered and not done.
    pub(crate) async fn start(
        ledger: Ledger,
        mut executor: Executor,
        options: Options,
        duty: Duty,
    ) -> Result<Self> {
        let place = executor.place.clone();
        let settings = executor.settings.clone();
        let journal = ledger
            .0
            .meta("id")
            .await?
            .and_then(|id| id.parse().ok())
            .unwrap_or_default();
        executor.owner = Owner::new(journal, &place.crew_dir);
        let (sender, events) = mpsc::unbounded_channel();
        let observer = sender.clone();
        let is_journal_new = ledger.tail(0, 1).await?.is_empty();
        let queue = Queue::open(&place, duty == Duty::Drain, move |seen| {
            drop(observer.send(Event::Driver(seen)));
        })?;
        watch_journal(ledger.subscribe(), sender.clone());
        let watcher = watch_files(&place, sender.clone());
        let target_watcher = match duty {
            Duty::Drain => target::watch_target(&executor, sender.clone()),
            Duty::Command { .. } => None,
        };
        let state_file = state_file::StateFile::new(&place, &settings)?;
        let mut dispatcher = Self {
            options,
            ledger,
            executor: Arc::new(executor),
            driver: Driver::new(settings, journal, duty)?,
            events,
            sender,
            queue,
            permits: Permits::default(),
            watchers: BTreeMap::new(),
            notices: Notices::new(),
            set_ups: SetUps::default(),
            hooks: Hooks::default(),
            state_file,
            trouble: None,
            health: Health::default(),
            rereading: Rereading::default(),
            settings_error: None,
            has_told_file_settings: false,
            watcher,
            watched_prompts: None,
            has_archived: false,
            trimmed: None,
            is_noted: false,
            has_seen_target: false,
            checking_target: None,
            ending_target_checks: Vec::new(),
            _target_watcher: target_watcher,
            is_journal_new,
        };
        dispatcher.end_orphans().await?;
        dispatcher.watch_prompts();
        dispatcher.state_file.load(&dispatcher.ledger).await?;
        dispatcher.clear_leftovers();
        match dispatcher.load().await {
            // An engine waits for room; a person who asked for one thing wants to know.
            Err(error) if error.is_passing() && dispatcher.is_draining() => {
                dispatcher.trouble = Some(error);
            }
            loaded => loaded?,
        }
        dispatcher.renew_hooks()?;
        Ok(dispatcher)
    }

    /// Runs until it is time to end; returns what waits for a person then.
    pub(crate) async fn run(
        &mut self,
        until: Until,
        on_stop: OnStop,
        mut signals: Option<watch::Receiver<Signal>>,
    ) -> Result<Rest> {
        let mut clocks = [TICK, POLL].map(|period| {
            let mut clock = tokio::time::interval(period);
            clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            clock
        });
        loop {
            let turned = match self.trouble.take() {
                Some(error) => Err(error),
                None => self.turn(&until, on_stop, &mut signals, &mut clocks).await,
            };
            match turned {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if error.is_passing() && self.is_draining() => {
                    self.wait_for_journal(error, &mut signals).await?;
                }
                Err(error) => return Err(error),
            }
        }
        self.wind_up().await?;
        Ok(self.driver.core().rest())
    }

    /// Waits for the next thing to happen and handles it; whether the loop goes on.
    async fn turn(
        &mut self,
        until: &Until,
        on_stop: OnStop,
        signals: &mut Option<watch::Receiver<Signal>>,
        clocks: &mut [tokio::time::Interval; 2],
    ) -> Result<bool> {
        self.state_file.refresh(&self.ledger).await?;
        if self.driver.is_finished() || self.is_over(until).await? {
            return Ok(false);
        }
        match self.next(signals, clocks).await {
            Next::Event(None) => return Ok(false),
            Next::Event(Some(first)) => self.handle_events(first).await?,
            Next::Wake => self.wake().await?,
            Next::Tick => {
                self.executor.repository.rest();
                self.queue.ask(Ask::Look);
                self.reread_settings();
                self.look_at_target(crate::target::Ask::Nobody);
                self.wake().await?;
                self.archive_tickets().await?;
                self.trim_outputs();
            }
            Next::Poll => self.read_inbox().await?,
            Next::Signal(Signal::None) => {}
            Next::Signal(Signal::Stop) => self.stop(on_stop).await?,
            Next::Signal(Signal::Leave) => self.stop(OnStop::Leave).await?,
        }
        Ok(true)
    }

    async fn next(
        &mut self,
        signals: &mut Option<watch::Receiver<Signal>>,
        [tick, poll]: &mut [tokio::time::Interval; 2],
    ) -> Next {
        let due = self.next_due();
        tokio::select! {
            event = self.events.recv() => Next::Event(event),
            () = tokio::time::sleep(due), if due < TICK => Next::Wake,
            _ = tick.tick() => Next::Tick,
            _ = poll.tick() => Next::Poll,
            signal = signalled(signals) => Next::Signal(signal),
        }
    }

    fn next_due(&self) -> Duration {
        let now = clock::now();
        let next = [self.driver.next_wake(), self.state_file.due()]
            .into_iter()
            .flatten()
            .min();
        next.map_or(TICK, |at| at.since(now).max(Duration::from_millis(1)))
    }

    /// Handles an event, with all others that have come meanwhile.
    async fn handle_events(&mut self, first: Event) -> Result<()> {
        let mut events = Vec::new();
        let mut next = Some(first);
        let (mut has_written, mut touched, mut moved, mut settings) = (false, false, false, None);
        let mut room = BATCH;
        while let Some(event) = next {
            match event {
                Event::Driver(event) => {
                    self.note(&event);
                    if let driver::Event::Observed { seen, .. } = &event {
                        // Each file may be a write.
                        room = room.saturating_sub(seen.len());
                    }
                    events.push(event);
                }
                Event::JournalChanged => has_written = true,
                Event::SettingsTouched => {
                    events.push(driver::Event::SettingsTouched);
                    touched = true;
                }
                Event::SettingsRead(read) => settings = Some(read),
                Event::TargetTouched => moved = true,
                Event::FileSettingsRead { changed } => self.take_file_settings(changed),
            }
            next = if events.len() < room {
                self.events.try_recv().ok()
            } else {
                None
            };
        }
        self.handle(events).await?;
        if let Some(read) = settings {
            self.take_settings(read).await?;
        }
        if touched {
            self.reread_settings();
        }
        if moved {
            self.look_at_target(crate::target::Ask::IfMoved);
        }
        if has_written {
            self.read_inbox().await?;
        }
        Ok(())
    }

    /// Logs an event, and forgets what was only kept until it.
    fn note(&mut self, event: &driver::Event) {
        match event {
            driver::Event::RunEnded(end) => {
                log::run_ended(end);
                self.watchers.remove(&end.run);
            }
            driver::Event::CheckEnded(end) => {
                log::check_ended(end);
                self.watchers.remove(&end.run);
            }
            driver::Event::Performed(performed) => {
                log::effect_ended(performed);
                self.set_ups.forget(performed);
            }
            driver::Event::Input(_)
            | driver::Event::Observed { .. }
            | driver::Event::InboxRead(_)
            | driver::Event::Woken { .. }
            | driver::Event::StopAsked(_)
            | driver::Event::SettingsTouched
            | driver::Event::SettingsRead(_) => {}
        }
    }

    /// A moment that was waited for has come.
    async fn wake(&mut self) -> Result<()> {
        // One look at the clock serves both: were the clock set back in between, the core would get timers
        // before their time, and a timer is passed to the core only once.
        let now = clock::now();
        let due = self.ledger.due(now).await?;
        self.handle_at(vec![driver::Event::Woken { due }], now).await
    }

    async fn stop(&mut self, running: OnStop) -> Result<()> {
        self.handle(vec![driver::Event::StopAsked(running)]).await?;
        self.read_inbox().await
    }

    /// Has the commands of the inbox carried out, and the ends of runs handled that came meanwhile.
    async fn read_inbox(&mut self) -> Result<()> {
        if !self.driver.can_read_inbox() {
            return Ok(());
        }
        let asked = self.ledger.asked(self.driver.inbox(), clock::now()).await?;
        if !asked.is_empty() {
            failpoint::hit("inbox.read");
        }
        asked.iter().for_each(log::command_read);
        self.handle(vec![driver::Event::InboxRead(asked)]).await
    }

    async fn handle(&mut self, events: Vec<driver::Event>) -> Result<()> {
        self.handle_at(events, clock::now()).await
    }

    /// Has events decided on, makes the decisions durable, and begins what follows from them. A decision that
    /// the journal refuses was made on an old picture of it: everything begins again from the journal's
    /// present content.
    async fn handle_at(&mut self, events: Vec<driver::Event>, now: model::Time) -> Result<()> {
        if self.has_archived {
            self.restore(self.driver.unknown(&events)).await?;
        }
        let batch = self.driver.handle(events, now);
        match self.record(batch).await? {
            Recorded::All(actions) => {
                self.follow_target();
                self.end_set_ups();
                self.begin(actions).await
            }
            Recorded::Refused => self.load().await,
        }
    }

    /// Begins what the driver asks for.
    async fn begin(&mut self, actions: Vec<Action>) -> Result<()> {
        let mut reads_inbox = false;
        for action in actions {
            match action {
                Action::Perform(performance) => self.perform(*performance).await?,
                Action::Watch(run) => self.watch(run),
                Action::StopIfBegun(run) => self.stop_if_begun(run).await,
                Action::ReadInbox => reads_inbox = true,
                Action::LookAtTarget => self.look_at_target(crate::target::Ask::Remote),
            }
        }
        if reads_inbox {
            Box::pin(self.read_inbox()).await?;
        }
        Ok(())
    }

    /// What fails is the next engine's: it stops the run once it has recorded its start.
    async fn stop_if_begun(&self, run: RunId) {
        let executor = Arc::clone(&self.executor);
        let stop = move || executor.ask_to_stop(&run);
        match tokio::task::spawn_blocking(stop).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!("a run that nobody has recorded is not stopped: {error}"),
            Err(error) => tracing::warn!("a run that nobody has recorded is not stopped: {error}"),
        }
    }

    async fn record(&mut self, batch: Batch) -> Result<Recorded> {
        for no in &batch.refused {
            tracing::info!("{no}");
        }
        for warning in &batch.warnings {
            tracing::warn!("{warning}");
        }
        self.state_file.behind |= !batch.writes.is_empty();
        match self.make_durable(batch).await {
            Ok(ordered) => Ok(Recorded::All(self.driver.recorded(ordered, clock::now()))),
            Err(error) if is_conflict(&error) => {
                tracing::warn!(
                    "a decision was refused, and crew starts over from the journal: {}",
                    text::with_causes(&error)
                );
                match self.driver.refused(error.to_string()) {
                    Ok(()) => Ok(Recorded::Refused),
                    Err(many) => Err(Error::Disputed {
                        times: many.times,
                        source: error,
                    }),
                }
            }
            Err(error) => Err(Error::Store(error)),
        }
    }

    /// Writes decisions in one transaction, then what needs no fact. Returns the effects that were ordered.
    async fn make_durable(&self, batch: Batch) -> store::Result<Vec<Ordered>> {
        let (count, watch) = (batch.writes.len(), Stopwatch::start());
        let decided = points::decided(&batch.writes);
        let decisions = log::decisions(&batch.writes);
        failpoint::hit_each("decided", || decided.iter().copied());
        let recorded = self.ledger.record(batch.writes).await;
        timing::recorded(count, watch);
        let ordered = recorded?;
        log::recorded(&decisions, &ordered);
        failpoint::hit_each("durable", || decided.iter().copied());
        let now = clock::now();
        self.ledger.finish(&batch.finished, now).await?;
        for (id, outcome) in batch.answers {
            self.ledger.answer(&id, &outcome, now).await?;
            log::command_answered(&id, &outcome);
        }
        for postponed in batch.postponed {
            log::effect_retried(&postponed);
            self.ledger
                .postpone(postponed.effect, postponed.at, postponed.why)
                .await?;
        }
        Ok(ordered)
    }

    /// Has the hooks of the present settings get the notices, where this engine works on the whole queue.
    fn renew_hooks(&mut self) -> Result<()> {
        match self.is_draining() {
            true => self.hooks.renew(&self.executor, &self.ledger),
            false => Ok(()),
        }
    }

    /// Whether this engine works on the whole queue, not on one command.
    fn is_draining(&self) -> bool {
        *self.driver.duty() == Duty::Drain
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
