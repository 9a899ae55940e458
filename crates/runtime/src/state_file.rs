//! `.crew/state.json`: a projection for people and scripts, in the shape of the Crew seed. Nothing reads it back.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use model::Time;
use model::settings::Settings;
use model::view::{Crew, Row, state_json};
use store::{Journal, Ledger};

use crate::{Place, Result, clock};

/// Rows folded at a time: an engine that takes a long journal up is not kept from its work.
const PAGE: u32 = 250;
/// Between two writings: it is for people.
const REST: Duration = Duration::from_millis(250);

/// The file, written after changes, whole or not at all, from the fold that every surface shows.
#[derive(Debug)]
pub(crate) struct StateFile {
    path: PathBuf,
    workspaces: PathBuf,
    crew: Crew,
    /// The last row that was folded.
    folded: u64,
    /// Whether the journal has rows that were not folded.
    pub(crate) behind: bool,
    written: Option<Time>,
}

impl StateFile {
    pub(crate) fn new(place: &Place, settings: &Settings) -> Result<Self> {
        Ok(Self {
            path: place.crew_dir.join("state.json"),
            workspaces: place.workspaces_dir(settings)?,
            crew: Crew::default(),
            folded: 0,
            behind: true,
            written: None,
        })
    }

    /// When it is to be refreshed next; nothing while it is up to date.
    pub(crate) fn due(&self) -> Option<Time> {
        let rested = self.written.map_or(Time::default(), |at| at + REST);
        self.behind.then_some(rested)
    }

    /// Folds what is new and writes it, at most some times a second.
    pub(crate) async fn refresh(&mut self, ledger: &Ledger<impl Journal>) -> Result<()> {
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
    pub(crate) async fn finish(&mut self, ledger: &Ledger<impl Journal>) -> Result<()> {
        self.behind = true;
        while self.behind {
            self.fold(ledger).await?;
        }
        self.write();
        Ok(())
    }

    async fn fold(&mut self, ledger: &Ledger<impl Journal>) -> Result<()> {
        let page = ledger.tail(self.folded, PAGE).await?;
        for fold in &page {
            self.folded = fold.seq;
            self.crew.apply(Row {
                seq: fold.seq,
                stream: &fold.stream,
                at: fold.at,
                fact: &fold.fact,
                after: &fold.after,
            });
        }
        self.behind = page.len() >= PAGE as usize;
        Ok(())
    }

    fn write(&self) {
        let state = state_json(&self.crew, &self.workspaces.to_string_lossy());
        let Some(dir) = self.path.parent() else { return };
        // Whole in memory first: everyone who watches the folder is told of every write into the file.
        let written = serde_json::to_vec_pretty(&state)
            .map_err(std::io::Error::from)
            .and_then(|mut text| {
                text.push(b'\n');
                let mut file = tempfile::NamedTempFile::new_in(dir)?;
                file.write_all(&text)?;
                file.persist(&self.path).map_err(|error| error.error)
            });
        if let Err(error) = written {
            tracing::warn!(path = %self.path.display(), %error, "state.json cannot be written");
        }
    }
}
