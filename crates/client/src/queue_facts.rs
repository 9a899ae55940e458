//! The queue as the router would see it: the journal's tickets and the files as they are now.
//!
//! The engine has its own reading of the files; this one answers questions while no engine runs, and is
//! thrown away.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::policy::budget::Pause;
use model::policy::route::{self, Queue};
use model::settings::Settings;
use model::target::Target;
use model::ticket::{Done, Event, FileStatus, Origin, State, Ticket, Unheeded};
use model::view::{BadFile, Snapshot};
use model::{Actor, AgentName, TicketId, Time};
use tickets::Folder;

use crate::error::Result;
use runtime::{Place, Reading};
use tickets::ProblemKind;

/// The facts that routing depends on.
#[derive(Debug)]
pub struct Facts {
    /// The journal's tickets, and those that only have a file yet.
    pub tickets: BTreeMap<TicketId, Arc<Ticket>>,
    /// The same with the archived tickets that one of them depends on or recovers, as far as it matters how
    /// those ended.
    all: Option<BTreeMap<TicketId, Arc<Ticket>>>,
    files: BTreeMap<TicketId, route::File>,
    roster: BTreeSet<AgentName>,
    names: Vec<AgentName>,
    debounce: std::time::Duration,
    pause: Option<Pause>,
    /// The bare target, whose checks may keep everything from being dispatched.
    pub target: Option<Box<Target>>,
    now: Time,
    /// The faults of files, in words.
    pub problems: Vec<String>,
    /// Files that are no tickets.
    pub bad: Vec<BadFile>,
    /// Files that seem to be a ticket's under another name, each with that ticket.
    pub renamed: BTreeMap<TicketId, TicketId>,
}

