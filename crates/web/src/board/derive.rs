//! The derivation of the documents from what is seen of a repository. It has no clock and no I/O.

mod agent;
mod item;
mod over;
mod state;
#[cfg(test)]
mod tests;
mod ticket;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use client::following::Seen;
use client::{Place, documents};
use model::journal::Stream;
use model::view::{self, Item, Landed, Snapshot};
use model::{Look, TicketId, Time};
use serde::Serialize;
use store::Recorded;

use super::document::{Documents, Kind, Patch, patch};
use over::Over;
pub(crate) use ticket::TicketDocument;
use ticket::Tickets;

/// The landings that are shown.
const LANDINGS: usize = 100;

/// What the documents are derived from.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    pub(super) repository: &'a Repository,
    pub(super) seen: &'a Seen,
    /// The commands of pages, by their ids.
    pub(super) asked: &'a BTreeMap<String, Arc<str>>,
    pub(super) now: Time,
}

/// The document of a repository.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Repository {
    /// The name of its folder.
    pub(super) name: String,
    /// The branch that work lands on.
    pub(super) target: String,
    /// Its folder.
    pub(super) path: String,
}

/// The engine that holds the repository.
#[derive(Debug, Serialize)]
struct Engine {
    pub(super) pid: Option<u32>,
    pub(super) host: String,
    pub(super) since: Option<model::Moment>,
    /// Whether a signal has stopped it.
    pub(super) stopped: bool,
    /// It in words.
    pub(super) words: String,
    /// Whether its process has ended, and a git that it started has not.
    #[serde(rename = "dead")]
    pub(super) is_dead: bool,
}

impl Repository {
    pub(super) fn at(place: &Place) -> Self {
        let name = place.root.file_name().unwrap_or_default().to_string_lossy();
        Self {
            name: name.into_owned(),
            target: String::new(),
            path: place.root.display().to_string(),
        }
    }
}

impl Engine {
    fn of(engine: &client::engine::Engine) -> Self {
        Self {
            pid: engine.pid,
            host: engine.host.clone(),
            since: engine.since.map(model::Moment),
            stopped: engine.stopped().is_some(),
            words: engine.to_string(),
            is_dead: engine.is_dead(),
        }
    }
}

impl Sources<'_> {
    fn look(&self) -> Look {
        Look {
            now: self.now,
            engine: self.seen.has_engine(),
        }
    }
}

/// Derives documents, and keeps those of tickets that stand as they did: what it does at each cut is in
/// proportion to what has changed.
#[derive(Debug, Default)]
pub(super) struct Derivation {
    over: Over,
    tickets: Tickets,
    /// The documents that are no ticket's.
    others: Documents,
    /// The tickets that have had a row since the last cut.
    rows: BTreeSet<TicketId>,
}

impl Derivation {
    /// Notes rows that were folded.
    pub(super) fn note(&mut self, rows: &[Recorded]) {
        let tickets = rows.iter().filter_map(|row| match &row.stream {
            Stream::Ticket(id) => Some(id.clone()),
            Stream::Project => None,
        });
        self.rows.extend(tickets);
    }

    /// What has changed of the documents since the last cut, and what waits for a person.
    pub(super) fn patch(&mut self, of: &Sources<'_>) -> (Patch, Vec<Item>) {
        let look = of.look();
        let changed = self.over.look(of.seen, std::mem::take(&mut self.rows));
        let mut tickets = Patch::new();
        self.tickets
            .look(&mut tickets, of, &self.over.crew, &changed, look);
        let (others, items) = self.others(of, look);
        let mut patch = patch(&self.others, &others);
        self.others = others;
        patch.append(&mut tickets);
        (patch, items)
    }

    fn others(&self, of: &Sources<'_>, look: Look) -> (Documents, Vec<Item>) {
        let mut documents = Documents::default();
        let (crew, files) = (&of.seen.crew, &of.seen.files);
        let mut repository = of.repository.clone();
        repository.target.clone_from(&files.settings.project.target);
        documents.write(Kind::Repository, "", &repository);
        documents.write(Kind::State, "", &state::State::of(of, self.tickets.counts, look));
        let agents = agent::put(&mut documents, of, look);
        let items = view::inbox(self.tickets.watched(), &files.beside);
        let inbox = item::put(&mut documents, &items, &self.over.crew);
        let train = train(&mut documents, crew, look);
        let landed = landed(&mut documents, crew);
        documents.write(Kind::Order, "agents", &agents);
        documents.write(Kind::Order, "inbox", &inbox);
        documents.write(Kind::Order, "landed", &landed);
        documents.put(Kind::Order, "tickets", self.tickets.order());
        documents.write(Kind::Order, "train", &train);
        for (id, asked) in of.asked {
            documents.put(Kind::Asked, id, Arc::clone(asked));
        }
        (documents, items)
    }
}

/// Puts the entries of the merge train in; gives their keys in order.
fn train(documents: &mut Documents, crew: &Snapshot, look: Look) -> Vec<TicketId> {
    let entries = view::train(crew, look).into_iter();
    let put = |entry: view::TrainEntry| {
        let ticket = entry.ticket.clone();
        documents.write(Kind::Train, ticket.as_str(), &documents::TrainEntry::of(entry));
        ticket
    };
    entries.map(put).collect()
}

/// Puts the latest landings in; gives their keys, the latest first.
fn landed(documents: &mut Documents, crew: &Snapshot) -> Vec<TicketId> {
    let mut keys = Vec::new();
    for one in crew.landed.iter().rev().take(LANDINGS) {
        // A ticket that was opened again may land twice.
        if !keys.contains(&one.ticket) {
            documents.write(Kind::Landed, one.ticket.as_str(), &documents::Landed::of(one));
            keys.push(one.ticket.clone());
        }
    }
    keys
}

/// The number of landings since a moment.
fn landings_since(crew: &Snapshot, since: Time) -> usize {
    let is_since = |landed: &&Landed| landed.at >= since;
    crew.landed.iter().rev().take_while(is_since).count()
}
