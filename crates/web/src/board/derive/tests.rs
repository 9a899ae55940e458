//! What is derived from changes is what the whole gives.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use client::following::{Files, Seen};
use model::journal::{Fact, State, Stream};
use model::machine::Machine as _;
use model::policy::route::Refusal;
use model::project::Machine;
use model::ticket::{Origin, Spec, Ticket, Unheeded};
use model::view::{BadFile, Failing, Item, Record, Snapshot, inbox};
use model::{TicketId, Time, samples};
use serde_json::{Value, json};
use store::Recorded;

use super::{Derivation, Repository, Sources, TicketDocument};
use crate::board::document::{Documents, Kind, Patch};

const IDS: [&str; 6] = ["t-0", "t-1", "t-1-n1", "t-5", "t-8", "t-9"];
/// The samples' time is a few days later.
const BEGIN: Time = Time(1_000);

/// The events that are tried at most until one fits.
const TRIES: usize = 40;

/// The same numbers again for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn id(&mut self) -> TicketId {
        TicketId::new(IDS[self.below(IDS.len())]).unwrap()
    }

    fn one<T>(&mut self, mut all: Vec<T>) -> T {
        all.swap_remove(self.below(all.len()))
    }
}

/// A repository in which anything happens.
struct World {
    random: Random,
    seen: Seen,
    now: Time,
    rows: Vec<Recorded>,
    archived: Vec<(Record, Arc<Ticket>)>,
}

impl World {
    fn row(&mut self, stream: Stream, fact: Fact, after: State) {
        let row = Recorded {
            seq: self.seen.crew.seq + 1,
            stream,
            version: 1,
            at: self.now,
            cause: String::new(),
            fact,
            after,
        };
        Arc::make_mut(&mut self.seen.crew).apply(row.row());
        self.rows.push(row);
    }

    /// Something happens to a ticket that is not archived.
    fn ticket(&mut self) {
        let id = self.random.id();
        if self.seen.crew.archived.tickets.contains(&id) {
            return;
        }
        let known = self
            .seen
            .crew
            .tickets
            .get(&id)
            .map(|ticket| Ticket::clone(ticket));
        let mut before = known.unwrap_or_else(|| Ticket::new(id.clone()));
        if id.as_str() == "t-1-n1" && before.delegated.is_none() {
            before.delegated = Some(Box::new(samples::ticket::delegated()));
        }
        let mut events = samples::ticket::alphabet(&before);
        for _ in 0..TRIES.min(events.len()) {
            let event = events.swap_remove(self.random.below(events.len())).event;
            // The parent of the samples' children is no child of its own.
            if let Ok(change) = Ticket::clone(&before).after(&event, self.now)
                && change.ticket.delegated().is_none_or(|it| it.by != id)
            {
                let after = State::Ticket(change.ticket.into());
                self.row(Stream::Ticket(id), Fact::Ticket(event), after);
                return;
            }
        }
    }

    fn project(&mut self) {
        let event = self.random.one(samples::project::alphabet()).event;
        if let Ok(change) = Machine::transition(&self.seen.crew.project, &event) {
            let after = State::Project(change.state);
            self.row(Stream::Project, Fact::Project(event), after);
        }
    }

    /// A ticket as a file may have it.
    fn of_file(&mut self, id: &TicketId) -> Ticket {
        let known = self.seen.crew.tickets.get(id);
        let mut ticket = known.map_or_else(|| Ticket::new(id.clone()), |known| Ticket::clone(known));
        let spec = Spec {
            title: format!("title {}", self.random.below(3)),
            kind: "task".to_owned(),
            priority: u8::try_from(self.random.below(3)).unwrap(),
            deps: BTreeSet::from([self.random.id()]),
            ..Spec::default()
        };
        if let Ok(change) =
            Ticket::clone(&ticket).after(&model::ticket::Event::Created { spec: spec.clone() }, self.now)
        {
            ticket = change.ticket;
        }
        ticket.spec = spec;
        if self.random.below(4) == 0 {
            ticket.unheeded = Some(Unheeded {
                origin: Origin::Unknown,
                says: None,
                renamed: None,
                since: self.now,
            });
        }
        ticket
    }

    fn refusal(&mut self) -> Refusal {
        let id = self.random.id();
        let until = Time(self.now.0 + 3_000);
        self.random.one(vec![
            Refusal::NoFile,
            Refusal::Epic,
            Refusal::Debouncing { until },
            Refusal::NotDue { until },
            Refusal::WaitsFor {
                ids: vec![id.clone()],
            },
            Refusal::MissingDependency { id: id.clone() },
            Refusal::Delegated { by: id },
            Refusal::Unreadable,
        ])
    }

    /// The ticket folder is read, with some of it changed.
    fn files(&mut self) {
        let mut files = Files::clone(&self.seen.files);
        files.is_read = true;
        files.seq = self.seen.crew.seq;
        for _ in 0..=self.random.below(3) {
            let id = self.random.id();
            match self.random.below(7) {
                0 | 1 => {
                    let ticket = Arc::new(self.of_file(&id));
                    files.unseen.insert(id, ticket);
                }
                2 => drop(files.unseen.remove(&id)),
                3 => {
                    let refusal = self.refusal();
                    files.beside.refusals.insert(id, refusal);
                }
                4 => drop(files.beside.refusals.remove(&id)),
                5 => drop(files.changed_at.insert(id, self.now)),
                _ => self.beside(&mut files, id),
            }
        }
        self.seen.files = files.into();
    }

