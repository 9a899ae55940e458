//! The task that follows a repository: the journal, the ticket folder, the engine and the runs of agents.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use client::engine::Engine as Holder;
use client::follow::{Changes, Follow};
use client::outbox::Outbox;
use client::repository::journal;
use client::{Place, clock, documents};
use model::AgentName;
use model::journal::Stream;
use model::view::Snapshot;
use store::{Journal as _, Ledger, Recorded};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior};

use super::Shared;
use super::derive::{AtWork, Derivation, Engine, Repository, Seen, at_work};
use super::document::json;
use super::files::Files;

/// How often what gives no notice of its changes is looked at, while a page has subscribed.
const TICK: Duration = Duration::from_secs(1);
/// The ticks between two looks while no page has.
const RESTING: u32 = 10;
/// The ticks after which words that count time are written anew.
const WORDS: u32 = 5;
/// The shortest time between two cuts: 20 a second.
const CUT: Duration = Duration::from_millis(50);
/// A cut, and a look at the ticket folder, is followed by a rest of so many times its own length: a quarter
/// of a core is the most.
const REST: u32 = 3;
/// The longest rest: on a machine that is busy with other work, a look that took long was waiting for most of
/// its time.
const LONGEST: Duration = Duration::from_secs(5);
/// The rows after which the fold is read anew, without the tickets that were archived meanwhile.
const ROWS: u64 = 50_000;
/// Rows that are told at most at once: a page that missed more loads them when it shows them.
const TOLD: u32 = 500;

/// The task's side of a board.
pub(super) struct Following {
    /// The task ends with the last handle of the board.
    shared: Weak<Shared>,
    place: Place,
    repository: Repository,
    refresh: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
    /// None before anything was ever asked or run here, and where it cannot be read.
    journal: Option<Tail>,
    /// Why the journal cannot be read, in words.
    trouble: Option<String>,
    /// Why the ticket folder cannot be read, in words.
    unread: Option<String>,
    tickets: Changes,
    /// The place of the ticket folder on the disk.
    folder: Option<(u64, u64)>,
    reading: Reading,
    read: (mpsc::UnboundedSender<Read>, mpsc::UnboundedReceiver<Read>),
    engine: Option<Engine>,
    at_work: BTreeMap<AgentName, AtWork>,
    derivation: Derivation,
    /// Rows that were folded since the last cut.
    rows: Vec<(u64, Arc<str>)>,
    /// The journal may have more rows than were folded.
    is_behind: bool,
    /// Something has changed since the last cut.
    is_due: bool,
    next_cut: Instant,
    /// Ticks since the last look, and since the last cut.
    ticks: (u32, u32),
    /// Those that wait for a cut with the ticket folder as it is now.
    waiting: Vec<oneshot::Sender<()>>,
}

/// The journal that is followed.
struct Tail {
    ledger: Ledger,
    rows: Follow,
    /// The place of its file on the disk.
    file: Option<(u64, u64)>,
    /// The row from which the fold goes on.
    since: u64,
}

/// How far the reading of the ticket folder is.
struct Reading {
    is_due: bool,
    is_busy: bool,
    /// It is not read before.
    next: Instant,
    /// The time of the settings file when it was last looked at.
    settings: Option<SystemTime>,
}

/// The ticket folder, as it was read.
struct Read {
    files: client::Result<Files>,
    took: Duration,
}

impl Following {
    pub(super) fn new(shared: &Arc<Shared>, refresh: mpsc::UnboundedReceiver<oneshot::Sender<()>>) -> Self {
        let place = shared.place.clone();
        let name = place.root.file_name().unwrap_or_default().to_string_lossy();
        Self {
            shared: Arc::downgrade(shared),
            repository: Repository {
                name: name.into_owned(),
                target: String::new(),
                path: place.root.display().to_string(),
            },
            refresh,
            journal: None,
            trouble: None,
            unread: None,
            tickets: Changes::of(&place.tickets_dir),
            folder: on_disk(&place.tickets_dir),
            place,
            reading: Reading {
                is_due: true,
                is_busy: false,
                next: Instant::now(),
                settings: None,
            },
            read: mpsc::unbounded_channel(),
            engine: None,
            at_work: BTreeMap::new(),
            derivation: Derivation::default(),
            rows: Vec::new(),
            is_behind: false,
            is_due: true,
            next_cut: Instant::now(),
            ticks: (0, 0),
            waiting: Vec::new(),
        }
    }

