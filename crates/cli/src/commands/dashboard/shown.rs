//! A dashboard that is open: the world around its state.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, SystemTime};

use model::journal::Stream;
use model::view::{self, Snapshot};
use model::{AgentName, TicketId, Time};
use rustix::process::{Signal as Kill, kill_current_process_group};
use store::{Ledger, Recorded};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::MissedTickBehavior;
use tui::{Action, Activity, App, CommandResult, Engine, Files, Keyboard, Msg, Terminal};

use super::diff;
use super::done::Summaries;
use super::watched::Watched;
use crate::background;
use crate::error::Result;
use crate::exit::Exit;
use client::clock;
use client::error::Doing as _;
use client::follow::{Changes, Follow};
use client::inbox;
use client::outbox::Outbox;
use client::repository::{Rejected, journal, settings_or_default};
use client::submit::{Answer, Submitter};
use runtime::Place;

/// How often what only the clock changes is drawn, and what tells nobody of its changes is looked at.
const TICK: Duration = Duration::from_secs(1);

/// The messages of other tasks.
enum Event {
    /// To be told to the state.
    Msg(Msg),
    /// The queue's files were read.
    Files(Option<Files>, Summaries),
    /// The terminal is gone.
    Gone,
}

pub(super) struct Shown {
    place: Place,
    submitter: Submitter,
    app: App,
    terminal: Terminal,
    _keyboard: Keyboard,
    tell: UnboundedSender<Event>,
    told: UnboundedReceiver<Event>,
    /// None before anything was ever asked or run here.
    journal: Option<Tail>,
    /// The view for reading the queue's files.
    crew: Snapshot,
    watched: Option<Watched>,
    tickets: Changes,
    files: Reading,
    /// With whoever reads the files, while they are read.
    summaries: Summaries,
    engine: Option<Engine>,
    activities: BTreeMap<AgentName, Activity>,
    /// How it ended, when it did.
    ended: Option<Exit>,
}

struct Tail {
    ledger: Ledger,
    rows: Follow,
}

/// How far the reading of the queue's files is.
#[derive(Debug)]
struct Reading {
    /// Something changed since it was last begun.
    due: bool,
    /// It is being read.
    busy: bool,
    /// When it was last begun.
    begun: Time,
    /// The time of the settings file when it was last looked at; none while there is no such file.
    settings: Option<SystemTime>,
}

impl Shown {
    pub(super) fn new(
        place: Place,
        submitter: Submitter,
        terminal: Terminal,
        options: &tui::Options,
    ) -> Result<Self> {
        let size = terminal.size().doing("measure", "the terminal")?;
        let (tell, told) = unbounded_channel();
        let keys = tell.clone();
        let keyboard = Keyboard::listen(move |msg| keys.send(msg.map_or(Event::Gone, Event::Msg)).is_ok());
        Ok(Self {
            tickets: Changes::of(&place.tickets_dir),
            place,
            submitter,
            app: App::new(options, clock::now(), size),
            terminal,
            _keyboard: keyboard,
            tell,
            told,
            journal: None,
            crew: Snapshot::default(),
            watched: None,
            files: Reading {
                due: true,
                busy: false,
                begun: Time(0),
                settings: None,
            },
            summaries: Summaries::default(),
            engine: None,
            activities: BTreeMap::new(),
            ended: None,
        })
    }

    /// Shows it until the person leaves.
    pub(super) async fn until_left(&mut self) -> Result<Exit> {
        let mut ends = [
            listen(SignalKind::terminate())?,
            listen(SignalKind::hangup())?,
            listen(SignalKind::interrupt())?,
        ];
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        self.look().await?;
        self.draw()?;
        loop {
            let is_new = tokio::select! {
                heard = self.told.recv() => self.hear(heard).await?,
                () = changed(&mut self.journal) => self.rows().await?,
                () = printed(&mut self.watched) => self.output().await?,
                () = self.tickets.wait_at_most(TICK * 60) => {
                    self.files.due = true;
                    false
                }
                _ = tick.tick() => {
                    let is_new = self.look().await?;
                    self.update(Msg::Tick).await?;
                    is_new || self.app.is_timed()
                }
                () = any(&mut ends) => return Ok(Exit::Interrupted),
            };
            self.read_files();
            if let Some(exit) = self.ended {
                return Ok(exit);
            }
            if is_new {
                self.draw()?;
            }
        }
    }

    fn draw(&mut self) -> Result<()> {
        Ok(self.terminal.draw(&self.app).doing("draw on", "the terminal")?)
    }

    /// Takes in what other tasks tell, all that is there.
    async fn hear(&mut self, heard: Option<Event>) -> Result<bool> {
        let mut next = heard;
        while let Some(heard) = next {
            match heard {
                Event::Msg(msg) => self.update(msg).await?,
                Event::Files(files, summaries) => {
                    self.files.busy = false;
                    self.summaries = summaries;
                    if let Some(files) = files {
                        self.update(Msg::Files(files)).await?;
                    }
                }
                Event::Gone => self.ended = Some(Exit::Interrupted),
            }
            next = self.told.try_recv().ok();
        }
        Ok(true)
    }

