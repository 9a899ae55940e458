//! Following a repository: its journal, ticket folder, engine and the steps of its agents, for a frontend
//! that stays open.
//!
//! The frontend waits with [`Following::due`], has [`Following::take`] look at what is due, and turns the
//! [`Change`]s into its own messages. What was seen last is in [`Seen`], which any task may look at.

mod at_work;
mod files;
mod reading;
mod seen;
mod tail;

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use store::Recorded;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use crate::clock;
use crate::engine::Engine;
use crate::error::Error;
use crate::outbox::Outbox;
use at_work::at_work;
use reading::{Read, Reading};
use runtime::Place;
use tail::Tail;

pub use at_work::AtWork;
pub use files::Files;
pub use seen::Seen;

/// The interval at which the follower looks at what gives no notice of its changes.
const TICK: Duration = Duration::from_secs(1);
/// The ticks between two looks while the follower rests.
const RESTING: u32 = 10;
/// The most rows that are taken at once, and from the beginning by a frontend that begins with a snapshot:
/// one that missed more loads them when it shows them.
pub const ROWS: u32 = 500;

/// The row with which a frontend begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// The first row of the journal: the frontend folds all of them itself.
    First,
    /// The latest snapshot; the first row where the journal is young.
    Snapshot,
}

/// A change of what is seen of a repository.
#[derive(Debug)]
pub enum Change {
    /// The journal is another one, or there is none any more: nothing holds that was told before.
    Journal,
    /// The journal has these rows, the next in order. They are folded.
    Rows(Vec<Recorded>),
    /// The ticket folder was read.
    Files,
    /// The engine is another one, or there is none any more.
    Engine,
    /// Other programs run in the steps of agents.
    AtWork,
    /// Something cannot be read, or can be read again.
    Trouble,
    /// A second has passed.
    Tick,
}

/// What there is to look at.
#[derive(Debug)]
pub struct Due(What);

#[derive(Debug)]
enum What {
    Rows,
    Folder,
    Read(Box<Read>),
    Tick,
}

/// The follower of a repository.
pub struct Following {
    place: Place,
    begin: Begin,
    seen: watch::Sender<Seen>,
    /// None before anything was ever asked or run here, and where it cannot be read.
    tail: Option<Tail>,
    reading: Reading,
    tick: Interval,
    /// Whether nobody looks at what is seen.
    rests: bool,
    /// The ticks since the last look.
    ticks: u32,
}

impl Following {
    /// Follows a repository, of which nothing is seen before the first look. This needs a tokio runtime.
    #[must_use]
    pub fn new(place: Place, begin: Begin) -> Self {
        let mut tick = tokio::time::interval_at(Instant::now() + TICK, TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            reading: Reading::new(&place),
            place,
            begin,
            seen: watch::Sender::new(Seen::default()),
            tail: None,
            tick,
            rests: false,
            ticks: 0,
        }
    }

    /// What is seen, from now on.
    pub fn seen(&self) -> watch::Receiver<Seen> {
        self.seen.subscribe()
    }

    /// Has what gives no notice looked at less often, while nobody looks at what is seen.
    pub fn rest(&mut self, rests: bool) {
        self.rests = rests;
    }