    fn beside(&mut self, files: &mut Files, id: TicketId) {
        match self.random.below(6) {
            0 => files.beside.failing = Vec::new(),
            1 => files.beside.failing.push(Failing {
                of: model::journal::EffectId { seq: 1, index: 0 },
                ticket: id,
                is_file: self.random.below(2) == 0,
                why: "it cannot be done".to_owned(),
                since: BEGIN,
                until: Some(Time(self.now.0 + 5_000)),
            }),
            2 => {
                files.beside.files = vec![BadFile {
                    name: id.to_string(),
                    ticket: Some(id),
                    what: "no ticket".to_owned(),
                    hint: "mend it".to_owned(),
                }];
            }
            3 => files.beside.blocker = Some(id),
            4 => drop(files.beside.children.insert(id, Vec::new())),
            _ => files.settings.run.max_steps = 1 + u32::try_from(self.random.below(3)).unwrap(),
        }
    }

    /// A ticket that is over is archived, or one that was is restored.
    fn archive(&mut self) {
        let crew = Arc::make_mut(&mut self.seen.crew);
        if let Some((record, ticket)) = self.archived.pop() {
            crew.restore(record, ticket);
        } else {
            let over = crew.tickets.values().filter(|ticket| ticket.is_done());
            let over: BTreeSet<TicketId> = over.map(|ticket| ticket.id.clone()).take(1).collect();
            let tickets = crew.tickets.clone();
            let records = crew.archive(&over).into_iter();
            let with_tickets = records.filter_map(|record| {
                let ticket = Arc::clone(tickets.get(&record.ticket)?);
                Some((record, ticket))
            });
            self.archived.extend(with_tickets);
        }
        self.seen.renewals += 1;
    }

    fn step(&mut self) {
        match self.random.below(12) {
            0..=5 => self.ticket(),
            6 => self.project(),
            7..=9 => self.files(),
            10 => self.now = Time(self.now.0 + i64::try_from(self.random.below(40_000)).unwrap()),
            _ => self.archive(),
        }
    }
}

fn apply(documents: &mut Documents, patch: Patch) {
    for (key, json) in patch {
        documents.set(&key, json.as_ref());
    }
}

/// The documents of tickets and what waits, from all tickets at once.
fn whole(of: &Sources<'_>) -> (BTreeMap<String, Value>, Vec<TicketId>, Snapshot, Vec<Item>) {
    let (seen, look) = (of.seen, of.look());
    let mut crew = Snapshot::clone(&seen.crew);
    for (id, ticket) in seen.files.unseen(&seen.crew) {
        crew.tickets.insert(id.clone(), Arc::clone(ticket));
    }
    let order: Vec<TicketId> = crew.order().iter().map(|ticket| ticket.id.clone()).collect();
    let documents = order.iter().map(|id| {
        let changed_at = seen.files.changed_at.get(id).copied();
        let steps = seen.files.settings.run.max_steps;
        let document = TicketDocument::of(
            &crew,
            &seen.files.beside,
            &crew.tickets[id],
            changed_at,
            steps,
            look,
        );
        let mut document = serde_json::to_value(document).unwrap();
        let is_seen = seen.crew.tickets.contains_key(id);
        document["is_seen"] = json!(is_seen);
        document["assignable"] = json!(is_seen && document["assignable"] == true);
        (id.to_string(), document)
    });
    let items = inbox(&crew.tickets, &seen.files.beside);
    (documents.collect(), order.clone(), crew, items)
}

#[test]
fn what_is_derived_from_changes_is_what_the_whole_gives() {
    let repository = Repository {
        name: "here".to_owned(),
        target: String::new(),
        path: "/here".to_owned(),
    };
    let (mut most, mut waited) = (0, 0);
    for seed in 0..40 {
        let mut world = World {
            random: Random(seed),
            seen: Seen::default(),
            now: BEGIN,
            rows: Vec::new(),
            archived: Vec::new(),
        };
        let (mut derivation, mut documents) = (Derivation::default(), Documents::default());
        for _ in 0..40 {
            for _ in 0..=world.random.below(3) {
                world.step();
            }
            derivation.note(&std::mem::take(&mut world.rows));
            let sources = Sources {
                repository: &repository,
                seen: &world.seen,
                asked: &BTreeMap::new(),
                now: world.now,
            };
            let (patch, items) = derivation.patch(&sources);
            apply(&mut documents, patch);
            let mut anew = Documents::default();
            apply(&mut anew, Derivation::default().patch(&sources).0);
            assert_eq!(documents, anew, "seed {seed}");
            let (tickets, order, crew, all_items) = whole(&sources);
            assert_eq!(items, all_items, "seed {seed}");
            let read = |kind| {
                let of_kind = documents.iter().filter(move |((of, _), _)| *of == kind);
                of_kind.map(|((_, key), json)| (key.to_string(), serde_json::from_str(json).unwrap()))
            };
            assert_eq!(
                read(Kind::Ticket).collect::<BTreeMap<String, Value>>(),
                tickets,
                "seed {seed}"
            );
            let orders: BTreeMap<String, Value> = read(Kind::Order).collect();
            assert_eq!(orders["tickets"], json!(order), "seed {seed}");
            let state: Value = read(Kind::State).next().unwrap().1;
            assert_eq!(state["counts"], json!(crew.counts()), "seed {seed}");
            (most, waited) = (most.max(tickets.len()), waited.max(items.len()));
        }
    }
    // The worlds have something in them.
    assert!(most >= 5 && waited >= 4, "{most} tickets, {waited} items");
}
