//! An engine in the foreground, with what it does before one's eyes.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use model::view::Snapshot;
use store::{Ledger, Recorded};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::context::Context;
use crate::engine_log::{self, Filter};
use crate::error::{Error, Result};
use crate::notices::{self, Notices};
use crate::ui::{Screen, Style};
use client::clock;
use client::documents::{self, Waits};
use client::follow::Follow;
use client::outbox::Outbox;
use runtime::{Options, Place, Signal};

/// How often the screen is drawn when nothing happens: times and last lines move on.
const FRAME: Duration = Duration::from_millis(500);

/// The text for people about an engine's work.
pub(crate) trait Tell {
    /// The lines about an event; `before` is the view without it. `is_live`: a screen below shows the work
    /// that goes on.
    fn tell(&mut self, before: &Snapshot, fold: &Recorded, is_live: bool) -> Vec<(String, Style)>;

    /// The request of the n-th interrupt (from 1) to the engine, in words too.
    fn interrupted(&mut self, times: u32) -> (Signal, &'static str);

    /// Tells what is to be known before the engine starts; `crew` is the view as it finds it.
    fn begins(&mut self, _context: &mut Context, _place: &Place, _crew: &Snapshot) -> Result<()> {
        Ok(())
    }

    /// The column under which a line that is longer than the terminal goes on.
    fn hang(&self) -> usize {
        2
    }

    /// Takes a warning of the engine's; whether it is to be shown.
    fn warned(&mut self, _notice: &str) -> bool {
        true
    }

    /// Whether a terminal that is closed is an interrupt too, and not the end of the program as for other
    /// programs.
    fn minds_hangup(&self) -> bool {
        false
    }
}

/// An engine that runs here, and who watches it.
pub(crate) struct Live<'a, T> {
    pub(crate) context: &'a mut Context,
    /// The journal's last row when this engine began.
    pub(crate) begun_at: u64,
    pub(crate) crew: Snapshot,
    pub(crate) teller: T,
    pub(crate) place: Place,
    /// None when it has ended.
    engine: Option<JoinHandle<Result<Vec<Waits>, runtime::Error>>>,
    ledger: Ledger,
    /// The effects that are not done when the engine has ended.
    pub(crate) outbox: Outbox,
    rows: Follow,
    /// Rows that were read and are not in the view yet.
    unfolded: VecDeque<Recorded>,
    ask: watch::Sender<Signal>,
    screen: Screen,
    notices: Notices,
    signals: u32,
    /// Tells people what waits, for as long as the engine runs.
    notifier: Option<notify::Inside>,
}

impl<'a, T: Tell> Live<'a, T> {
    /// Starts the engine; the filter chooses the events that its log has.
    pub(crate) async fn start(
        context: &'a mut Context,
        place: Place,
        mut options: Options,
        filter: Filter,
        mut teller: T,
    ) -> Result<Self> {
        let log = engine_log::log();
        engine_log::log_panics();
        let layer = engine_log::layer(log.clone(), filter, context);
        options.log = Some(log);
        let timings = context.var(notices::TIMINGS_FILE).map(Path::new);
        let notices = Notices::listen(timings, Some(layer))?;
        // The journal is there before the engine is, so that nothing of it is missed.
        let ledger = place
            .open_journal()
            .await
            .map_err(|error| client::repository::lift(&place, error))?;
        let crew = ledger.snapshot(clock::now()).await?;
        let told = teller.begins(context, &place, &crew);
        quiet(context, told)?;
        let rows = Follow::new(ledger.clone(), crew.seq);
        let (ask, asked) = watch::channel(Signal::None);
        Ok(Self {
            context,
            begun_at: crew.seq,
            crew,
            teller,
            engine: Some(engine(place.clone(), ledger.clone(), options, asked)),
            place,
            ledger,
            outbox: Outbox::default(),
            rows,
            unfolded: VecDeque::new(),
            ask,
            screen: Screen::new(),
            notices,
            signals: 0,
            notifier: None,
        })
    }

    /// Has a notifier run beside the engine: it does nothing where the person has no `notify.toml`. What goes
    /// wrong with it is one warning, and no matter of the engine's.
    pub(crate) fn with_notifier(mut self) -> Self {
        let (place, env) = (self.place.clone(), self.context.whole_env.clone());
        self.notifier = Some(notify::Inside::start(place, env, None, notices::warn));
        self
    }

    /// Shows what has happened since that view, too: what was written while no engine ran is not missed.
    pub(crate) fn since(mut self, crew: Snapshot) -> Self {
        self.rows = Follow::new(self.ledger.clone(), crew.seq);
        self.crew = crew;
        self
    }