    /// Follows until the last handle of the board is dropped.
    pub(super) async fn until_dropped(mut self) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        if let Some(shared) = self.shared.upgrade() {
            self.look(&shared).await;
        }
        loop {
            let Some(shared) = self.shared.upgrade() else {
                return;
            };
            self.read_files(&shared).await;
            self.cut(&shared).await;
            if self.is_behind && self.rows.is_empty() {
                self.rows(&shared).await;
            }
            let is_idle = !self.is_due;
            tokio::select! {
                () = changed(&mut self.journal) => self.rows(&shared).await,
                () = self.tickets.wait_at_most(TICK * 60) => self.reading.is_due = true,
                _ = tick.tick() => self.tick(&shared).await,
                Some(read) = self.read.1.recv() => self.take_files(&shared, read),
                asked = self.refresh.recv() => match asked {
                    Some(done) => {
                        self.look(&shared).await;
                        self.reading.is_due |= Instant::now() >= self.reading.next;
                        self.waiting.push(done);
                    }
                    None => return,
                },
                () = shared.changed.notified() => self.is_due = true,
                () = tokio::time::sleep_until(self.next_cut), if !is_idle => {}
                () = tokio::time::sleep_until(self.reading.next), if self.reading.is_due && !self.reading.is_busy => {}
            }
        }
    }

    /// Looks at what gives no notice: every second while a page has subscribed, else now and then.
    async fn tick(&mut self, shared: &Shared) {
        self.ticks.0 += 1;
        self.ticks.1 += 1;
        let is_watched = shared.pages().subscribers() > 0;
        if is_watched || self.ticks.0 >= RESTING {
            self.look(shared).await;
        }
        self.is_due |= is_watched && self.ticks.1 >= WORDS;
    }

    async fn look(&mut self, shared: &Shared) {
        self.ticks.0 = 0;
        let settings = std::fs::metadata(&self.place.settings_path);
        let settings = settings.and_then(|metadata| metadata.modified()).ok();
        self.reading.is_due |= settings != self.reading.settings;
        self.reading.settings = settings;
        let folder = on_disk(&self.place.tickets_dir);
        if folder != self.folder {
            // A folder that was not there could not be watched.
            self.tickets = Changes::of(&self.place.tickets_dir);
            self.folder = folder;
            self.reading.is_due = true;
        }
        self.look_at_journal(shared).await;
        self.look_at_engine(shared);
        let crew = shared.crew();
        let runs = self.engine.as_ref().is_some_and(|engine| !engine.is_dead);
        let at_work = at_work(&self.place, &crew, runs, clock::now());
        self.is_due |= at_work != self.at_work;
        self.at_work = at_work;
    }

    /// Opens a journal that is there by now, and leaves one that is gone, or another one.
    async fn look_at_journal(&mut self, shared: &Shared) {
        let file = on_disk(&self.place.crew_dir.join("journal.db"));
        if let Some(tail) = &self.journal
            && tail.file != file
        {
            let says = "the journal was deleted: what happened before is shown no more".to_owned();
            self.leave_journal(shared, Some(says).filter(|_| file.is_none()));
        }
        if self.journal.is_some() {
            return;
        }
        match self.open(file).await {
            Ok(Some((tail, crew))) => {
                *shared.crew.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(crew);
                *shared.ledger.write().unwrap_or_else(PoisonError::into_inner) = Some(tail.ledger.clone());
                self.journal = Some(tail);
                self.set_trouble(None);
                self.reading.is_due = true;
                self.rows(shared).await;
            }
            Ok(None) => {}
            Err(error) => self.set_trouble(Some(words(&error))),
        }
    }

    async fn open(&self, file: Option<(u64, u64)>) -> client::Result<Option<(Tail, Snapshot)>> {
        let Some(ledger) = journal(&self.place).await? else {
            return Ok(None);
        };
        // The rows of a young journal are told to pages that were there before it.
        let is_young = ledger.0.head().await?.0 <= u64::from(TOLD);
        let crew = match is_young {
            true => {
                // What cannot be read is said now, and not when it is followed.
                ledger.tail(0, TOLD).await?;
                Snapshot::default()
            }
            false => ledger.snapshot(clock::now()).await?,
        };
        let tail = Tail {
            rows: Follow::new(ledger.clone(), crew.seq),
            since: crew.seq,
            ledger,
            file,
        };
        Ok(Some((tail, crew)))
    }

    fn set_trouble(&mut self, trouble: Option<String>) {
        self.is_due |= trouble != self.trouble;
        self.trouble = trouble;
    }

    /// Begins anew without a journal.
    fn leave_journal(&mut self, shared: &Shared, trouble: Option<String>) {
        self.journal = None;
        self.rows.clear();
        self.derivation = Derivation::default();
        self.set_trouble(trouble);
        *shared.ledger.write().unwrap_or_else(PoisonError::into_inner) = None;
        *shared.crew.write().unwrap_or_else(PoisonError::into_inner) = Arc::default();
        *shared.files.write().unwrap_or_else(PoisonError::into_inner) = Arc::default();
        shared.restart();
        self.reading.is_due = true;
        self.is_due = true;
    }

    fn look_at_engine(&mut self, shared: &Shared) {
        let engine = match Holder::of(&self.place) {
            Ok(engine) => engine.as_ref().map(Engine::of),
            // The lock cannot be looked at now: the next look may.
            Err(_) => return,
        };
        if engine == self.engine {
            return;
        }
        let runs = engine.as_ref().is_some_and(|engine| !engine.is_dead);
        self.engine = engine;
        self.is_due = true;
        self.reading.is_due = true;
        let mut files = shared.files.write().unwrap_or_else(PoisonError::into_inner);
        if files.beside.engine != runs {
            Arc::make_mut(&mut *files).beside.engine = runs;
        }
    }

    /// Folds the rows that are there by now.
    async fn rows(&mut self, shared: &Shared) {
        self.is_behind = false;
        loop {
            let Some(tail) = &mut self.journal else { return };
            let folded = match tail.rows.more().await {
                Ok(rows) if rows.is_empty() => break,
                Ok(rows) => fold(shared, &tail.ledger, &rows).await.map(|()| rows),
                Err(error) => Err(error),
            };
            match folded {
                Ok(rows) => {
                    let told = rows.iter().map(|row| (row.seq, json(&documents::Event::of(row))));
                    self.rows.extend(told);
                    self.is_due = true;
                    self.reading.is_due = true;
                }
                Err(client::Error::Store(error)) if error.is_passing() => {
                    // The next notice or look finds the rows.
                    return;
                }
                Err(error) => {
                    self.leave_journal(shared, Some(words(&error)));
                    return;
                }
            }
            if self.rows.len() >= TOLD as usize {
                // Pages see a long burst as it comes.
                self.is_behind = true;
                return;
            }
        }
        self.shorten(shared).await;
    }

    /// Reads the fold anew after very many rows: the engine has archived tickets meanwhile.
    async fn shorten(&mut self, shared: &Shared) {
        let Some(tail) = &mut self.journal else { return };
        let seq = shared.crew().seq;
        if seq.saturating_sub(tail.since) < ROWS {
            return;
        }
        tail.since = seq;
        // Where it cannot be read now, the fold that is there is as good.
        if let Ok(crew) = tail.ledger.snapshot(clock::now()).await
            && crew.seq == seq
        {
            *shared.crew.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(crew);
        }
    }

    /// Begins to read the ticket folder, if it is time for it.
    async fn read_files(&mut self, shared: &Arc<Shared>) {
        if !self.reading.is_due || self.reading.is_busy || Instant::now() < self.reading.next {
            return;
        }
        self.reading.is_due = false;
        self.reading.is_busy = true;
        let ledger = self.journal.as_ref().map(|tail| &tail.ledger);
        let outbox = Outbox::read(ledger).await;
        let (place, crew, tell) = (self.place.clone(), shared.crew(), self.read.0.clone());
        tokio::task::spawn_blocking(move || {
            let begun = Instant::now();
            let files = outbox.and_then(|outbox| Files::read(&crew, &place, outbox, clock::now()));
            let took = begun.elapsed();
            // Nobody hears it any more when the board is gone.
            drop(tell.send(Read { files, took }));
        });
    }

    fn take_files(&mut self, shared: &Shared, read: Read) {
        self.reading.is_busy = false;
        self.reading.next = Instant::now() + (read.took * REST).clamp(TICK, LONGEST);
        self.is_due = true;
        match read.files {
            Ok(mut files) => {
                self.unread = None;
                files.keep_times(&shared.files());
                files.beside.engine = self.engine.as_ref().is_some_and(|engine| !engine.is_dead);
                *shared.files.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(files);
            }
            // Those that were read last stand until the next look.
            Err(error) => self.unread = Some(words(&error)),
        }
    }

    /// Derives the documents and tells what changed, if it is time for it.
    async fn cut(&mut self, shared: &Arc<Shared>) {
        if !self.is_due {
            self.answer_waiting();
        }
        if !self.is_due || Instant::now() < self.next_cut {
            return;
        }
        self.is_due = false;
        self.ticks.1 = 0;
        let begun = Instant::now();
        let mut derivation = std::mem::take(&mut self.derivation);
        let rows = std::mem::take(&mut self.rows);
        let troubles: Vec<String> = self.trouble.iter().chain(&self.unread).cloned().collect();
        let (engine, at_work) = (self.engine.clone(), self.at_work.clone());
        let (repository, shared_) = (self.repository.clone(), Arc::clone(shared));
        let derived = tokio::task::spawn_blocking(move || {
            let (crew, files, now) = (shared_.crew(), shared_.files(), clock::now());
            let (documents, items) = derivation.documents(&Seen {
                repository: &repository,
                crew: &crew,
                files: &files,
                engine: engine.as_ref(),
                at_work: &at_work,
                troubles: &troubles,
                asked: &shared_.asked(now),
                now,
            });
            *shared_.items.write().unwrap_or_else(PoisonError::into_inner) = items.into();
            shared_.update(documents, rows, crew.seq, now);
            derivation
        });
        if let Ok(derivation) = derived.await {
            self.derivation = derivation;
        }
        self.next_cut = Instant::now() + (begun.elapsed() * REST).clamp(CUT, LONGEST);
        self.answer_waiting();
    }

    /// Answers those that wait for a cut with the ticket folder as it is, once that was read.
    fn answer_waiting(&mut self) {
        if self.reading.is_busy || self.reading.is_due {
            return;
        }
        for done in self.waiting.drain(..) {
            // One that does not wait any more is none the worse.
            let _ = done.send(());
        }
    }
}

