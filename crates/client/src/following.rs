//! Following a repository: its journal, ticket folder, engine and the steps of its agents, for a frontend
//! that stays open.
//!
//! The frontend waits with [`Following::due`], has [`Following::take`] look at what is due, and turns the
//! [`Change`]s into its own messages. What was seen last is in [`Seen`], which any task may look at.

mod at_work;
mod files;
mod look;
mod reading;
mod seen;
mod tail;

use std::time::Duration;

use store::Recorded;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior};

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
    /// Whether there ever was a journal.
    had_journal: bool,
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
            had_journal: false,
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
}

/// Waits until the journal may have more rows.
async fn changed(tail: &mut Option<Tail>) {
    match tail {
        Some(tail) if tail.is_behind => {}
        Some(tail) => tail.rows.changed().await,
        None => std::future::pending().await,
    }
}