impl Facts {
    /// Gathers the facts. `unwritten`: the tickets whose file crew has not written yet.
    ///
    /// # Errors
    /// The ticket folder cannot be read.
    pub fn gather(
        crew: &Snapshot,
        place: &Place,
        settings: &Settings,
        unwritten: &BTreeSet<TicketId>,
        now: Time,
    ) -> Result<Self> {
        let mut facts = Self {
            tickets: crew.tickets.clone(),
            all: None,
            files: BTreeMap::new(),
            roster: crew
                .project
                .agents
                .iter()
                .chain(&settings.agents.names)
                .cloned()
                .collect(),
            names: settings.agents.names.clone(),
            debounce: settings.run.debounce,
            pause: crew.project.pause.filter(|pause| pause.until > now),
            target: crew.project.target.clone(),
            now,
            problems: Vec::new(),
            bad: Vec::new(),
            renamed: BTreeMap::new(),
        };
        let folder = Folder::at(&place.tickets_dir).ok();
        let readings = folder.as_ref().map(Folder::each).transpose()?;
        for reading in readings.into_iter().flatten() {
            facts
                .problems
                .extend(reading.problems().iter().map(ToString::to_string));
            let read = reading.outcome.as_ref().ok();
            let understood = read.and_then(|read| Some((read, Reading::of(read)?)));
            if understood.is_none() {
                facts.bad.push(bad(&reading));
            }
            let Ok(id) = TicketId::new(reading.name.as_str()) else {
                continue;
            };
            if let Some(of) = folder
                .as_ref()
                .and_then(|folder| facts.renamed_from(crew, folder, &reading))
            {
                facts.rename(id, of);
                continue;
            }
            let is_archived = crew.archived.tickets.contains(&id);
            let is_over = is_archived || facts.tickets.get(&id).is_some_and(|known| known.is_done());
            match understood {
                // git has put an old file back, or nobody can see who: the ticket stays over.
                Some((_, reading)) if is_over && facts.is_left(&id, place, &reading, unwritten) => {
                    if is_archived {
                        facts.add_archived(id, reading.status);
                    }
                }
                // A person has opened it again, as the next engine will see.
                Some((read, reading))
                    if is_over && reading.status == FileStatus::Open && !unwritten.contains(&id) =>
                {
                    facts.tickets.remove(&id);
                    facts.add(id, reading, read.stamp.mtime_ns);
                }
                // A person has closed it, as the next engine will see.
                Some((_, reading)) if facts.is_closed_now(&id, place, &reading, unwritten) => {
                    facts.close(&id, reading.status);
                }
                // An archived ticket is over.
                Some((_, reading)) if is_archived => facts.add_archived(id, reading.status),
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
        facts.forget_undone_renames();
        // A file that is gone makes nobody wait for a ticket that is over.
        let linked: Vec<TicketId> = facts
            .tickets
            .values()
            .flat_map(|ticket| ticket.spec.deps.iter().chain(&ticket.spec.recovers))
            .filter(|id| crew.archived.tickets.contains(id))
            .cloned()
            .collect();
        for id in linked {
            facts.add_archived(id, FileStatus::Closed);
        }
        facts.all = facts.with_past(crew);
        Ok(facts)
    }

    fn with_past(&self, crew: &Snapshot) -> Option<BTreeMap<TicketId, Arc<Ticket>>> {
        let linked = self
            .tickets
            .values()
            .flat_map(|ticket| ticket.spec.deps.iter().chain(&ticket.spec.recovers));
        let past: BTreeSet<&TicketId> = linked
            .filter(|id| crew.archived.tickets.contains(*id) && !self.tickets.contains_key(*id))
            .collect();
        if past.is_empty() {
            return None;
        }
        let mut all = self.tickets.clone();
        for id in past {
            let mut ticket = Ticket::new(id.clone());
            ticket.state = State::Done(match crew.archived.dropped.contains(id) {
                true => Done::Dropped {
                    by: Actor::Engine,
                    reason: String::new(),
                },
                false => Done::NotNeeded,
            });
            all.insert(id.clone(), Arc::new(ticket));
        }
        Some(all)
    }

    /// The ticket whose file this is under another name, as the engine sees it: it states to be that ticket,
    /// which is not over and has no file.
    fn renamed_from(&self, crew: &Snapshot, folder: &Folder, reading: &tickets::Reading) -> Option<TicketId> {
        let stated = reading.problems().iter().find_map(|problem| {
            let ProblemKind::IdDiffers(stated) = &problem.kind else {
                return None;
            };
            Some(stated)
        })?;
        let of = TicketId::new(stated.as_str()).ok()?;
        let name = TicketId::new(reading.name.as_str()).ok()?;
        let has_file = folder
            .file(&tickets::Id::new(stated).ok()?)
            .try_exists()
            .unwrap_or(true);
        let is_at_stake = crew.tickets.get(&of).is_some_and(|of| !of.is_done());
        (is_at_stake && !has_file && !crew.tickets.contains_key(&name)).then_some(of)
    }

    fn rename(&mut self, name: TicketId, of: TicketId) {
        if let Some(known) = self.tickets.get_mut(&of)
            && known.unheeded.as_ref().and_then(|change| change.renamed.as_ref()) != Some(&name)
        {
            Arc::make_mut(known).unheeded = Some(Unheeded {
                origin: Origin::Unknown,
                says: None,
                renamed: Some(name.clone()),
                since: self.now,
            });
        }
        self.renamed.insert(name, of);
    }

    /// Forgets the renames of files that have their names again, as the next engine will.
    fn forget_undone_renames(&mut self) {
        for (id, ticket) in &mut self.tickets {
            let is_renamed = |change: &Unheeded| change.renamed.is_some();
            if self.files.contains_key(id) && ticket.unheeded.as_ref().is_some_and(is_renamed) {
                Arc::make_mut(ticket).unheeded = None;
            }
        }
    }

    /// Whether a ticket that no engine has seen is closed in its file.
    pub fn is_closed_unseen(&self, id: &TicketId) -> bool {
        let file = self.files.get(id).filter(|file| !file.unreadable);
        let is_closed = file.is_some_and(|file| file.status == FileStatus::Closed);
        is_closed && !self.tickets.contains_key(id)
    }

    /// Whether the file of a ticket that is over is open, and not by a person's word.
    fn is_left(
        &mut self,
        id: &TicketId,
        place: &Place,
        reading: &Reading,
        unwritten: &BTreeSet<TicketId>,
    ) -> bool {
        if reading.status != FileStatus::Open || unwritten.contains(id) {
            return false;
        }
        let says = Some(reading.status);
        let known = self.tickets.get_mut(id);
        let noted = known.as_ref().and_then(|ticket| ticket.unheeded.as_ref());
        if noted.is_some_and(|change| change.says == says) {
            return true;
        }
        let origin = runtime::origin_of(place, id, reading.status);
        if let Some(known) = known.filter(|_| origin != Origin::Person) {
            Arc::make_mut(known).unheeded = Some(Unheeded {
                origin,
                says,
                renamed: None,
                since: self.now,
            });
        }
        origin != Origin::Person
    }

    /// Whether a person has closed the file of an open ticket, and the journal has not recorded that yet.
    fn is_closed_now(
        &self,
        id: &TicketId,
        place: &Place,
        reading: &Reading,
        unwritten: &BTreeSet<TicketId>,
    ) -> bool {
        let known = self.tickets.get(id);
        let is_open = known.is_some_and(|known| known.state == State::Open && known.unheeded.is_none());
        is_open
            && reading.status == FileStatus::Closed
            && !unwritten.contains(id)
            && runtime::origin_of(place, id, reading.status) == Origin::Person
    }

    fn close(&mut self, id: &TicketId, status: FileStatus) {
        self.add_archived(id.clone(), status);
        let Some(known) = self.tickets.get_mut(id) else {
            return;
        };
        if let Ok(closed) = Ticket::clone(known).after(&Event::ClosedByPerson { by: Actor::File }, self.now) {
            *known = Arc::new(closed.ticket);
        }
    }

    fn add_archived(&mut self, id: TicketId, status: FileStatus) {
        let file = route::File {
            status,
            changed_at: Time(0),
            unreadable: false,
        };
        self.files.insert(id, file);
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
            // Edits that came since an engine last looked count already.
            Some(known) if !known.is_done() && known.spec != spec => Arc::make_mut(known).spec = spec,
            Some(_) => {}
            None if status == FileStatus::Closed => {}
            None => {
                let created = Ticket::new(id.clone()).after(&Event::Created { spec }, self.now);
                if let Ok(change) = created {
                    self.tickets.insert(id, Arc::new(change.ticket));
                }
            }
        }
    }

    /// As the policies take it.
    pub fn queue(&self) -> Queue<'_> {
        Queue {
            tickets: self.all.as_ref().unwrap_or(&self.tickets),
            files: &self.files,
            roster: &self.roster,
            names: &self.names,
            debounce: self.debounce,
            pause: self.pause,
            target: self.target.as_deref(),
            set_up: route::shows_no_set_up(self.tickets.values().map(|ticket| &**ticket)),
            now: self.now,
        }
    }