    /// Whether the journal has more rows than were taken.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.tail.as_ref().is_some_and(|tail| tail.is_behind)
    }

    /// Whether the ticket folder is read, or is to be read as soon as it has rested.
    #[must_use]
    pub fn is_reading(&self) -> bool {
        self.reading.is_busy || self.reading.is_due
    }

    /// Waits until there is something to look at. A wait that is dropped loses nothing.
    pub async fn due(&mut self) -> Due {
        Due(tokio::select! {
            () = changed(&mut self.tail) => What::Rows,
            read = self.reading.next() => read.map_or(What::Folder, |read| What::Read(Box::new(read))),
            _ = self.tick.tick() => What::Tick,
        })
    }

    /// Looks at what is due, and tells what has changed.
    pub async fn take(&mut self, due: Due) -> Vec<Change> {
        let mut changes = Vec::new();
        match due.0 {
            What::Rows => self.rows(&mut changes).await,
            What::Folder => {}
            What::Read(read) => self.take_files(*read, &mut changes),
            What::Tick => {
                self.ticks += 1;
                changes.push(Change::Tick);
                if !self.rests || self.ticks >= RESTING {
                    self.look_at_all(&mut changes).await;
                }
            }
        }
        self.read_files().await;
        changes
    }

    /// Looks at everything now, also at what gives no notice, and tells what has changed.
    pub async fn look(&mut self) -> Vec<Change> {
        let mut changes = Vec::new();
        self.look_at_all(&mut changes).await;
        self.reading.is_due |= self.reading.has_rested();
        self.read_files().await;
        changes
    }

    async fn look_at_all(&mut self, changes: &mut Vec<Change>) {
        self.ticks = 0;
        self.reading.look(&self.place);
        self.look_at_journal(changes).await;
        self.look_at_engine(changes);
        self.look_at_work(changes);
    }

    /// Opens a journal that is there by now, and leaves one that is gone, or another one.
    async fn look_at_journal(&mut self, changes: &mut Vec<Change>) {
        let file = self.journal_file();
        if self.tail.as_ref().is_some_and(|tail| tail.file != file) {
            self.leave_journal(self.gone(file), changes);
        }
        if self.tail.is_some() {
            return;
        }
        match Tail::open(&self.place, file, self.begin).await {
            Ok(Some((tail, crew))) => {
                self.seen.send_modify(|seen| {
                    seen.crew = crew.into();
                    seen.ledger = Some(tail.ledger.clone());
                });
                self.tail = Some(tail);
                self.reading.is_due = true;
                self.set_journal_trouble(None, changes);
                self.rows(changes).await;
            }
            Ok(None) if self.place.root.is_dir() => {}
            Ok(None) => self.set_journal_trouble(self.gone(file), changes),
            Err(error) => self.set_journal_trouble(Some(error.words()), changes),
        }
    }

    /// What is said of a journal in whose place there is this file.
    fn gone(&self, file: Option<(u64, u64)>) -> Option<String> {
        let root = &self.place.root;
        if !root.is_dir() {
            let root = text::sanitise::line(&root.to_string_lossy());
            return Some(format!(
                "the folder {root} is gone, or was moved: nothing here goes on"
            ));
        }
        let says = "the journal was deleted: what happened before is shown no more";
        file.is_none().then(|| says.to_owned())
    }

    /// The place of the journal's file on the disk.
    fn journal_file(&self) -> Option<(u64, u64)> {
        on_disk(&self.place.crew_dir.join("journal.db"))
    }

    fn set_journal_trouble(&mut self, trouble: Option<String>, changes: &mut Vec<Change>) {
        if self.seen.borrow().journal_trouble != trouble {
            self.seen.send_modify(|seen| seen.journal_trouble = trouble);
            changes.push(Change::Trouble);
        }
    }

    /// Begins anew without a journal.
    fn leave_journal(&mut self, trouble: Option<String>, changes: &mut Vec<Change>) {
        self.tail = None;
        self.seen.send_modify(|seen| {
            seen.crew = Default::default();
            seen.ledger = None;
            seen.files = Default::default();
        });
        self.reading.is_due = true;
        changes.push(Change::Journal);
        self.set_journal_trouble(trouble, changes);
    }

    /// Folds the rows that are there by now, at most [`ROWS`].
    async fn rows(&mut self, changes: &mut Vec<Change>) {
        let Some(tail) = &mut self.tail else { return };
        let mut rows = Vec::new();
        let folded = tail.more(&self.seen, &mut rows).await;
        if !rows.is_empty() {
            changes.push(Change::Rows(rows));
            self.reading.is_due = true;
            // Who holds the repository shows at once with what it does.
            self.look_at_engine(changes);
        }
        match folded {
            Ok(()) => {}
            // The next notice or look finds the rows.
            Err(Error::Store(error)) if error.is_passing() => {}
            Err(error) => {
                // A journal that is gone fails in one way or another.
                let file = self.journal_file();
                let is_there = self.tail.as_ref().is_some_and(|tail| tail.file == file);
                let trouble = if is_there {
                    Some(error.words())
                } else {
                    self.gone(file)
                };
                self.leave_journal(trouble, changes);
            }
        }
    }

    fn look_at_engine(&mut self, changes: &mut Vec<Change>) {
        // Where the lock cannot be looked at now, the next look may.
        let Ok(engine) = Engine::of(&self.place) else {
            return;
        };
        if self.seen.borrow().engine == engine {
            return;
        }
        self.seen.send_modify(|seen| {
            seen.engine = engine;
            seen.share_engine();
        });
        self.reading.is_due = true;
        changes.push(Change::Engine);
    }

    fn look_at_work(&mut self, changes: &mut Vec<Change>) {
        let seen = self.seen.borrow().clone();
        let found = at_work(&self.place, &seen.crew, seen.has_engine(), clock::now());
        if found != *seen.at_work {
            self.seen.send_modify(|seen| seen.at_work = found.into());
            changes.push(Change::AtWork);
        }
    }

    /// Begins to read the ticket folder, if it is time for it.
    async fn read_files(&mut self) {
        if !self.reading.is_now() {
            return;
        }
        self.reading.begin();
        let outbox = Outbox::read(self.tail.as_ref().map(|tail| &tail.ledger)).await;
        let crew = self.seen.borrow().crew.clone();
        self.reading.read(&self.place, crew, outbox);
    }

    fn take_files(&mut self, read: Read, changes: &mut Vec<Change>) {
        let (files, trouble) = match self.reading.ended(read) {
            Ok(files) => (Some(files), None),
            // Those that were read last stand until the next look.
            Err(error) => (None, Some(error.words())),
        };
        if self.seen.borrow().folder_trouble != trouble {
            changes.push(Change::Trouble);
        }
        self.seen.send_modify(|seen| {
            seen.folder_trouble = trouble;
            if let Some(mut files) = files {
                files.keep_times(&seen.files);
                seen.files = files.into();
                seen.share_engine();
                changes.push(Change::Files);
            }
        });
    }
}

/// Waits until the journal may have more rows.
async fn changed(tail: &mut Option<Tail>) {
    match tail {
        Some(tail) if tail.is_behind => {}
        Some(tail) => tail.rows.changed().await,
        None => std::future::pending().await,
    }
}

/// What tells a file from another of its name: none where there is none.
fn on_disk(path: &Path) -> Option<(u64, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}
