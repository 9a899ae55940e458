//! Looking at a repository: at its journal, ticket folder, engine and the steps of its agents, and what has
//! changed there since the last look.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::at_work::at_work;
use super::reading::Read;
use super::tail::Tail;
use super::{Change, Following};
use crate::clock;
use crate::engine::Engine;
use crate::error::Error;
use crate::outbox::Outbox;

impl Following {
    /// Looks at everything now, also at what gives no notice, and tells what has changed.
    pub async fn look(&mut self) -> Vec<Change> {
        let mut changes = Vec::new();
        self.look_at_all(&mut changes).await;
        self.reading.is_due |= self.reading.has_rested();
        self.read_files().await;
        changes
    }

    pub(super) async fn look_at_all(&mut self, changes: &mut Vec<Change>) {
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
                self.had_journal = true;
                self.reading.is_due = true;
                self.set_journal_trouble(None, changes);
                self.rows(changes).await;
            }
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
        (file.is_none() && self.had_journal).then(|| says.to_owned())
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
    pub(super) async fn rows(&mut self, changes: &mut Vec<Change>) {
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
    pub(super) async fn read_files(&mut self) {
        if !self.reading.is_now() {
            return;
        }
        self.reading.begin();
        let outbox = Outbox::read(self.tail.as_ref().map(|tail| &tail.ledger)).await;
        let crew = self.seen.borrow().crew.clone();
        self.reading.read(&self.place, crew, outbox);
    }

    pub(super) fn take_files(&mut self, read: Read, changes: &mut Vec<Change>) {
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

/// What tells a file from another of its name: none where there is none.
pub(super) fn on_disk(path: &Path) -> Option<(u64, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}
