//! What was seen of a repository last.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::AgentName;
use model::view::Snapshot;
use store::Ledger;

use super::{AtWork, Files};
use crate::engine::Engine;

/// What was seen of a repository last. A clone is cheap.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The fold of the journal; without archived tickets where the follower began with a snapshot.
    pub crew: Arc<Snapshot>,
    /// The number of times that tickets have come into the fold, or left it, by no row: they were archived,
    /// or restored.
    pub renewals: u64,
    /// The journal; none before anything was ever asked or run here, and where it cannot be read.
    pub ledger: Option<Ledger>,
    /// The facts of the ticket folder.
    pub files: Arc<Files>,
    /// The engine that holds the repository.
    pub engine: Option<Engine>,
    /// What the agents are at.
    pub at_work: Arc<BTreeMap<AgentName, AtWork>>,
    /// Why the journal cannot be read, in words.
    pub journal_trouble: Option<String>,
    /// Why the ticket folder cannot be read, in words.
    pub folder_trouble: Option<String>,
}

impl Seen {
    /// Whether an engine runs.
    #[must_use]
    pub fn has_engine(&self) -> bool {
        self.engine.as_ref().is_some_and(|engine| !engine.is_dead())
    }

    /// Why the journal or the ticket folder cannot be read, each in words.
    pub fn troubles(&self) -> impl Iterator<Item = &String> {
        self.journal_trouble.iter().chain(&self.folder_trouble)
    }

    /// Takes a fold to or from which tickets have come by no row.
    pub(super) fn renew(&mut self, crew: Snapshot) {
        self.crew = crew.into();
        self.renewals += 1;
    }

    /// Has the facts of the ticket folder say whether an engine runs.
    pub(super) fn share_engine(&mut self) {
        let engine = self.has_engine();
        if self.files.beside.engine != engine {
            Arc::make_mut(&mut self.files).beside.engine = engine;
        }
    }
}
