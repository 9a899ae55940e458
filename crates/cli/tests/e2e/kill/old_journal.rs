//! A repository with a past: its journal is full of tickets that ended long ago, and old outputs take more
//! room than they may. Crew is killed while it archives the tickets and removes the outputs. Another
//! repository has a journal of an older schema, and crew is killed while it brings the journal up to date.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use model::journal::Stream;
use process::{Captured, Exit, Reason};
use store::{Event, Journal as _, Location, Seq, samples};

use crate::kill::crew;
use crate::kill::oracle::{self, Expected};
use crate::kill::rig::Rig;
use crate::kill::world::{Kit, Plan, World};

/// Points that only such a repository comes by, in the order in which it does; those of [`TRIM`] for each
/// output.
const MIGRATION: [&str; 3] = ["migrate.begun", "migrate.written", "migrate.committed"];
const ARCHIVING: [&str; 4] = [
    "archive.chosen",
    "archive.view_written",
    "archive.records_written",
    "archive.committed",
];
pub(crate) const TRIM: [&str; 3] = ["trim.chosen", "trim.renamed", "trim.removed"];

/// Closed tickets of the journal, of which there is an output that no other may stand beside.
pub(crate) const PRINTED: [&str; 3] = ["t-1", "t-2", "t-3"];
/// A journal with every kind of event, made once.
static EVERY_EVENT: OnceLock<Vec<u8>> = OnceLock::new();
/// Bytes of each: of all of them together, crew keeps 4 GiB.
const MUCH: u64 = 3 << 30;

/// Whether nobody passes this point who has no past.
pub(crate) fn has(point: &str) -> bool {
    MIGRATION
        .iter()
        .chain(&ARCHIVING)
        .chain(&TRIM)
        .any(|name| *name == point)
}

/// A queue of today's beside the past.
pub(crate) struct Past {
    pub(crate) rig: Rig,
    tickets: BTreeSet<String>,
    /// What the journal held at first.
    events: Vec<Event>,
}

impl Past {
    fn bare() -> Self {
        let tickets: BTreeSet<String> = ["k-00", "k-01"].map(str::to_owned).into();
        let plans: BTreeMap<String, Plan> = tickets.iter().map(|id| (id.clone(), Plan::default())).collect();
        let kit = Kit {
            agent: include_str!("scenario.sh"),
            check: include_str!("scenario-check.sh"),
            agents: 4,
            train: (1, 1),
            settings: ("", ""),
            in_memory: true,
        };
        let world = World::with(kit, &plans);
        private_dir(&world.repo().join(".crew"));
        Self {
            rig: Rig::new(world),
            tickets,
            events: Vec::new(),
        }
    }