    /// Looks at what nobody tells of: whether a journal is there by now, who holds the repository, and
    /// whether the settings file was edited.
    async fn look(&mut self) -> Result<bool> {
        let settings = std::fs::metadata(&self.place.settings_path);
        let settings = settings.and_then(|metadata| metadata.modified()).ok();
        self.files.due |= settings != self.files.settings;
        self.files.settings = settings;
        let mut is_new = false;
        if self.journal.is_none()
            && let Some(ledger) = journal(&self.place).await?
        {
            let rows = Follow::new(ledger.clone(), 0);
            self.journal = Some(Tail { ledger, rows });
            is_new = self.rows().await?;
        }
        let is_other_engine = self.engine().await?;
        Ok(self.activities().await? || is_other_engine || is_new)
    }

    /// Looks what runs in the steps of agents; whether that is something else than before.
    async fn activities(&mut self) -> Result<bool> {
        let (engine, now) = (self.engine.is_some(), clock::now());
        let agents = self.crew.agents().into_iter().filter(|agent| agent.running);
        let found: BTreeMap<AgentName, Activity> = agents
            .filter_map(|agent| {
                let activity = client::activity::Activity::of(&self.place, &agent, engine, now)?;
                let (says, since) = (activity.place(), activity.since);
                Some((agent.name, Activity { says, since }))
            })
            .collect();
        if found == self.activities {
            return Ok(false);
        }
        self.activities.clone_from(&found);
        self.update(Msg::Activities(found)).await?;
        Ok(true)
    }

    /// Looks who holds the repository; whether that is another than before.
    async fn engine(&mut self) -> Result<bool> {
        let engine = client::engine::Engine::of(&self.place)?.map(|engine| Engine {
            pid: engine.pid,
            since: engine.since,
        });
        if engine == self.engine {
            return Ok(false);
        }
        self.engine.clone_from(&engine);
        self.files.due = true;
        self.update(Msg::Engine(engine)).await?;
        Ok(true)
    }

    /// Takes in the journal's next rows.
    async fn rows(&mut self) -> Result<bool> {
        let mut is_new = false;
        while let Some(tail) = &mut self.journal {
            let rows = tail.rows.more().await?;
            if rows.is_empty() {
                break;
            }
            for row in &rows {
                self.crew.apply(row.row());
            }
            self.update(Msg::Rows(rows)).await?;
            self.files.due = true;
            is_new = true;
        }
        if is_new {
            self.engine().await?;
            self.output().await?;
        }
        Ok(is_new)
    }

    /// Takes in what the run that is looked at printed.
    async fn output(&mut self) -> Result<bool> {
        let Some(watched) = &mut self.watched else {
            return Ok(false);
        };
        let Some(more) = watched.more()? else {
            return Ok(false);
        };
        self.update(more).await?;
        Ok(true)
    }

    /// Tells the state, and does what it wants.
    async fn update(&mut self, msg: Msg) -> Result<()> {
        let mut wanted: VecDeque<Action> = self.app.update(msg, clock::now()).into();
        while let Some(action) = wanted.pop_front() {
            match action {
                Action::Submit { request, command } => self.submit(request, *command),
                Action::Run { request } => self.run_engine(request),
                Action::Watch(run) => {
                    self.watched = run.map(|run| Watched::new(&self.place, run));
                    if let Some(watched) = &mut self.watched
                        && let Some(msg) = watched.more()?
                    {
                        wanted.extend(self.app.update(msg, clock::now()));
                    }
                }
                Action::Read(ticket) => {
                    let rows = self.history(&ticket).await?;
                    wanted.extend(self.app.update(Msg::History { ticket, rows }, clock::now()));
                }
                Action::Diff(ticket) => self.read_diff(ticket),
                Action::Suspend => self.suspend()?,
                Action::Quit => self.ended = Some(Exit::Done),
            }
        }
        Ok(())
    }

    async fn history(&self, ticket: &TicketId) -> Result<Vec<Recorded>> {
        match &self.journal {
            Some(tail) => Ok(tail.ledger.history(&Stream::Ticket(ticket.clone())).await?),
            None => Ok(Vec::new()),
        }
    }

    /// Reads the diff of a ticket, which takes git as long as it takes.
    fn read_diff(&self, ticket: TicketId) {
        let (place, mut crew, tell) = (self.place.clone(), self.crew.clone(), self.tell.clone());
        let ledger = self.journal.as_ref().map(|tail| tail.ledger.clone());
        tokio::spawn(async move {
            let restored = match &ledger {
                Some(ledger) => ledger.restore(&mut crew, &ticket, None).await,
                None => Ok(()),
            };
            let read = move || {
                let diff = restored
                    .map_err(client::Error::from)
                    .and_then(|()| diff::read(&place, &crew, &ticket))
                    .map_err(|error| words(&error));
                // Nobody hears it any more when the person has left.
                drop(tell.send(Event::Msg(Msg::Diff { ticket, diff })));
            };
            tokio::task::spawn_blocking(read);
        });
    }

