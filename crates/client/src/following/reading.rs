//! The reading of the ticket folder: when it is due, and how long it rests.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use model::view::Snapshot;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::look::on_disk;
use super::{Files, TICK};
use crate::clock;
use crate::error::Result;
use crate::follow::Changes;
use crate::outbox::Outbox;
use runtime::Place;

/// A reading is followed by a rest of so many times its own length: a quarter of a core is the most.
const REST: u32 = 3;
/// The longest rest: on a machine that is busy with other work, a reading that took long was waiting for most
/// of its time.
const LONGEST: Duration = Duration::from_secs(5);
/// The time after which a folder that cannot be watched is read again.
const POLL: Duration = Duration::from_secs(60);

/// How far the reading of the ticket folder is.
pub(super) struct Reading {
    /// Something has changed since it was last begun.
    pub(super) is_due: bool,
    pub(super) is_busy: bool,
    begun: Instant,
    /// It is not read before.
    rested: Instant,
    changes: Changes,
    /// The place of the folder on the disk.
    folder: Option<(u64, u64)>,
    /// The time of the settings file when it was last looked at.
    settings: Option<SystemTime>,
    ends: (mpsc::UnboundedSender<Read>, mpsc::UnboundedReceiver<Read>),
}

/// The ticket folder, as it was read.
#[derive(Debug)]
pub(super) struct Read {
    files: Result<Files>,
    took: Duration,
}

impl Reading {
    pub(super) fn new(place: &Place) -> Self {
        Self {
            is_due: true,
            is_busy: false,
            begun: Instant::now(),
            rested: Instant::now(),
            changes: Changes::of(&place.tickets_dir),
            folder: on_disk(&place.tickets_dir),
            settings: None,
            ends: mpsc::unbounded_channel(),
        }
    }

    /// Looks at what gives no notice: whether the settings were edited, and the folder is another one.
    pub(super) fn look(&mut self, place: &Place) {
        let settings = std::fs::metadata(&place.settings_path);
        let settings = settings.and_then(|metadata| metadata.modified()).ok();
        let folder = on_disk(&place.tickets_dir);
        self.is_due |= settings != self.settings || folder != self.folder;
        self.is_due |= !self.changes.is_watched() && self.begun.elapsed() >= POLL;
        self.settings = settings;
        if folder != self.folder {
            // A folder that was not there could not be watched.
            self.changes = Changes::of(&place.tickets_dir);
            self.folder = folder;
        }
    }

    /// Waits until it has ended, or is to begin: then there is none.
    pub(super) async fn next(&mut self) -> Option<Read> {
        loop {
            let is_waiting = self.is_due && !self.is_busy;
            tokio::select! {
                read = self.ends.1.recv() => return read,
                () = self.changes.told(), if !self.is_due => self.is_due = true,
                () = tokio::time::sleep_until(self.rested), if is_waiting => return None,
            }
        }
    }

    pub(super) fn has_rested(&self) -> bool {
        Instant::now() >= self.rested
    }

    /// Whether it is to begin now.
    pub(super) fn is_now(&self) -> bool {
        self.is_due && !self.is_busy && self.has_rested()
    }

    pub(super) fn begin(&mut self) {
        self.is_due = false;
        self.is_busy = true;
        self.begun = Instant::now();
    }

    /// Reads the folder on a thread of its own. It takes as long as it takes.
    pub(super) fn read(&self, place: &Place, crew: Arc<Snapshot>, outbox: Result<Outbox>) {
        let (place, ended) = (place.clone(), self.ends.0.clone());
        tokio::task::spawn_blocking(move || {
            let begun = Instant::now();
            let files = outbox.and_then(|outbox| Files::read(&crew, &place, outbox, clock::now()));
            let took = begun.elapsed();
            // Nobody hears it any more when the follower is gone.
            drop(ended.send(Read { files, took }));
        });
    }

    /// Has it rest.
    pub(super) fn ended(&mut self, read: Read) -> Result<Files> {
        self.is_busy = false;
        self.rested = Instant::now() + (read.took * REST).clamp(TICK, LONGEST);
        read.files
    }
}