impl Shared {
    fn crew(&self) -> Arc<Snapshot> {
        Arc::clone(&self.crew.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Folds rows, in order. An archived ticket is restored before a row of it is folded.
async fn fold(shared: &Shared, ledger: &Ledger, rows: &[Recorded]) -> client::Result<()> {
    for row in rows {
        let is_archived = match &row.stream {
            Stream::Ticket(id) => shared.crew().archived.tickets.contains(id),
            Stream::Project => false,
        };
        if is_archived {
            let mut crew = Snapshot::clone(&shared.crew());
            ledger.fold_row(&mut crew, row).await?;
            *shared.crew.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(crew);
        } else {
            let mut crew = shared.crew.write().unwrap_or_else(PoisonError::into_inner);
            Arc::make_mut(&mut *crew).apply(row.row());
        }
    }
    Ok(())
}

/// Waits until the journal may have more rows.
async fn changed(journal: &mut Option<Tail>) {
    match journal {
        Some(tail) => tail.rows.changed().await,
        None => std::future::pending().await,
    }
}

/// What tells a file from another of its name: none where there is none.
fn on_disk(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// An error in a line, with what to do about it.
fn words(error: &client::Error) -> String {
    let words = text::with_causes(error);
    match error.hint() {
        Some(hint) => format!("{words} ({hint})"),
        None => words,
    }
}
