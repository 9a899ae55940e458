//! The queue as the router would see it: the journal's tickets and the files as they are now.
//!
//! The engine has its own reading of the files; this one answers questions while no engine runs, and is thrown away.

use std::collections::{BTreeMap, BTreeSet};

use model::policy::route::{self, Queue};
use model::settings::Settings;
use model::ticket::{Event, FileStatus, Ticket};
use model::view::Crew;
use model::{AgentName, TicketId, Time};
use tickets::{Folder, Readings};

use crate::error::Result;
use runtime::{Place, Reading};

/// What routing looks at.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The journal's tickets, and those that only have a file yet.
    pub(crate) tickets: BTreeMap<TicketId, Ticket>,
    files: BTreeMap<TicketId, route::File>,
    roster: BTreeSet<AgentName>,
    settle: std::time::Duration,
    now: Time,
    /// What is wrong with files, in words.
    pub(crate) problems: Vec<String>,
}

impl Facts {
    /// Gathers them.
    pub(crate) fn gather(crew: &Crew, place: &Place, settings: &Settings, now: Time) -> Result<Self> {
        let readings = match Folder::at(&place.tickets_dir) {
            Ok(folder) => folder.load()?,
            Err(_) => Readings::default(),
        };
        let mut facts = Self {
            tickets: crew.tickets.clone(),
            files: BTreeMap::new(),
            roster: crew
                .project
                .agents
                .iter()
                .chain(&settings.agents.names)
                .cloned()
                .collect(),
            settle: settings.run.settle,
            now,
            problems: readings.problems().map(ToString::to_string).collect(),
        };
        for reading in &readings.0 {
            let Ok(id) = TicketId::new(reading.name.as_str()) else {
                continue;
            };
            let read = reading.outcome.as_ref().ok();
            match read.and_then(|read| Some((read, Reading::of(read)?))) {
                Some((read, reading)) => facts.add(id, reading, read.stamp.mtime_ns),
                None => {
                    let unreadable = route::File {
                        status: FileStatus::Open,
                        changed_at: Time(0),
                        unreadable: true,
                    };
                    facts.files.insert(id, unreadable);
                }
            }
        }
        Ok(facts)
    }

    fn add(&mut self, id: TicketId, Reading { spec, status, .. }: Reading, mtime_ns: i128) {
        let changed_at = Time(i64::try_from(mtime_ns / 1_000_000).unwrap_or(0).min(self.now.0));
        self.files.insert(
            id.clone(),
            route::File {
                status,
                changed_at,
                unreadable: false,
            },
        );
        match self.tickets.get_mut(&id) {
            // What was edited since an engine last looked counts already.
            Some(known) if !known.is_done() => known.spec = spec,
            Some(_) => {}
            None if status == FileStatus::Closed => {}
            None => {
                let created = Ticket::new(id.clone()).after(&Event::Created { spec }, self.now);
                if let Ok(change) = created {
                    self.tickets.insert(id, change.ticket);
                }
            }
        }
    }

    /// As the policies take it.
    pub(crate) fn queue(&self) -> Queue<'_> {
        Queue {
            tickets: &self.tickets,
            files: &self.files,
            roster: &self.roster,
            settle: self.settle,
            now: self.now,
        }
    }

    /// A file's status, as it is.
    pub(crate) fn file(&self, id: &TicketId) -> Option<&route::File> {
        self.files.get(id)
    }
}