    /// A file's status, as it is.
    pub fn file(&self, id: &TicketId) -> Option<&route::File> {
        self.files.get(id)
    }
}

/// The fault that keeps a file from being a ticket, in the parser's words.
fn bad(reading: &tickets::Reading) -> BadFile {
    let fatal = match &reading.outcome {
        Err(problem) => Some(problem),
        Ok(read) => read.problems.iter().find(|problem| {
            matches!(
                problem.kind,
                ProblemKind::NoStatus | ProblemKind::UnknownStatus(_) | ProblemKind::BadDependency(_)
            )
        }),
    };
    let line = fatal.and_then(|problem| problem.line);
    let place = line.map_or_else(String::new, |line| format!(":{line}"));
    let what = fatal.map_or_else(
        || {
            "its `recovers` (or its tag `recovers:…`) is not the id of one ticket, or its `recovers_by` is neither \
             `releases` nor `replaces`"
                .to_owned()
        },
        |problem| problem.kind.to_string(),
    );
    BadFile {
        name: reading.name.clone(),
        ticket: TicketId::new(reading.name.as_str()).ok(),
        what: format!("{}.md{place}: {what}", reading.name),
        hint: fatal
            .map_or("name one ticket by its id", tickets::Problem::hint)
            .to_owned(),
    }
}
