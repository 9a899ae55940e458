//! The queue as the router would see it: the journal's tickets and the files as they are now.
//!
//! The engine has its own reading of the files; this one answers questions while no engine runs, and is thrown away.

use std::collections::{BTreeMap, BTreeSet};

use model::policy::route::{self, Queue};
use model::settings::Settings;
use model::ticket::{Event, FileStatus, Filing, Spec, Ticket};
use model::view::Crew;
use model::{AgentName, TicketId, Time};
use tickets::{Folder, Readings, Status};

use crate::error::Result;
use runtime::Place;

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
            match &reading.outcome {
                Ok(read) => facts.add(id, read),
                Err(_) => {
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

    fn add(&mut self, id: TicketId, read: &tickets::Ticket) {
        let status = match read.status {
            Status::InProgress => FileStatus::InProgress,
            Status::Closed => FileStatus::Closed,
            Status::Open | Status::Unknown => FileStatus::Open,
        };
        let changed_at = Time(
            i64::try_from(read.stamp.mtime_ns / 1_000_000)
                .unwrap_or(0)
                .min(self.now.0),
        );
        self.files.insert(
            id.clone(),
            route::File {
                status,
                changed_at,
                unreadable: false,
            },
        );
        let spec = spec(read);
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

fn spec(read: &tickets::Ticket) -> Spec {
    let crews = Filing::all_tags();
    Spec {
        title: read.title.clone(),
        kind: read.kind.clone(),
        priority: read.priority,
        deps: read
            .deps
            .iter()
            .filter_map(|id| TicketId::new(id.as_str()).ok())
            .collect(),
        tags: read
            .tags
            .iter()
            .filter(|tag| !crews.contains(*tag))
            .cloned()
            .collect(),
        assignee: read.assignee.clone(),
        recovers: read.recovers.as_deref().and_then(|id| TicketId::new(id).ok()),
        created: read
            .created
            .map_or_else(Time::default, |at| Time(at.as_millisecond())),
        acceptance: read.acceptance.clone(),
        // Only compared with itself: nothing here asks whether the text changed.
        digest: String::new(),
    }
}
