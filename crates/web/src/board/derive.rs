//! The derivation of the documents from what is seen of a repository. It has no clock and no I/O.

mod agent;
mod item;
mod state;
mod ticket;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use client::activity::Activity;
use client::documents;
use client::outputs::SettingUp;
use model::view::{self, Item, Landed, Snapshot};
use model::{AgentName, Look, TicketId, Time};
use serde::Serialize;

use super::document::{Documents, Kind};
use super::files::Files;
pub(super) use agent::AtWork;
pub(crate) use ticket::TicketDocument;
pub(super) use ticket::Tickets;

/// The landings that are shown.
const LANDINGS: usize = 100;

/// What is seen of a repository at a moment.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub(super) repository: &'a Repository,
    /// The fold of the journal.
    pub(super) crew: &'a Snapshot,
    pub(super) files: &'a Files,
    pub(super) engine: Option<&'a Engine>,
    pub(super) at_work: &'a BTreeMap<AgentName, AtWork>,
    /// Why the journal or the ticket folder cannot be read, each in words.
    pub(super) troubles: &'a [String],
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Engine {
    pub(super) pid: Option<u32>,
    pub(super) host: String,
    pub(super) since: Option<model::Moment>,
    /// Whether a signal has stopped it.
    pub(super) stopped: bool,
    /// It in words, with what is wrong with it.
    pub(super) words: String,
    /// Whether its process has ended, and a git that it started has not.
    #[serde(skip)]
    pub(super) is_dead: bool,
}

impl Engine {
    pub(super) fn of(engine: &client::engine::Engine) -> Self {
        let how = match engine.stopped() {
            Some(pid) => format!("; stopped by a signal: `kill -CONT {pid}` lets it go on"),
            None if engine.is_dead() => "; it is dead, and a git of its has not ended yet".to_owned(),
            None => String::new(),
        };
        Self {
            pid: engine.pid,
            host: engine.host.clone(),
            since: engine.since.map(model::Moment),
            stopped: engine.stopped().is_some(),
            words: format!("{engine}{how}"),
            is_dead: engine.is_dead(),
        }
    }
}

impl Seen<'_> {
    fn look(&self) -> Look {
        Look {
            now: self.now,
            engine: self.engine.is_some_and(|engine| !engine.is_dead),
        }
    }

    /// The fold, over the ticket files too: what no engine has seen yet is shown all the same.
    fn over_files(&self) -> Cow<'_, Snapshot> {
        let mut crew = Cow::Borrowed(self.crew);
        for (id, ticket) in self.files.unseen(self.crew) {
            crew.to_mut().tickets.insert(id.clone(), Arc::clone(ticket));
        }
        crew
    }
}

/// Derives documents, and keeps those of tickets that stand as they did.
#[derive(Debug, Default)]
pub(super) struct Derivation {
    tickets: Tickets,
}

impl Derivation {
    /// All documents of what is seen, and what waits for a person.
    pub(super) fn documents(&mut self, seen: &Seen<'_>) -> (Documents, Vec<Item>) {
        let mut documents = Documents::default();
        let crew = seen.over_files();
        let look = seen.look();
        let mut repository = seen.repository.clone();
        repository.target.clone_from(&seen.files.settings.project.target);
        documents.write(Kind::Repository, "", &repository);
        documents.write(Kind::State, "", &state::State::of(seen, &crew, look));
        let agents = agent::put(&mut documents, seen, look);
        let tickets = self.tickets.put(&mut documents, seen, &crew, look);
        let items = view::inbox(&crew.tickets, &seen.files.beside);
        let inbox = item::put(&mut documents, &items, &crew);
        let train = train(&mut documents, seen.crew, look);
        let landed = landed(&mut documents, seen.crew);
        documents.write(Kind::Order, "agents", &agents);
        documents.write(Kind::Order, "inbox", &inbox);
        documents.write(Kind::Order, "landed", &landed);
        documents.write(Kind::Order, "tickets", &tickets);
        documents.write(Kind::Order, "train", &train);
        for (id, asked) in seen.asked {
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

/// What runs in the step of an agent, and what sets up its workspace.
pub(super) fn at_work(
    place: &client::Place,
    crew: &Snapshot,
    engine: bool,
    now: Time,
) -> BTreeMap<AgentName, AtWork> {
    let agents = crew.agents().into_iter();
    let found = agents.filter_map(|agent| {
        let ticket = agent.ticket.as_ref().and_then(|id| crew.tickets.get(id));
        let at_work = AtWork {
            activity: Activity::of(place, &agent, engine, now),
            setting_up: ticket.and_then(|ticket| SettingUp::of(place, ticket)),
        };
        (at_work != AtWork::default()).then_some((agent.name, at_work))
    });
    found.collect()
}
