//! A dashboard that is open: the world around its state.

use std::collections::{BTreeMap, VecDeque};

use client::following::{Begin, Change, Following, Seen};
use client::submit::{Answer, Submitter};
use client::{Place, clock};
use model::journal::Stream;
use model::view::{self, Snapshot};
use model::{AgentName, TicketId};
use rustix::process::{Signal as Kill, kill_current_process_group};
use store::Recorded;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tui::{Action, Activity, App, CommandResult, Engine, Files, Keyboard, Msg, Terminal};

use super::diff;
use super::done::Summaries;
use super::watched::Watched;
use crate::background;
use crate::error::Result;
use crate::exit::Exit;
use client::error::Doing as _;

/// The messages of other tasks.
enum Event {
    /// To be told to the state.
    Msg(Box<Msg>),
    /// git was asked about work that no agent described, as it was when the files were read at this row.
    Summaries(Summaries, BTreeMap<TicketId, String>, u64),
    /// The terminal is gone.
    Gone,
}

impl Event {
    fn msg(msg: Msg) -> Self {
        Self::Msg(Box::new(msg))
    }
}

pub(super) struct Shown {
    place: Place,
    submitter: Submitter,
    app: App,
    terminal: Terminal,
    _keyboard: Keyboard,
    tell: UnboundedSender<Event>,
    told: UnboundedReceiver<Event>,
    following: Following,
    seen: watch::Receiver<Seen>,
    watched: Option<Watched>,
    /// None while git is asked.
    summaries: Option<Summaries>,
    /// How it ended, when it did.
    ended: Option<Exit>,
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
        let keyboard = Keyboard::listen(move |msg| keys.send(msg.map_or(Event::Gone, Event::msg)).is_ok());
        let following = Following::new(place.clone(), Begin::First);
        Ok(Self {
            place,
            submitter,
            app: App::new(options, clock::now(), size),
            terminal,
            _keyboard: keyboard,
            tell,
            told,
            seen: following.seen(),
            following,
            watched: None,
            summaries: Some(Summaries::default()),
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
        let changes = self.following.look().await;
        self.take(changes).await?;
        self.draw()?;
        loop {
            let is_new = tokio::select! {
                heard = self.told.recv() => self.hear(heard).await?,
                due = self.following.due() => {
                    let changes = self.following.take(due).await;
                    self.take(changes).await?
                }
                () = printed(&mut self.watched) => self.output().await?,
                () = any(&mut ends) => return Ok(Exit::Interrupted),
            };
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
                Event::Msg(msg) => self.update(*msg).await?,
                Event::Summaries(summaries, lines, seq) => {
                    self.summaries = Some(summaries);
                    self.update(Msg::CommitSummaries(lines)).await?;
                    let seen = self.seen.borrow().clone();
                    if seen.files.seq != seq {
                        self.summarise(&seen);
                    }
                }
                Event::Gone => self.ended = Some(Exit::Interrupted),
            }
            next = self.told.try_recv().ok();
        }
        Ok(true)
    }

    /// Takes in what has changed in the repository; whether the screen shows something else.
    async fn take(&mut self, changes: Vec<Change>) -> Result<bool> {
        let mut is_new = false;
        for change in changes {
            let seen = self.seen.borrow().clone();
            let is_tick = matches!(change, Change::Tick);
            let has_rows = matches!(change, Change::Rows(_));
            let msg = match change {
                Change::Journal => Msg::Journal,
                Change::Rows(rows) => Msg::Rows(rows),
                Change::Files => {
                    self.summarise(&seen);
                    Msg::Files(files(&seen))
                }
                Change::Engine => Msg::Engine(engine(&seen)),
                Change::AtWork => Msg::Activities(activities(&seen)),
                Change::Trouble => Msg::Troubles(seen.troubles().cloned().collect()),
                Change::Tick => Msg::Tick,
            };
            self.update(msg).await?;
            is_new |= !is_tick || self.app.is_timed();
            if has_rows {
                self.output().await?;
            }
        }
        Ok(is_new)
    }

    /// Asks git about work that no agent described, unless it is being asked.
    fn summarise(&mut self, seen: &Seen) {
        let Some(mut summaries) = self.summaries.take() else {
            return;
        };
        let (place, seen, tell) = (self.place.clone(), seen.clone(), self.tell.clone());
        tokio::task::spawn_blocking(move || {
            let lines = summaries.look(&seen.crew, &place);
            // Nobody hears it any more when the person has left.
            drop(tell.send(Event::Summaries(summaries, lines, seen.files.seq)));
        });
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
        let ledger = self.seen.borrow().ledger.clone();
        match ledger {
            Some(ledger) => Ok(ledger.history(&Stream::Ticket(ticket.clone())).await?),
            None => Ok(Vec::new()),
        }
    }

    /// Reads the diff of a ticket, which takes git as long as it takes.
    fn read_diff(&self, ticket: TicketId) {
        let (place, seen, tell) = (self.place.clone(), self.seen.borrow().clone(), self.tell.clone());
        tokio::spawn(async move {
            let mut crew = Snapshot::clone(&seen.crew);
            let restored = match &seen.ledger {
                Some(ledger) => ledger.restore(&mut crew, &ticket, None).await,
                None => Ok(()),
            };
            let read = move || {
                let diff = restored
                    .map_err(client::Error::from)
                    .and_then(|()| diff::read(&place, &crew, &ticket))
                    .map_err(|error| error.words());
                // Nobody hears it any more when the person has left.
                drop(tell.send(Event::msg(Msg::Diff { ticket, diff })));
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
                .map_err(|error| client::repository::locked_by(&place, error).words());
            // Nobody hears it any more when the person has left.
            drop(tell.send(Event::msg(Msg::CommandResult(CommandResult { request, outcome }))));
        });
    }

    /// An engine in the background, as `crew run --detach` starts it: it outlives the dashboard.
    fn run_engine(&self, request: String) {
        let (dir, tell) = (self.place.root.clone(), self.tell.clone());
        tokio::task::spawn_blocking(move || {
            let outcome =
                background::run_detached(&dir).map(|message| model::command::Outcome::Accepted { message });
            // Nobody hears it any more when the person has left.
            drop(tell.send(Event::msg(Msg::CommandResult(CommandResult { request, outcome }))));
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
}

/// The facts of the ticket folder, as the dashboard takes them.
fn files(seen: &Seen) -> Files {
    Files {
        unseen: seen.files.unseen.clone(),
        seq: seen.files.seq,
        beside: seen.files.beside.clone(),
    }
}

/// The engine that runs; of a dead one only a git is left.
fn engine(seen: &Seen) -> Option<Engine> {
    let engine = seen.engine.as_ref().filter(|_| seen.has_engine())?;
    Some(Engine {
        pid: engine.pid,
        since: engine.since,
    })
}

fn activities(seen: &Seen) -> BTreeMap<AgentName, Activity> {
    let at_work = seen.at_work.iter();
    let found = at_work.filter_map(|(agent, at_work)| {
        let activity = at_work.activity.as_ref()?;
        let (says, since) = (activity.place(), activity.since);
        Some((agent.clone(), Activity { says, since }))
    });
    found.collect()
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

async fn printed(watched: &mut Option<Watched>) {
    match watched {
        Some(watched) => watched.changed().await,
        None => std::future::pending().await,
    }
}