    /// With a journal of every kind of event.
    fn new() -> Self {
        let mut past = Self::bare();
        let journal = EVERY_EVENT.get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("journal.db");
            on_its_own(async {
                let ledger = store::create(&Location::file(&path), "past").await.unwrap();
                samples::every_event(&ledger).await.unwrap();
                ledger.close().await;
            });
            fs::read(path).unwrap()
        });
        fs::write(past.rig.world.journal(), journal).unwrap();
        past.events = past.events_now();
        assert!(past.events.len() > 100, "{} events", past.events.len());
        past
    }

    /// With a journal of an older schema.
    fn of_older_schema() -> Self {
        let past = Self::bare();
        on_its_own(samples::older_schema(&past.rig.world.journal(), "past")).unwrap();
        past
    }

    /// As [`Past::new`], with steps that ended long ago and printed too much.
    pub(crate) fn with_outputs() -> Self {
        let past = Self::new();
        for (ticket, ended_at) in PRINTED.iter().zip(1..) {
            let dir = past.run_of(ticket);
            private_dir(&dir);
            let exit = Exit {
                reason: Reason::Exited,
                code: Some(0),
                signal: None,
                started_at: ended_at,
                ended_at,
                out: Captured::default(),
                err: Captured::default(),
                survivors: 0,
            };
            fs::write(dir.join("spec.json"), "{}").unwrap();
            fs::write(dir.join("exit.json"), serde_json::to_vec(&exit).unwrap()).unwrap();
            // A hole takes no room, and counts.
            let out = File::create(dir.join("out")).unwrap();
            out.set_len(MUCH).unwrap();
        }
        past
    }

    fn run_of(&self, ticket: &str) -> PathBuf {
        self.rig.world.repo().join(format!(".crew/runs/{ticket}.1.1"))
    }

    /// Of the closed tickets, those of which something is there, under whatever name.
    pub(crate) fn printed(&self) -> Vec<String> {
        let runs = fs::read_dir(self.rig.world.repo().join(".crew/runs")).unwrap();
        let names = runs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let is_closed = |name: &String| name.trim_start_matches(".gone-").starts_with("t-");
        let mut names: Vec<String> = names.filter(is_closed).collect();
        names.sort();
        names
    }

    /// Has crew die at a point, at this hit of it; the journal has lost nothing then.
    pub(crate) fn dies(&mut self, args: &[&str], at: (&str, u64)) {
        self.rig.dies(args, at);
        self.has_all_events();
    }

    /// The journal as whoever comes next finds it. A copy is looked at: to open it is to bring it up to date.
    fn events_now(&self) -> Vec<Event> {
        let folder = tempfile::tempdir_in(self.rig.world.root()).unwrap();
        let name = |end: &str| format!("journal.db{end}");
        for end in ["", "-wal"] {
            let from = self.rig.world.journal().with_file_name(name(end));
            if from.exists() {
                fs::copy(from, folder.path().join(name(end))).unwrap();
            }
        }
        on_its_own(async {
            let at = Location::file(folder.path().join(name("")));
            let journal = store::open(&at).await.unwrap().0;
            assert_eq!(journal.meta("id").await.unwrap().as_deref(), Some("past"));
            assert_eq!(journal.verify().await.unwrap(), Vec::<String>::new());
            let events = journal.events(Seq(0), u32::MAX).await.unwrap();
            journal.close().await;
            events
        })
    }

    fn has_all_events(&self) {
        let now = self.events_now();
        let kept = now.get(..self.events.len());
        assert!(kept == Some(&self.events[..]), "an old event is lost or changed");
    }

    /// What crew says of the past.
    fn told(&self) -> String {
        let asked: [&[&str]; 5] = [
            &["cost", "t-12"],
            &["summary", "t-7"],
            &["history", "t-1"],
            &["explain", "t-2"],
            &["explain", "t-5", "--json"],
        ];
        let said = asked.map(|args| {
            let (_, out, err) = crew::said(&self.rig.world, args);
            format!("{args:?}\n{out}{err}")
        });
        said.concat()
    }

    /// Works the queue off, with nobody dying any more, and looks at everything.
    pub(crate) fn ends_well(&mut self) {
        let status = self.rig.run(&["run", "--until-idle"]);
        // With every kind of event, a ticket is over because it cannot be done: it waits for a person's word.
        let impossible = usize::from(!self.events.is_empty());
        let exit = if impossible > 0 { 3 } else { 0 };
        assert_eq!(status.code(), Some(exit), "{}", oracle::log(&self.rig.world));
        let expected = Expected {
            landed: self.tickets.clone(),
            closed: self.tickets.clone(),
        };
        oracle::check_all_but_the_journal(&self.rig.world, &expected, &BTreeMap::new());
        oracle::no_commit_is_lost(&self.rig.world, self.tickets.len());
        self.has_all_events();
        // What the old tickets landed as is in no repository of this world, and the doctor says so; all else
        // is well.
        let (_, said, _) = crew::said(&self.rig.world, &["doctor"]);
        let streams: BTreeSet<&Stream> = self.events.iter().map(|event| &event.stream).collect();
        let aside = streams
            .iter()
            .filter(|stream| ***stream != Stream::Project)
            .count()
            - impossible;
        let aside = match aside {
            0 => String::new(),
            aside => format!("{aside} tickets are archived; their records are what their events give"),
        };
        for well in [
            aside.as_str(),
            "events, whole; every state is what replay gives",
            "leftovers   none",
        ] {
            assert!(said.contains(well), "crew doctor, without {well:?}:\n{said}");
        }
    }
}

fn on_its_own<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work)
}

fn private_dir(path: &Path) {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .unwrap();
}

#[test]
fn killed_while_an_older_journal_is_brought_up_to_date_it_loses_nothing() {
    for first in [&["run", "--until-idle"] as &[&str], &["ps"]] {
        let mut past = Past::of_older_schema();
        for point in MIGRATION {
            past.rig.dies(first, (point, 1));
        }
        past.ends_well();
    }
}

#[test]
fn killed_while_old_tickets_are_archived_it_loses_nothing() {
    let told = Past::new().told();
    let mut past = Past::new();
    for point in ARCHIVING {
        past.dies(&["run", "--until-idle"], (point, 1));
    }
    past.ends_well();
    assert_eq!(past.told(), told);
}

#[test]
fn killed_while_old_outputs_are_removed_nothing_of_them_stays_and_no_other_goes() {
    let mut past = Past::with_outputs();
    for point in TRIM {
        past.dies(&["run", "--until-idle"], (point, 1));
        assert!(past.run_of("t-3").exists(), "{point}: it has room");
    }
    past.ends_well();
    assert_eq!(past.printed(), ["t-3.1.1"]);
}

#[test]
fn killed_again_and_again_while_a_person_removes_old_outputs_the_next_time_removes_all() {
    let mut past = Past::with_outputs();
    let clean = ["clean", "--older", "1d"];
    past.dies(&clean, ("trim.chosen", 1));
    assert_eq!(past.printed(), ["t-1.1.1", "t-2.1.1", "t-3.1.1"]);
    past.dies(&clean, ("trim.renamed", 1));
    assert_eq!(past.printed(), [".gone-t-1.1.1", "t-2.1.1", "t-3.1.1"]);
    past.dies(&clean, ("trim.removed", 1));
    assert_eq!(past.printed(), ["t-3.1.1"]);
    assert!(past.rig.run(&clean).success());
    assert_eq!(past.printed(), Vec::<String>::new());
    past.ends_well();
}