    /// Whether a person, or the system, wanted it to end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.signals > 0
    }

    /// Shows what happens until the engine ends; then what waits for a person.
    pub(crate) async fn until_end(&mut self) -> Result<Vec<Waits>> {
        let ended = self.watch().await;
        if let Some(engine) = self.engine.take() {
            // The engine cannot be watched any more, and must not go on unseen: the caller is about to say
            // that it is over.
            self.ask.send_replace(self.teller.interrupted(u32::MAX).0);
            drop(engine.await);
        }
        // It has the journal open, too.
        drop(self.notifier.take());
        self.outbox = Outbox::read(Some(&self.ledger)).await.unwrap_or_default();
        // Nobody else waits for the threads that have the ledger open: the log beside the journal would stay,
        // and a user who may not write there could not read the journal.
        self.ledger.close().await;
        ended
    }

    async fn watch(&mut self) -> Result<Vec<Waits>> {
        let failed = |source| client::Error::Io {
            doing: "listen for signals to",
            path: "crew".into(),
            source,
        };
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let hangup = self.teller.minds_hangup().then(|| signal(SignalKind::hangup()));
        let mut hangup = hangup.transpose().map_err(failed)?;
        let mut frame = tokio::time::interval(FRAME);
        frame.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let ended = loop {
            let shown = self.show().await;
            quiet(self.context, shown)?;
            tokio::select! {
                ended = ended(&mut self.engine) => break ended,
                () = self.rows.changed() => {}
                () = self.notices.arrive() => {}
                _ = frame.tick(), if self.context.is_live() => {}
                _ = interrupt.recv() => self.interrupted(),
                _ = terminate.recv() => self.interrupted(),
                () = next(&mut hangup) => self.interrupted(),
            }
        };
        self.engine = None;
        let shown = self.show().await;
        quiet(self.context, shown)?;
        let cleared = self.screen.clear(&mut self.context.out);
        quiet(self.context, cleared)?;
        match ended {
            Ok(ended) => ended.map_err(|error| client::repository::lift(&self.place, error).into()),
            Err(_) => Err(Error::from(client::Error::Refused {
                what: "the engine broke off: this is a bug in crew".to_owned(),
                hint: Some("what is in the journal is safe; `crew run` goes on from there".to_owned()),
            })),
        }
    }

    fn interrupted(&mut self) {
        self.signals += 1;
        let (asked, says) = self.teller.interrupted(self.signals);
        self.ask.send_replace(asked);
        if !self.context.json {
            // Work that cannot be shown is done all the same.
            let _ = self
                .screen
                .clear(&mut self.context.out)
                .and_then(|()| self.context.out.styled(says, Style::Yellow));
        }
    }

    /// Shows what the engine warned of.
    fn notice(&mut self, notice: &str) -> Result<()> {
        if !self.teller.warned(notice) {
            return Ok(());
        }
        let out = &mut self.context.out;
        if self.context.json {
            out.json_line(&documents::Warning {
                warning: notice.to_owned(),
            })?;
        } else {
            self.screen.clear(out)?;
            let mut lines = notice.lines();
            out.styled(
                &format!("warning: {}", lines.next().unwrap_or_default()),
                Style::Yellow,
            )?;
            for line in lines {
                out.styled(line, Style::Dim)?;
            }
        }
        out.flush()
    }

    /// The next row, which the view is ready for. When it cannot be had, it is still the next.
    async fn next_row(&mut self) -> Result<Option<Recorded>> {
        if self.unfolded.is_empty() {
            self.unfolded.extend(self.rows.more().await?);
        }
        if let Some(fold) = self.unfolded.front() {
            self.ledger.restore_for(&mut self.crew, fold).await?;
        }
        Ok(self.unfolded.pop_front())
    }

    /// Writes lines above what is drawn.
    fn say(&mut self, lines: &[(String, Style)]) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.screen.clear(&mut self.context.out)?;
        for (line, style) in lines {
            self.context.out.wrapped(line, self.teller.hang(), *style)?;
        }
        Ok(())
    }

    /// Shows everything that can be shown by now. A warning stands after its cause and before its
    /// consequence, although the warning arrives sooner than the rows that are read.
    async fn show(&mut self) -> Result<()> {
        let is_live = self.context.is_live();
        let mut lines = Vec::new();
        // The engine goes on whether it is watched or not; what it did is shown once it can be read.
        while let Some(fold) = unless_passing(self.next_row().await)?.flatten() {
            while let Some(notice) = self.notices.take(Some(fold.at)) {
                self.say(&std::mem::take(&mut lines))?;
                self.notice(&notice)?;
            }
            let told = self.teller.tell(&self.crew, &fold, is_live);
            self.crew.apply(fold.row());
            if self.context.json {
                self.context.out.json_line(&documents::Event::of(&fold))?;
            } else {
                lines.extend(told);
            }
        }
        self.say(&lines)?;
        while let Some(notice) = self.notices.take(None) {
            self.notice(&notice)?;
        }
        if is_live {
            self.context.out.measure();
            let frame = self
                .screen
                .frame(&self.crew, &self.place, &self.context.out.terminal, clock::now());
            self.screen.draw(&mut self.context.out, &frame)?;
        }
        self.context.out.flush()
    }
}

/// Reads as nothing where the journal cannot be read at this moment only: the next look finds it.
fn unless_passing<R>(found: Result<R>) -> Result<Option<R>> {
    match found {
        Err(Error::Client(client::Error::Store(error))) if error.is_passing() => Ok(None),
        found => found.map(Some),
    }
}

async fn ended<E>(engine: &mut Option<JoinHandle<E>>) -> Result<E, tokio::task::JoinError> {
    match engine {
        Some(engine) => engine.await,
        None => std::future::pending().await,
    }
}

/// The next signal; never, where none is listened for.
async fn next(signal: &mut Option<tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// The engine, on the journal that is watched: what both read of it they have together.
fn engine(
    place: Place,
    ledger: Ledger,
    options: Options,
    asked: watch::Receiver<Signal>,
) -> JoinHandle<Result<Vec<Waits>, runtime::Error>> {
    let run = runtime::run(place, ledger, options, asked);
    tokio::spawn(async move {
        let rest = run.await?;
        let waits = rest.waits.into_iter().map(|waits| Waits {
            ticket: waits.ticket,
            title: waits.title,
            why: waits.why,
        });
        Ok(waits.collect())
    })
}

/// A reader that is gone does not end the engine: its work does not depend on being watched.
pub(crate) fn quiet(context: &mut Context, shown: Result<()>) -> Result<()> {
    match shown {
        Err(Error::Closed) => {
            context.out.mute();
            Ok(())
        }
        other => other,
    }
}