    /// Asks it of the engine, and does not wait for the answer.
    fn submit(&self, request: String, command: model::command::Command) {
        let (submitter, place, tell) = (self.submitter.clone(), self.place.clone(), self.tell.clone());
        tokio::spawn(async move {
            let outcome = submitter
                .submit(&command)
                .await
                .map(with_aftermath)
                .map_err(|error| words(&client::repository::locked_by(&place, error)));
            // Nobody hears it any more when the person has left.
            drop(tell.send(Event::Msg(Msg::CommandResult(CommandResult { request, outcome }))));
        });
    }

    /// An engine in the background, as `crew run --detach` starts it: it outlives the dashboard.
    fn run_engine(&self, request: String) {
        let (dir, tell) = (self.place.root.clone(), self.tell.clone());
        tokio::task::spawn_blocking(move || {
            let outcome =
                background::run_detached(&dir).map(|message| model::command::Outcome::Accepted { message });
            // Nobody hears it any more when the person has left.
            drop(tell.send(Event::Msg(Msg::CommandResult(CommandResult { request, outcome }))));
        });
    }

    /// To the shell, until the person comes back.
    fn suspend(&mut self) -> Result<()> {
        self.terminal
            .lend(|| {
                // Where no shell could bring it back, the system does not stop it either.
                let _ = kill_current_process_group(Kill::TSTP);
            })
            .doing("take over", "the terminal")?;
        let (columns, lines) = self.terminal.size().doing("measure", "the terminal")?;
        self.app.update(Msg::Resized(columns, lines), clock::now());
        Ok(())
    }

    /// Begins to read the queue's files, if it is time for it.
    fn read_files(&mut self) {
        let now = clock::now();
        if !self.files.due || self.files.busy || now.since(self.files.begun) < TICK {
            return;
        }
        self.files = Reading {
            due: false,
            busy: true,
            begun: now,
            ..self.files
        };
        let (place, crew, tell) = (self.place.clone(), self.crew.clone(), self.tell.clone());
        let mut summaries = std::mem::take(&mut self.summaries);
        let ledger = self.journal.as_ref().map(|tail| tail.ledger.clone());
        tokio::spawn(async move {
            let outbox = Outbox::read(ledger.as_ref()).await.ok();
            let read = move || {
                let files = outbox.and_then(|outbox| files(&crew, &place, outbox, &mut summaries, now));
                // Nobody hears it any more when the person has left.
                drop(tell.send(Event::Files(files, summaries)));
            };
            tokio::task::spawn_blocking(read);
        });
    }
}

/// The facts that the queue's files add to the journal, and git's account of work that no agent described;
/// nothing when the files cannot be read now.
fn files(
    crew: &Snapshot,
    place: &Place,
    outbox: Outbox,
    summaries: &mut Summaries,
    now: Time,
) -> Option<Files> {
    let settings = settings_or_default(place);
    let (mut unseen, beside) = inbox::folder(crew, place, &settings, outbox, now).ok()?;
    unseen.retain(|id, ticket| crew.tickets.get(id) != Some(ticket));
    Some(Files {
        unseen,
        seq: crew.seq,
        beside,
        commit_summaries: summaries.look(crew, place),
    })
}

/// The answer, with what came of it where it was carried out here.
fn with_aftermath(answer: Answer) -> model::command::Outcome {
    use model::command::Outcome;
    let last = answer
        .happened
        .iter()
        .rev()
        .find(|fold| view::matters(&fold.fact));
    match (answer.outcome, last) {
        (Outcome::Accepted { message }, Some(last)) => Outcome::Accepted {
            message: format!("{message}; {}", view::describe(&last.fact)),
        },
        (outcome, _) => outcome,
    }
}

/// An error in a line, with what to do about it.
pub(super) fn words(error: &client::Error) -> String {
    let mut words = text::with_causes(error);
    if let client::Error::Settings { .. } = error {
        words = format!("{words}: {}", Rejected::of(error).why);
    }
    match error.hint() {
        Some(hint) => format!("{words} ({hint})"),
        None => words,
    }
}

fn listen(kind: SignalKind) -> Result<Signal> {
    Ok(signal(kind).doing("listen for signals to", "crew")?)
}

async fn any(signals: &mut [Signal; 3]) {
    let [first, second, third] = signals;
    tokio::select! {
        _ = first.recv() => {}
        _ = second.recv() => {}
        _ = third.recv() => {}
    }
}

async fn changed(journal: &mut Option<Tail>) {
    match journal {
        Some(tail) => tail.rows.changed().await,
        None => std::future::pending().await,
    }
}

async fn printed(watched: &mut Option<Watched>) {
    match watched {
        Some(watched) => watched.changed().await,
        None => std::future::pending().await,
    }
}
