//! The file `.crew/state.json`: a projection for people and scripts, in the shape of the Crew seed. Nothing
//! reads it back.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use model::TicketId;
use model::Time;
use model::settings::Settings;
use model::view::{Snapshot, state_json};
use store::{Ledger, is_worth_archiving};

use crate::{Place, Result, clock};

/// The file's name until it is whole.
const PASSING: &str = ".state.json.new";
/// Rows folded at a time: an engine that takes a long journal up is not kept from its work.
const PAGE: u32 = 250;
/// The fold is kept anew after so many rows, or as many as there are tickets in it: the cost of keeping grows
/// with its size.
const MANY: u64 = 2000;
/// Between two writings: it is for people.
const REST: Duration = Duration::from_millis(250);

/// The file, written after changes, whole or not at all, from the fold that every surface shows.
#[derive(Debug)]
pub(crate) struct StateFile {
    path: PathBuf,
    workspaces: PathBuf,
    crew: Snapshot,
    /// The last row of the fold that is kept in the journal.
    kept: u64,
    /// Whether the journal has rows that were not folded.
    pub(crate) behind: bool,
    written: Option<Time>,
}

impl StateFile {
    pub(crate) fn new(place: &Place, settings: &Settings) -> Result<Self> {
        Ok(Self {
            path: place.crew_dir.join("state.json"),
            workspaces: place.workspaces_dir(settings)?,
            crew: Snapshot::default(),
            kept: 0,
            behind: true,
            written: None,
        })
    }

    /// When it is to be refreshed next; nothing while it is up to date.
    pub(crate) fn due(&self) -> Option<Time> {
        let rested = self.written.map_or(Time::default(), |at| at + REST);
        self.behind.then_some(rested)
    }

    /// Tickets that were set aside: they are over.
    pub(crate) fn archived(&self) -> &BTreeSet<TicketId> {
        &self.crew.archived.tickets
    }

    /// Folds what is new and writes it, at most some times a second.
    pub(crate) async fn refresh(&mut self, ledger: &Ledger) -> Result<()> {
        let now = clock::now();
        if self.due().is_none_or(|at| at > now) {
            return Ok(());
        }
        self.fold(ledger).await?;
        if !self.behind {
            self.write();
            self.written = Some(now);
        }
        Ok(())
    }

    /// Folds all that is new and writes it.
    pub(crate) async fn finish(&mut self, ledger: &Ledger) -> Result<()> {
        self.behind = true;
        while self.behind {
            self.fold(ledger).await?;
        }
        self.write();
        Ok(())
    }

    /// Takes up the fold that was kept, so that only the rows since are folded.
    pub(crate) async fn load(&mut self, ledger: &Ledger) -> Result<()> {
        self.crew = ledger.cached().await?;
        self.kept = self.crew.seq;
        Ok(())
    }

    /// Keeps the fold in the journal, without the archived part, when that is worth it; returns the tickets
    /// that were archived.
    pub(crate) async fn archive_tickets(&mut self, ledger: &Ledger) -> Result<BTreeSet<TicketId>> {
        // There are few new rows since the last look; while a long journal is still being loaded, that work
        // goes on undisturbed.
        if self.behind {
            self.fold(ledger).await?;
        }
        let new = self.crew.seq.saturating_sub(self.kept);
        let many = MANY.max(self.crew.tickets.len() as u64);
        if self.behind || (new < many && !is_worth_archiving(&self.crew, clock::now())) {
            return Ok(BTreeSet::new());
        }
        let archived = ledger.archive(&mut self.crew, clock::now()).await?;
        self.kept = self.crew.seq;
        Ok(archived)
    }

    async fn fold(&mut self, ledger: &Ledger) -> Result<()> {
        let page = ledger.tail(self.crew.seq, PAGE).await?;
        for fold in &page {
            ledger.fold_row(&mut self.crew, fold).await?;
        }
        self.behind = page.len() >= PAGE as usize;
        Ok(())
    }

    fn write(&self) {
        let state = state_json(&self.crew, &self.workspaces.to_string_lossy());
        // The name is the same each time: when an engine is killed here, the next one removes its file.
        let passing = self.path.with_file_name(PASSING);
        // Whole in memory first: everyone who watches the folder is told of every write into the file.
        let written = serde_json::to_vec_pretty(&state)
            .map_err(std::io::Error::from)
            .and_then(|mut text| {
                text.push(b'\n');
                drop(fs::remove_file(&passing));
                let mut new = File::options();
                let new = new.write(true).create_new(true).mode(0o600);
                new.open(&passing)?.write_all(&text)?;
                failpoint::hit("state.written");
                fs::rename(&passing, &self.path)?;
                failpoint::hit("state.placed");
                Ok(())
            });
        if let Err(error) = written {
            // Half of it would only take room, where there may be none.
            drop(fs::remove_file(&passing));
            tracing::warn!(
                "{} cannot be written: {}",
                self.path.display(),
                text::with_causes(&error)
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_put_in_place_does_not_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = StateFile {
            path: folder.path().join("state.json"),
            workspaces: folder.path().to_owned(),
            crew: Snapshot::default(),
            kept: 0,
            behind: true,
            written: None,
        };
        let there = || {
            let entries = fs::read_dir(folder.path()).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            names.collect::<Vec<_>>()
        };
        fs::create_dir(&file.path).unwrap();
        file.write();
        assert_eq!(there(), ["state.json"]);
        fs::remove_dir(&file.path).unwrap();
        file.write();
        assert_eq!(there(), ["state.json"]);
        assert!(file.path.is_file());
    }
}
